// The four charts of a sieve: adds per second, share of repeats, memory, expected false-positive rate.
import { Chart } from './chart.ts'
import { h } from './dom.ts'
import { bytes, compact, rate, share } from './format.ts'
import type { History } from './history.ts'

export class SieveCharts {
  readonly element: HTMLElement
  readonly #adds = new Chart({ title: 'Adds per second', format: compact, scale: 'zero' })
  readonly #repeats = new Chart({ title: 'Repeats', format: share, scale: 'share' })
  readonly #memory = new Chart({ title: 'Memory', format: bytes, scale: 'zero' })
  readonly #rate = new Chart({ title: 'Expected rate', format: rate, scale: 'log', referenceName: 'promise' })

  constructor() {
    const charts = [this.#adds, this.#repeats, this.#memory, this.#rate]
    this.element = h('div', { class: 'charts' }, ...charts.map(({ element }) => element))
  }

  show({ track }: History, promisedRate: number | null): void {
    this.#adds.show(track.addsPerSecond)
    this.#repeats.show(track.repeats)
    this.#memory.show(track.sizeBytes)
    this.#rate.show(track.expectedRate, promisedRate)
  }
}

/** The address of a sieve's view; null for a name that cannot be encoded. */
export const hrefOf = (name: string): string | null =>
  /\p{Surrogate}/u.test(name) ? null : `#/sieves/${encodeURIComponent(name)}`
