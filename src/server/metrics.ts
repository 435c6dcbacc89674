// /metrics: the figures of a server for Prometheus, taken when they are asked for, in a registry of their own.
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { Stats } from '../index.ts'
import type { Hosted, House } from './house.ts'
import { LATENCY_BOUNDS, type ServerInfo, type Way } from './info.ts'

interface Value {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

interface Row {
  readonly hosted: Hosted
  readonly stats: Stats
}

const RATE_MS = 1000
const WAYS: readonly Way[] = ['resp', 'http']

export class Metrics {
  readonly #registry = new Registry()
  readonly #house: House
  /** The sieves as this scrape sees them. */
  #rows: readonly Row[] = []
  readonly #rates: Rates
  #turns: Promise<void> = Promise.resolve()

  constructor(house: House, info: ServerInfo, listeners: () => number) {
    this.#house = house
    this.#rates = new Rates(house)
    collectDefaultMetrics({ register: this.#registry })
    this.#countSieves()
    this.#measureSieves()
    const one = (value: number): Value[] => [{ labels: {}, value }]
    this.#add('info', 'The version that runs', 'gauge', () => [
      { labels: { version: info.version }, value: 1 },
    ])
    this.#add('sieves', 'Sieves', 'gauge', () => one(house.list().length))
    this.#add('house_bytes', 'Bytes of all sieves', 'gauge', () => one(house.sizeBytes))
    this.#add('faults', 'Faults that last now, by kind', 'gauge', () =>
      Object.entries(house.faults.counts()).map(([kind, value]) => ({ labels: { kind }, value })),
    )
    this.#add('live_listeners', 'Listeners of /v1/live', 'gauge', () => one(listeners()))
    const byWay = (counts: Readonly<Record<Way, number>>): Value[] =>
      WAYS.map((way) => ({ labels: { way }, value: counts[way] }))
    this.#add('connections', 'Open connections', 'gauge', () => byWay(info.connections))
    this.#add('answered_total', 'Commands and requests answered', 'counter', () => byWay(info.answered))
    this.#add('errors_total', 'Those answered with an error', 'counter', () => byWay(info.errors))
    this.#add('refused_total', 'Connections refused', 'counter', () => one(info.refused))
    this.#add('request_seconds', 'How long commands and requests took', 'histogram', () =>
      WAYS.flatMap((way) => buckets(info, way)),
    )
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  async text(): Promise<string> {
    this.#rows = await Promise.all(
      this.#house.list().map(async (hosted) => ({ hosted, stats: await hosted.stats() })),
    )
    return this.#registry.metrics()
  }

  close(): void {
    this.#rates.close()
    this.#registry.clear()
  }

  #countSieves(): void {
    const count = (name: string, help: string, of: (row: Row) => number) =>
      this.#each(name, help, 'counter', of)
    count('adds_total', 'URLs added since the server started', ({ hosted }) => hosted.meters.adds)
    count('new_total', 'URLs answered new', ({ hosted }) => hosted.meters.fresh)
    count('seen_total', 'URLs answered seen by an add', ({ hosted }) => hosted.meters.seen)
    count('asks_total', 'URLs asked for without adding', ({ hosted }) => hosted.meters.asks)
  }

  #measureSieves(): void {
    const gauge = (name: string, help: string, of: (row: Row) => number | null | undefined) =>
      this.#each(name, help, 'gauge', of)
    gauge('adds_per_second', 'URLs added a second, of late', ({ hosted }) => this.#rates.of(hosted))
    gauge('urls', 'Distinct URLs remembered', ({ stats }) => stats.urls)
    gauge('size_bytes', 'Bytes of the filter', ({ stats }) => stats.sizeBytes)
    gauge('fill', 'Share of bits or slots in use', ({ stats }) => stats.fill)
    gauge('expected_rate', 'Chance that a new URL is answered seen now', ({ stats }) => stats.expectedRate)
    gauge('promised_rate', 'The rate it was made for', ({ stats }) => stats.promisedRate)
    gauge('past_capacity', '1 when it holds more than it was made for', ({ stats }) =>
      Number(stats.pastCapacity),
    )
    gauge('log_bytes', 'Bytes of the log', ({ stats }) => stats.store?.logBytes)
    gauge('snapshot_bytes', 'Bytes of the last snapshot', ({ stats }) => stats.store?.snapshotBytes)
    gauge(
      'snapshotting',
      '1 while a snapshot is being made',
      ({ stats }) => stats.store && Number(stats.store.snapshotting),
    )
  }

  // A figure of each sieve; none where there is nothing to say.
  #each(name: string, help: string, type: Type, of: (row: Row) => number | null | undefined): void {
    this.#add(name, help, type, () =>
      this.#rows.flatMap((row) => {
        const value = of(row)
        return value === null || value === undefined
          ? []
          : [{ labels: { sieve: shown(row.hosted.name) }, value }]
      }),
    )
  }

  // Each metric in a turn of the event loop of its own: of a thousand sieves each has a thousand values.
  #turn(): Promise<void> {
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#turns
  }

  // The library's own metrics keep their values; these are read where they are counted.
  #add(name: string, help: string, type: Type, values: () => Value[]): void {
    const full = `urlsieve_${name}`
    const get = async () => {
      await this.#turn()
      return { name: full, help, type, values: values() }
    }
    const metric = { name: full, get }
    this.#registry.registerMetric(metric as unknown as Metric)
  }
}

// Bytes of a name that are no UTF-8 are lone surrogates there: as text they would all be one, and two sieves too.
const shown = (name: string) =>
  name.replaceAll(/[\udc80-\udcff]/gu, (c) => `\\x${(c.charCodeAt(0) & 255).toString(16)}`)

type Type = 'counter' | 'gauge' | 'histogram'

function buckets(info: ServerInfo, way: Way): Value[] {
  const { counts, count, seconds } = info.latencies[way]
  const metricName = 'urlsieve_request_seconds'
  let sum = 0
  const bounded = LATENCY_BOUNDS.map((le, i) => {
    sum += counts[i]!
    return { metricName: `${metricName}_bucket`, labels: { le, way }, value: sum }
  })
  return [
    ...bounded,
    { metricName: `${metricName}_bucket`, labels: { le: '+Inf', way }, value: count },
    { metricName: `${metricName}_sum`, labels: { way }, value: seconds },
    { metricName: `${metricName}_count`, labels: { way }, value: count },
  ]
}

/** How many URLs a second each sieve was given, between the last two looks. */
class Rates {
  readonly #timer: NodeJS.Timeout
  #lookedAt = performance.now()
  #last = new Map<Hosted, { adds: number; rate: number }>()

  constructor(house: House) {
    this.#timer = setInterval(() => this.#look(house), RATE_MS)
    this.#timer.unref()
  }

  of(hosted: Hosted): number {
    return this.#last.get(hosted)?.rate ?? 0
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(house: House): void {
    const now = performance.now()
    const seconds = (now - this.#lookedAt) / 1000
    this.#lookedAt = now
    this.#last = new Map(
      house.list().map((hosted) => {
        const { adds } = hosted.meters
        return [hosted, { adds, rate: (adds - (this.#last.get(hosted)?.adds ?? 0)) / seconds }]
      }),
    )
  }
}
