// URLs → keys → 64-bit hashes, a batch at a time, in the memory of one kernel instance. A keyer remembers nothing: each
// batch is handed to what does (a filter, LevelDB, a cluster), which finds keys and hashes in the kernel's arrays.
import type { Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { applyHash, type HashChoice } from '../hashes.ts'
import { compileKernel, INSTANCE_BYTES, Kernel } from '../kernel.ts'
import { Feed, type FeedOptions } from '../lines/feed.ts'
import { type Items, readUrls } from '../url-input.ts'
import { hasOwnRules } from './fast-rules.ts'
import { Keys } from './keys.ts'
import { UrlBuffer } from './url-buffer.ts'
import type { Urls } from './urls.ts'

/**
 * Takes entries [0, n) of the kernel's batch, which have their keys and hashes. Returns how many it took: n, or fewer when
 * it has no memory for the others; those come again as the next batch.
 */
export type TakeBatch = (n: number) => number

/** How much of a large buffer of lines goes to the kernel at a time: small enough for the processor's cache. */
const CHUNK_BYTES = 256 * 1024
/** The most memory of an instance that only makes keys: enough for a URL of 300 MB. */
const OWN_INSTANCE_BYTES = 1024 ** 3

export class Keyer {
  readonly profile: Profile
  readonly hash: HashChoice
  readonly #keys: Keys
  readonly #isHashing: boolean
  /** A rule of the profile is the caller's own function. */
  readonly #runsOwnRules: boolean
  #kernel: Kernel
  #buffer: UrlBuffer
  #isBusy = false
  /** Why nothing is answered any more; null while it is. */
  #ended: SieveError | null = null

  /** Without `isHashing` batches have keys and no hashes, for a filter that takes keys. */
  constructor(kernel: Kernel, profile: Profile, hash: HashChoice, isHashing = true) {
    this.profile = profile
    this.hash = hash
    this.#keys = new Keys(kernel, profile)
    this.#isHashing = isHashing
    this.#runsOwnRules = hasOwnRules(profile)
    applyHash(kernel, hash)
    this.#kernel = kernel
    this.#buffer = new UrlBuffer(kernel)
  }

  /** A keyer in a kernel instance of its own. */
  static async create(profile: Profile, hash: HashChoice): Promise<Keyer> {
    return new Keyer(Kernel.create(await compileKernel(), OWN_INSTANCE_BYTES), profile, hash)
  }

  /** Where batches are made: another instance after `attach`. */
  get kernel(): Kernel {
    return this.#kernel
  }

  /** Makes batches in this instance from now on. When it throws, nothing has changed. */
  attach(kernel: Kernel): void {
    const buffer = new UrlBuffer(kernel)
    applyHash(kernel, this.hash)
    this.#keys.attach(kernel)
    this.#kernel = kernel
    this.#buffer = buffer
  }

  /** What the kernel needs to make the key of a usual URL without a call back; -1: lines are keys. Null: it cannot. */
  get kernelRules(): number | null {
    return this.#keys.kernelRules
  }

  /** Where `write` puts a URL. */
  get urlAt(): number {
    return this.#buffer.at
  }

  /** Writes one URL into the kernel's memory, for a call that makes the key there. Returns its length in bytes. */
  write(url: string): number {
    return this.#buffer.write(url)
  }

  /** It cannot be used now: it has ended, or code of the caller's runs inside a call, whose batch must not be changed. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Every call that would make a batch throws `reason` from now on. */
  end(reason: SieveError): void {
    this.#ended ??= reason
    this.#isBusy = true
  }

  /** Throws once it has ended. */
  checkOpen(): void {
    if (this.#ended) throw this.#ended
  }

  /** The kernel. Throws when it has ended, or code of the caller's runs inside another call. */
  free(): Kernel {
    if (this.#isBusy) {
      this.checkOpen()
      throw new SieveError('option', 'the sieve is in the middle of another call: use it after that call')
    }
    return this.#kernel
  }

  /** Runs code of the caller's, from which the keyer cannot be used. */
  guard<T>(act: () => T): T {
    this.#isBusy = true
    try {
      return act()
    } finally {
      this.#isBusy = this.#ended !== null
    }
  }

  /** Keys and hashes of the n lines in the kernel's batch. */
  prepare(n: number): void {
    if (this.#runsOwnRules) this.guard(() => this.#keys.make(this.#kernel, n))
    else this.#keys.make(this.#kernel, n)
    this.hashKeys(n)
  }

  /** Hashes of the n keys in the kernel's batch. */
  hashKeys(n: number): void {
    if (this.#isHashing) this.#kernel.call.hashKeys(n)
  }

  /** How many of entries [from, n) of the batch are not URLs: their keys are the lines themselves. */
  invalidIn(from: number, n: number): number {
    return this.#keys.invalidIn(from, n)
  }

  /** A batch of one URL. */
  one(url: string): void {
    this.free()
    this.#buffer.one(url)
    this.prepare(1)
  }

  /** Batches of all URLs, in order. The input is checked before (`checkUrlsOf`). */
  batches(urls: Urls, take: TakeBatch): void {
    if ('lines' in urls) this.#lines(urls.lines, take)
    else if ('items' in urls) this.#items(urls.items, take)
    else this.#strings(urls.strings, take)
  }

  /** Batches of newline-separated bytes in any cuts. `onBatch` may not use the keyer. */
  feed(take: TakeBatch, options: FeedOptions, onBatch?: (verdicts: Uint8Array) => void): Feed {
    const steps = { kernel: () => this.free(), prepare: (n: number) => this.prepare(n), take }
    return new Feed(steps, options, onBatch && ((verdicts) => this.guard(() => onBatch(verdicts))))
  }

  /** The same without keys and hashes, for lines that had theirs before. */
  lines(take: TakeBatch, options: Omit<FeedOptions, 'as'>): Feed {
    return new Feed({ kernel: () => this.free(), prepare: () => {}, take }, options)
  }

  /** The hashes of all URLs, in order, and how many of them are not URLs. A list whose getters use the keyer is safe. */
  hashesOf(urls: Urls): { hashes: BigUint64Array; invalid: number } {
    let hashes = new BigUint64Array('strings' in urls ? urls.strings.length : 1024)
    let count = 0
    let invalid = 0
    this.batches(urls, (n) => {
      if (count + n > hashes.length) {
        const wider = new BigUint64Array(Math.max(count + n, 2 * hashes.length))
        wider.set(hashes)
        hashes = wider
      }
      hashes.set(this.#kernel.hashes.subarray(0, n), count)
      count += n
      invalid += this.invalidIn(0, n)
      return n
    })
    return { hashes: hashes.subarray(0, count), invalid }
  }

  /** A batch of keys as they are, at most `batchLines` of them: no rule is applied. */
  takeKeys(keys: readonly Uint8Array[]): void {
    const bytes = keys.reduce((sum, key) => sum + key.length, 0)
    const kernel = this.#kernel
    let at = bytes > INSTANCE_BYTES ? 0 : kernel.call.reserveSpill(bytes) >>> 0
    kernel.refresh()
    if (at === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of keys`)
    for (const [i, key] of keys.entries()) {
      kernel.bytes.set(key, at)
      kernel.keyStarts[i] = at
      at += key.length
      kernel.keyEnds[i] = at
    }
    this.hashKeys(keys.length)
  }

  /** A batch of hashes that another keyer of the same profile and hash has made, at most `batchLines` of them. */
  takeHashes(hashes: BigUint64Array): void {
    this.free()
    this.#keys.clear()
    this.#kernel.hashes.set(hashes)
  }

  #strings(urls: readonly string[], take: TakeBatch): void {
    const { length } = urls
    const make = (from: number) => this.#buffer.strings(readUrls(urls, from, length, this.#kernel.batchLines))
    this.#each(length, make, take)
  }

  #items(items: Items, take: TakeBatch): void {
    this.#each(items.starts.length, (from) => this.#buffer.items(items, from), take)
  }

  // `make` makes a batch of the URLs from the given one on and returns how many there are in it.
  #each(count: number, make: (from: number) => number, take: TakeBatch): void {
    for (let done = 0; done < count; ) {
      this.free()
      const n = make(done)
      this.prepare(n)
      done += take(n)
    }
  }

  #lines(bytes: Uint8Array, take: TakeBatch): void {
    const feed = this.feed(take, { keep: 'none' })
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES)
      feed.reserve(chunk.length).set(chunk)
      feed.push(chunk.length)
    }
    feed.end()
  }
}
