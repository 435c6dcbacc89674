// A set of keys on the disk that never errs: LevelDB behind a filter, which answers "certainly new" without a read, and a
// cache, which answers the repeats that come close together. Calls come one at a time.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import type { Durability } from '../journal.ts'
import type { Kernel } from '../kernel.ts'
import { countOf, type Urls } from '../keyer/urls.ts'
import { Verdicts } from '../verdicts.ts'
import { metaBytes, newSession } from './identity.ts'
import { KeyCache } from './key-cache.ts'
import type { KeyFilter } from './key-filter.ts'
import { keyOfLayout, layOut, rangesUnder, schemeOf } from './key-layout.ts'
import type { KeyStore } from './key-store.ts'

export const filterName = (session: string) => `filter-${session}.sieve`

/** What one call found: verdicts, and how many lines are not URLs. */
export interface Found {
  readonly verdicts: Uint8Array
  readonly invalid: number
}

export interface Added extends Found {
  /** How many of the verdicts are "new". */
  readonly fresh: number
}

/** Which part answered. `disk` cost a read. */
export interface Answers {
  filter: number
  cache: number
  disk: number
}

/** A key that only the disk can decide. */
interface Doubt {
  readonly index: number
  readonly laid: Buffer
  readonly low: number
  readonly high: number
}

export interface KeySetOptions {
  readonly folder: string
  readonly durability: Durability
  readonly cacheEntries: number
  readonly session: string
  /** The filter is the one that was saved. */
  readonly hasSavedFilter: boolean
}

export class KeySet {
  readonly filter: KeyFilter
  readonly cache: KeyCache
  readonly answers: Answers = { filter: 0, cache: 0, disk: 0 }
  /** Keys on the disk; while they are counted, how many came and went since. */
  urls: number
  readonly #store: KeyStore
  readonly #folder: string
  readonly #durability: Durability
  #session: string
  /** The keys differ from what the saved filter knows. */
  #isChanged = false
  #hasSavedFilter: boolean
  #filling: Promise<void> | null = null
  #isFillingWanted = true
  /** Keys that wait for their confirmation, by their text. They are in the filter, and not on the disk. */
  readonly #held = new Map<string, Buffer>()

  constructor(store: KeyStore, filter: KeyFilter, options: KeySetOptions) {
    this.filter = filter
    this.cache = new KeyCache(options.cacheEntries)
    this.urls = filter.savedCounts.urls
    this.#store = store
    this.#folder = options.folder
    this.#durability = options.durability
    this.#session = options.session
    this.#hasSavedFilter = options.hasSavedFilter
  }

  /** Keys that wait for their confirmation. */
  get held(): number {
    return this.#held.size
  }

  /** The next write is on the disk when it returns. */
  get isNextSynced(): boolean {
    return !this.#isChanged || this.#durability === 'always'
  }

