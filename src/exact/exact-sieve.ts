// The sieve that never errs: every key is on disk in LevelDB. Memory is bounded: a filter, a cache, LevelDB's own buffers,
// and the batch at hand. Verbs wait for their turn, so that what is called first takes effect first.
import { join } from 'node:path'
import type { AddOptions, AnySieve, AnyStats, Explanation } from '../any-sieve.ts'
import { explainKey } from '../canonical/explain.ts'
import { type Profile, resolveProfile } from '../canonical/profiles.ts'
import { closedError, type SieveError } from '../errors.ts'
import type { Delivered, Durability } from '../journal.ts'
import { copyUrlsOf, type Urls } from '../keyer/urls.ts'
import { answerEach, SharedCalls } from '../shared-calls.ts'
import { CountsFile, readCounts } from '../store/counts.ts'
import { takeLock } from '../store/lock.ts'
import { checkUrl, type Items } from '../url-input.ts'
import { toSeen } from '../verdicts.ts'
import { identify, prepareFolder } from './identity.ts'
import { KeyFilter } from './key-filter.ts'
import { folderUrl } from './key-layout.ts'
import { type Answers, filterName, KeySet } from './key-set.ts'
import { KeyStore } from './key-store.ts'
import { checkOptions, type ExactOptions } from './options.ts'

const SYNC_MS = 1000

/** What an exact sieve reports of itself. */
export interface ExactStats extends AnyStats {
  readonly filter: 'exact'
  readonly profile: string
  /** Distinct URLs remembered; null while they are counted, after a crash. */
  readonly urls: number | null
  /** URLs answered "seen" by an add. */
  readonly seen: number
  /** Lines that are not URLs: their keys are the lines themselves. */
  readonly invalid: number
  /** Always 0: it never errs. */
  readonly expectedRate: 0
  /** Memory of the filter and the cache; LevelDB's buffers take up to 32 MiB besides. */
  readonly sizeBytes: number
  /** Which part answered, since it was opened. `disk` cost a read. */
  readonly answers: Readonly<Answers>
  /** The filter in memory, which answers "certainly new" without a read. */
  readonly keyFilter: {
    readonly filter: string
    /** False while it is filled again, after a crash: until then every URL that is not in the cache costs a read. */
    readonly isReady: boolean
    readonly sizeBytes: number
    /** The share of new URLs that cost a read in vain. */
    readonly rate: number
  }
  /** The latest keys, in memory. */
  readonly cache: { readonly entries: number; readonly sizeBytes: number }
  /** Its folder, and when an acknowledged URL is safe there. */
  readonly store: {
    readonly path: string
    readonly durability: Durability
    /** URLs that wait for their confirmation. */
    readonly unconfirmed: number
  }
}

/**
 * Answers "have I seen this URL?", and marks it, without error in either direction; only its profile's rules merge
 * pages. After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval`; after
 * power loss at most the last second with `interval`. Verbs take effect in the order they are called, one at a time:
 * two calls in flight never both get "new". A call that fails has marked nothing.
 */
export class ExactSieve implements AnySieve {
  readonly profile: Profile
  /** @internal Where what is confirmed was delivered to. */
  delivered: Delivered | null = null
  readonly #folder: string
  readonly #durability: Durability
  readonly #store: KeyStore
  readonly #keys: KeySet
  readonly #release: () => void
  readonly #countsFile: CountsFile
  readonly #timer: NodeJS.Timeout | undefined
  #seen: number
  #invalid: number
  #trouble: Error | null = null
  #isSyncing = false
  #last: Promise<unknown> = Promise.resolve()
  readonly #shared = new SharedCalls<ArrayLike<number | SieveError>>()
  #closing: Promise<void> | null = null

  private constructor(
    folder: string,
    durability: Durability,
    store: KeyStore,
    keys: KeySet,
    release: () => void,
  ) {
    this.profile = keys.filter.keyer.profile
    this.#folder = folder
    this.#durability = durability
    this.#store = store
    this.#keys = keys
    this.#release = release
    const counts = readCounts(folder) ?? keys.filter.savedCounts
    this.#seen = counts.seen
    this.#invalid = counts.invalid
    this.#countsFile = new CountsFile(folder, counts)
    if (!keys.filter.isReady) {
      keys.beginFilling((error) => {
        this.#trouble = error
      })
    }
    if (durability === 'interval') {
      this.#timer = setInterval(() => this.#syncLater(), SYNC_MS)
      this.#timer.unref()
    }
  }

