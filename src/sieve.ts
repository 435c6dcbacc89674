// A keyer and a filter: the sieve in memory, and with a journal the sieve on disk. A single URL is a batch of one.
import type { AddOptions, AnySieve, Explanation, Stats } from './any-sieve.ts'
import { explainKey } from './canonical/explain.ts'
import type { Profile } from './canonical/profiles.ts'
import { closedError, SieveError } from './errors.ts'
import type { Plan } from './filters/filter.ts'
import type { DeletingFilterName, FilterName, FolderFilterName } from './filters/registry.ts'
import { checkNothingUnlogged, type StoreOptions } from './journal.ts'
import { compileKernel, NOT_DONE } from './kernel.ts'
import type { Urls } from './keyer/urls.ts'
import type { Feed, FeedOptions } from './lines/feed.ts'
import { checkMergeable, unite, uniteBits, unitedCounts } from './merge.ts'
import { type AnySieveOptions, identityOf, type SieveOptions } from './sieve-options.ts'
import { NOTHING, type Saved, SieveState, STATE } from './state.ts'
import { checkUrl, checkUrls, folderUrl, type Items, wrongType } from './url-input.ts'
import { answer, toSeen, Verdicts } from './verdicts.ts'

export type { Explanation, Stats } from './any-sieve.ts'
export type { SieveOptions } from './sieve-options.ts'
export type { Items } from './url-input.ts'

/** A sieve whose filter can forget. */
export interface DeletingSieve extends Sieve {
  /**
   * Forgets a URL: true when it was remembered. URLs that the filter cannot tell from it are forgotten too: with
   * `fingerprint` one with the same 64 bits of hash, with `cuckoo` one that it takes for this one, at the filter's rate.
   */
  delete(url: string): boolean
  /** Forgets many URLs: in order, 1 was remembered and 0 was not. A call that fails on the way has `answered`, as an add. */
  deleteMany(urls: readonly string[]): Uint8Array
  /** Forgets items of one buffer, any bytes: in order, 1 was remembered and 0 was not. */
  deleteItems(items: Items): Uint8Array
}

/** A sieve whose filter remembers the folders of its URLs. */
export interface FolderSieve extends Sieve {
  /**
   * Whether anything was seen under a host or folder, such as `example.com/blog/`. Errs towards "yes" at the
   * filter's rate, and for folders deeper than its layers, for which it answers as for the deepest it remembers.
   */
  hasUnder(folder: string): boolean
}

/** A sieve with the verbs that the filter can do. */
export type SieveOf<F extends FilterName> = F extends DeletingFilterName
  ? DeletingSieve
  : F extends FolderFilterName
    ? FolderSieve
    : Sieve

/**
 * Answers "have I seen this URL?", and marks it, in one step. Errs as its filter does: never towards "new"; towards
 * "seen" at the filter's rate (`stats().expectedRate`) and where its profile's rules merge two pages.
 *
 * A call that throws has changed nothing: no answer, no count. The exception is a call with many URLs that fails on the
 * way: its error has `answered`, the verdicts of the first ones, and exactly those are marked and counted. What is not a
 * string, an array of strings, bytes or valid items is refused before anything is marked. A call from inside another
 * call of the same sieve (in a rule, a feature function, `onBatch`) is refused.
 */
export class Sieve implements AnySieve {
  /** How its filter was sized. */
  readonly plan: Plan
  /** How a URL becomes a key. */
  readonly profile: Profile
  readonly #state: SieveState

  /** @internal Use `Sieve.create`. */
  constructor(state: SieveState) {
    if (!(state instanceof SieveState)) {
      throw new SieveError(
        'option',
        'new Sieve(): expected await Sieve.create(options), Sieve.load or Sieve.open',
      )
    }
    this.#state = state
    this.plan = state.plan
    this.profile = state.profile
  }

