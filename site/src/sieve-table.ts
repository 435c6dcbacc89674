// The table of all sieves: exact numbers, the state of each, and its order by any column.
import type { Fault, LiveSieve, Snapshot } from './api.ts'
import { h, nameText, setText } from './dom.ts'
import { FAULT_TITLES } from './faults.ts'
import { bytes, compact, count, rate, share } from './format.ts'
import type { Live } from './live.ts'
import { hrefOf } from './sieve-charts.ts'

/** A sieve with what is known of it now. */
export interface Entry {
  readonly sieve: LiveSieve
  readonly name: string
  readonly addsPerSecond: number | null
  /** Adds of the last two minutes, as far as they were seen. */
  readonly recentAdds: number
  readonly faults: readonly Fault[]
}

/** All sieves of a snapshot. */
export function entriesOf({ sieves, faults }: Snapshot, live: Live): Entry[] {
  const byName = new Map<string, Fault[]>()
  for (const fault of faults) {
    if (fault.sieve !== undefined) byName.set(fault.sieve, [...(byName.get(fault.sieve) ?? []), fault])
  }
  return sieves.map((sieve) => ({
    sieve,
    name: sieve.name,
    addsPerSecond: live.histories.get(sieve.name)?.latest('addsPerSecond') ?? null,
    recentAdds: live.histories.get(sieve.name)?.recentAdds ?? 0,
    faults: byName.get(sieve.name) ?? [],
  }))
}

interface Column {
  readonly name: string
  readonly text: (entry: Entry) => string
  /** What it is sorted by; null comes last. */
  readonly value: (entry: Entry) => number | string | null
  readonly isWord?: boolean
  /** Shown on a narrow screen too. */
  readonly isNarrow?: boolean
}

const repeats = ({ sieve: { adds, seen } }: Entry): number | null => (adds === 0 ? null : seen / adds)

function stateOf({ sieve, faults }: Entry): string {
  if (faults.length > 0) return faults.map(({ kind }) => FAULT_TITLES[kind]?.toLowerCase() ?? kind).join(', ')
  return sieve.isSnapshotting ? 'writes a snapshot' : 'ok'
}

const words = (name: string, text: (entry: Entry) => string): Column => ({
  ...{ name, text, value: text, isWord: true },
})

const COLUMNS: readonly Column[] = [
  { ...words('Name', ({ name }) => name), isNarrow: true },
  {
    ...{ name: 'State', text: stateOf, isWord: true },
    // Faults first, in either direction of the alphabet.
    value: (entry) => (entry.faults.length > 0 ? 0 : entry.sieve.isSnapshotting ? 1 : 2),
  },
  words('Filter', ({ sieve }) => sieve.filter),
  words('Profile', ({ sieve }) => sieve.profile),
  { name: 'URLs', text: ({ sieve }) => count(sieve.urls), value: ({ sieve }) => sieve.urls, isNarrow: true },
  {
    name: 'Adds/s',
    text: ({ addsPerSecond }) => (addsPerSecond === null ? '–' : compact(addsPerSecond)),
    value: ({ addsPerSecond }) => addsPerSecond,
  },
  { name: 'Repeats', text: (entry) => share(repeats(entry)), value: repeats },
  { name: 'Memory', text: ({ sieve }) => bytes(sieve.sizeBytes), value: ({ sieve }) => sieve.sizeBytes },
  {
    name: 'On disk',
    text: ({ sieve: { diskBytes } }) => (diskBytes === undefined ? '–' : bytes(diskBytes)),
    value: ({ sieve }) => sieve.diskBytes ?? null,
  },
  {
    name: 'Expected rate',
    text: ({ sieve }) => rate(sieve.expectedRate),
    value: ({ sieve }) => sieve.expectedRate,
    isNarrow: true,
  },
  {
    name: 'Promise',
    text: ({ sieve }) => rate(sieve.promisedRate),
    value: ({ sieve }) => sieve.promisedRate,
  },
]

const classOf = ({ isWord, isNarrow }: Column): string =>
  [isWord ? '' : 'number', isNarrow ? '' : 'wide'].filter(Boolean).join(' ')

/** A sieve's name, which leads to its view. */
export function linkTo(name: string): HTMLElement {
  const href = hrefOf(name)
  return href === null ? h('span', {}, nameText(name)) : h('a', { href }, nameText(name))
}

/** A column and a direction. */
export class Order {
  #column = COLUMNS[0]!
  #isDown = false
  readonly #headers = new Map<Column, HTMLElement>()
  readonly #select: HTMLSelectElement
  readonly #onChange: () => void
  readonly head: HTMLElement

  constructor(select: HTMLSelectElement, onChange: () => void) {
    this.#select = select
    this.#onChange = onChange
    select.append(...COLUMNS.map(({ name }) => h('option', {}, name)))
    select.addEventListener('change', () => this.#choose(COLUMNS[select.selectedIndex]!, false))
    for (const column of COLUMNS) {
      const button = h('button', { type: 'button', class: 'sort' }, column.name)
      button.addEventListener('click', () => this.#choose(column, true))
      this.#headers.set(column, h('th', { scope: 'col', class: classOf(column) }, button))
    }
    this.head = h('tr', {}, ...this.#headers.values())
    this.#mark()
  }

  /** The entries in this order; those of equal value by name. */
  sort(entries: readonly Entry[]): Entry[] {
    const { value } = this.#column
    const sign = this.#isDown ? -1 : 1
    return entries
      .map((entry) => ({ entry, key: value(entry) }))
      .sort((a, b) => compare(a.key, b.key, sign) || compare(a.entry.name, b.entry.name, 1))
      .map(({ entry }) => entry)
  }

  #choose(column: Column, canReverse: boolean): void {
    const isSame = column === this.#column && canReverse
    // The largest numbers are wanted first.
    this.#isDown = isSame ? !this.#isDown : !column.isWord
    this.#column = column
    this.#mark()
    this.#onChange()
  }

  #mark(): void {
    this.#select.selectedIndex = COLUMNS.indexOf(this.#column)
    for (const [column, header] of this.#headers) {
      if (column !== this.#column) header.removeAttribute('aria-sort')
      else header.setAttribute('aria-sort', this.#isDown ? 'descending' : 'ascending')
    }
  }
}

const collator = new Intl.Collator('en', { numeric: true })

function compare(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'string') return sign * collator.compare(a, String(b))
  return sign * (a - Number(b))
}

export class Row {
  readonly element = h('tr')
  readonly #cells = new Map<Column, HTMLElement>()

  constructor(name: string) {
    for (const column of COLUMNS) {
      const isName = column === COLUMNS[0]
      const cell = isName ? h('th', { scope: 'row' }, linkTo(name)) : h('td', { class: classOf(column) })
      if (!isName) this.#cells.set(column, cell)
      this.element.append(cell)
    }
  }

  show(entry: Entry): void {
    const { pastCapacity, promisedRate, expectedRate } = entry.sieve
    for (const [column, cell] of this.#cells) {
      setText(cell, column.text(entry))
      if (column.name === 'State') cell.classList.toggle('over', entry.faults.length > 0)
    }
    const isOver =
      pastCapacity || (promisedRate !== null && expectedRate !== null && expectedRate > promisedRate)
    const rateColumn = COLUMNS.find(({ name }) => name === 'Expected rate')!
    this.#cells.get(rateColumn)!.classList.toggle('over', isOver)
  }
}
