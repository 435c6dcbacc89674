/// <reference lib="esnext.disposable" preserve="true" />
// The one interface of all sieves, in memory, on disk and on a cluster. It is the asynchronous form: await what a verb
// returns. A sieve in memory answers at the call, the others with a promise.
import type { Step } from './canonical/explain.ts'
import type { Profile } from './canonical/profiles.ts'
import type { LayerMeasure, LayerVerdict } from './filters/filter.ts'
import type { StoreInfo } from './journal.ts'
import type { Items } from './url-input.ts'

/** A value, or a promise of it: `await` takes both. */
export type Answer<T> = T | Promise<T>

/** What every sieve reports of itself. */
export interface AnyStats {
  /** What remembers. */
  readonly filter: string
  /** The name of the profile. */
  readonly profile: string
  /** Distinct URLs remembered: those answered "new". Null while they are counted, after a crash (`ExactSieve`). */
  readonly urls: number | null
  /** URLs answered "seen" by an add. */
  readonly seen: number
  /** Lines that are not URLs: their keys are the lines themselves. */
  readonly invalid: number
  /** Memory of the filter and caches; on a cluster, an estimate of the memory there. */
  readonly sizeBytes: number
  /** The chance that a new URL is answered "seen" now; null where it cannot be known: `noPromise` says why. */
  readonly expectedRate: number | null
}

/** What a sieve in memory, or on a cluster, reports of itself. */
export interface Stats extends AnyStats {
  /** The name of the hash, or the names of several. */
  readonly hash: string
  /** Distinct URLs it remembers, by its own verdicts. */
  readonly urls: number
  /** `urls` is an estimate from the bits: filters of bits were merged, and some URLs may have been in both. */
  readonly urlsEstimated?: boolean
  /** Null while there is no URL. */
  readonly bitsPerUrl: number | null
  /** Share of bits or slots in use. */
  readonly fill: number
  /** The rate it was sized for, at `expectedUrls`; null when sized by m and k without expectedUrls, or with `noPromise`. */
  readonly promisedRate: number | null
  /** Why it promises no rate: its filter, or its hash, cannot keep one. */
  readonly noPromise?: string
  /** True when it holds more URLs than it was sized for, or its hash is too narrow for any: its rate is above what was promised. */
  readonly pastCapacity: boolean
  /** Layered filters: fill and estimated distinct entries of each layer. */
  readonly layers?: readonly LayerMeasure[]
  /** Where a paper's formula and ours differ: further estimates of the rate, by name. */
  readonly rates?: Readonly<Record<string, number>>
  /** Of a stored sieve: where and how. */
  readonly store?: StoreInfo
}

/** How a URL becomes a key, and its verdict. */
export interface Explanation {
  /** The URL as it was given. */
  readonly url: string
  /** What the URL is remembered by: URLs with one key are one page. */
  readonly key: string
  /** False: the line is not a URL, and its key is the line itself. */
  readonly isUrl: boolean
  /** The rules of the profile in order, with what each changed. */
  readonly steps: readonly Step[]
  /** What `add` would answer now. */
  readonly verdict: 'new' | 'seen'
  /** Of a layered filter: what each layer answers for its part of the key. */
  readonly layers?: readonly LayerVerdict[]
  /** Of a layered filter: the first layer that does not know its part, or the last one if all do. */
  readonly decidedBy?: string
}

/** How an add takes effect. */
export interface AddOptions {
  /**
   * False: new URLs are remembered for good by `confirm`, when they were delivered. Until then this sieve answers "seen" for them, and
   * they are new again to whoever opens it next. Default true. Without effect where nothing outlives the process.
   */
  readonly confirm?: boolean
}

/**
 * Answers "have I seen this URL?". `Sieve`, `ExactSieve` and `RedisSieve` are such. Which way a verb errs depends on what
 * remembers: never towards "new" in memory and on disk; towards "seen" at `stats().expectedRate`, and where the profile's
 * rules merge two pages. Every verb throws, or rejects with, a SieveError for input of another type before anything is
 * marked. A call with many URLs that fails on the way has the verdicts that stand in `error.answered`.
 */
export interface AnySieve {
  /** How a URL becomes a key. */
  readonly profile: Profile
  /** Marks a URL. True: it is new. False: it was seen, or the sieve errs. */
  add(url: string, options?: AddOptions): Answer<boolean>
  /** Whether a URL was seen. Marks nothing. */
  has(url: string): Answer<boolean>
  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
  addMany(urls: readonly string[], options?: AddOptions): Answer<Uint8Array>
  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasMany(urls: readonly string[]): Answer<Uint8Array>
  /** Marks newline-separated lines without making strings: one verdict each, in order, 1 new and 0 seen. */
  addLines(bytes: Uint8Array, options?: AddOptions): Answer<Uint8Array>
  /** Whether each of the newline-separated lines was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasLines(bytes: Uint8Array): Answer<Uint8Array>
  /** Marks items that lie in one buffer, any bytes: one verdict each, in order, 1 new and 0 seen. */
  addItems(items: Items, options?: AddOptions): Answer<Uint8Array>
  /** Whether each item of one buffer was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasItems(items: Items): Answer<Uint8Array>
  /** What was added with `confirm: false` was delivered: these URLs, or all. */
  confirm?(urls?: readonly string[]): Answer<void>
  /** Forgets a URL: true when it was remembered. Absent where the filter cannot delete. */
  delete?(url: string): Answer<boolean>
  /** Forgets many URLs: in order, 1 was remembered and 0 was not. Absent where the filter cannot delete. */
  deleteMany?(urls: readonly string[]): Answer<Uint8Array>
  /** Forgets items of one buffer, any bytes: in order, 1 was remembered and 0 was not. Absent also from ExactSieve. */
  deleteItems?(items: Items): Answer<Uint8Array>
  /** The key, what each rule did, and the verdict an add would get. Marks and counts nothing. */
  explain(url: string): Answer<Explanation>
  /** Counts, size and rate at this moment. */
  stats(): Answer<AnyStats>
  /** Puts everything where it is kept and releases it. */
  close(): Promise<void>
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}
