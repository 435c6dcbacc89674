// The sieves of a server by name, as RESP and HTTP see them. `LocalRegistry` has them in this process, in memory or in a
// folder; `ClusterRegistry` on Redis or a cluster.
import type { Explanation, FilterName, HashName, Items, Plan, ProfileName, Stats } from '../index.ts'
import type { FilterOptions } from '../options/filter-options.ts'
import type { LimitOptions } from '../options/limit-options.ts'
import type { CallMetrics } from '../redis/call-metrics.ts'
import type { ShapeLimitOptions } from '../shapes/shape-limits.ts'
import type { Faults } from './faults.ts'
import type { Meters } from './meters.ts'
import type { RecentShapes } from './recent-shapes.ts'

/** Synchronous from a sieve in this process, a promise from one on another machine. */
export type Answers<T> = T | Promise<T>

/** Items whose bytes may change when the call returns, unless `isKept`: an asynchronous callee copies them first. */
export interface LentItems extends Items {
  /** The bytes do not change before the answer. */
  readonly isKept?: boolean
}

/** How a sieve is created: the options of its filter, its limits by shape, and these. */
export interface SieveSpec extends Omit<FilterOptions, 'features'>, LimitOptions {
  readonly filter?: FilterName
  readonly profile?: ProfileName
  readonly hash?: HashName
  readonly features?: string
  /** The options of the filter `window`, as earlier versions nest them. */
  readonly window?: Readonly<Record<string, number>>
}

/** The parameters of BF.RESERVE, for BF.INFO and for growth. */
export interface BloomSpec {
  readonly capacity: number
  readonly errorRate: number
  /** 0: NONSCALING. */
  readonly expansion: number
}

/**
 * What created a sieve. `sieve`: SIEVE.CREATE or HTTP. `bloom`: BF.*, with RedisBloom's behaviour. `set`: SADD. The items of
 * the last two are compared byte by byte.
 */
export type SieveKind = 'sieve' | 'bloom' | 'set'

/** What a sieve is created for, other than for URLs: the parameters of BF.RESERVE, or a set. */
export type Purpose = BloomSpec | 'set'

/** With limits by shape: URLs that were new, by the limit that dropped them. */
export type ServedStats = Stats & { readonly dropped?: Readonly<Record<string, number>> }

/** One sieve of a server. Errs as its filter does. */
export interface ServedSieve {
  readonly name: string
  readonly kind: SieveKind
  readonly bloom?: BloomSpec
  /** Limits by shape that it was created with. */
  readonly limits?: ShapeLimitOptions
  readonly createdAt: Date
  /** When it will be dropped, in milliseconds since 1970. Absent: never. */
  readonly expiresAt?: number | undefined
  /** Time of the last add or query, in milliseconds since 1970. Absent when not known. */
  readonly usedAt?: number
  readonly meters: Meters
  /** Number of calls that may have changed it, by any client, for WATCH. Absent when not known in this process. */
  readonly writes?: number
  /** Absent when the sieve is not in this process. */
  readonly plan?: Plan
  /** Marks items: 1 new, 0 seen. */
  add(items: LentItems): Answers<Uint8Array>
  /** As `add`, or nothing when the new items do not all fit. Absent when that cannot be known in advance. */
  readonly addWhole?: (items: LentItems) => Answers<Uint8Array>
  /** Throws when there is no memory for `items` more. Absent when that cannot be known in advance. */
  readonly reserve?: (items: number) => void
  /** Marks nothing: 1 seen, 0 not. */
  has(items: LentItems): Answers<Uint8Array>
  explain(url: string): Answers<Explanation>
  stats(): Answers<ServedStats>
  /**
   * Forgets URLs: 1 was remembered, 0 not. Absent when the filter cannot. An error has the answers for the first URLs in
   * `answered`: those are forgotten.
   */
  readonly forget?: (urls: readonly string[]) => Answers<Uint8Array>
  /** Removes items, any bytes: 1 was remembered, 0 not. Absent when the filter cannot; an error as that of `forget`. */
  readonly remove?: (items: LentItems) => Answers<Uint8Array>
  /** Whether anything was seen under a folder. Absent when the filter cannot answer it. */
  readonly under?: (folder: string) => Answers<boolean>
  /** Writes it to disk; does nothing for a sieve in memory. */
  save(): Promise<void>
  /** Writes a .sieve file, for BF.SCANDUMP. Absent when the sieve is not in this process. */
  readonly dump?: (path: string) => Promise<void>
}

/** Where sieves are stored, and how much the disk has; in memory they are lost when the server stops. */
export interface Storage {
  readonly kind: 'memory' | 'folder' | 'redis'
  /** The folder, or host and port of Redis. */
  readonly place?: string
  /** Absent when the system does not report them. */
  readonly freeBytes?: number
  readonly totalBytes?: number
}

export interface SieveRegistry {
  /** The filters that its sieves can have. */
  readonly filters: readonly FilterName[]
  /** Of sieves on Redis: the calls to it. */
  readonly calls?: CallMetrics
  /** Current faults, for /readyz, /metrics and the page. */
  readonly faults: Faults
  /** Sieves are still being opened: `get` and `list` do not have all of them. */
  readonly isLoading?: boolean
  /** Other servers may change the same sieves, unseen by this one. */
  readonly isShared?: boolean
  get(name: string): ServedSieve | undefined
  list(): readonly ServedSieve[]
  /**
   * Throws a SieveError when the name is taken or set aside, an option is invalid, or the memory does not suffice.
   * `isByAdd`: for an add that follows; if the server is killed in between, there was no such sieve.
   */
  create(name: string, spec: SieveSpec, purpose?: Purpose, isByAdd?: boolean): Promise<ServedSieve>
  drop(name: string): Promise<boolean>
  /** Drops all sieves; those that are set aside stay. From the call on, none of them is found. */
  dropAll(): Promise<void>
  /**
   * Makes a sieve be dropped at this time, in milliseconds since 1970, or never; false when there is none. On disk before
   * the promise resolves. Absent when the sieves are not in this process.
   */
  readonly expire?: (name: string, at: number | undefined) => Promise<boolean>
  /**
   * Changes the name of a sieve. A sieve that has the new name is dropped, or, unless `isReplacing`, nothing is done. False:
   * nothing was done. As `expire`.
   */
  readonly rename?: (from: string, to: string, isReplacing: boolean) => Promise<boolean>
  /** Number of sieves dropped because their time had come. */
  readonly expired?: number
  /** Creates a sieve from a .sieve file, for BF.LOADCHUNK. Throws as `create` does. */
  readonly adopt?: (name: string, path: string, bloom: BloomSpec) => Promise<ServedSieve>
  /** A folder for dumps and loads that only this registry uses, on the same disk as the sieves; undefined: use a temporary one. */
  readonly transfers?: string | undefined
  /** Bytes of all sieves together. */
  readonly sizeBytes: number
  /** The most they may take, if there is a limit. */
  readonly limitBytes?: number
  /** Absent when they are not collected. */
  readonly shapes?: RecentShapes | undefined
  /** Absent when not known. */
  readonly storage?: () => Promise<Storage>
  /** Flushes and closes all sieves. */
  close(): Promise<void>
}
