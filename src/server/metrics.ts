// /metrics: the metrics of a server for Prometheus, computed at each scrape.
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { CALL_BOUNDS, type CallCounts, type CallMetrics } from '../redis/call-metrics.ts'
import { turns } from '../store/pace.ts'
import { LATENCY_BOUNDS, type ServerInfo, type Way } from './info.ts'
import { forEachSieve } from './parts.ts'
import type { ServedSieve, ServedStats, SieveRegistry, Storage } from './registry.ts'

interface Value {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

interface Row {
  readonly sieve: ServedSieve
  readonly stats: ServedStats
}

const RATE_MS = 1000
const WAYS: readonly Way[] = ['resp', 'http']

export class Metrics {
  readonly #metrics = new Registry()
  readonly #registry: SieveRegistry
  /** The sieves and their stats in this scrape. */
  #storage: Storage | undefined
  #rows: readonly Row[] = []
  readonly #rates: Rates
  #text: Promise<Buffer> | null = null

  constructor(registry: SieveRegistry, info: ServerInfo, listeners: () => number) {
    this.#registry = registry
    this.#rates = new Rates(registry)
    collectDefaultMetrics({ register: this.#metrics })
    this.#countSieves()
    this.#measureSieves()
    const one = (value: number): Value[] => [{ labels: {}, value }]
    this.#add('info', 'Version of the server', 'gauge', () => [
      { labels: { version: info.version }, value: 1 },
    ])
    this.#add('sieves', 'Number of sieves', 'gauge', () => one(registry.list().length))
    this.#add('sieves_bytes', 'Bytes of all sieves', 'gauge', () => one(registry.sizeBytes))
    const known = (value: number | undefined): Value[] => (value === undefined ? [] : one(value))
    this.#add('memory_limit_bytes', 'The most that all sieves may take', 'gauge', () =>
      known(registry.limitBytes),
    )
    this.#add('disk_free_bytes', 'Free bytes of the disk with the sieves', 'gauge', () =>
      known(this.#storage?.freeBytes),
    )
    this.#add('disk_bytes', 'Bytes of the disk with the sieves', 'gauge', () =>
      known(this.#storage?.totalBytes),
    )
    this.#add('faults', 'Current faults by kind', 'gauge', () =>
      Object.entries(registry.faults.counts()).map(([kind, value]) => ({ labels: { kind }, value })),
    )
    this.#add('live_listeners', 'Listeners of /v1/live', 'gauge', () => one(listeners()))
    const byWay = (counts: Readonly<Record<Way, number>>): Value[] =>
      WAYS.map((way) => ({ labels: { way }, value: counts[way] }))
    this.#add('connections', 'Open connections', 'gauge', () => byWay(info.connections))
    this.#add('answered_total', 'Commands and requests answered', 'counter', () => byWay(info.answered))
    this.#add('errors_total', 'Commands and requests answered with an error', 'counter', () =>
      byWay(info.errors),
    )
    this.#add('refused_total', 'Connections refused', 'counter', () => one(info.refused))
    const { repeated } = info
    this.#add('repeated_calls_total', 'Calls sent again and answered from memory', 'counter', () =>
      one(repeated.repeated),
    )
    this.#add('refused_calls_total', 'Calls refused because their answer could not be kept', 'counter', () =>
      one(repeated.refused),
    )
    this.#add('kept_answers', 'Answers kept for calls that are sent again', 'gauge', () =>
      one(repeated.count),
    )
    this.#add('kept_answers_bytes', 'Bytes of those answers', 'gauge', () => one(repeated.sizeBytes))
    this.#add('unread_bytes', 'Bytes of replies that clients have not read', 'gauge', () =>
      one(info.unread.bytes),
    )
    this.#add('unread_ended_total', 'Clients disconnected for leaving their replies unread', 'counter', () =>
      one(info.unread.ended),
    )
    this.#add('request_seconds', 'Duration of commands and requests', 'histogram', () =>
      WAYS.flatMap((way) => {
        const { counts, count, seconds } = info.latencies[way]
        return buckets('request_seconds', LATENCY_BOUNDS, counts, count, seconds, { way })
      }),
    )
    if (registry.calls) this.#countCalls(registry.calls)
  }

  // Of a server whose sieves are on Redis: its calls to it.
  #countCalls(calls: CallMetrics): void {
    const add = (name: string, help: string, values: (counts: CallCounts) => Value[]) =>
      this.#add(`redis_${name}`, help, name === 'call_seconds' ? 'histogram' : 'counter', () =>
        values(calls.counts()),
      )
    const one = (value: number): Value[] => [{ labels: {}, value }]
    add('failed_calls_total', 'Calls to Redis without an answer in the end', ({ failed }) => one(failed))
    add('retries_total', 'Calls to Redis that were sent again, by reason', ({ retries }) =>
      Object.entries(retries).map(([reason, value]) => ({ labels: { reason }, value })),
    )
    add('failovers_total', 'Nodes of Redis that were replaced while they were called', (counts) =>
      one(counts.failovers),
    )
    add('moved_total', 'Calls whose slot had moved to another node of Redis', ({ moved }) => one(moved))
    add('unknown_total', 'URLs without a verdict', ({ unknown }) => one(unknown))
    add('call_seconds', 'Duration of calls to Redis, with retries', ({ histogram, calls: count, seconds }) =>
      buckets('redis_call_seconds', CALL_BOUNDS, histogram, count, seconds, {}),
    )
  }

  get contentType(): string {
    return this.#metrics.contentType
  }

  /** Scrapes at the same time share one text. */
  text(): Promise<Buffer> {
    this.#text ??= this.#scrape().finally(() => {
      this.#text = null
    })
    return this.#text
  }

  async #scrape(): Promise<Buffer> {
    this.#storage = await this.#registry.storage?.()
    this.#rows = await forEachSieve(this.#registry, async (sieve) => ({ sieve, stats: await sieve.stats() }))
    return Buffer.from(await this.#metrics.metrics())
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
    count('asks_total', 'URLs queried without adding', ({ sieve }) => sieve.meters.asks)
    this.#add('dropped_total', 'New URLs that limits by shape dropped', 'counter', () =>
      this.#rows.flatMap(({ sieve, stats }) =>
        Object.entries(stats.dropped ?? {}).map(([limit, value]) => ({
          labels: { sieve: labelOf(sieve.name), limit },
          value,
        })),
      ),
    )
  }

  #measureSieves(): void {
    const gauge = (name: string, help: string, of: (row: Row) => number | null | undefined) =>
      this.#each(name, help, 'gauge', of)
    gauge('adds_per_second', 'URLs added per second, over the last second', ({ sieve }) =>
      this.#rates.of(sieve),
    )
    gauge('urls', 'Distinct URLs remembered', ({ stats }) => stats.urls)
    gauge('size_bytes', 'Bytes of the filter', ({ stats }) => stats.sizeBytes)
    gauge('fill', 'Share of bits or slots in use', ({ stats }) => stats.fill)
    gauge(
      'expected_rate',
      'Current probability that a new URL is answered seen',
      ({ stats }) => stats.expectedRate,
    )
    gauge('promised_rate', 'The false-positive rate it was created for', ({ stats }) => stats.promisedRate)
    gauge('past_capacity', '1 when it holds more URLs than it was created for', ({ stats }) =>
      Number(stats.pastCapacity),
    )
    gauge('log_bytes', 'Bytes of the log', ({ stats }) => stats.store?.logBytes)
    gauge('snapshot_bytes', 'Bytes of the last snapshot', ({ stats }) => stats.store?.snapshotBytes)
    gauge(
      'snapshotting',
      '1 while a snapshot is being written',
      ({ stats }) => stats.store && Number(stats.store.snapshotting),
    )
  }

  // A metric per sieve; sieves without a value are left out.
  #each(name: string, help: string, type: Type, of: (row: Row) => number | null | undefined): void {
    this.#add(name, help, type, () =>
      this.#rows.flatMap((row) => {
        const value = of(row)
        return value === null || value === undefined
          ? []
          : [{ labels: { sieve: labelOf(row.sieve.name) }, value }]
      }),
    )
  }

  // prom-client's own classes store their values; these metrics read them where they are counted.
  #add(name: string, help: string, type: Type, values: () => Value[]): void {
    const full = `urlsieve_${name}`
    // With a thousand sieves a metric has a thousand values.
    const get = async () => {
      await turns.wait()
      return { name: full, help, type, values: values() }
    }
    const metric = { name: full, get }
    this.#metrics.registerMetric(metric as unknown as Metric)
  }
}

