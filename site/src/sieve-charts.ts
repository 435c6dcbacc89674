// The four charts of a sieve: adds per second, share of repeats, memory, expected false-positive rate.
import { Chart, type ChartOptions, Cursor } from './chart.ts'
import { h } from './dom.ts'
import { bytes, compact, rate, share } from './format.ts'
import type { History } from './history.ts'
import { type Span, Timeline } from './timeline.ts'

const OPTIONS: readonly ChartOptions[] = [
  { title: 'Adds per second', values: ['addsPerSecond'], format: compact, scale: 'zero' },
  { title: 'Repeats', values: ['repeats'], format: share, scale: 'share' },
  { title: 'Memory', values: ['sizeBytes'], format: bytes, scale: 'bytes' },
  {
    ...{ title: 'Expected rate', values: ['expectedRate'], format: rate, scale: 'log', most: 1 },
    referenceName: 'promise',
  },
]

export class SieveCharts {
  readonly element: HTMLElement
  readonly #charts: readonly Chart[]
  readonly #timeline: Timeline

  /** `isFocusable`: whether the keyboard reaches them. */
  constructor(name: string, isFocusable = false) {
    const cursor = new Cursor()
    this.#charts = OPTIONS.map((options) => new Chart({ ...options, isFocusable }, cursor))
    this.element = h(
      'div',
      { class: isFocusable ? 'charts tall' : 'charts' },
      ...this.#charts.map(({ element }) => element),
    )
    this.#timeline = new Timeline(name, ({ addsPerSecond, seenPerSecond, sizeBytes, expectedRate }) => ({
      addsPerSecond: addsPerSecond!,
      repeats: addsPerSecond!.map((adds, i) => (adds ? (seenPerSecond![i] ?? 0) / adds : null)),
      sizeBytes: sizeBytes!,
      expectedRate: expectedRate!,
    }))
  }

  show({ course }: History, promisedRate: number | null, span: Span): void {
    const drawn = this.#timeline.draw(span, course)
    for (const [i, chart] of this.#charts.entries()) {
      chart.show(drawn, OPTIONS[i]!.referenceName ? promisedRate : null)
    }
  }

  /** Loads what the server has recorded; without it the charts show what is received. */
  load(span: Span): Promise<void> {
    return this.#timeline.load(span)
  }
}

/** The address of a sieve's view; null for a name that cannot be encoded. */
export const hrefOf = (name: string): string | null =>
  /\p{Surrogate}/u.test(name) ? null : `#/sieves/${encodeURIComponent(name)}`
