// The shapes of the URLs that were added to a sieve recently: a table of the most frequent of each host, with what is
// suspicious about them. Empty unless the server collects them.
import { api, type SieveShapes } from './api.ts'
import { fill, h } from './dom.ts'
import { clock, count, share } from './format.ts'

const EVERY_MS = 10_000

type Host = SieveShapes['list'][number]

const row = (host: Host, shape: Host['shapes'][number], i: number): HTMLElement =>
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, i === 0 ? host.host : h('span', { class: 'unseen' }, host.host)),
    h(
      'td',
      {},
      h('code', { class: 'url' }, shape.shape),
      ...shape.traps.map(({ kind, reason }) => h('p', { class: 'trap' }, h('b', {}, kind), `: ${reason}`)),
    ),
    h('td', { class: 'number' }, count(shape.count)),
    h('td', { class: 'number wide' }, share(shape.share)),
    h(
      'td',
      { class: 'wide' },
      shape.examples[0] !== undefined && h('code', { class: 'url' }, shape.examples[0]),
    ),
  )

const others = ({ host, others: left }: Host): HTMLElement | false =>
  left > 0 &&
  h(
    'tr',
    {},
    h('th', { scope: 'row' }, h('span', { class: 'unseen' }, host)),
    h('td', {}, 'other shapes'),
    h('td', { class: 'number' }, count(left)),
    h('td', { class: 'wide', colspan: 2 }),
  )

export class ShapeTable {
  readonly element = h('section', { class: 'shapes', hidden: true })
  readonly #name: string
  #loadedAt = Number.NEGATIVE_INFINITY

  constructor(name: string) {
    this.#name = name
  }

  /** Loads the shapes, at most every ten seconds. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#loadedAt < EVERY_MS) return
    this.#loadedAt = performance.now()
    this.#show(await api.shapes(this.#name))
  }

  #show({ urls, invalid, since, list }: SieveShapes): void {
    const about =
      since === undefined
        ? 'No URL was added yet.'
        : `A sample of ${count(urls)} URLs added since ${clock(Date.parse(since), false)}${invalid > 0 ? `; ${count(invalid)} items were not URLs` : ''}.`
    const heads = ['Host', 'Shape', 'URLs', 'Share of host', 'Example']
    const classes = ['', '', 'number', 'number wide', 'wide']
    this.element.hidden = false
    fill(
      this.element,
      h('h2', {}, 'Shapes of recent URLs'),
      h('p', { class: 'hint' }, about),
      list.length > 0 &&
        h(
          'table',
          { class: 'shape-table' },
          h('caption', { class: 'unseen' }, 'Shapes of recent URLs'),
          h(
            'thead',
            {},
            h('tr', {}, ...heads.map((head, i) => h('th', { scope: 'col', class: classes[i]! }, head))),
          ),
          h(
            'tbody',
            {},
            ...list.flatMap((host) => [...host.shapes.map((shape, i) => row(host, shape, i)), others(host)]),
          ),
        ),
    )
  }
}
