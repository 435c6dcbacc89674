// The charts of the whole server: adds, requests, latency, errors and memory.
import { Chart, type ChartOptions, Cursor } from './chart.ts'
import { h } from './dom.ts'
import { bytes, compact, duration } from './format.ts'
import type { ServerSamples } from './history.ts'
import { type Span, Timeline } from './timeline.ts'

const ways = ['RESP', 'HTTP']
const latency = { names: ['median', '99 %'], format: duration, scale: 'log' } as const

const OPTIONS: readonly ChartOptions[] = [
  {
    ...{ title: 'Adds per second', values: ['addsPerSecond', 'newPerSecond'], names: ['all', 'new'] },
    ...{ format: compact, scale: 'zero' },
  },
  {
    ...{ title: 'Commands and requests per second', values: ['respPerSecond', 'httpPerSecond'], names: ways },
    ...{ format: compact, scale: 'zero' },
  },
  {
    ...{ title: 'Errors per second', values: ['respErrorsPerSecond', 'httpErrorsPerSecond'], names: ways },
    ...{ format: compact, scale: 'zero' },
  },
  { title: 'Duration of RESP commands', values: ['respP50', 'respP99'], ...latency },
  { title: 'Duration of HTTP requests', values: ['httpP50', 'httpP99'], ...latency },
  { title: 'Memory of all sieves', values: ['sizeBytes'], format: bytes, scale: 'bytes' },
]

export class ServerCharts {
  readonly #cursor = new Cursor()
  readonly #charts = OPTIONS.map(
    (options) => new Chart({ ...options, isFocusable: true, times: 4 }, this.#cursor),
  )
  readonly #timeline = new Timeline(null, (values) => ({
    ...values,
    newPerSecond: values.addsPerSecond!.map((adds, i) =>
      adds === null ? null : adds - (values.seenPerSecond![i] ?? 0),
    ),
  }))
  readonly element = h(
    'div',
    { class: 'charts tall server-charts' },
    ...this.#charts.map(({ element }) => element),
  )

  show(samples: ServerSamples, span: Span): void {
    const drawn = this.#timeline.draw(span, samples)
    for (const chart of this.#charts) chart.show(drawn)
  }

  load(span: Span): Promise<void> {
    return this.#timeline.load(span)
  }
}
