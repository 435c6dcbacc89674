// The sieve joins the steps: bytes → lines → key → hash → filter → verdict. It is the only file that knows all of
// them, and there is one way through: a single URL is a batch of one.
import { explainKey, type Step } from './canonical/explain.ts'
import { type Profile, type ProfileName, resolveProfile } from './canonical/profiles.ts'
import { type Rule, type RuleName, rules } from './canonical/rules.ts'
import { type CommandRun, Commands } from './commands.ts'
import { SieveError } from './errors.ts'
import { Feed, type FeedOptions } from './feed.ts'
import type { AnyKind, FilterOptions, LayerMeasure, LayerVerdict, Plan } from './filters/filter.ts'
import { planFor } from './filters/plan.ts'
import {
  type DeletingFilterName,
  type FilterName,
  type FolderFilterName,
  filterKind,
} from './filters/registry.ts'
import { applyHash, chooseHash, type HashChoice, type HashName, isWideHash } from './hashes.ts'
import { compileKernel, type Kernel, NOT_DONE } from './kernel.ts'
import { Keys } from './keys.ts'
import { checkMergeable, unite, uniteBits } from './merge.ts'
import { Shards } from './shards.ts'
import {
  checkNothingOwed,
  type Journal,
  type Saved,
  type SieveState,
  STATE,
  type StoreInfo,
  type StoreOptions,
} from './state.ts'
import { UrlBuffer } from './url-buffer.ts'
import { checkBytes, checkItems, checkUrl, checkUrls, type Items, readUrls, wrongType } from './url-input.ts'

export type { Items } from './url-input.ts'

export interface SieveOptions<F extends FilterName = FilterName> extends FilterOptions {
  /** Default `fingerprint`: no capacity to choose, practically exact. */
  readonly filter?: F
  /** How a URL becomes a key: a profile's name, or your own list of rules. Default `web`. */
  readonly profile?: ProfileName | readonly (RuleName | Rule)[] | Profile
  /** Default `siphash`: keyed, since pages choose the URLs. The papers' functions are for trusted input only. */
  readonly hash?: HashName | readonly HashName[]
  /** 16 bytes. A random secret unless given; give one only to repeat a result. */
  readonly key?: Uint8Array
  /** The most memory one WebAssembly instance may take; past it the filter is spread over several. Default 4 GiB. */
  readonly instanceBytes?: number
}

export interface Stats {
  readonly filter: string
  readonly profile: string
  readonly hash: string
  /** Distinct URLs marked: those answered "new". */
  readonly urls: number
  /** URLs answered "seen" by an add. */
  readonly seen: number
  /** Lines that were no URL; keyed as they stand. */
  readonly invalid: number
  readonly sizeBytes: number
  /** Null while there is no URL. */
  readonly bitsPerUrl: number | null
  /** Share of bits or slots in use. */
  readonly fill: number
  /** The chance that a new URL is answered "seen" now. */
  readonly expectedRate: number
  /** The promise it was made with; null when made by m and k without expectedUrls. */
  readonly promisedRate: number | null
  /** True when it holds more URLs than it was made for: the promise no longer holds. */
  readonly pastCapacity: boolean
  /** Layered filters: fill and estimated distinct entries of each layer. */
  readonly layers?: readonly LayerMeasure[]
  /** Where a paper's formula and ours differ: further estimates of the rate, by name. */
  readonly rates?: Readonly<Record<string, number>>
  /** Of a stored sieve: where and how. */
  readonly store?: StoreInfo
}

export interface Explanation {
  readonly url: string
  readonly key: string
  /** False: the line is no URL, and its key is the line itself. */
  readonly isUrl: boolean
  readonly steps: readonly Step[]
  /** What `add` would answer now. */
  readonly verdict: 'new' | 'seen'
  /** Of a layered filter: what each layer answers for its part of the key. */
  readonly layers?: readonly LayerVerdict[]
  /** Of a layered filter: the first layer that does not know its part, or the last one if all do. */
  readonly decidedBy?: string
}

