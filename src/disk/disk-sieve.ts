// The sieve that is larger than memory: 64-bit keyed hashes in sorted runs on disk, with a table of the most recent ones in
// memory. Memory is bounded, whatever it holds. Verbs wait for their turn, so that what is called first takes effect first.
import type { AddOptions, AnySieve, AnyStats, Explanation } from '../any-sieve.ts'
import { explainKey } from '../canonical/explain.ts'
import type { Profile, ProfileChoice } from '../canonical/profiles.ts'
import { closedError, readOnlyError } from '../errors.ts'
import { checkNumber } from '../filters/filter.ts'
import type { Durability } from '../journal.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { Keyer } from '../keyer/keyer.ts'
import { copyUrlsOf, type Urls } from '../keyer/urls.ts'
import { SharedCalls } from '../shared-calls.ts'
import { checkUrl, type Items } from '../url-input.ts'
import { toSeen } from '../verdicts.ts'
import { DiskHashes } from './disk-hashes.ts'
import { DiskStore } from './disk-store.ts'
import { BYTES_PER_HASH } from './pending-table.ts'

/** Memory besides table and filters: buffers of runs, of a batch, and the table of passes. */
const BUFFER_BYTES = 24 * 1024 ** 2
/** Of the rest, what the filters of runs may take: enough for ten times as many URLs as the table has. */
const FILTER_SHARE = 1 / 2
const LEAST_BYTES = 25 * 1024 ** 2
const DEFAULT_BYTES = 256 * 1024 ** 2

/** `hold`: an add that waits for its confirmation. */
type Verb = 'add' | 'hold' | 'has'

/** The options of a sieve on disk. */
export interface DiskOptions {
  /** How a URL becomes a key: a profile's name, or a list of built-in rules. Default `web`; kept in the folder. */
  readonly profile?: ProfileChoice
  /** When an acknowledged URL is safe; default `interval`. */
  readonly durability?: Durability
  /** Memory of the sieve in bytes, at least 25 MiB; default 256 MiB. More of it makes fewer and larger runs, and filters for more of them. */
  readonly maxMemory?: number
  /** Opens without a lock, to query only. */
  readonly readOnly?: boolean
}

/** What a sieve on disk reports of itself. */
export interface DiskStats extends AnyStats {
  readonly filter: 'disk'
  /** Distinct URLs remembered: those answered "new". */
  readonly urls: number
  /** Its folder, and what is in it. */
  readonly store: {
    readonly path: string
    /** When an acknowledged URL is safe. */
    readonly durability: Durability
    /** Files of sorted hashes, and their bytes. */
    readonly runs: number
    readonly runBytes: number
    readonly logBytes: number
    /** URLs that wait for their confirmation. */
    readonly unconfirmed: number
  }
  /** Since it was opened: hashes looked up one by one, runs that were read for them, and passes over all runs. */
  readonly answers: { readonly lookups: number; readonly reads: number; readonly passes: number }
}

/**
 * Answers "have I seen this URL?" for more URLs than fit into memory, at about 5 bytes of disk per URL. Errs as `fingerprint`
 * does: towards "seen" with a chance of n / 2^64, never towards "new". After `kill -9` at any moment nothing acknowledged is
 * lost with durability `always` or `interval`; after power loss at most the last second with `interval`. Verbs take effect in
 * the order they are called, one at a time. It cannot delete.
 */
export class DiskSieve implements AnySieve {
  readonly profile: Profile
  readonly #store: DiskStore
  readonly #keyer: Keyer
  readonly #hashes: DiskHashes
  #last: Promise<unknown> = Promise.resolve()
  readonly #shared = new SharedCalls<Uint8Array>()
  #closing: Promise<void> | null = null

  private constructor(store: DiskStore, keyer: Keyer, hashes: DiskHashes) {
    this.profile = store.profile
    this.#store = store
    this.#keyer = keyer
    this.#hashes = hashes
  }

  /**
   * Opens the sieve of a folder, or creates it there. One process at a time. Throws a SieveError: `locked` when another process has
   * it open, `corrupt` when it is damaged, `option` for invalid options or another profile than it has.
   */
  static async open(folder: string, options: DiskOptions = {}): Promise<DiskSieve> {
    const { maxMemory = DEFAULT_BYTES } = options
    const isSize = (n: number) => Number.isSafeInteger(n) && n >= LEAST_BYTES
    checkNumber('maxMemory', maxMemory, isSize, `a whole number of at least ${LEAST_BYTES}`)
    const module = await compileKernel()
    const store = DiskStore.open(folder, options)
    let hashes: DiskHashes | undefined
    try {
      const kernel = Kernel.create(module)
      const keyer = new Keyer(kernel, store.profile, store.hash)
      const available = maxMemory - BUFFER_BYTES
      const tableBytes = store.isReadOnly ? tableOfReader(store, available) : (1 - FILTER_SHARE) * available
      const capacity = Math.floor(tableBytes / BYTES_PER_HASH)
      hashes = new DiskHashes(kernel, store, capacity, available - tableBytes)
      await hashes.restore()
      return new DiskSieve(store, keyer, hashes)
    } catch (error) {
      if (hashes) hashes.close()
      else for (const run of store.runs) run.close()
      store.close()
      throw error
    }
  }

