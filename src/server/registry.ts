// The sieves of a server, by name: what the ways to ask (RESP, HTTP) know of them. `LocalRegistry` keeps them in this
// process, in memory or in a folder; `src/redis` can put a cluster behind the same interface.
import type { Explanation, FilterName, HashName, Items, Plan, ProfileName, Stats } from '../index.ts'
import type { FilterOptions } from '../options/filter-options.ts'
import type { Faults } from './faults.ts'
import type { Meters } from './meters.ts'

/** Verdicts at once from a sieve in this process, later from one on another machine. */
export type Answers<T> = T | Promise<T>

/** Items whose bytes may change when the call returns, unless they are kept: who answers later copies them first. */
export interface LentItems extends Items {
  /** Nobody changes the bytes before the answer is there. */
  readonly isKept?: boolean
}

/** How a sieve is created: the options of its filter, and these. */
export interface SieveSpec extends Omit<FilterOptions, 'features'> {
  readonly filter?: FilterName
  readonly profile?: ProfileName
  readonly hash?: HashName
  readonly features?: string
  /** The options of the filter `window`, as earlier versions nest them. */
  readonly window?: Readonly<Record<string, number>>
}

/** What BF.RESERVE said, for BF.INFO and for growth. */
export interface BloomSpec {
  readonly capacity: number
  readonly errorRate: number
  /** 0: NONSCALING. */
  readonly expansion: number
}

/** One sieve of a server. Errs as its filter does. */
export interface ServedSieve {
  readonly name: string
  /** Made by BF.* (items untouched, RedisBloom's manners) or as a sieve of ours. */
  readonly kind: 'sieve' | 'bloom'
  readonly bloom?: BloomSpec
  readonly createdAt: Date
  readonly meters: Meters
  /** Calls so far that may have changed what it remembers, by any client; for WATCH. Absent when not known here. */
  readonly writes?: number
  /** How large it was planned, where that is known. */
  readonly plan?: Plan
  /** Marks: 1 new, 0 seen. */
  add(items: LentItems): Answers<Uint8Array>
  /** Throws when there is no memory for so many more items. Absent where that is not known before. */
  readonly reserve?: (items: number) => void
  /** Asks, marks nothing: 1 seen, 0 not. */
  has(items: LentItems): Answers<Uint8Array>
  explain(url: string): Answers<Explanation>
  stats(): Answers<Stats>
  /**
   * Forgets URLs: 1 was remembered, 0 not. Absent when the filter cannot. An error on the way has the answers for the
   * first URLs in `answered`: those are forgotten.
   */
  readonly forget?: (urls: readonly string[]) => Answers<Uint8Array>
  /** Whether anything was seen under a folder. Absent when the filter cannot tell. */
  readonly under?: (folder: string) => Answers<boolean>
  /** Durable now; nothing to do for a sieve in memory. */
  save(): Promise<void>
  /** Writes a .sieve file, for BF.SCANDUMP. Absent when the sieve is not in this process. */
  readonly dump?: (path: string) => Promise<void>
}

export interface SieveRegistry {
  /** What is wrong with the sieves now, for /readyz, /metrics and the page. */
  readonly faults: Faults
  /** Other servers change the same sieves, unseen by this one. */
  readonly isShared?: boolean
  get(name: string): ServedSieve | undefined
  list(): readonly ServedSieve[]
  /** Throws a SieveError when the name is taken, the options cannot be, or the memory for all sieves is spent. */
  create(name: string, spec: SieveSpec, bloom?: BloomSpec): Promise<ServedSieve>
  drop(name: string): Promise<boolean>
  /** Makes a sieve of a .sieve file, for BF.LOADCHUNK. Throws as `create` does. */
  readonly adopt?: (name: string, path: string, bloom: BloomSpec) => Promise<ServedSieve>
  /** A folder of this registry alone for dumps and loads, on the disk where the sieves are; none: a temporary one. */
  readonly transfers?: string | undefined
  /** Bytes of all sieves together. */
  readonly sizeBytes: number
  /** The most they may take, where there is a limit. */
  readonly limitBytes?: number
  /** Flushes and closes all. */
  close(): Promise<void>
}
