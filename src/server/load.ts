// The load of a server between two samples: commands and requests per second, errors, and percentiles of their duration
// from the histogram that /metrics has. /v1/live and the history share it.
import { LATENCY_BOUNDS, type ServerInfo, type Way } from './info.ts'
import type { Load } from './load-values.ts'

/**
 * The duration below which this share of a histogram lies, interpolated within its bucket as Prometheus does; past the last
 * bound, that bound. Null for an empty histogram.
 */
export function percentile(counts: ArrayLike<number>, share: number): number | null {
  let total = 0
  for (let i = 0; i < counts.length; i++) total += counts[i]!
  if (total <= 0) return null
  const rank = share * total
  let below = 0
  for (const [i, high] of LATENCY_BOUNDS.entries()) {
    const inside = counts[i]!
    if (inside > 0 && below + inside >= rank) {
      const low = LATENCY_BOUNDS[i - 1] ?? 0
      return low + ((high - low) * Math.max(0, rank - below)) / inside
    }
    below += inside
  }
  return LATENCY_BOUNDS.at(-1)!
}

interface Counts {
  readonly at: number
  readonly answered: Readonly<Record<Way, number>>
  readonly errors: Readonly<Record<Way, number>>
  readonly refused: number
  readonly durations: Readonly<Record<Way, Float64Array>>
}

export class LoadMeter {
  readonly #info: ServerInfo
  #last: Counts

  /** `at`: the current time in milliseconds, from which the first interval is counted. */
  constructor(info: ServerInfo, at: number) {
    this.#info = info
    this.#last = this.#read(at)
  }

  /** The load since the last call. */
  take(at: number): Load {
    const before = this.#last
    const now = this.#read(at)
    this.#last = now
    const seconds = (at - before.at) / 1000
    const perSecond = (count: number) => (seconds > 0 ? count / seconds : null)
    const durations = (way: Way) => now.durations[way].map((count, i) => count - before.durations[way][i]!)
    const [resp, http] = [durations('resp'), durations('http')]
    return {
      respPerSecond: perSecond(now.answered.resp - before.answered.resp),
      httpPerSecond: perSecond(now.answered.http - before.answered.http),
      respErrorsPerSecond: perSecond(now.errors.resp - before.errors.resp),
      httpErrorsPerSecond: perSecond(now.errors.http - before.errors.http),
      refusedPerSecond: perSecond(now.refused - before.refused),
      respP50: percentile(resp, 0.5),
      respP99: percentile(resp, 0.99),
      httpP50: percentile(http, 0.5),
      httpP99: percentile(http, 0.99),
    }
  }

  #read(at: number): Counts {
    const { answered, errors, refused, latencies } = this.#info
    return {
      at,
      answered: { ...answered },
      errors: { ...errors },
      refused,
      durations: { resp: latencies.resp.counts.slice(), http: latencies.http.counts.slice() },
    }
  }
}
