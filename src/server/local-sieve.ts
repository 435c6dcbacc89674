// One sieve of a server, in this process: in memory or in its folder. It checks the memory limit before it grows, and a
// NONSCALING Bloom filter fails when it is full.
import { SieveError } from '../errors.ts'
import { filterKind } from '../filters/registry.ts'
import type { DeletingSieve, Explanation, FolderSieve, Items, Plan, Sieve } from '../index.ts'
import type { LimitedSieve } from '../shapes/limited-sieve.ts'
import type { ShapeLimitOptions } from '../shapes/shape-limits.ts'
import { STATE } from '../state.ts'
import type { Entry } from './data-folder.ts'
import { DiskWatch } from './disk-watch.ts'
import type { Faults } from './faults.ts'
import { bytesOf, growthOf } from './growth.ts'
import { releaseMemory } from './memory-release.ts'
import { type Meters, newMeters } from './meters.ts'
import { wasDropped } from './names.ts'
import { inParts, oneByOne, PartSize } from './parts.ts'
import type { RecentShapes } from './recent-shapes.ts'
import type { Answers, BloomSpec, LentItems, ServedSieve, ServedStats, SieveKind } from './registry.ts'
import { limitBytes, limitsOf } from './sieve-spec.ts'

/** RedisBloom's error text. */
const FULL = 'non scaling filter is full'
/** The memory limit is checked once for this many URLs, unless little memory is left. */
const STRIDE_URLS = 8192
/** The system maps memory when it is first touched, which takes longer than adding a URL. */
const LARGE_GROWTH_BYTES = 64 * 1024 * 1024

/** Throws when `bytes` more for this sieve exceed the memory for all sieves. */
export type CheckMemory = (sieve: LocalSieve, bytes: number) => void

interface LocalSieveOptions {
  readonly limited?: LimitedSieve | null
  readonly shapes?: RecentShapes | undefined
  /** Why it can only be read. */
  readonly refusal?: string | undefined
}

/** Errs as its filter does; see `SIEVE.STATS` for the rate. */
export class LocalSieve implements ServedSieve {
  readonly kind: SieveKind
  readonly bloom?: BloomSpec
  readonly limits?: ShapeLimitOptions
  readonly plan: Plan
  readonly meters: Meters = newMeters()
  readonly forget?: (urls: readonly string[]) => Answers<Uint8Array>
  readonly remove?: (items: LentItems) => Answers<Uint8Array>
  readonly under?: (folder: string) => boolean
  /** Its memory when last measured. */
  sizeBytes: number
  writes = 0
  usedAt = Date.now()
  /** Set when it is to be dropped with all others. */
  isHidden = false
  #entry: Entry
  /** Null once it is closed: calls fail, and references to it do not keep its memory. */
  #open: Sieve | null
  /** The sieve with its limits by shape; null: none. */
  #limited: LimitedSieve | null
  readonly #limitBytes: number
  readonly #checkMemory: CheckMemory
  readonly #shapes: RecentShapes | undefined
  readonly #refusal: string | undefined
  readonly #partSize = new PartSize()
  /** Items it may take before the memory limit is checked again. */
  #allowed = 0
  /** Distinct items, for a filter that does not grow. */
  #count: number
  /** Past this count its rate exceeds the promise; infinite for a filter that grows, and once that is reported. */
  #capacity: number
  readonly #faults: Faults
  #disk: DiskWatch | undefined