  /** A sieve in memory. Throws a SieveError, one line, for an invalid option, or one that the filter does not take. */
  static async create<F extends FilterName = 'fingerprint'>(
    options?: { readonly filter?: F | undefined } & NoInfer<SieveOptions<F>>,
  ): Promise<SieveOf<F>> {
    return (await makeSieve(options ?? {})) as SieveOf<F>
  }

  /**
   * A sieve that lives in a folder: made there with these options, or opened as it was. One writer at a time.
   * After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval` (the default);
   * after power loss at most the last second with `interval`; a half-written record never counts.
   */
  static async open<F extends FilterName = 'fingerprint'>(
    folder: string,
    options?: { readonly filter?: F | undefined } & NoInfer<SieveOptions<F> & StoreOptions>,
  ): Promise<SieveOf<F>> {
    const { openStore } = await import('#store')
    return (await openStore(folder, options)) as SieveOf<F>
  }

  /** A sieve in memory, from a .sieve file. Throws a SieveError when there is none or it is damaged. */
  static async load(path: string): Promise<Sieve> {
    const { readSieve } = await import('#store')
    return (await readSieve(path)).sieve
  }

  /** Marks a URL. True: it is new. False: it was seen, or the filter errs. */
  add(url: string, options?: AddOptions): boolean {
    const state = this.#state
    if (state.journal === null) {
      const verdict = state.addOne(url)
      if (verdict === 1) state.urls++
      if (verdict === 0) state.seen++
      if (verdict !== NOT_DONE) return verdict === 1
    } else if (options?.confirm === false) return state.holding(() => this.add(url))
    state.keyer.one(url)
    state.add(0, 1)
    return state.kernel.verdicts[0] === 1
  }

