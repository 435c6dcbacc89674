// All sieves: totals, the charts of the server, a table that can be searched and sorted, and the charts of each sieve.
import { fill, h, setText, uniqueId } from '../dom.ts'
import { count, plural } from '../format.ts'
import { Keyed } from '../keyed.ts'
import type { Live } from '../live.ts'
import { ServerCharts } from '../server-charts.ts'
import { SieveCharts } from '../sieve-charts.ts'
import { type Entry, entriesOf, linkTo, Order, Row } from '../sieve-table.ts'
import { Tiles } from '../tiles.ts'
import { type Span, SpanChoice } from '../timeline.ts'
import { heading, labelled, notice, type View } from '../view.ts'

/** Sieves with charts at the same time, the most active ones; the search finds the others. */
const MOST_CHARTS = 24
/** Rows until all are asked for. */
const MOST_ROWS = 100
/** Number of sieves from which there is a search. */
const SEARCH_FROM = 6
/** Numbers change each second: the order follows them this often, so that rows can be read and clicked. */
const ORDER_MS = 5000

/** One sieve with its charts. */
class Strip {
  readonly element: HTMLElement
  readonly charts: SieveCharts
  readonly #about = h('p', { class: 'about' })

  constructor(name: string) {
    const id = uniqueId('strip')
    this.charts = new SieveCharts(name)
    this.element = h(
      'article',
      { class: 'strip', 'aria-labelledby': id },
      h('header', {}, h('h3', { id }, linkTo(name)), this.#about),
      this.charts.element,
    )
  }

  show({ sieve }: Entry, live: Live, span: Span): void {
    setText(this.#about, `${sieve.filter} · ${sieve.profile} · ${plural(sieve.urls, 'URL')}`)
    this.charts.show(live.histories.get(sieve.name)!, sieve.promisedRate, span)
  }
}

/** The sieves that are looked for, in their order. */
class Selection {
  readonly #search = h('input', { type: 'search', id: 'search', autocomplete: 'off', spellcheck: 'false' })
  readonly #sort = h('select', { id: 'sort' })
  readonly #onlyFaults = h('input', { type: 'checkbox', id: 'only-faults' })
  readonly #faults = h('label', { class: 'check', for: 'only-faults' }, this.#onlyFaults, 'Only with faults')
  readonly order: Order
  readonly element = h(
    'div',
    { class: 'searching', hidden: true },
    labelled('Find by name', this.#search),
    labelled('Sort by', this.#sort),
    this.#faults,
  )
  /** The place of each name, and when it was determined. */
  #places = new Map<string, number>()
  #orderedAt = Number.NEGATIVE_INFINITY
  #active: ReadonlySet<string> = new Set()

  constructor(onChange: () => void) {
    const change = () => {
      this.#orderedAt = Number.NEGATIVE_INFINITY
      onChange()
    }
    this.order = new Order(this.#sort, change)
    for (const input of [this.#search, this.#onlyFaults]) input.addEventListener('input', change)
  }

  select(entries: readonly Entry[]): Entry[] {
    this.element.hidden = entries.length < SEARCH_FROM
    this.#faults.hidden = !this.#onlyFaults.checked && entries.every(({ faults }) => faults.length === 0)
    const wanted = this.#search.value.trim().toLowerCase()
    const isWanted = ({ name, faults }: Entry) =>
      name.toLowerCase().includes(wanted) && (!this.#onlyFaults.checked || faults.length > 0)
    const found = entries.filter(isWanted)
    const isKnown = found.every(({ name }) => this.#places.has(name))
    if (isKnown && performance.now() - this.#orderedAt < ORDER_MS) {
      return found.sort((a, b) => this.#places.get(a.name)! - this.#places.get(b.name)!)
    }
    const sorted = this.order.sort(found)
    this.#places = new Map(sorted.map(({ name }, i) => [name, i]))
    this.#orderedAt = performance.now()
    // The sort is stable: those that are equally active stay in their order.
    const busiest = sorted.toSorted((a, b) => b.recentAdds - a.recentAdds || b.sieve.adds - a.sieve.adds)
    this.#active = new Set(busiest.slice(0, MOST_CHARTS).map(({ name }) => name))
    return sorted
  }

  /** Those that have charts. */
  isActive({ name }: Entry): boolean {
    return this.#active.has(name)
  }
}

const empty = (): HTMLElement =>
  notice(
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

export const dashboardView: View = ({ root, live, signal }) => {
  const tiles = new Tiles()
  const serverCharts = new ServerCharts()
  const spans = new SpanChoice(() => show())
  const selection = new Selection(() => show())
  const strips = h('div', { class: 'strips' })
  const found = h('p', { class: 'unseen', role: 'status' })
  const more = h('p', { class: 'hint' })
  const body = h('tbody')
  const table = h(
    'table',
    { class: 'sieves' },
    h('caption', { class: 'unseen' }, 'All sieves'),
    h('thead', {}, selection.order.head),
    body,
  )
  let isWhole = false
  const showAll = h('button', { type: 'button', hidden: true }, 'Show all')
  showAll.addEventListener('click', () => {
    isWhole = true
    show()
  })
  const keyedStrips = new Keyed<Strip, Entry>(strips, (name) => new Strip(name))
  const keyedRows = new Keyed<Row, Entry>(body, (name) => new Row(name))
  const loadHead = h('div', { class: 'section-head' }, h('h2', {}, 'Load'), spans.element)
  const full = h(
    'div',
    { hidden: true },
    tiles.element,
    h('section', { class: 'load' }, loadHead, serverCharts.element),
    h('section', { class: 'all' }, h('h2', {}, 'All sieves'), selection.element, found, table, showAll),
    h('section', {}, h('h2', {}, 'Charts of each sieve'), strips, more),
  )
  const waiting = notice('Waiting for the server.')
  const none = empty()
  const stale = h('p', { class: 'stale', role: 'status' })
  const title = heading('Sieves')
  title.append(h('a', { class: 'button', href: '#/new' }, 'New sieve'))
  fill(root, title, stale, waiting, none, full)

  // What the server has recorded, one request after the other; a failure is tried again with the next snapshot.
  let isLoading = false
  const load = async () => {
    if (isLoading) return
    isLoading = true
    try {
      for (const charts of [serverCharts, ...Array.from(keyedStrips.shown, (strip) => strip.charts)]) {
        if (signal.aborted) return
        await charts.load(spans.span)
      }
    } catch {
      // The state of the connection is shown elsewhere; a sieve may have been dropped.
    } finally {
      isLoading = false
    }
  }

  const show = () => {
    const { snapshot, state } = live
    const lost = 'The connection is lost; reconnecting. The values shown are the last ones received.'
    setText(stale, state === 'lost' ? lost : '')
    waiting.hidden = snapshot !== null
    none.hidden = snapshot === null || snapshot.sieves.length > 0
    full.hidden = snapshot === null || snapshot.sieves.length === 0
    if (snapshot === null) return
    const entries = entriesOf(snapshot, live)
    const selected = selection.select(entries)
    tiles.show(snapshot, live)
    serverCharts.show(live.server, spans.span)
    const rows = isWhole ? selected : selected.slice(0, MOST_ROWS)
    keyedRows.show(rows, (row, entry) => row.show(entry))
    showAll.hidden = rows.length === selected.length
    setText(showAll, `Show all ${count(selected.length)}`)
    const charted = selected.filter((entry) => selection.isActive(entry))
    keyedStrips.show(charted, (strip, entry) => strip.show(entry, live, spans.span))
    const left = selected.length - charted.length
    setText(more, left > 0 ? `${plural(left, 'less active sieve')}: search to see their charts.` : '')
    const isFiltered = selected.length < entries.length
    setText(found, isFiltered ? `${plural(selected.length, 'sieve')} of ${entries.length}` : '')
    void load()
  }
  live.listen(show, signal)
}