  /**
   * Opens the exact sieve of a folder, or makes one there. One process at a time. Throws a SieveError: `locked` when another
   * process has it open, `corrupt` when it is damaged, `option` for invalid options or another profile than it has.
   */
  static async open(folder: string, options: ExactOptions = {}): Promise<ExactSieve> {
    const { durability, cacheEntries, verify, repair, size } = checkOptions(options)
    prepareFolder(folder, repair)
    const release = takeLock(join(folder, 'lock'))
    let store: KeyStore | undefined
    try {
      store = await KeyStore.open(join(folder, 'keys'), { verify, repair })
      const { meta, isEmpty } = await identify(folder, store, options.profile, repair)
      const { session } = meta
      const profile = { ...resolveProfile(meta.profile.rules as never), name: meta.profile.name }
      const path = join(folder, filterName(session))
      const saved = repair ? null : await KeyFilter.restore(path, profile, size)
      const filter = saved ?? (await KeyFilter.create(profile, size, isEmpty))
      const hasSavedFilter = saved !== null
      const keys = new KeySet(store, filter, { folder, durability, cacheEntries, session, hasSavedFilter })
      return new ExactSieve(folder, durability, store, keys, release)
    } catch (error) {
      await store?.close()
      release()
      throw error
    }
  }

  /** Marks a URL. True: it is new. False: it was seen. Adds that are called together share one write. */
  async add(url: string, options?: AddOptions): Promise<boolean> {
    return (await this.#single(options?.confirm === false ? 'hold' : 'add', url)) === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.#single('has', url)) === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. All or none. */
  async addMany(urls: readonly string[], options?: AddOptions): Promise<Uint8Array> {
    return this.#addAll({ strings: urls }, options)
  }

  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#hasAll({ strings: urls })
  }

  /** Marks newline-separated lines without making strings: one verdict each, in order, 1 new and 0 seen. All or none. */
  async addLines(bytes: Uint8Array, options?: AddOptions): Promise<Uint8Array> {
    return this.#addAll({ lines: bytes }, options)
  }

  /** Whether each of the newline-separated lines was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasLines(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#hasAll({ lines: bytes })
  }

  /** Marks items that lie in one buffer, any bytes: one verdict each, in order, 1 new and 0 seen. All or none. */
  async addItems(items: Items, options?: AddOptions): Promise<Uint8Array> {
    return this.#addAll({ items }, options)
  }

  /** Whether each item of one buffer was seen: in order, 1 seen and 0 not. Marks nothing. */
  async hasItems(items: Items): Promise<Uint8Array> {
    return this.#hasAll({ items })
  }

  /** What was added with `confirm: false` was delivered: these URLs, or all. */
  async confirm(urls?: readonly string[]): Promise<void> {
    const copy = urls && copyUrlsOf({ strings: urls })
    await this.#turn(() => {
      if (this.#keys.isNextSynced) this.delivered?.sync()
      return this.#keys.confirm(copy)
    })
  }

  /** Forgets a URL: true when it was remembered. */
  async delete(url: string): Promise<boolean> {
    checkUrl(url)
    return (await this.deleteMany([url]))[0] === 1
  }