  /** Whether a URL was seen. Marks nothing. Errs as the filter does, towards "seen". */
  has(url: string): boolean {
    const state = this.#state
    if (state.journal === null) {
      const verdict = state.hasOne(url)
      if (verdict !== NOT_DONE) return verdict === 0
    }
    state.keyer.one(url)
    state.has(0, 1)
    return state.kernel.verdicts[0] === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
  addMany(urls: readonly string[], options?: AddOptions): Uint8Array {
    return this.#addAll({ strings: urls }, options)
  }

  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasMany(urls: readonly string[]): Uint8Array {
    return toSeen(this.#answer({ strings: urls }, 'has'))
  }

  /** Marks newline-separated lines without making strings: one verdict each, in order, 1 new and 0 seen. */
  addLines(bytes: Uint8Array, options?: AddOptions): Uint8Array {
    return this.#addAll({ lines: bytes }, options)
  }

  /** Whether each of the newline-separated lines was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasLines(bytes: Uint8Array): Uint8Array {
    return toSeen(this.#answer({ lines: bytes }, 'has'))
  }

  /** Marks items that lie in one buffer, any bytes, without making strings: one verdict each, in order, 1 new and 0 seen. */
  addItems(items: Items, options?: AddOptions): Uint8Array {
    return this.#addAll({ items }, options)
  }

  /** Whether each item of one buffer was seen: in order, 1 seen and 0 not. Marks nothing. */
  hasItems(items: Items): Uint8Array {
    return toSeen(this.#answer({ items }, 'has'))
  }

  /** What was added with `confirm: false` was delivered: these URLs, or all. */
  confirm(urls?: readonly string[]): void {
    const { journal, keyer } = this.#state
    keyer.free()
    if (urls === undefined) {
      journal?.confirm?.()
      return
    }
    checkUrls(urls)
    keyer.batches({ strings: urls }, (n) => {
      journal?.confirmSome?.(n)
      return n
    })
  }

  /** For streams of lines: bytes in, in any cuts; the new (or the seen) lines out. One feed at a time. */
  feed(options: FeedOptions & AddOptions, onBatch?: (verdicts: Uint8Array) => void): Feed {
    const state = this.#state
    state.checkWritable()
    const hold = (n: number) => state.holding(() => state.add(0, n))
    return state.keyer.feed(options.confirm === false ? hold : (n) => state.add(0, n), options, onBatch)
  }

  /** The key, what each rule did, and the verdict an add would get. Marks and counts nothing. */
  explain(url: string): Explanation {
    checkUrl(url)
    const state = this.#state
    state.keyer.free()
    const explained = explainKey(this.profile, url)
    state.keyer.one(url)
    state.look(0, 1)
    const verdict = state.kernel.verdicts[0] === 0 ? 'seen' : 'new'
    // The key is still the batch's first.
    const layers = state.shards.all[0]!.filter.layers?.() ?? []
    const decisive = layers.find((layer) => layer.verdict === 'new') ?? layers.at(-1)
    return { url, ...explained, verdict, ...(decisive && { layers, decidedBy: decisive.name }) }
  }

  /** What the sieve holds and how well: a moment's measure, which costs no pass over the memory. */
  stats(): Stats {
    const { shards, kind, hash, hashFault, remembered: urls, seen, invalid, journal } = this.#state
    const { sizeBytes, fill, rate, layers, rates } = shards.measure()
    const { expectedUrls, promisedRate, noPromise } = this.plan
    // Files of earlier versions have filters of 64-bit hashes with fewer good bits.
    const isNarrow = hashFault !== null && kind.takes === 'hashes'
    const isFull = !kind.can.grow && expectedUrls !== null && urls > expectedUrls
    const store = journal?.info()
    return {
      filter: this.plan.filter,
      profile: this.profile.name,
      hash: hash.names.join(','),
      urls,
      ...(this.#state.urlsEstimated && { urlsEstimated: true }),
      seen,
      invalid,
      sizeBytes,
      bitsPerUrl: urls === 0 ? null : (sizeBytes * 8) / urls,
      fill,
      expectedRate: hashFault === null ? rate : null,
      promisedRate,
      ...(noPromise !== undefined && { noPromise }),
      pastCapacity: isFull || (isNarrow && urls > 0),
      ...(layers && { layers }),
      ...(rates && { rates }),
      ...(store && { store }),
    }
  }

  /** Forgets everything. Half a line that a feed has taken stays with the feed. */
  clear(): void {
    const state = this.#state
    state.checkWritable()
    const undo = state.replace(state.emptyShards(), NOTHING)
    try {
      state.journal?.cleared()
    } catch (error) {
      undo()
      throw error
    }
  }

  /**
   * Takes in all that another sieve remembers: of the same filter, parameters, profile and key. A stored sieve has folded
   * it into its snapshot when the promise resolves. Errs afterwards as a filter that took the URLs of both. Where the filter
   * has only bits, `stats().urls` is an estimate from then on: URLs that both have count once.
   */
  async merge(other: Sieve): Promise<void> {
    if (!(other instanceof Sieve)) throw wrongType('other', other, 'a Sieve')
    this.#state.checkWritable()
    if (other === this) return
    const { journal, keyer } = this.#state
    let undo = () => {}
    const take = () => {
      keyer.free()
      other.#state.keyer.free()
      undo = this.#unite(other)
    }
    try {
      if (journal) await journal.save(take)
      else take()
    } catch (error) {
      undo()
      throw error
    }
  }

  // Returns what undoes it. A stored filter of bits is united in a copy, since bits cannot be taken out again, and so is one
  // that may be full before all is in.
  #unite(other: Sieve): () => void {
    checkMergeable(this, other)
    const state = this.#state
    const theirs = other.#state
    const isOfBits = state.shards.all.every(({ filter }) => !filter.hashes && !filter.keys)
    if (!isOfBits || !(state.journal || state.kind.refusesWhenFull)) return unite(this, other)
    const shards = state.emptyShards(state.shards.all.map(({ from }) => from))
    uniteBits(shards, state.shards)
    return state.replace(shards, unitedCounts(state, theirs, uniteBits(shards, theirs.shards)))
  }

  /** Of a stored sieve: puts all that was acknowledged on the disk, now. */
  sync(): void {
    this.#state.keyer.checkOpen()
    this.#state.journal?.sync()
  }

  /**
   * Of a stored sieve: puts everything on the disk and lets another process open it. From the call on every verb but
   * `stats` throws, or rejects with, a SieveError; closing again does nothing.
   */
  async close(): Promise<void> {
    this.#end()
    await this.#state.journal?.close()
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** For `using`: a sieve in memory needs no closing. Throws a SieveError for a stored one, which closes asynchronously. */
  [Symbol.dispose](): void {
    if (this.#state.journal?.info() !== undefined) {
      throw new SieveError('option', 'a stored sieve closes asynchronously: use `await using`, or close()')
    }
    this.#end()
  }

  /**
   * Writes a .sieve file: whole, or not at all. Without a path, a stored sieve folds its log into its snapshot. The sieve
   * may be used meanwhile: what is added before the promise resolves is in the file or not.
   */
  async save(path?: string): Promise<void> {
    const state = this.#state
    state.keyer.checkOpen()
    if (path === undefined) {
      state.checkWritable()
      if (!state.journal)
        throw new SieveError('option', 'save() without a path is for a sieve opened with Sieve.open')
      return state.journal.save()
    }
    const { writeSieve } = await import('#store')
    const check = () => checkNothingUnlogged(state.journal, `save ${path}`)
    check()
    // What is refused while it is written may be in it: then it is given up.
    const isWhole = () => (state.journal?.unlogged?.() ?? 0) === 0
    if (!(await writeSieve(path, state, {}, isWhole))) check()
  }

  /** @internal For the modules that store, merge and freeze sieves. */
  get [STATE](): SieveState {
    return this.#state
  }

  /** Forgets a URL; only a DeletingSieve shows it. */
  protected forget(url: string): boolean {
    this.#state.keyer.one(url)
    return this.#state.deleteOne()
  }

  /** Whether anything is under a folder; only a FolderSieve shows it. */
  protected findUnder(folder: string): boolean {
    const url = folderUrl(folder)
    const { keyer, shards, kernel } = this.#state
    keyer.one(url)
    shards.hasUnder(1)
    return kernel.verdicts[0] === 0
  }

  #end(): void {
    const { journal, keyer } = this.#state
    keyer.end(closedError(journal?.info()?.path ?? 'the sieve'))
  }

  #addAll(urls: Urls, options: AddOptions | undefined): Uint8Array {
    const add = () => this.#answer(urls, 'add')
    return options?.confirm === false ? this.#state.holding(add) : add()
  }

  #answer(urls: Urls, verb: 'add' | 'has'): Uint8Array {
    return answer(this.#state, urls, verb)
  }
}

/** @internal A sieve with the verbs its filter can do: a new one, or one that was saved, still to be filled. */
export async function makeSieve(options: AnySieveOptions, saved?: Saved): Promise<Sieve> {
  const identity = saved ?? identityOf(options)
  const { can } = identity.kind
  const made = can.delete ? ForgettingSieve : can.under ? RememberingFolders : Sieve
  return new made(new SieveState(await compileKernel(), identity, options.instanceBytes))
}

class ForgettingSieve extends Sieve implements DeletingSieve {
  delete(url: string): boolean {
    return this.forget(url)
  }

  deleteMany(urls: readonly string[]): Uint8Array {
    this[STATE].checkWritable()
    checkUrls(urls)
    const gone = new Verdicts(urls.length)
    try {
      for (const url of urls) gone.push(this.forget(url) ? 1 : 0)
    } catch (error) {
      if (error instanceof SieveError) error.answered = gone.all()
      throw error
    }
    return gone.all()
  }

  deleteItems(items: Items): Uint8Array {
    return toSeen(answer(this[STATE], { items }, 'delete'))
  }
}

class RememberingFolders extends Sieve implements FolderSieve {
  hasUnder(folder: string): boolean {
    return this.findUnder(folder)
  }
}