  /** These keys were delivered, or all that are held. */
  async confirm(urls?: Urls): Promise<void> {
    const keys = new Map(this.#held)
    if (urls !== undefined) {
      keys.clear()
      this.filter.keyer.batches(urls, (n) => {
        const { kernel } = this.filter.keyer
        for (let i = 0; i < n; i++) {
          const name = layOut(kernel.bytes, kernel.keyStarts[i]!, kernel.keyEnds[i]!).toString('latin1')
          const laid = this.#held.get(name)
          if (laid) keys.set(name, laid)
        }
        return n
      })
    }
    if (keys.size === 0) return
    await this.#write([...keys.values()], [])
    for (const name of keys.keys()) this.#held.delete(name)
  }

  /** Adds the keys of all URLs, or none. With `isHeld` they are written by `confirm`. */
  async add(urls: Urls, isHeld = false): Promise<Added> {
    const { filter, cache } = this
    const { keyer } = filter
    const verdicts = new Verdicts(countOf(urls))
    const answers = { filter: 0, cache: 0, disk: 0 }
    const fresh: Buffer[] = []
    const doubts: Doubt[] = []
    // Keys that this call decides: the cache may lose one before it comes again.
    const mine = new Set<string>()
    let invalid = 0
    const take = (n: number): number => {
      const done = filter.add(n)
      const { kernel } = keyer
      const { bytes } = kernel
      const words = wordsOf(kernel)
      for (let i = 0; i < done; i++) {
        const low = words[2 * i]!
        const high = words[2 * i + 1]!
        const start = kernel.keyStarts[i]!
        const end = kernel.keyEnds[i]!
        const isCertain = filter.isCertainlyNew(i)
        if (!isCertain && cache.has(low, high, bytes, start, end)) {
          answers.cache++
          verdicts.push(0)
          continue
        }
        const laid = layOut(bytes, start, end)
        const name = laid.toString('latin1')
        if (isCertain) {
          answers.filter++
          fresh.push(laid)
        } else if (mine.has(name)) {
          answers.cache++
          verdicts.push(0)
          continue
        } else {
          doubts.push({ index: verdicts.length, laid, low, high })
        }
        mine.add(name)
        cache.put(low, high, bytes, start, end)
        verdicts.push(1)
      }
      invalid += keyer.invalidIn(0, done)
      return done
    }
    try {
      keyer.batches(urls, take)
      const found = await this.#lookUp(doubts)
      for (const [i, { index, laid }] of doubts.entries()) {
        if (found[i]) verdicts.set(index, 0)
        else fresh.push(laid)
      }
      if (isHeld) for (const laid of fresh) this.#held.set(laid.toString('latin1'), laid)
      else if (fresh.length > 0) await this.#write(fresh, [])
    } catch (error) {
      cache.clear() // it has keys that were not written
      throw error
    }
    this.urls += fresh.length
    this.#countAnswers(answers, doubts)
    return { verdicts: verdicts.all(), fresh: fresh.length, invalid }
  }

  /** The verdicts of all URLs. Marks nothing. */
  async find(urls: Urls): Promise<Found> {
    const { filter, cache } = this
    const { keyer } = filter
    const verdicts = new Verdicts(countOf(urls))
    const answers = { filter: 0, cache: 0, disk: 0 }
    const doubts: Doubt[] = []
    let invalid = 0
    keyer.batches(urls, (n) => {
      filter.has(n)
      const { kernel } = keyer
      for (let i = 0; i < n; i++) {
        const [low, high, start, end] = entry(kernel, i)
        if (filter.isCertainlyNew(i)) {
          answers.filter++
          verdicts.push(1)
        } else if (cache.has(low, high, kernel.bytes, start, end)) {
          answers.cache++
          verdicts.push(0)
        } else {
          doubts.push({ index: verdicts.length, laid: layOut(kernel.bytes, start, end), low, high })
          verdicts.push(1)
        }
      }
      invalid += keyer.invalidIn(0, n)
      return n
    })
    const found = await this.#lookUp(doubts)
    for (const [i, { index, laid, low, high }] of doubts.entries()) {
      if (!found[i]) continue
      verdicts.set(index, 0)
      const key = keyOfLayout(laid)
      cache.put(low, high, key, 0, key.length)
    }
    this.#countAnswers(answers, doubts)
    return { verdicts: verdicts.all(), invalid }
  }

  /** Deletes the keys of all URLs, or none: verdict 0 for those that were there, a repeat inside the list once. */
  async delete(urls: Urls): Promise<Found> {
    const { keyer } = this.filter
    const keys: Buffer[] = []
    let invalid = 0
    keyer.batches(urls, (n) => {
      const { kernel } = keyer
      for (let i = 0; i < n; i++) {
        const [low, high, start, end] = entry(kernel, i)
        this.cache.delete(low, high, kernel.bytes, start, end)
        keys.push(layOut(kernel.bytes, start, end))
      }
      invalid += keyer.invalidIn(0, n)
      return n
    })
    const found = await this.#store.hasMany(keys)
    const verdicts = new Uint8Array(keys.length).fill(1)
    const gone = new Map<string, Buffer>()
    const held = new Set<string>()
    for (const [i, laid] of keys.entries()) {
      const name = laid.toString('latin1')
      if (this.#held.has(name) && !held.has(name)) held.add(name)
      else if (found[i] && !gone.has(name)) gone.set(name, laid)
      else continue
      verdicts[i] = 0
    }
    if (gone.size > 0) await this.#write([], [...gone.values()])
    for (const name of held) this.#held.delete(name)
    this.urls -= gone.size + held.size
    return { verdicts, invalid }
  }

  /** Deletes every key under a folder, by the folder's URL; with `isOfScheme` only those with its scheme. Returns how many. */
  async deleteUnder(url: string, isOfScheme: boolean): Promise<number> {
    const { keyer } = this.filter
    keyer.one(url)
    const [, , start, end] = entry(keyer.kernel, 0)
    const { ranges, scheme } = rangesUnder(Buffer.from(keyer.kernel.bytes.subarray(start, end)))
    this.cache.clear()
    let count = 0
    for (const [name, laid] of this.#held) {
      const isUnder = ranges.some(({ gte, lt }) => laid.compare(gte) >= 0 && laid.compare(lt) < 0)
      if (!isUnder || (isOfScheme && schemeOf(laid) !== scheme)) continue
      this.#held.delete(name)
      this.urls--
      count++
    }
    for (const range of ranges) {
      for await (const some of this.#store.keys(range)) {
        const mine = isOfScheme ? some.filter((laid) => schemeOf(laid) === scheme) : some
        if (mine.length === 0) continue
        await this.#write([], mine)
        this.urls -= mine.length
        count += mine.length
      }
    }
    return count
  }

  async clear(): Promise<void> {
    if (!this.#isChanged) await this.#write([], [])
    this.cache.clear()
    await this.stopFilling()
    await this.#store.clear()
    if (this.#durability === 'always') await this.#store.sync()
    this.filter.clear()
    this.#held.clear()
    this.urls = 0
  }

  /** Every key, by host and path. */
  async *keys(): AsyncGenerator<Buffer> {
    for await (const some of this.#store.keys()) for (const laid of some) yield keyOfLayout(laid)
  }

  /**
   * Fills the filter with every key on the disk, in the background, after a crash or with another size. What fails leaves
   * it as it is: verdicts are right, and cost a read each. Only damage is passed to `onDamage`.
   */
  beginFilling(onDamage: (error: SieveError) => void): void {
    const fill = async () => {
      const count = await this.filter.fill(this.#store, () => this.#isFillingWanted)
      if (count === null) return
      this.urls += count
      this.filter.isReady = true
    }
    this.#filling = fill().catch((error) => {
      if (error instanceof SieveError && error.code === 'corrupt') onDamage(error)
    })
  }

  /** Waits until the filter is filled. */
  async filled(): Promise<void> {
    await this.#filling
  }

  async stopFilling(): Promise<void> {
    this.#isFillingWanted = false
    await this.#filling
    this.#filling = null
  }

  /** Saves the filter for the next opening. One that was saved in this session, or still agrees with the keys, stays; others go. */
  saveFilter(counts: { readonly seen: number; readonly invalid: number }): void {
    const name = filterName(this.#session)
    if (this.filter.isReady && (this.#isChanged || !this.#hasSavedFilter)) {
      this.filter.save(join(this.#folder, name), { urls: this.urls - this.#held.size, ...counts })
      this.#hasSavedFilter = true
    }
    for (const other of readdirSync(this.#folder)) {
      if (/^filter-.*\.sieve/.test(other) && other !== name) rmSync(join(this.#folder, other))
    }
  }

  async #lookUp(doubts: readonly Doubt[]): Promise<boolean[]> {
    const found = await this.#store.hasMany(doubts.map(({ laid }) => laid))
    if (this.#held.size === 0) return found
    return found.map((isThere, i) => isThere || this.#held.has(doubts[i]!.laid.toString('latin1')))
  }

  #countAnswers({ filter, cache }: Answers, doubts: readonly Doubt[]): void {
    this.answers.filter += filter
    this.answers.cache += cache
    this.answers.disk += doubts.length
  }

  // The first write after an opening begins a session, in the same batch: from then on a filter saved before is void.
  async #write(puts: readonly Buffer[], dels: readonly Buffer[]): Promise<void> {
    const isFirst = !this.#isChanged
    const session = isFirst ? newSession() : this.#session
    const meta = isFirst ? metaBytes(this.filter.keyer.profile, session) : undefined
    await this.#store.write(puts, dels, this.isNextSynced, meta)
    this.#session = session
    this.#isChanged = true
  }
}

// The batch's hashes as 32-bit words.
function wordsOf({ hashes }: Kernel): Uint32Array {
  return new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length)
}

// Entry i of the batch: its hash in two words, and where its key lies.
function entry(kernel: Kernel, i: number): [low: number, high: number, start: number, end: number] {
  const words = wordsOf(kernel)
  return [words[2 * i]!, words[2 * i + 1]!, kernel.keyStarts[i]!, kernel.keyEnds[i]!]
}