/** A sieve whose filter can forget. */
export interface DeletingSieve extends Sieve {
  /** Forgets a URL: true when it was remembered. Errs as the filter does. */
  delete(url: string): boolean
}

/** A sieve whose filter remembers the folders of its URLs. */
export interface FolderSieve extends Sieve {
  /**
   * Whether anything was seen under a host or folder, such as `example.com/blog/`. Errs towards "yes" at the
   * filter's rate, and for folders deeper than its layers, for which it answers as for the deepest it remembers.
   */
  hasUnder(folder: string): boolean
}

export type SieveOf<F extends FilterName> = F extends DeletingFilterName
  ? DeletingSieve
  : F extends FolderFilterName
    ? FolderSieve
    : Sieve

/** What a sieve remembers, where it writes URLs, and its counts. */
interface Held {
  readonly shards: Shards
  readonly buffer: UrlBuffer
  readonly counts: { readonly urls: number; readonly seen: number; readonly invalid: number }
}

const flip = (verdict: number) => 1 - verdict

/** How much of a large `addLines` goes to the kernel at a time: small enough for the processor's cache. */
const CHUNK_BYTES = 256 * 1024

/**
 * Answers "have I seen this URL?", and marks it, in one step. Errs as its filter does: never towards "new"; towards
 * "seen" at the filter's rate (`stats().expectedRate`) and where its profile's rules merge two pages.
 *
 * A call that throws has changed nothing: no answer, no count. The exception is a call with many URLs that fails on the
 * way: its error has `answered`, the verdicts of the first ones, and exactly those are marked and counted. What is not a
 * string, an array of strings, bytes or valid items is refused before anything is marked. A call from inside another
 * call of the same sieve (in a rule, a feature function, `onBatch`) is refused.
 */
export class Sieve {
  readonly plan: Plan
  readonly profile: Profile
  readonly #kind: AnyKind
  readonly #hash: HashChoice
  readonly #module: WebAssembly.Module
  readonly #instanceBytes: number | undefined
  readonly #isWide: boolean
  readonly #keys: Keys
  #shards: Shards
  #kernel: Kernel
  #journal: Journal | null = null
  #keepsKeys = false
  /** The filter takes 64-bit hashes of the keys. */
  readonly #hashes: boolean
  #canBeInOneCall = false
  /** A rule or a feature function is the caller's. */
  readonly #runsOwnCode: boolean
  /** Code of the caller's runs inside a call: the batch at hand must not be changed by another one. */
  #isBusy = false
  #urls = 0
  #seen = 0
  #buffer: UrlBuffer

