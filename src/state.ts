// A keyer and its filter, in the same kernel instances, with what was counted: what a sieve is made of. The modules that
// store, merge and freeze sieves reach it through a symbol that the public entry does not export.
import type { Profile } from './canonical/profiles.ts'
import { readOnlyError } from './errors.ts'
import type { AnyKind, Plan } from './filters/filter.ts'
import { hashPromise } from './filters/promise.ts'
import { Shards } from './filters/shards.ts'
import { type HashChoice, isWideHash } from './hashes.ts'
import type { Journal } from './journal.ts'
import { type Kernel, NOT_DONE } from './kernel.ts'
import { Keyer } from './keyer/keyer.ts'

export const STATE: unique symbol = Symbol('urlsieve.state')

/** All that makes a sieve what it is, besides what it remembers. */
export interface Identity {
  readonly kind: AnyKind
  readonly plan: Plan
  readonly profile: Profile
  readonly hash: HashChoice
}

/** The identity of a saved sieve, and how its hashes were spread. */
export interface Saved extends Identity {
  /** The first 32 bits of the first hash of each shard. */
  readonly froms: readonly number[]
}

export interface Counts {
  readonly urls: number
  readonly seen: number
  readonly invalid: number
  /** `urls` is an estimate: two filters of bits were united. */
  readonly urlsEstimated?: boolean | undefined
}

/** Of a sieve that remembers nothing. */
export const NOTHING: Counts = { urls: 0, seen: 0, invalid: 0 }

export class SieveState implements Identity {
  readonly kind: AnyKind
  readonly plan: Plan
  readonly keyer: Keyer
  /** Why the hash lets the filter keep no rate, in one line; null: it does. */
  readonly hashFault: string | null
  /** The filter takes 64-bit hashes; else it takes keys. */
  readonly takesHashes: boolean
  /** Those that were new. A filter that forgets may remember fewer: `remembered`. */
  urls = 0
  seen = 0
  invalid = 0
  urlsEstimated = false
  journal: Journal | null = null
  /** It was opened from a store that keeps the keys. */
  keepsKeys = false
  readonly #module: WebAssembly.Module
  readonly #instanceBytes: number | undefined
  readonly #isWide: boolean
  /** The filter's feature function is the caller's own. */
  readonly #runsOwnFeatures: boolean
  readonly #canBeInOneCall: boolean
  /** As `#canBeInOneCall`, for adds: false when it is read-only. */
  #addsInOneCall: boolean
  /** The folder of a store that was opened read-only. */
  #readOnlyFolder: string | null = null
  #shards: Shards