  /** Forgets many URLs: in order, 1 was remembered and 0 was not. All or none. */
  async deleteMany(urls: readonly string[]): Promise<Uint8Array> {
    const copy = copyUrlsOf({ strings: urls })
    return this.#turn(async () => {
      const { verdicts, invalid } = await this.#keys.delete(copy)
      this.#count(0, invalid)
      return toSeen(verdicts)
    })
  }

  /**
   * Forgets every URL under a host or folder, such as `example.com/` or `example.com/blog/`; returns how many there
   * were. With a scheme before it, only those with that scheme. A crash on the way may leave some of them.
   */
  async forgetUnder(folder: string): Promise<number> {
    checkUrl(folder, 'folder')
    return this.#turn(() => this.#keys.deleteUnder(folderUrl(folder), folder.includes('://')))
  }

  /** Forgets everything. A crash on the way may leave some of it. */
  clear(): Promise<void> {
    return this.#turn(async () => {
      await this.#keys.clear()
      this.#seen = 0
      this.#invalid = 0
      this.#count(0, 0)
    })
  }

  /** Every key, by host and path. What is added meanwhile may be left out; bytes that are not UTF-8 are replaced. */
  async *keys(): AsyncGenerator<string> {
    for await (const key of this.keyBytes()) yield key.toString()
  }

  /** The same, as bytes. */
  async *keyBytes(): AsyncGenerator<Buffer> {
    await this.#turn(async () => {})
    yield* this.#keys.keys()
  }

  /** The key, what each rule did, and the verdict an add would get. Marks and counts nothing. */
  async explain(url: string): Promise<Explanation> {
    checkUrl(url)
    return this.#turn(async () => {
      const { verdicts } = await this.#keys.find({ strings: [url] })
      return { url, ...explainKey(this.profile, url), verdict: verdicts[0] === 0 ? 'seen' : 'new' }
    })
  }

  stats(): ExactStats {
    const { filter, cache, urls, answers } = this.#keys
    const keyFilter = { ...filter.stats, isReady: filter.isReady }
    return {
      filter: 'exact',
      profile: this.profile.name,
      urls: filter.isReady ? urls : null,
      seen: this.#seen,
      invalid: this.#invalid,
      expectedRate: 0,
      sizeBytes: keyFilter.sizeBytes + cache.sizeBytes,
      answers: { ...answers },
      keyFilter,
      cache: { entries: cache.capacity, sizeBytes: cache.sizeBytes },
      store: { path: this.#folder, durability: this.#durability, unconfirmed: this.#keys.held },
    }
  }

  /** Waits until the filter knows every key again, after a crash. Verdicts are right before; they cost more. */
  filled(): Promise<void> {
    return this.#closing ? Promise.reject(this.#closed()) : this.#keys.filled()
  }

  /** Puts all that was acknowledged on the disk, now. */
  sync(): Promise<void> {
    return this.#turn(async () => {
      await this.#sync()
      this.#countsFile.sync(0, this.#seen, this.#invalid)
    })
  }

  /** Puts everything on the disk, keeps the filter for the next opening, and lets another process open it. */
  close(): Promise<void> {
    this.#shared.end()
    this.#closing ??= this.#after(async () => {
      clearInterval(this.#timer)
      await this.#keys.stopFilling()
      let trouble = this.#trouble
      try {
        await this.#sync().catch((error: SieveError) => {
          trouble = error
          return this.#sync()
        })
        this.#countsFile.sync(0, this.#seen, this.#invalid)
        this.#keys.saveFilter({ seen: this.#seen, invalid: this.#invalid })
        if (trouble) throw trouble
      } finally {
        this.#countsFile.close()
        await this.#store.close()
        this.#release()
      }
    })
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #addAll(urls: Urls, options?: AddOptions): Promise<Uint8Array> {
    const copy = copyUrlsOf(urls)
    return this.#turn(() => this.#add(copy, options?.confirm === false))
  }

  async #hasAll(urls: Urls): Promise<Uint8Array> {
    const copy = copyUrlsOf(urls)
    return toSeen(await this.#turn(() => this.#find(copy)))
  }

  async #add(urls: Urls, isHeld = false): Promise<Uint8Array> {
    const { verdicts, fresh, invalid } = await this.#keys.add(urls, isHeld)
    this.#count(verdicts.length - fresh, invalid)
    return verdicts
  }

  async #find(urls: Urls): Promise<Uint8Array> {
    const { verdicts, invalid } = await this.#keys.find(urls)
    this.#count(0, invalid)
    return verdicts
  }

  #count(seen: number, invalid: number): void {
    this.#seen += seen
    this.#invalid += invalid
    this.#countsFile.write(0, this.#seen, this.#invalid)
  }

  // Runs a verb when all that were called before have ended.
  #turn<T>(verb: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(this.#closed())
    this.#shared.end()
    return this.#after(() => {
      const trouble = this.#trouble
      this.#trouble = null
      if (trouble) throw trouble
      return verb()
    })
  }

  #closed(): SieveError {
    return closedError(this.#folder)
  }

  #after<T>(verb: () => Promise<T>): Promise<T> {
    const run = this.#last.then(verb)
    this.#last = run.catch(() => {})
    return run
  }

  // Single URLs that are called before their turn comes go together.
  async #single(verb: 'add' | 'hold' | 'has', url: string): Promise<number> {
    checkUrl(url)
    const run = (urls: readonly string[]) =>
      verb === 'has' ? this.#find({ strings: urls }) : this.#add({ strings: urls }, verb === 'hold')
    const { answers, index } = this.#shared.join(verb, url, (urls) =>
      this.#turn(() => {
        this.#shared.end(urls)
        return answerEach(urls, run)
      }),
    )
    const answer = (await answers)[index]!
    if (typeof answer !== 'number') throw answer
    return answer
  }

  // Waits for a sync in the background too, and throws what went wrong there: then nobody else needs to.
  async #sync(): Promise<void> {
    try {
      await this.#syncAll()
    } catch (error) {
      this.#trouble = null
      throw error
    }
  }

  // What was delivered first.
  async #syncAll(): Promise<void> {
    await this.delivered?.syncLater()
    this.delivered?.sync()
    await this.#store.sync()
  }

  #syncLater(): void {
    this.#countsFile.syncLater()
    if (this.#isSyncing) return
    this.#isSyncing = true
    this.#syncAll()
      .catch((error: Error) => {
        this.#trouble = error
      })
      .finally(() => {
        this.#isSyncing = false
      })
  }
}