  /** @internal Use `Sieve.create`. */
  constructor(module: WebAssembly.Module, options: SieveOptions, saved?: Saved) {
    this.#module = module
    this.#instanceBytes = options.instanceBytes
    this.#kind = saved?.kind ?? filterKind(options.filter ?? 'fingerprint')
    this.profile = saved?.profile ?? resolveProfile(options.profile ?? 'web')
    this.#hash = saved?.hash ?? chooseHash(options.hash, options.key)
    this.plan = saved?.plan ?? planFor(this.#kind, options)
    this.#isWide = this.#hash.names.every(isWideHash)
    const { takes } = this.#kind
    this.#hashes = takes === 'hashes' || (takes === 'wide-hashes' && this.#isWide)
    this.#keys = new Keys(this.profile)
    this.#runsOwnCode =
      typeof this.plan.shape?.features === 'function' ||
      this.profile.rules.some((rule) => (rules as Record<string, Rule>)[rule.name] !== rule)
    this.#shards = this.#empty(saved?.froms)
    this.#kernel = this.#shards.front
    this.#buffer = new UrlBuffer(this.#kernel)
  }

  #empty(froms?: readonly number[]): Shards {
    const spreads = this.#hashes && this.#isWide
    const shards = new Shards(this.#module, this.#kind, this.plan, spreads, this.#instanceBytes, froms)
    applyHash(shards.front, this.#hash)
    const { kernelRules } = this.#keys
    this.#canBeInOneCall = this.#hashes && !this.#kind.hasOwnInstances && kernelRules !== null
    if (this.#canBeInOneCall) shards.front.call.setRules(kernelRules!)
    return shards
  }

  /** A sieve in memory. Throws a SieveError, one line, for options that cannot be. */
  static async create<F extends FilterName = 'fingerprint'>(
    options: SieveOptions<F> = {},
  ): Promise<SieveOf<F>> {
    return (await makeSieve(options)) as SieveOf<F>
  }

  /**
   * A sieve that lives in a folder: made there with these options, or opened as it was. One writer at a time.
   * After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval` (the default);
   * after power loss at most the last second with `interval`; a half-written record never counts.
   */
  static async open<F extends FilterName = 'fingerprint'>(
    folder: string,
    options: SieveOptions<F> & StoreOptions = {},
  ): Promise<SieveOf<F>> {
    const { openStore } = await import('#store')
    return openStore(folder, options)
  }

  /** A sieve in memory, from a .sieve file. */
  static async load(path: string): Promise<Sieve> {
    const { readSieve } = await import('#store')
    return (await readSieve(path)).sieve
  }

  /** Marks a URL. True: it is new. False: it was seen, or the filter errs. */
  add(url: string): boolean {
    if (this.#isInOneCall()) {
      const size = this.#buffer.write(url)
      const verdict = this.#kernel.call.addOne(this.#buffer.at, size)
      this.#kernel.refresh()
      if (verdict === 1) this.#urls++
      if (verdict === 0) this.#seen++
      if (verdict !== NOT_DONE) return verdict === 1
    }
    this.#one(url)
    this.#add(0, 1)
    return this.#kernel.verdicts[0] === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  has(url: string): boolean {
    if (this.#isInOneCall()) {
      const size = this.#buffer.write(url)
      const verdict = this.#kernel.call.hasOne(this.#buffer.at, size)
      this.#kernel.refresh()
      if (verdict !== NOT_DONE) return verdict === 0
    }
    this.#one(url)
    this.#has(0, 1)
    return this.#kernel.verdicts[0] === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
  addMany(urls: readonly string[]): Uint8Array {
    return this.#strings(urls, (n) => this.#add(0, n))
  }

  /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  hasMany(urls: readonly string[]): Uint8Array {
    return this.#strings(urls, (n) => this.#has(0, n)).map(flip)
  }

  /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. */
  addLines(bytes: Uint8Array): Uint8Array {
    return this.#lines(bytes, (n) => this.#add(0, n))
  }

  /** Asks for newline-separated lines, no strings made: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  hasLines(bytes: Uint8Array): Uint8Array {
    return this.#lines(bytes, (n) => this.#has(0, n)).map(flip)
  }

  /** Marks items that lie in one buffer, any bytes, no strings made: one verdict each, in order, 1 new and 0 seen. */
  addItems(items: Items): Uint8Array {
    return this.#items(items, (n) => this.#add(0, n))
  }

  /** Asks for items that lie in one buffer: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  hasItems(items: Items): Uint8Array {
    return this.#items(items, (n) => this.#has(0, n)).map(flip)
  }

  /** For streams of lines: bytes in, in any cuts; the new (or the seen) lines out. One feed at a time. */
  feed(options: FeedOptions, onBatch?: (verdicts: Uint8Array) => void): Feed {
    const guarded = onBatch && ((verdicts: Uint8Array) => this.#alone(() => onBatch(verdicts)))
    return this.#feed((n) => this.#add(0, n), options, guarded)
  }

  /** For streams of `ADD url` and `CHECK url` lines: bytes in, in any cuts; answers out, in order. One at a time. */
  commands(onRun?: (run: CommandRun) => void): Commands {
    const steps = {
      kernel: () => this.#free(),
      prepare: (n: number) => this.#prepare(n),
      add: (from: number, n: number) => this.#add(from, n),
      has: (from: number, n: number) => this.#has(from, n),
    }
    return new Commands(steps, onRun && ((run) => this.#alone(() => onRun(run))))
  }

  /** The key, what each rule did, and the verdict an add would get. Marks nothing. */
  explain(url: string): Explanation {
    checkUrl(url)
    this.#free()
    const { key, isUrl, steps } = explainKey(this.profile, url)
    const { invalid } = this.#keys
    const verdict = this.has(url) ? 'seen' : 'new'
    this.#keys.invalid = invalid
    // The key is still the batch's first.
    const layers = this.#shards.all[0]!.filter.layers?.() ?? []
    const decisive = layers.find((layer) => layer.verdict === 'new') ?? layers.at(-1)
    return { url, key, isUrl, steps, verdict, ...(decisive && { layers, decidedBy: decisive.name }) }
  }

  stats(): Stats {
    const { sizeBytes, fill, rate, layers, rates } = this.#shards.measure()
    const { expectedUrls, promisedRate } = this.plan
    const store = this.#journal?.info()
    return {
      filter: this.plan.filter,
      profile: this.profile.name,
      hash: this.#hash.names.join(','),
      urls: this.#urls,
      seen: this.#seen,
      invalid: this.#keys.invalid,
      sizeBytes,
      bitsPerUrl: this.#urls === 0 ? null : (sizeBytes * 8) / this.#urls,
      fill,
      expectedRate: rate,
      promisedRate,
      pastCapacity: !this.#kind.can.grow && expectedUrls !== null && this.#urls > expectedUrls,
      ...(layers && { layers }),
      ...(rates && { rates }),
      ...(store && { store }),
    }
  }

  /** Forgets everything. Half a line that a feed has taken stays with the feed. */
  clear(): void {
    this.#free()
    const before = this.#held()
    const shards = this.#empty()
    this.#hold({
      shards,
      buffer: new UrlBuffer(shards.front),
      counts: { urls: 0, seen: 0, invalid: 0 },
    })
    try {
      this.#journal?.cleared()
    } catch (error) {
      this.#hold(before)
      throw error
    }
  }

  // All that changes with the URLs.
  #held(): Held {
    const counts = { urls: this.#urls, seen: this.#seen, invalid: this.#keys.invalid }
    return { shards: this.#shards, buffer: this.#buffer, counts }
  }

  #hold({ shards, buffer, counts }: Held): void {
    this.#shards = shards
    this.#kernel = shards.front
    this.#buffer = buffer
    this.#urls = counts.urls
    this.#seen = counts.seen
    this.#keys.invalid = counts.invalid
  }

  /**
   * Takes in all that another sieve remembers: of the same filter, parameters, profile and key. A stored sieve folds
   * it into its snapshot before the promise is kept. Errs afterwards as a filter that took the URLs of both.
   */
  async merge(other: Sieve): Promise<void> {
    if (!(other instanceof Sieve)) throw wrongType('other', other, 'a Sieve')
    if (other === this) return
    let undo = () => {}
    const take = () => {
      this.#free()
      other.#free()
      undo = this.#unite(other)
    }
    try {
      if (this.#journal) await this.#journal.save(take)
      else take()
    } catch (error) {
      undo()
      throw error
    }
  }

  // Returns what undoes it. A stored filter of bits is united in a copy, since bits cannot be taken out again.
  #unite(other: Sieve): () => void {
    checkMergeable(this, other)
    const isOfBits = this.#shards.all.every(({ filter }) => !filter.hashes && !filter.keys)
    if (!isOfBits || !this.#journal) return unite(this, other)
    const before = this.#held()
    const shards = this.#empty(this.#shards.all.map(({ from }) => from))
    const buffer = new UrlBuffer(shards.front)
    uniteBits(shards, this.#shards)
    uniteBits(shards, other.#shards)
    const { urls, seen, invalid } = before.counts
    this.#hold({
      shards,
      buffer,
      counts: {
        urls: urls + other.#urls,
        seen: seen + other.#seen,
        invalid: invalid + other.#keys.invalid,
      },
    })
    return () => this.#hold(before)
  }

  /** Of a stored sieve: puts all that was acknowledged on the disk, now. */
  sync(): void {
    this.#journal?.sync()
  }

  /** Of a stored sieve: puts everything on the disk and lets another process open it. It answers no more. */
  async close(): Promise<void> {
    await this.#journal?.close()
  }

  /**
   * Writes a .sieve file: whole, or not at all. Without a path, a stored sieve folds its log into its snapshot. The sieve
   * may be used meanwhile: what is added before the promise is kept is in the file or not.
   */
  async save(path?: string): Promise<void> {
    if (path === undefined) {
      if (!this.#journal)
        throw new SieveError('option', 'save() without a path is for a sieve opened with Sieve.open')
      return this.#journal.save()
    }
    const { writeSieve } = await import('#store')
    const state = this[STATE]
    const check = () => checkNothingOwed(state, `save ${path}`)
    check()
    // What is refused while it is written may be in it: then it is given up.
    const isWhole = () => (this.#journal?.owes?.() ?? 0) === 0
    if (!(await writeSieve(path, state, {}, isWhole))) check()
  }

  /** @internal For the modules that store and merge sieves. */
  get [STATE](): SieveState {
    const sieve = this
    return {
      kind: sieve.#kind,
      plan: sieve.plan,
      profile: sieve.profile,
      hash: sieve.#hash,
      takesHashes: sieve.#hashes,
      get kernel() {
        return sieve.#kernel
      },
      get shards() {
        return sieve.#shards
      },
      get urls() {
        return sieve.#urls
      },
      set urls(count) {
        sieve.#urls = count
      },
      get seen() {
        return sieve.#seen
      },
      set seen(count) {
        sieve.#seen = count
      },
      get invalid() {
        return sieve.#keys.invalid
      },
      set invalid(count) {
        sieve.#keys.invalid = count
      },
      get journal() {
        return sieve.#journal
      },
      set journal(journal) {
        sieve.#journal = journal
      },
      get keepsKeys() {
        return sieve.#keepsKeys
      },
      set keepsKeys(keeps) {
        sieve.#keepsKeys = keeps
      },
      hashKeys(n) {
        if (sieve.#hashes) sieve.#kernel.call.hashKeys(n)
      },
    }
  }

  /** Forgets a URL; only a DeletingSieve shows it. */
  protected forget(url: string): boolean {
    this.#one(url)
    this.#shards.delete(1)
    this.#journal?.amend(0, 1) // what the disk refused was not remembered
    const was = this.#kernel.verdicts[0] === 0
    if (was) {
      this.#urls--
      this.#journal?.deleted(1)
    }
    this.#count(0, 1)
    return was
  }

  /** Whether anything is under a folder; only a FolderSieve shows it. */
  protected askUnder(folder: string): boolean {
    checkUrl(folder, 'folder')
    const text = folder.includes('://') ? folder : `https://${folder}`
    this.#one(/[?#]/.test(text) || text.endsWith('/') ? text : `${text}/`)
    this.#shards.hasUnder(1)
    return this.#kernel.verdicts[0] === 0
  }

  // The kernel, unless code of the caller's runs inside another call.
  #free(): Kernel {
    if (this.#isBusy) {
      throw new SieveError('option', 'the sieve is in the middle of another call: use it after that call')
    }
    return this.#kernel
  }

  // Runs code of the caller's, which may not use the sieve.
  #alone<T>(act: () => T): T {
    this.#isBusy = true
    try {
      return act()
    } finally {
      this.#isBusy = false
    }
  }

  // Returns how many of the batch's entries are done: all.
  #has(from: number, n: number): number {
    if (this.#runsOwnCode) this.#alone(() => this.#shards.has(from, n))
    else this.#shards.has(from, n)
    this.#journal?.amend(from, n)
    this.#count(from, n)
    return n
  }

  // Returns the entry behind the last that is done: n, or less when the filter has no room for the others.
  #add(from: number, n: number): number {
    const end = this.#runsOwnCode ? this.#alone(() => this.#shards.add(from, n)) : this.#shards.add(from, n)
    this.#journal?.amend(from, end)
    // Of a single URL it is known without a call.
    const fresh = end - from === 1 ? this.#kernel.verdicts[from]! : this.#kernel.call.countNew(from, end)
    this.#urls += fresh
    this.#seen += end - from - fresh
    try {
      this.#journal?.added(from, end)
    } catch (error) {
      this.#urls -= fresh
      this.#seen -= end - from - fresh
      throw error
    }
    this.#count(from, end)
    return end
  }

  // Entries [from, n) of the batch were answered.
  #count(from: number, n: number): void {
    this.#keys.count(from, n)
    this.#journal?.counted?.()
  }

  // Keys and hashes of the n lines in the kernel's batch.
  #prepare(n: number): void {
    if (this.#runsOwnCode) this.#alone(() => this.#keys.make(this.#kernel, n))
    else this.#keys.make(this.#kernel, n)
    if (this.#hashes) this.#kernel.call.hashKeys(n)
  }

  // A single URL takes all steps in one call: in one instance, and when nothing is to be written down.
  #isInOneCall(): boolean {
    return this.#canBeInOneCall && this.#journal === null && this.#shards.count === 1 && !this.#isBusy
  }

  // Makes a batch of one URL.
  #one(url: string): void {
    this.#free()
    this.#buffer.one(url)
    this.#prepare(1)
  }

  #feed(ask: (n: number) => number, options: FeedOptions, onBatch?: (verdicts: Uint8Array) => void): Feed {
    const steps = { kernel: () => this.#free(), prepare: (n: number) => this.#prepare(n), ask }
    return new Feed(steps, options, onBatch)
  }

  #lines(bytes: Uint8Array, ask: (n: number) => number): Uint8Array {
    checkBytes(bytes)
    const parts: Uint8Array[] = []
    const feed = this.#feed(ask, { keep: 'none' }, (verdicts) => parts.push(verdicts.slice()))
    const answered = () => {
      const all = new Uint8Array(feed.lines)
      let at = 0
      for (const part of parts) {
        all.set(part, at)
        at += part.length
      }
      return all
    }
    try {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
        const chunk = bytes.subarray(at, at + CHUNK_BYTES)
        feed.room(chunk.length).set(chunk)
        feed.push(chunk.length)
      }
      feed.end()
    } catch (error) {
      if (error instanceof SieveError) error.answered = answered()
      throw error
    }
    return answered()
  }

  #strings(urls: readonly string[], ask: (n: number) => number): Uint8Array {
    checkUrls(urls)
    const { length } = urls
    const make = (from: number) => {
      const some = readUrls(urls, from, length, this.#kernel.batchLines)
      return this.#buffer.strings(some)
    }
    return this.#batches(length, make, ask)
  }

  #items(items: Items, ask: (n: number) => number): Uint8Array {
    checkItems(items)
    return this.#batches(items.starts.length, (from) => this.#buffer.items(items, from), ask)
  }

  // Sifts `count` URLs, of which `make` makes a batch from the given one on and says how many there are in it.
  #batches(count: number, make: (from: number) => number, ask: (n: number) => number): Uint8Array {
    const answers = new Uint8Array(count)
    let done = 0
    try {
      while (done < count) {
        this.#free()
        const n = make(done)
        this.#prepare(n)
        const asked = ask(n)
        answers.set(this.#kernel.verdicts.subarray(0, asked), done)
        done += asked
      }
    } catch (error) {
      if (error instanceof SieveError) error.answered = answers.slice(0, done)
      throw error
    }
    return answers
  }
}

/** @internal A sieve with the verbs its filter can do: a new one, or one that was saved, still to be filled. */
export async function makeSieve(options: SieveOptions, saved?: Saved): Promise<Sieve> {
  const { can } = saved?.kind ?? filterKind(options.filter ?? 'fingerprint')
  const made = can.delete ? ForgettingSieve : can.under ? RememberingFolders : Sieve
  return new made(await compileKernel(), options, saved)
}

class ForgettingSieve extends Sieve implements DeletingSieve {
  delete(url: string): boolean {
    return this.forget(url)
  }
}

class RememberingFolders extends Sieve implements FolderSieve {
  hasUnder(folder: string): boolean {
    return this.askUnder(folder)
  }
}
