// All sieves: totals, the charts of each, and a table of exact numbers.
import type { LiveSieve, Snapshot } from '../api.ts'
import { fill, h, setText, uniqueId } from '../dom.ts'
import { bytes, compact, count, plural, rate, share } from '../format.ts'
import type { Live } from '../live.ts'
import { hrefOf, SieveCharts } from '../sieve-charts.ts'
import { heading, labelled, notice, type View } from '../view.ts'

/** Sieves with charts at the same time; the search finds the others. */
const MOST_CHARTS = 24
/** Number of sieves from which there is a search. */
const SEARCH_FROM = 6

const nameOf = (name: string): HTMLElement => {
  const href = hrefOf(name)
  return href === null ? h('span', {}, name) : h('a', { href }, name)
}

class Tiles {
  readonly #urls = h('dd')
  readonly #adds = h('dd')
  readonly #repeats = h('dd')
  readonly #memory = h('dd')
  readonly #connections = h('dd')
  readonly element = h(
    'dl',
    { class: 'tiles' },
    h('div', {}, h('dt', {}, 'URLs remembered'), this.#urls),
    h('div', {}, h('dt', {}, 'Adds per second'), this.#adds),
    h('div', {}, h('dt', {}, 'Repeats'), this.#repeats),
    h('div', {}, h('dt', {}, 'Memory'), this.#memory),
    h('div', {}, h('dt', {}, 'Connections'), this.#connections),
  )

  show({ sieves, sizeBytes, connections }: Snapshot, live: Live): void {
    const sum = (of: (sieve: LiveSieve) => number) => sieves.reduce((all, sieve) => all + of(sieve), 0)
    const latest = (sieve: LiveSieve) => live.histories.get(sieve.name)?.latest('addsPerSecond') ?? 0
    const adds = sum((sieve) => sieve.adds)
    setText(this.#urls, compact(sum((sieve) => sieve.urls)))
    setText(this.#adds, compact(sum(latest)))
    setText(this.#repeats, share(adds === 0 ? null : sum((sieve) => sieve.seen) / adds))
    setText(this.#memory, bytes(sizeBytes))
    setText(this.#connections, count(connections.resp + connections.http))
  }
}

/** One sieve with its charts. */
class Strip {
  readonly element: HTMLElement
  readonly #charts = new SieveCharts()
  readonly #about = h('p', { class: 'about' })

  constructor(name: string) {
    const id = uniqueId('strip')
    const title = h('h3', { id }, nameOf(name))
    this.element = h(
      'article',
      { class: 'strip', 'aria-labelledby': id },
      h('header', {}, title, this.#about),
      this.#charts.element,
    )
  }

  show(sieve: LiveSieve, live: Live): void {
    setText(this.#about, `${sieve.filter} · ${sieve.profile} · ${plural(sieve.urls, 'URL')}`)
    this.#charts.show(live.histories.get(sieve.name)!, sieve.promisedRate)
  }
}

const COLUMNS = [
  'Name',
  'Filter',
  'Profile',
  'URLs',
  'Adds',
  'Seen',
  'Memory',
  'Fill',
  'Expected rate',
  'Promise',
]
/** Columns shown on a narrow screen. */
const NARROW = new Set(['Name', 'URLs', 'Expected rate'])
const WORDS = new Set(['Name', 'Filter', 'Profile'])

const classOf = (column: string): string =>
  [WORDS.has(column) ? '' : 'number', NARROW.has(column) ? '' : 'wide'].filter(Boolean).join(' ')

class Row {
  readonly element = h('tr')
  readonly #cells = new Map<string, HTMLElement>()

  constructor(name: string) {
    for (const column of COLUMNS) {
      const isName = column === 'Name'
      const cell = isName ? h('th', { scope: 'row' }, nameOf(name)) : h('td', { class: classOf(column) })
      if (!isName) this.#cells.set(column, cell)
      this.element.append(cell)
    }
  }

  show(sieve: LiveSieve): void {
    const texts: Record<string, string> = {
      Filter: sieve.filter,
      Profile: sieve.profile,
      URLs: count(sieve.urls),
      Adds: count(sieve.adds),
      Seen: count(sieve.seen),
      Memory: bytes(sieve.sizeBytes),
      Fill: share(sieve.fill),
      'Expected rate': rate(sieve.expectedRate),
      Promise: rate(sieve.promisedRate),
    }
    for (const [column, cell] of this.#cells) setText(cell, texts[column]!)
    const isOver =
      sieve.pastCapacity || (sieve.promisedRate !== null && sieve.expectedRate > sieve.promisedRate)
    this.#cells.get('Expected rate')!.classList.toggle('over', isOver)
  }
}

/** Maintains one child element per sieve, in order, and creates or removes them as needed. */
class Keyed<T extends { readonly element: HTMLElement }> {
  readonly #parent: HTMLElement
  readonly #make: (name: string) => T
  readonly #all = new Map<string, T>()

  constructor(parent: HTMLElement, make: (name: string) => T) {
    this.#parent = parent
    this.#make = make
  }

  show(sieves: readonly LiveSieve[], each: (thing: T, sieve: LiveSieve) => void): void {
    const names = new Set(sieves.map(({ name }) => name))
    for (const [name, { element }] of this.#all) {
      if (names.has(name)) continue
      element.remove()
      this.#all.delete(name)
    }
    sieves.forEach((sieve, i) => {
      const thing = this.#all.get(sieve.name) ?? this.#make(sieve.name)
      this.#all.set(sieve.name, thing)
      if (this.#parent.children[i] !== thing.element) {
        this.#parent.insertBefore(thing.element, this.#parent.children[i] ?? null)
      }
      each(thing, sieve)
    })
  }
}

const byName = (a: LiveSieve, b: LiveSieve) => a.name.localeCompare(b.name, 'en')

export const dashboardView: View = ({ root, live, signal }) => {
  const tiles = new Tiles()
  const search = h('input', { type: 'search', id: 'search', autocomplete: 'off', spellcheck: 'false' })
  const searching = h('div', { class: 'searching', hidden: true }, labelled('Find by name', search))
  const strips = h('div', { class: 'strips' })
  const more = h('p', { class: 'hint' })
  const body = h('tbody')
  const table = h(
    'table',
    { class: 'sieves' },
    h('caption', {}, 'Numbers'),
    h(
      'thead',
      {},
      h('tr', {}, ...COLUMNS.map((column) => h('th', { scope: 'col', class: classOf(column) }, column))),
    ),
    body,
  )
  const keyedStrips = new Keyed(strips, (name) => new Strip(name))
  const keyedRows = new Keyed(body, (name) => new Row(name))
  const full = h('div', { hidden: true }, tiles.element, searching, strips, more, table)
  const waiting = notice('Waiting for the server.')
  const empty = notice(
    'No sieve yet.',
    h(
      'p',
      {},
      'Create one here, or with ',
      h('code', {}, 'PUT /v1/sieves/name'),
      ' or ',
      h('code', {}, 'SIEVE.CREATE name'),
      '.',
    ),
    h('p', {}, h('a', { class: 'button primary', href: '#/new' }, 'Create a sieve')),
  )
  const stale = h('p', { class: 'stale', role: 'status' })
  const title = heading('Sieves')
  title.append(h('a', { class: 'button', href: '#/new' }, 'New sieve'))
  fill(root, title, stale, waiting, empty, full)

  const show = () => {
    const { snapshot, state } = live
    setText(
      stale,
      state === 'lost'
        ? 'The connection is lost; reconnecting. The values shown are the last ones received.'
        : '',
    )
    waiting.hidden = snapshot !== null
    empty.hidden = snapshot === null || snapshot.sieves.length > 0
    full.hidden = snapshot === null || snapshot.sieves.length === 0
    if (snapshot === null) return
    const wanted = search.value.trim().toLowerCase()
    const sieves = snapshot.sieves.filter(({ name }) => name.toLowerCase().includes(wanted)).sort(byName)
    searching.hidden = snapshot.sieves.length < SEARCH_FROM
    tiles.show(snapshot, live)
    keyedStrips.show(sieves.slice(0, MOST_CHARTS), (strip, sieve) => strip.show(sieve, live))
    keyedRows.show(sieves, (row, sieve) => row.show(sieve))
    const left = sieves.length - MOST_CHARTS
    setText(more, left > 0 ? `${plural(left, 'more sieve')}: search to see their charts.` : '')
  }
  search.addEventListener('input', show)
  live.listen(show, signal)
}
