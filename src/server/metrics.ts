// /metrics: the figures of a server for Prometheus, taken when they are asked for, in a registry of their own.
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { Stats } from '../index.ts'
import { LATENCY_BOUNDS, type ServerInfo, type Way } from './info.ts'
import type { ServedSieve, SieveRegistry } from './registry.ts'

interface Value {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

interface Row {
  readonly sieve: ServedSieve
  readonly stats: Stats
}

const RATE_MS = 1000
const WAYS: readonly Way[] = ['resp', 'http']

export class Metrics {
  readonly #metrics = new Registry()
  readonly #registry: SieveRegistry
  /** The sieves as this scrape sees them. */
  #rows: readonly Row[] = []
  readonly #rates: Rates
  #turns: Promise<void> = Promise.resolve()

  constructor(registry: SieveRegistry, info: ServerInfo, listeners: () => number) {
    this.#registry = registry
    this.#rates = new Rates(registry)
    collectDefaultMetrics({ register: this.#metrics })
    this.#countSieves()
    this.#measureSieves()
    const one = (value: number): Value[] => [{ labels: {}, value }]
    this.#add('info', 'The version that runs', 'gauge', () => [
      { labels: { version: info.version }, value: 1 },
    ])
    this.#add('sieves', 'Sieves', 'gauge', () => one(registry.list().length))
    this.#add('house_bytes', 'Bytes of all sieves', 'gauge', () => one(registry.sizeBytes))
    this.#add('faults', 'Faults that last now, by kind', 'gauge', () =>
      Object.entries(registry.faults.counts()).map(([kind, value]) => ({ labels: { kind }, value })),
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
    return this.#metrics.contentType
  }

  async text(): Promise<string> {
    this.#rows = await Promise.all(
      this.#registry.list().map(async (sieve) => ({ sieve, stats: await sieve.stats() })),
    )
    return this.#metrics.metrics()
  }

  close(): void {
    this.#rates.close()
    this.#metrics.clear()
  }

  #countSieves(): void {
    const count = (name: string, help: string, of: (row: Row) => number) =>
      this.#each(name, help, 'counter', of)
    count('adds_total', 'URLs added since the server started', ({ sieve }) => sieve.meters.adds)
    count('new_total', 'URLs answered new', ({ sieve }) => sieve.meters.fresh)
    count('seen_total', 'URLs answered seen by an add', ({ sieve }) => sieve.meters.seen)
    count('asks_total', 'URLs asked for without adding', ({ sieve }) => sieve.meters.asks)
  }

  #measureSieves(): void {
    const gauge = (name: string, help: string, of: (row: Row) => number | null | undefined) =>
      this.#each(name, help, 'gauge', of)
    gauge('adds_per_second', 'URLs added a second, of late', ({ sieve }) => this.#rates.of(sieve))
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
          : [{ labels: { sieve: shown(row.sieve.name) }, value }]
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
    this.#metrics.registerMetric(metric as unknown as Metric)
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
  #last = new Map<ServedSieve, { adds: number; rate: number }>()

  constructor(registry: SieveRegistry) {
    this.#timer = setInterval(() => this.#look(registry), RATE_MS)
    this.#timer.unref()
  }

  of(sieve: ServedSieve): number {
    return this.#last.get(sieve)?.rate ?? 0
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(registry: SieveRegistry): void {
    const now = performance.now()
    const seconds = (now - this.#lookedAt) / 1000
    this.#lookedAt = now
    this.#last = new Map(
      registry.list().map((sieve) => {
        const { adds } = sieve.meters
        return [sieve, { adds, rate: (adds - (this.#last.get(sieve)?.adds ?? 0)) / seconds }]
      }),
    )
  }
}
