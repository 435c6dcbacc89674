// Counts of the whole server: RESP and HTTP update them; INFO, /metrics and the page show them.
import { randomBytes } from 'node:crypto'
import { RepeatedCalls } from './repeated-calls.ts'
import { Unread } from './unread.ts'

export type Way = 'resp' | 'http'

/** Upper bounds of the histogram's buckets, in seconds; a last bucket has everything above. */
export const LATENCY_BOUNDS = [
  0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
  0.5, 1, 2.5, 10,
] as const

/** A histogram of the duration of commands or requests. */
export class Latencies {
  readonly counts = new Float64Array(LATENCY_BOUNDS.length + 1)
  count = 0
  seconds = 0

  /** `times`: the number of commands that arrived and were answered together. */
  observe(seconds: number, times = 1): void {
    let bucket = 0
    while (bucket < LATENCY_BOUNDS.length && seconds > LATENCY_BOUNDS[bucket]!) bucket++
    this.counts[bucket]! += times
    this.count += times
    this.seconds += seconds * times
  }
}

export interface ServerInfo {
  readonly version: string
  readonly startedAt: Date
  /** 40 hexadecimal digits, at random. */
  readonly runId: string
  /** Currently open. */
  readonly connections: Record<Way, number>
  readonly latencies: Readonly<Record<Way, Latencies>>
  /** Since the start: commands or requests answered, those answered with an error, and connections refused. */
  readonly answered: Record<Way, number>
  readonly errors: Record<Way, number>
  refused: number
  /** Calls with a name of their own, whose answers are kept. */
  readonly repeated: RepeatedCalls
  readonly unread: Unread
}

/** Default for the replies that all clients together may leave unread. */
export const MOST_UNREAD_BYTES = 64 * 1024 * 1024

/** `keptBytes`: memory for the answers of calls that may be repeated. */
export function serverInfo(
  version: string,
  mostUnreadBytes = MOST_UNREAD_BYTES,
  keptBytes?: number,
): ServerInfo {
  return {
    version,
    startedAt: new Date(),
    runId: randomBytes(20).toString('hex'),
    connections: { resp: 0, http: 0 },
    latencies: { resp: new Latencies(), http: new Latencies() },
    answered: { resp: 0, http: 0 },
    errors: { resp: 0, http: 0 },
    refused: 0,
    repeated: new RepeatedCalls(keptBytes),
    unread: new Unread(mostUnreadBytes),
  }
}
