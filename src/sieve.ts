// The sieve joins the steps: bytes → lines → key → hash → filter → verdict. It is the only file that knows all of
// them, and there is one way through: a single URL is a batch of one.
import { explainKey, type Step } from './canonical/explain.ts'
import { type Profile, type ProfileName, resolveProfile } from './canonical/profiles.ts'
import type { Rule, RuleName } from './canonical/rules.ts'
import { SieveError } from './errors.ts'
import { Feed, type FeedOptions } from './feed.ts'
import type { FilterKind, FilterOptions, LayerMeasure, Plan } from './filters/filter.ts'
import {
  type DeletingFilterName,
  type FilterName,
  type FolderFilterName,
  filterKind,
} from './filters/registry.ts'
import { applyHash, chooseHash, type HashChoice, type HashName, isWideHash } from './hashes.ts'
import { compileKernel, type Kernel } from './kernel.ts'
import { Keys } from './keys.ts'
import { Shards } from './shards.ts'

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
}

export interface Explanation {
  readonly url: string
  readonly key: string
  /** False: the line is no URL, and its key is the line itself. */
  readonly isUrl: boolean
  readonly steps: readonly Step[]
  /** What `add` would answer now. */
  readonly verdict: 'new' | 'seen'
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

/** Room for one URL's bytes; longer ones ask the kernel for more. */
const SHORT_BYTES = 16 * 1024
/** How much of a large `addLines` goes to the kernel at a time: small enough for the processor's cache. */
const CHUNK_BYTES = 256 * 1024

const encoder = new TextEncoder()

/**
 * Answers "have I seen this URL?", and marks it, in one step. Errs as its filter does: never towards "new"; towards
 * "seen" at the filter's rate (`stats().expectedRate`) and where its profile's rules merge two pages.
 */
export class Sieve {
  readonly plan: Plan
  readonly profile: Profile
  readonly #kind: FilterKind
  readonly #hash: HashChoice
  readonly #kernel: Kernel
  readonly #keys: Keys
  readonly #shards: Shards
  /** The filter takes 64-bit hashes of the keys. */
  readonly #hashes: boolean
  #urls = 0
  #seen = 0
  /** The kernel's input buffer, for one URL at a time. */
  #short: Uint8Array
  #shortAt: number

  /** Use `Sieve.create`. */
  protected constructor(module: WebAssembly.Module, options: SieveOptions) {
    this.#kind = filterKind(options.filter ?? 'fingerprint')
    this.profile = resolveProfile(options.profile ?? 'web')
    this.#hash = chooseHash(options.hash, options.key)
    this.plan = this.#kind.plan(options)
    const isWide = this.#hash.names.every(isWideHash)
    this.#hashes = this.#kind.takes === 'hashes'
    this.#shards = new Shards(module, this.#kind, this.plan, this.#hashes && isWide, options.instanceBytes)
    this.#kernel = this.#shards.front
    this.#keys = new Keys(this.profile)
    applyHash(this.#kernel, this.#hash)
    this.#shortAt = 0
    this.#short = this.#shortRoom()
  }

  /** A sieve in memory. Throws a SieveError, one line, for options that cannot be. */
  static async create<F extends FilterName = 'fingerprint'>(
    options: SieveOptions<F> = {},
  ): Promise<SieveOf<F>> {
    const kind = filterKind(options.filter ?? 'fingerprint')
    const module = await compileKernel()
    const made = kind.can.delete ? ForgettingSieve : kind.can.under ? RememberingFolders : Sieve
    return new made(module, options) as Sieve as SieveOf<F>
  }

  /** Marks a URL. True: it is new. False: it was seen, or the filter errs. */
  add(url: string): boolean {
    this.#one(url)
    this.#shards.add(1)
    const isNew = this.#kernel.verdicts[0] === 1
    if (isNew) this.#urls++
    else this.#seen++
    return isNew
  }

  /** Whether a URL was seen. Marks nothing. */
  has(url: string): boolean {
    this.#one(url)
    this.#shards.has(1)
    return this.#kernel.verdicts[0] === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
  addMany(urls: readonly string[]): Uint8Array {
    return this.#many(urls, (n) => this.#add(n))
  }

  /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  hasMany(urls: readonly string[]): Uint8Array {
    return this.#many(urls, (n) => this.#shards.has(n)).map((verdict) => 1 - verdict)
  }

  /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. */
  addLines(bytes: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = []
    let count = 0
    const feed = this.feed({ keep: 'none' }, (verdicts) => {
      parts.push(verdicts.slice())
      count += verdicts.length
    })
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES)
      feed.room(chunk.length).set(chunk)
      feed.push(chunk.length)
    }
    feed.end()
    const all = new Uint8Array(count)
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  /** For streams of lines: bytes in, in any cuts; the new (or the seen) lines out. One feed at a time. */
  feed(options: FeedOptions, onBatch?: (verdicts: Uint8Array) => void): Feed {
    return new Feed(
      this.#kernel,
      (n) => {
        this.#prepare(n)
        this.#add(n)
      },
      options,
      onBatch,
    )
  }

  /** The key, what each rule did, and the verdict an add would get. Marks nothing. */
  explain(url: string): Explanation {
    const { key, isUrl, steps } = explainKey(this.profile, url)
    const { invalid } = this.#keys
    const verdict = this.has(url) ? 'seen' : 'new'
    this.#keys.invalid = invalid
    return { url, key, isUrl, steps, verdict }
  }

  stats(): Stats {
    const { sizeBytes, fill, rate, layers, rates } = this.#shards.measure()
    const { expectedUrls, promisedRate } = this.plan
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
    }
  }