  constructor(
    entry: Entry,
    sieve: Sieve,
    checkMemory: CheckMemory,
    faults: Faults,
    { limited = null, shapes, refusal }: LocalSieveOptions = {},
  ) {
    const { purpose } = entry
    const bloom = purpose === 'set' ? undefined : purpose
    this.#entry = entry
    this.kind = purpose === 'set' ? 'set' : bloom ? 'bloom' : 'sieve'
    if (bloom) this.bloom = bloom
    this.plan = sieve.plan
    this.#open = sieve
    this.#limited = limited
    const limits = limited && limitsOf(entry.spec)
    if (limits) this.limits = limits
    this.#limitBytes = limitBytes(limits)
    this.#checkMemory = checkMemory
    this.#shapes = shapes
    this.#refusal = refusal
    const stats = sieve.stats()
    this.#count = stats.urls
    this.sizeBytes = bytesOf(stats) + this.#limitBytes
    this.#faults = faults
    this.#disk = stats.store && new DiskWatch(faults, entry.name, stats.store.path)
    const { filter, expectedUrls } = sieve.plan
    this.#capacity = filterKind(filter).can.grow
      ? Number.POSITIVE_INFINITY
      : (expectedUrls ?? Number.POSITIVE_INFINITY)
    this.#checkCapacity()
    if (sieve[STATE].hashFault !== null && stats.pastCapacity) {
      faults.begin(
        'past-capacity',
        `${stats.noPromise}: new URLs are answered "seen"; create it again with siphash`,
        entry.name,
      )
    }
    if (!bloom && 'delete' in sieve) {
      this.forget = (urls) =>
        oneByOne(urls, (url) => this.#write(() => Number((this.#sieve as DeletingSieve).delete(url))))
      this.remove = (items) => {
        this.usedAt = Date.now()
        return inParts(items, this.#partSize, (part) =>
          this.#write(() => (this.#sieve as DeletingSieve).deleteItems(part)),
        )
      }
    }
    if (!bloom && 'hasUnder' in sieve) this.under = (folder) => (this.#sieve as FolderSieve).hasUnder(folder)
  }

  get name(): string {
    return this.#entry.name
  }

  get createdAt(): Date {
    return this.#entry.createdAt
  }

  get expiresAt(): number | undefined {
    return this.#entry.expiresAt
  }

  get entry(): Entry {
    return this.#entry
  }

  /** It is treated as absent, and will be dropped. */
  get isAbsent(): boolean {
    return this.isHidden || this.isExpired
  }

  get isExpired(): boolean {
    const { expiresAt } = this.#entry
    return expiresAt !== undefined && expiresAt <= Date.now()
  }

  /** Gives it another name or time of expiry; its faults get the name too. */
  describe(entry: Entry): void {
    const { name } = this
    this.#entry = entry
    this.writes++
    if (entry.name === name) return
    const path = this.#sieve.stats().store?.path
    this.#disk?.close()
    this.#disk = path === undefined ? undefined : new DiskWatch(this.#faults, entry.name, path)
    for (const { kind, message } of this.#faults.of(name)) {
      this.#faults.end(kind, name)
      if (kind === 'disk') this.#disk?.refused(message)
      else this.#faults.begin(kind, message, entry.name)
    }
  }

  get #sieve(): Sieve {
    if (this.#open) return this.#open
    throw wasDropped(this.name)
  }

  add(items: LentItems): Answers<Uint8Array> {
    const count = items.starts.length
    this.usedAt = Date.now()
    this.#checkWritable()
    this.reserve(count)
    this.#shapes?.take(this, items, this.usedAt)
    this.#allowed -= count
    const { bloom } = this
    if (bloom?.expansion === 0) {
      return inParts(
        items,
        this.#partSize,
        (part) => this.#knownOnly(part) ?? this.#write(() => this.#addUpToCapacity(part, bloom.capacity)),
      )
    }
    return inParts(items, this.#partSize, (part) => this.#knownOnly(part) ?? this.#addSome(part))
  }

  // While the disk refuses writes nothing is marked: a filter of bits could not unmark it, and would fill up with what was
  // refused. Null: the disk accepts writes.
  #knownOnly(items: Items): Uint8Array | null {
    const refusal = this.#disk?.refusal
    if (refusal === undefined) return null
    if (this.#sieve.hasItems(items).includes(0)) throw new SieveError('disk', refusal)
    return new Uint8Array(items.starts.length)
  }

  /** As `add`, but when the new items do not all fit into a filter that does not grow, none is added. */
  addWhole(items: LentItems): Answers<Uint8Array> {
    const capacity = this.bloom?.expansion === 0 ? this.bloom.capacity : Number.POSITIVE_INFINITY
    if (this.#count + items.starts.length <= capacity) return this.add(items)
    const add = (known: Uint8Array): Answers<Uint8Array> => {
      let fresh = known.length
      for (let i = 0; i < known.length; i++) fresh -= known[i]!
      if (this.#count + fresh > capacity) throw new SieveError('full', FULL)
      return this.add(kept)
    }
    // The bytes are used after an answer that comes later.
    const kept = items.isKept ? items : { ...items, bytes: new Uint8Array(items.bytes), isKept: true }
    const known = this.has(kept)
    return known instanceof Promise ? known.then(add) : add(known)
  }

  reserve(items: number): void {
    if (items > this.#allowed) this.#reserveMemory(items)
  }

  #addSome(items: Items): Uint8Array {
    try {
      const verdicts = this.#write(() => this.#addLimited(items))
      if (this.#capacity !== Number.POSITIVE_INFINITY) this.#countNew(verdicts)
      return verdicts
    } catch (error) {
      if (error instanceof SieveError && error.answered) this.#countNew(error.answered)
      throw error
    }
  }

  // A sieve in this process answers at the call, with limits too.
  #addLimited(items: Items): Uint8Array {
    const sieve = this.#sieve
    return this.#limited ? (this.#limited.addItems(items) as Uint8Array) : sieve.addItems(items)
  }

  has(items: LentItems): Answers<Uint8Array> {
    this.usedAt = Date.now()
    return inParts(items, this.#partSize, (part) => this.#sieve.hasItems(part))
  }

  explain(url: string): Explanation {
    const sieve = this.#sieve
    return this.#limited ? (this.#limited.explain(url) as Explanation) : sieve.explain(url)
  }

  stats(): ServedStats {
    const stats = this.#sieve.stats()
    const before = this.sizeBytes
    this.sizeBytes = bytesOf(stats) + this.#limitBytes
    releaseMemory(before - this.sizeBytes) // of generations that are over
    return this.#limited ? { ...stats, dropped: this.#limited.limits.stats().dropped } : stats
  }

  async save(): Promise<void> {
    const sieve = this.#sieve
    this.#checkWritable()
    if (!this.#disk) return
    try {
      await sieve.save()
    } catch (error) {
      this.#reportDisk(error)
      throw error
    }
  }

  async dump(path: string): Promise<void> {
    await this.#sieve.save(path)
    if (!this.#open) throw wasDropped(this.name)
  }

  /** Further calls fail. */
  async close(): Promise<void> {
    const sieve = this.#open
    this.#open = null
    this.#limited = null
    this.#disk?.close()
    if (!sieve) return
    await sieve.close().finally(() => releaseMemory(this.sizeBytes, sieve))
  }

  #checkWritable(): void {
    if (this.#refusal !== undefined) throw new SieveError('disk', this.#refusal)
  }

  #write<T>(act: () => T): T {
    this.#checkWritable()
    this.writes++
    try {
      return act()
    } catch (error) {
      this.#reportDisk(error)
      throw error
    }
  }

  // A disk that refuses writes is a fault that outlasts the call.
  #reportDisk(error: unknown): void {
    if (error instanceof SieveError && error.code === 'disk') this.#disk?.refused(error.message)
  }

  #countNew(verdicts: Uint8Array): void {
    for (let i = 0; i < verdicts.length; i++) this.#count += verdicts[i]!
    this.#checkCapacity()
  }

  #checkCapacity(): void {
    if (this.#count <= this.#capacity) return
    const message = `more than the ${this.#capacity} URLs it was created for: a new URL is answered "seen" more often than promised; create a larger sieve`
    this.#faults.begin('past-capacity', message, this.name)
    this.#capacity = Number.POSITIVE_INFINITY
  }

  #reserveMemory(count: number): void {
    const stats = this.stats()
    const growth = (urls: number) => growthOf(this.#sieve, stats, urls)
    if (growth(count + STRIDE_URLS) > LARGE_GROWTH_BYTES) this.#partSize.restart()
    try {
      this.#checkMemory(this, growth(count + STRIDE_URLS))
      this.#allowed = count + STRIDE_URLS
    } catch {
      this.#checkMemory(this, growth(count))
      this.#allowed = count
    }
  }

  // Past the capacity known items are still answered; the first new one fails, and the verdicts before it stand.
  #addUpToCapacity(items: Items, capacity: number): Uint8Array {
    const count = items.starts.length
    if (this.#count + count <= capacity) {
      const verdicts = this.#sieve.addItems(items)
      for (const verdict of verdicts) this.#count += verdict
      return verdicts
    }
    const verdicts = new Uint8Array(count)
    for (let i = 0; i < count; i++) {
      const one = { ...items, starts: items.starts.subarray(i, i + 1), ends: items.ends.subarray(i, i + 1) }
      if (this.#count >= capacity && this.#sieve.hasItems(one)[0] === 0) {
        const full = new SieveError('full', FULL)
        full.answered = verdicts.slice(0, i)
        throw full
      }
      verdicts[i] = this.#sieve.addItems(one)[0]!
      this.#count += verdicts[i]!
    }
    return verdicts
  }
}