// Bytes of a name that are not UTF-8 are lone surrogates, which would all be encoded alike: two sieves would share a label.
const labelOf = (name: string) =>
  name.replaceAll(/[\udc80-\udcff]/gu, (c) => `\\x${(c.charCodeAt(0) & 255).toString(16)}`)

type Type = 'counter' | 'gauge' | 'histogram'

// A histogram from counts that are not cumulated.
function buckets(
  name: string,
  bounds: readonly number[],
  counts: ArrayLike<number>,
  count: number,
  seconds: number,
  labels: Readonly<Record<string, string>>,
): Value[] {
  const metricName = `urlsieve_${name}`
  let sum = 0
  const bounded = bounds.map((le, i) => {
    sum += counts[i]!
    return { metricName: `${metricName}_bucket`, labels: { le, ...labels }, value: sum }
  })
  return [
    ...bounded,
    { metricName: `${metricName}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${metricName}_sum`, labels, value: seconds },
    { metricName: `${metricName}_count`, labels, value: count },
  ]
}

/** URLs added per second to each sieve, between the last two samples. */
class Rates {
  readonly #timer: NodeJS.Timeout
  #sampledAt = performance.now()
  #last = new Map<ServedSieve, { adds: number; rate: number }>()

  constructor(registry: SieveRegistry) {
    this.#timer = setInterval(() => this.#sample(registry), RATE_MS)
    this.#timer.unref()
  }

  of(sieve: ServedSieve): number {
    return this.#last.get(sieve)?.rate ?? 0
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #sample(registry: SieveRegistry): void {
    const now = performance.now()
    const seconds = (now - this.#sampledAt) / 1000
    this.#sampledAt = now
    this.#last = new Map(
      registry.list().map((sieve) => {
        const { adds } = sieve.meters
        return [sieve, { adds, rate: (adds - (this.#last.get(sieve)?.adds ?? 0)) / seconds }]
      }),
    )
  }
}