  /** Marks a URL. True: it is new. False: it was seen. Adds that are called together share one write. */
  async add(url: string, options?: AddOptions): Promise<boolean> {
    return (await this.#share(addOf(options), url)) === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.#share('has', url)) === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
  async addMany(urls: readonly string[], options?: AddOptions): Promise<Uint8Array> {
    return this.#all({ strings: urls }, addOf(options))
  }

  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return toSeen(await this.#all({ strings: urls }, 'has'))
  }

  /** Marks newline-separated lines without making strings: one verdict each, in order, 1 new and 0 seen. */
  async addLines(bytes: Uint8Array, options?: AddOptions): Promise<Uint8Array> {
    return this.#all({ lines: bytes }, addOf(options))
  }

  /** Whether each of the newline-separated lines was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasLines(bytes: Uint8Array): Promise<Uint8Array> {
    return toSeen(await this.#all({ lines: bytes }, 'has'))
  }

  /** Marks items that lie in one buffer, any bytes: one verdict each, in order, 1 new and 0 seen. */
  async addItems(items: Items, options?: AddOptions): Promise<Uint8Array> {
    return this.#all({ items }, addOf(options))
  }

  /** Whether each item of one buffer was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasItems(items: Items): Promise<Uint8Array> {
    return toSeen(await this.#all({ items }, 'has'))
  }

  /** What was added with `confirm: false` was delivered: these URLs, or all. */
  async confirm(urls?: readonly string[]): Promise<void> {
    const copy = urls && copyUrlsOf({ strings: urls })
    await this.#turn(() => this.#hashes.confirm(copy && this.#keyer.hashesOf(copy).hashes))
  }

  /** The key, what each rule did, and the verdict an add would get. Marks and counts nothing. */
  async explain(url: string): Promise<Explanation> {
    checkUrl(url)
    return this.#turn(async () => {
      const { hashes } = this.#keyer.hashesOf({ strings: [url] })
      const [verdict] = await this.#hashes.has(hashes)
      return { url, ...explainKey(this.profile, url), verdict: verdict === 0 ? 'seen' : 'new' }
    })
  }

  stats(): DiskStats {
    const { seen, invalid, folder, durability, logBytes } = this.#store
    const { count, held, sizeBytes, runs, answers } = this.#hashes
    const ofRuns = { runs: runs.runs.length, runBytes: runs.bytes }
    return {
      filter: 'disk',
      profile: this.profile.name,
      urls: count,
      seen,
      invalid,
      sizeBytes,
      expectedRate: count / 2 ** 64,
      store: { path: folder, durability, ...ofRuns, logBytes, unconfirmed: held },
      answers: { ...answers },
    }
  }

  /** Puts all that was acknowledged on the disk, now. */
  sync(): Promise<void> {
    return this.#turn(async () => this.#store.sync())
  }

  /** Puts everything on the disk and lets another process open it. */
  close(): Promise<void> {
    this.#shared.end()
    this.#closing ??= this.#after(async () => {
      try {
        this.#store.close()
      } finally {
        this.#hashes.close()
      }
    })
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #all(urls: Urls, verb: Verb): Promise<Uint8Array> {
    const copy = copyUrlsOf(urls)
    return this.#turn(() => this.#answer(copy, verb))
  }

  async #answer(urls: Urls, verb: Verb): Promise<Uint8Array> {
    const isAdd = verb !== 'has'
    if (isAdd && this.#store.isReadOnly) {
      throw readOnlyError(this.#store.folder)
    }
    const { hashes, invalid } = this.#keyer.hashesOf(urls)
    const verdicts = await (isAdd ? this.#hashes.add(hashes, verb === 'hold') : this.#hashes.has(hashes))
    let seen = 0
    if (isAdd) for (const verdict of verdicts) seen += 1 - verdict
    this.#store.count(seen, invalid)
    return verdicts
  }

  // Runs a verb when all that were called before have ended.
  #turn<T>(verb: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(closedError(this.#store.folder))
    this.#shared.end()
    return this.#after(verb)
  }

  #after<T>(verb: () => Promise<T>): Promise<T> {
    const run = this.#last.then(verb)
    this.#last = run.catch(() => {})
    return run
  }

  // Single URLs that are called before their turn comes go together.
  async #share(verb: Verb, url: string): Promise<number> {
    checkUrl(url)
    const { answers, index } = this.#shared.join(verb, url, (urls) =>
      this.#turn(() => {
        this.#shared.end(urls)
        return this.#answer({ strings: urls }, verb)
      }),
    )
    return (await answers)[index]!
  }
}

const addOf = (options: AddOptions | undefined): Verb => (options?.confirm === false ? 'hold' : 'add')

// A reader adds nothing, but has no run to put a long log into: the log, with what a writer may add meanwhile, goes before filters.
function tableOfReader(store: DiskStore, available: number): number {
  return Math.min(available, Math.max(available / 8, 1.25 * BYTES_PER_HASH * store.mostLogged))
}