  constructor(module: WebAssembly.Module, identity: Identity & Partial<Saved>, instanceBytes?: number) {
    this.kind = identity.kind
    this.plan = identity.plan
    this.hashFault = hashPromise(identity.kind, identity.plan, identity.hash.names)
    this.#module = module
    this.#instanceBytes = instanceBytes
    this.#isWide = identity.hash.names.every(isWideHash)
    const { takes, hasOwnInstances } = this.kind
    this.takesHashes = takes === 'hashes' || (takes === 'wide-hashes' && this.#isWide)
    this.#runsOwnFeatures = typeof this.plan.shape?.features === 'function'
    this.#shards = this.emptyShards(identity.froms)
    this.keyer = new Keyer(this.#shards.batchKernel, identity.profile, identity.hash, this.takesHashes)
    this.#canBeInOneCall = this.takesHashes && !hasOwnInstances && this.keyer.kernelRules !== null
    this.#addsInOneCall = this.#canBeInOneCall
    this.#prepareOneCall()
  }

  /** Distinct URLs that it remembers now. A row of filters has those too that the disk refused. */
  get remembered(): number {
    return Math.min(this.urls, this.#shards.remembered() ?? this.urls)
  }

  /** Nothing may be changed from now on: the sieve is of a store that others may be writing to. */
  makeReadOnly(folder: string): void {
    this.#readOnlyFolder = folder
    this.#addsInOneCall = false
  }

  /** Throws when nothing may be changed: it is closed, in the middle of a call, or read-only. */
  checkWritable(): void {
    this.keyer.free()
    if (this.#readOnlyFolder !== null) throw readOnlyError(this.#readOnlyFolder)
  }

  get profile(): Profile {
    return this.keyer.profile
  }

  get hash(): HashChoice {
    return this.keyer.hash
  }

  get kernel(): Kernel {
    return this.keyer.kernel
  }

  get shards(): Shards {
    return this.#shards
  }

  /** An empty filter of the same plan in instances of its own; `replace` puts it to use. */
  emptyShards(froms?: readonly number[]): Shards {
    const spreads = this.takesHashes && this.#isWide
    return new Shards(this.#module, this.kind, this.plan, spreads, this.#instanceBytes, froms)
  }

  /** Uses another filter and its counts from now on. Returns what undoes it. */
  replace(shards: Shards, counts: Counts): () => void {
    const { urls, seen, invalid, urlsEstimated } = this
    const before = this.#shards
    this.keyer.attach(shards.batchKernel)
    this.#shards = shards
    this.#prepareOneCall()
    Object.assign(this, { urlsEstimated: false, ...counts })
    return () => void this.replace(before, { urls, seen, invalid, urlsEstimated })
  }

  /**
   * Adds one URL in one kernel call: its verdict, 1 new or 0 seen. NOT_DONE: nothing was done, the steps are to be taken
   * one by one (an unusual URL, a filter in several instances or without such a call, a full filter).
   */
  addOne(url: string): number {
    if (!this.#addsInOneCall || this.#shards.count !== 1 || this.keyer.isBusy) return NOT_DONE
    const { keyer } = this
    const size = keyer.write(url)
    const { kernel } = keyer
    const verdict = kernel.call.addOne(keyer.urlAt, size)
    kernel.refresh()
    return verdict
  }

  /** The verdict of one URL in one kernel call; as `addOne`, and marks nothing. */
  hasOne(url: string): number {
    if (!this.#canBeInOneCall || this.#shards.count !== 1 || this.keyer.isBusy) return NOT_DONE
    const { keyer } = this
    const size = keyer.write(url)
    const { kernel } = keyer
    const verdict = kernel.call.hasOne(keyer.urlAt, size)
    kernel.refresh()
    return verdict
  }

  /**
   * Marks entries [from, n) of the batch, gives them their verdicts, writes them down and counts them. Returns the entry
   * behind the last that is done: n, or less when the filter has no memory for the others.
   */
  add(from: number, n: number): number {
    this.checkWritable()
    const { journal, kernel } = this
    const end = this.#runsOwnFeatures
      ? this.keyer.guard(() => this.#shards.add(from, n))
      : this.#shards.add(from, n)
    journal?.amend(from, end)
    // Of a single URL it is known without a call.
    const fresh = end - from === 1 ? kernel.verdicts[from]! : kernel.call.countNew(from, end)
    this.urls += fresh
    this.seen += end - from - fresh
    try {
      journal?.added(from, end)
    } catch (error) {
      this.urls -= fresh
      this.seen -= end - from - fresh
      throw error
    }
    this.#count(from, end)
    return end
  }

  /** What is added by `act` waits for its confirmation, where it outlives the process. */
  holding<T>(act: () => T): T {
    const { journal } = this
    if (!journal?.confirm) return act()
    const { holds = false } = journal
    journal.holds = true
    try {
      return act()
    } finally {
      journal.holds = holds
    }
  }

  /** Gives entries [from, n) of the batch their verdicts and counts those that are not URLs. Marks nothing. */
  has(from: number, n: number): number {
    this.look(from, n)
    this.#count(from, n)
    return n
  }

  /** Gives entries [from, n) of the batch their verdicts. Marks and counts nothing. */
  look(from: number, n: number): void {
    if (this.#runsOwnFeatures) this.keyer.guard(() => this.#shards.has(from, n))
    else this.#shards.has(from, n)
    this.journal?.amend(from, n)
  }

  /** Forgets the batch's only URL. True: it was remembered. */
  deleteOne(): boolean {
    this.delete(1)
    return this.kernel.verdicts[0] === 0
  }

  /** Forgets the n entries of the batch: verdict 0 where one was remembered. Returns n. */
  delete(n: number): number {
    this.checkWritable()
    const { journal, kernel } = this
    this.#shards.delete(n)
    journal?.amend(0, n) // what the disk refused was not remembered
    const gone = n === 1 ? 1 - kernel.verdicts[0]! : n - kernel.call.countNew(0, n)
    if (gone > 0) {
      this.urls -= gone
      journal?.deleted(n)
    }
    this.#count(0, n)
    return n
  }

  // Entries [from, n) of the batch were answered.
  #count(from: number, n: number): void {
    this.invalid += this.keyer.invalidIn(from, n)
    this.journal?.counted?.()
  }

  #prepareOneCall(): void {
    if (this.#canBeInOneCall) this.kernel.call.setRules(this.keyer.kernelRules!)
  }
}