  /** Forgets a URL; only a DeletingSieve shows it. */
  protected forget(url: string): boolean {
    this.#one(url)
    this.#shards.delete(1)
    const was = this.#kernel.verdicts[0] === 0
    if (was) this.#urls--
    return was
  }

  /** Whether anything is under a folder; only a FolderSieve shows it. */
  protected askUnder(folder: string): boolean {
    const text = folder.includes('://') ? folder : `https://${folder}`
    const { invalid } = this.#keys
    this.#one(/[?#]/.test(text) || text.endsWith('/') ? text : `${text}/`)
    this.#keys.invalid = invalid
    this.#shards.hasUnder(1)
    return this.#kernel.verdicts[0] === 0
  }

  #add(n: number): void {
    this.#shards.add(n)
    const fresh = this.#kernel.call.countNew(n)
    this.#urls += fresh
    this.#seen += n - fresh
  }

  // Keys and hashes of the n lines in the kernel's batch.
  #prepare(n: number): void {
    this.#keys.make(this.#kernel, n)
    if (this.#hashes) this.#kernel.call.hashKeys(n)
  }

  #shortRoom(bytes = SHORT_BYTES): Uint8Array {
    this.#shortAt = this.#kernel.call.reserveInput(bytes) >>> 0
    this.#kernel.refresh()
    if (this.#shortAt === 0)
      throw new SieveError('room', `a URL of ${bytes} bytes does not fit into the memory left`)
    return this.#kernel.bytes.subarray(this.#shortAt, this.#shortAt + bytes)
  }

  // Makes a batch of one URL.
  #one(url: string): void {
    const need = url.length * 3
    if (need > this.#short.length) this.#short = this.#shortRoom(Math.max(need, SHORT_BYTES))
    const { written } = encoder.encodeInto(url, this.#short)
    const kernel = this.#kernel
    kernel.lineStarts[0] = this.#shortAt
    kernel.lineEnds[0] = this.#shortAt + written
    this.#prepare(1)
  }

  #many(urls: readonly string[], ask: (n: number) => void): Uint8Array {
    const answers = new Uint8Array(urls.length)
    const kernel = this.#kernel
    let done = 0
    while (done < urls.length) {
      if (this.#short.length < CHUNK_BYTES) this.#short = this.#shortRoom(CHUNK_BYTES)
      const room = this.#short
      let n = 0
      let used = 0
      while (n < kernel.batchLines && done + n < urls.length) {
        const url = urls[done + n]!
        if (used + url.length * 3 > room.length) break
        const { written } = encoder.encodeInto(url, room.subarray(used))
        kernel.lineStarts[n] = this.#shortAt + used
        used += written
        kernel.lineEnds[n] = this.#shortAt + used
        n++
      }
      if (n === 0) {
        this.#short = this.#shortRoom(urls[done]!.length * 3)
        continue
      }
      this.#prepare(n)
      ask(n)
      answers.set(kernel.verdicts.subarray(0, n), done)
      done += n
    }
    return answers
  }
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
