// What the calls to Redis cost and what went wrong with them: counts, a histogram of durations, and an event for each
// thing that an operator may want to see. Counting takes no memory per call.
import { EventEmitter } from 'node:events'

/** Why a call was sent again. */
export type RetryReason =
  /** No answer within `timeoutMs`. */
  | 'silence'
  /** The connection broke, or there was none. */
  | 'connection'
  /** A slot is being moved (TRYAGAIN). */
  | 'tryagain'
  /** The cluster has no node for the slot (CLUSTERDOWN), or the node is a replica now (READONLY, MASTERDOWN, FAILOVER). */
  | 'failover'
  /** The server is loading, busy, or has too few replicas. */
  | 'busy'

export interface RetryEvent {
  /** The first key of the call. */
  readonly key: string
  readonly reason: RetryReason
  readonly message: string
}

export interface CallEvent {
  readonly key: string
  readonly ms: number
  /** How often it was sent again. */
  readonly retries: number
  /** Null when it was answered. */
  readonly error: Error | null
}

export interface OwnerEvent {
  readonly key: string
  readonly from: string
  readonly to: string
}

interface Events {
  call: [CallEvent]
  retry: [RetryEvent]
  /** Another node has taken over from one that did not answer. */
  failover: [OwnerEvent]
  /** A slot is on another node, which had not failed. */
  moved: [OwnerEvent]
  /** URLs of a call that failed: they may be marked or not. */
  unknown: [{ readonly urls: number; readonly error: Error }]
}

/** Upper bounds of the histogram's buckets, in seconds; a last bucket has everything above. */
export const CALL_BOUNDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

export interface CallCounts {
  readonly calls: number
  /** Calls that got no answer in the end. */
  readonly failed: number
  readonly retries: Readonly<Record<RetryReason, number>>
  readonly failovers: number
  readonly moved: number
  /** URLs without a verdict. */
  readonly unknown: number
  /** Durations of calls, with all their retries. */
  readonly seconds: number
  readonly longestSeconds: number
  /** Calls up to each of CALL_BOUNDS, and above the last; not cumulated. */
  readonly histogram: readonly number[]
}

/** Nodes whose successors are remembered, to count a failover once and not for every call that met it. */
const MOST_SUCCESSORS = 1000

export class CallMetrics extends EventEmitter<Events> {
  readonly #retries = { silence: 0, connection: 0, tryagain: 0, failover: 0, busy: 0 }
  readonly #histogram = new Float64Array(CALL_BOUNDS.length + 1)
  readonly #successors = new Map<string, string>()
  #calls = 0
  #failed = 0
  #failovers = 0
  #moved = 0
  #unknown = 0
  #seconds = 0
  #longestSeconds = 0

  /** The counts since this object exists. */
  counts(): CallCounts {
    return {
      calls: this.#calls,
      failed: this.#failed,
      retries: { ...this.#retries },
      failovers: this.#failovers,
      moved: this.#moved,
      unknown: this.#unknown,
      seconds: this.#seconds,
      longestSeconds: this.#longestSeconds,
      histogram: Array.from(this.#histogram),
    }
  }

  /** Counts a call that has ended. */
  observeCall(key: string, ms: number, retries: number, error: Error | null): void {
    const seconds = ms / 1000
    let bucket = 0
    while (bucket < CALL_BOUNDS.length && seconds > CALL_BOUNDS[bucket]!) bucket++
    this.#histogram[bucket]!++
    this.#calls++
    this.#seconds += seconds
    this.#longestSeconds = Math.max(this.#longestSeconds, seconds)
    if (error) this.#failed++
    if (this.listenerCount('call') > 0) this.emit('call', { key, ms, retries, error })
  }

  observeRetry(key: string, reason: RetryReason, message: string): void {
    this.#retries[reason]++
    this.emit('retry', { key, reason, message })
  }

  /** Counts a change of the node that owns a key; `hasFailed`: the earlier one did not answer. */
  observeOwner(key: string, from: string, to: string, hasFailed: boolean): void {
    if (!hasFailed) {
      this.#moved++
      this.emit('moved', { key, from, to })
      return
    }
    if (this.#successors.get(from) === to) return
    if (this.#successors.size >= MOST_SUCCESSORS) this.#successors.clear()
    this.#successors.set(from, to)
    this.#successors.delete(to)
    this.#failovers++
    this.emit('failover', { key, from, to })
  }

  observeUnknown(urls: number, error: Error): void {
    this.#unknown += urls
    this.emit('unknown', { urls, error })
  }
}
