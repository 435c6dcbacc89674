// The sieve that never errs: every key is on disk in LevelDB, behind a filter that answers "certainly new" without
// touching the disk and a cache that answers the repeats that come close together. Memory is bounded: the filter,
// the cache, LevelDB's own buffers, and the batch at hand.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Profile, type ProfileChoice, resolveProfile } from '../canonical/profiles.ts'
import { invalidOption, SieveError } from '../errors.ts'
import { checkNumber, checkSizes, checkWhole } from '../filters/filter.ts'
import type { Sieve } from '../sieve.ts'
import { type Durability, type SieveState, STATE } from '../state.ts'
import { CountsFile, readCounts } from '../store/counts.ts'
import { takeLock } from '../store/lock.ts'
import { checkBytes, checkUrl, copyUrls } from '../url-input.ts'
import { Front, type FrontSize } from './front.ts'
import { identify, type Meta, metaBytes, newSession, prepareFolder } from './identity.ts'
import { KeyCache } from './key-cache.ts'
import { keyOfLayout, layOut, rangesUnder, schemeOf } from './key-layout.ts'
import { KeyStore } from './key-store.ts'

const SYNC_MS = 1000
const CACHE_ENTRIES = 50_000

export interface ExactOptions {
  /** How a URL becomes a key: a profile's name, or a list of built-in rules. Default `web`; kept in the folder. */
  readonly profile?: ProfileChoice
  /** When an acknowledged URL is safe; default `interval`. */
  readonly durability?: Durability
  /** Sizes the filter's first part; it grows past it. Default a million. */
  readonly expectedUrls?: number
  /** Gives the filter a fixed size: past it, more new URLs are looked up on disk. */
  readonly filterBytes?: number
  /** How many keys the cache holds, at 150 bytes each. Default 50,000: in crawls they answer almost 80 % of tests. */
  readonly cacheEntries?: number
  /**
   * Default true: reads every file once before opening and refuses a damaged one, which LevelDB would believe. Costs
   * two to four seconds for each gigabyte.
   */
  readonly verify?: boolean
  /** Opens a damaged folder and keeps what can be kept. */
  readonly repair?: boolean
}

export interface ExactStats {
  readonly filter: 'exact'
  readonly profile: string
  /** Distinct URLs remembered; null while they are counted, after a crash. */
  readonly urls: number | null
  /** URLs answered "seen" by an add. */
  readonly seen: number
  /** Lines that were no URL; keyed as they stand. */
  readonly invalid: number
  /** Always 0: it never errs. */
  readonly expectedRate: 0
  /** Who answered, since it was opened. `disk` cost a read. */
  readonly answers: { readonly filter: number; readonly cache: number; readonly disk: number }
  readonly front: {
    readonly filter: string
    /** False while it is filled again, after a crash: until then every URL that the cache lacks is a read. */
    readonly isReady: boolean
    readonly sizeBytes: number
    /** The share of new URLs that cost a read in vain. */
    readonly rate: number
  }
  readonly cache: { readonly entries: number; readonly sizeBytes: number }
  readonly store: { readonly path: string; readonly durability: Durability }
}

/** A key whose fate the disk knows. */
interface Doubt {
  readonly index: number
  readonly laid: Buffer
  readonly low: number
  readonly high: number
}

/** URLs that wait for the same turn: they share one write. */
interface Group {
  readonly kind: 'add' | 'has'
  readonly urls: string[]
  /** A verdict each, or why that URL was refused. */
  readonly answers: Promise<ArrayLike<number | SieveError>>
}

interface Counts {
  readonly invalid: number
  readonly answers: ExactStats['answers']
}

// All or none: what the filter in front answered before the call failed does not stand.
function whole(error: unknown): unknown {
  if (error instanceof SieveError) delete error.answered
  return error
}

const filterName = (session: string) => `filter-${session}.sieve`

/**
 * Answers "have I seen this URL?", and marks it, without error in either direction; only its profile's rules merge
 * pages. After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval`; after
 * power loss at most the last second with `interval`. Verbs take effect in the order they are called, one at a time:
 * two calls in flight never both get "new". A call that fails has marked nothing.
 */
export class ExactSieve {
  readonly profile: Profile
  readonly #folder: string
  readonly #durability: Durability
  readonly #store: KeyStore
  readonly #front: Front
  readonly #cache: KeyCache
  readonly #release: () => void
  readonly #countsFile: CountsFile
  readonly #timer: NodeJS.Timeout | undefined
  #session: string
  /** The keys differ from what the saved filter knows. */
  #isChanged = false
  #hasSavedFilter: boolean
  /** Keys on the disk; while they are counted, how many came and went since. */
  #urls: number
  #seen: number
  readonly #answers = { filter: 0, cache: 0, disk: 0 }
  #trouble: SieveError | null = null
  #last: Promise<unknown> = Promise.resolve()
  #group: Group | null = null
  #filling: Promise<void> | null = null
  #closing: Promise<void> | null = null

  private constructor(
    folder: string,
    options: { durability: Durability; cacheEntries: number },
    meta: Meta,
    store: KeyStore,
    front: Front,
    hasSavedFilter: boolean,
    release: () => void,
  ) {
    const state = front.sieve[STATE]
    this.profile = front.sieve.profile
    this.#folder = folder
    this.#durability = options.durability
    this.#store = store
    this.#front = front
    this.#cache = new KeyCache(options.cacheEntries)
    this.#release = release
    this.#session = meta.session
    this.#hasSavedFilter = hasSavedFilter
    this.#urls = state.urls
    const counts = readCounts(folder) ?? { seen: state.seen, invalid: state.invalid }
    this.#seen = counts.seen
    state.invalid = counts.invalid
    this.#countsFile = new CountsFile(folder, counts)
    if (!front.isReady) this.#filling = this.#fill()
    if (this.#durability === 'interval') {
      this.#timer = setInterval(() => this.#syncLater(), SYNC_MS)
      this.#timer.unref()
    }
  }

  /** Opens the exact sieve of a folder, or makes one there. One process at a time. */
  static async open(folder: string, options: ExactOptions = {}): Promise<ExactSieve> {
    const { durability = 'interval', cacheEntries = CACHE_ENTRIES, verify = true, repair = false } = options
    if (!['always', 'interval', 'never'].includes(durability)) {
      throw invalidOption('durability', durability, 'always, interval or never')
    }
    checkWhole('cacheEntries', cacheEntries, 1, 2 ** 24)
    checkSizes({ expectedUrls: options.expectedUrls })
    const isRoom = (n: number) => Number.isSafeInteger(n) && n >= 64
    checkNumber('filterBytes', options.filterBytes, isRoom, 'a whole number of at least 64')
    prepareFolder(folder, repair)
    const release = takeLock(join(folder, 'lock'))
    let store: KeyStore | undefined
    try {
      store = await KeyStore.open(join(folder, 'keys'), { verify, repair })
      const { meta, isEmpty } = await identify(folder, store, options.profile, repair)
      const profile = { ...resolveProfile(meta.profile.rules as never), name: meta.profile.name }
      const size: FrontSize = options
      const path = join(folder, filterName(meta.session))
      const saved = repair ? null : await Front.restore(path, profile, size)
      const front = saved ?? (await Front.create(profile, size, isEmpty))
      const settings = { durability, cacheEntries }
      return new ExactSieve(folder, settings, meta, store, front, saved !== null, release)
    } catch (error) {
      await store?.close()
      release()
      throw error
    }
  }

  /** Marks a URL. True: it is new. False: it was seen. Adds that are called together share one write. */
  async add(url: string): Promise<boolean> {
    return (await this.#grouped('add', url)) === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.#grouped('has', url)) === 0
  }

  /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. All or none. */
  async addMany(urls: readonly string[]): Promise<Uint8Array> {
    const list = copyUrls(urls)
    return this.#turn(() => this.#add((sieve) => sieve.addMany(list), list.length))
  }

  /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  async hasMany(urls: readonly string[]): Promise<Uint8Array> {
    const list = copyUrls(urls)
    const verdicts = await this.#turn(() => this.#has((sieve) => sieve.hasMany(list), list.length))
    return verdicts.map((verdict) => 1 - verdict)
  }

  /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. All or none. */
  async addLines(bytes: Uint8Array): Promise<Uint8Array> {
    checkBytes(bytes)
    const copy = bytes.slice() // the caller may change them before their turn
    return this.#turn(() => this.#add((sieve) => sieve.addLines(copy), 1024))
  }

  /** Forgets a URL: true when it was remembered. */
  async delete(url: string): Promise<boolean> {
    checkUrl(url)
    return this.#turn(async () => {
      let laid: Buffer = Buffer.alloc(0)
      this.#front.ask(
        (sieve) => sieve.has(url),
        (state) => {
          const [low, high, start, end] = entry(state, 0)
          this.#cache.delete(low, high, state.kernel.bytes, start, end)
          laid = layOut(state.kernel.bytes, start, end)
        },
      )
      const [was] = await this.#store.hasMany([laid])
      if (!was) return false
      await this.#write([], [laid])
      this.#urls--
      return true
    })
  }

  /**
   * Forgets every URL under a host or folder, such as `example.com/` or `example.com/blog/`; returns how many there
   * were. With a scheme in front, only those with it. A crash on the way may leave some of them.
   */
  async forgetUnder(folder: string): Promise<number> {
    checkUrl(folder, 'folder')
    return this.#turn(async () => {
      const { ranges, scheme } = rangesUnder(this.#keyOf(folderUrl(folder)))
      this.#cache.clear()
      let count = 0
      for (const range of ranges) {
        for await (const some of this.#store.keys(range)) {
          const mine = folder.includes('://') ? some.filter((laid) => schemeOf(laid) === scheme) : some
          if (mine.length === 0) continue
          await this.#write([], mine)
          this.#urls -= mine.length
          count += mine.length
        }
      }
      return count
    })
  }

  /** Forgets everything. A crash on the way may leave some of it. */
  clear(): Promise<void> {
    return this.#turn(async () => {
      if (!this.#isChanged) await this.#write([], [])
      this.#cache.clear()
      await this.#stopFilling()
      await this.#store.clear()
      if (this.#durability === 'always') await this.#store.sync()
      this.#front.sieve.clear()
      this.#front.isReady = true
      this.#urls = 0
      this.#seen = 0
      this.#count()
    })
  }

  /** Every key, by host and path. What is added meanwhile may be left out; bytes that are no UTF-8 are replaced. */
  async *keys(): AsyncGenerator<string> {
    for await (const key of this.keyBytes()) yield key.toString()
  }

  /** The same, as the bytes they are. */
  async *keyBytes(): AsyncGenerator<Buffer> {
    await this.#turn(async () => {})
    for await (const some of this.#store.keys()) for (const laid of some) yield keyOfLayout(laid)
  }

  stats(): ExactStats {
    const { sizeBytes, expectedRate, filter, invalid } = this.#front.sieve.stats()
    return {
      filter: 'exact',
      profile: this.profile.name,
      urls: this.#front.isReady ? this.#urls : null,
      seen: this.#seen,
      invalid,
      expectedRate: 0,
      answers: { ...this.#answers },
      front: { filter, isReady: this.#front.isReady, sizeBytes, rate: expectedRate },
      cache: { entries: this.#cache.capacity, sizeBytes: this.#cache.sizeBytes },
      store: { path: this.#folder, durability: this.#durability },
    }
  }

  /** Waits until the filter knows every key again, after a crash. Verdicts are right before; they cost more. */
  async filled(): Promise<void> {
    await this.#filling
  }

  /** Puts all that was acknowledged on the disk, now. */
  sync(): Promise<void> {
    return this.#turn(async () => {
      await this.#sync()
      this.#countsFile.sync(0, this.#seen, this.#front.invalid)
    })
  }

  /** Puts everything on the disk, keeps the filter for the next opening, and lets another process open it. */
  close(): Promise<void> {
    this.#group = null
    this.#closing ??= this.#after(async () => {
      clearInterval(this.#timer)
      await this.#stopFilling()
      let trouble = this.#trouble
      try {
        await this.#sync().catch((error: SieveError) => {
          trouble = error
          return this.#sync()
        })
        this.#countsFile.sync(0, this.#seen, this.#front.invalid)
        this.#saveFilter()
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

  // Runs a verb when all that were called before have ended.
  #turn<T>(verb: () => Promise<T>): Promise<T> {
    if (this.#closing) return Promise.reject(closedError(this.#folder))
    this.#group = null
    return this.#after(() => {
      const trouble = this.#trouble
      this.#trouble = null
      if (trouble) throw trouble
      return verb()
    })
  }

  #after<T>(verb: () => Promise<T>): Promise<T> {
    const run = this.#last.then(verb)
    this.#last = run.catch(() => {})
    return run
  }

  // Single URLs that are called before their turn comes go together.
  async #grouped(kind: Group['kind'], url: string): Promise<number> {
    checkUrl(url)
    if (this.#group?.kind !== kind) {
      const urls: string[] = []
      const answers = this.#turn(() => {
        if (this.#group?.urls === urls) this.#group = null
        return this.#askGroup(kind, urls)
      })
      this.#group = { kind, urls, answers }
    }
    const { urls, answers } = this.#group
    const index = urls.push(url) - 1
    const answer = (await answers)[index]!
    if (typeof answer !== 'number') throw answer
    return answer
  }

  // One URL that is too long must not make the others fail: they came in calls of their own.
  async #askGroup(kind: Group['kind'], urls: readonly string[]): Promise<ArrayLike<number | SieveError>> {
    const ask = (some: readonly string[]) =>
      kind === 'add'
        ? this.#add((sieve) => sieve.addMany(some), some.length)
        : this.#has((sieve) => sieve.hasMany(some), some.length)
    try {
      return await ask(urls)
    } catch (error) {
      if ((error as SieveError).code !== 'memory' || urls.length === 1) throw error
    }
    const answers: (number | SieveError)[] = []
    for (const url of urls) {
      try {
        answers.push((await ask([url]))[0]!)
      } catch (error) {
        if (!(error instanceof SieveError)) throw error
        answers.push(error)
      }
    }
    return answers
  }

  async #add(question: (sieve: Sieve) => void, room: number): Promise<Uint8Array> {
    const verdicts = new Verdicts(room)
    const fresh: Buffer[] = []
    const doubts: Doubt[] = []
    // Keys that this call decides: the cache may lose one before it comes again.
    const mine = new Set<string>()
    const take = (state: SieveState, from: number, n: number) => {
      const bytes = state.kernel.bytes
      const words = wordsOf(state)
      for (let i = from; i < n; i++) {
        const low = words[2 * i]!
        const high = words[2 * i + 1]!
        const start = state.kernel.keyStarts[i]!
        const end = state.kernel.keyEnds[i]!
        const isCertain = this.#front.isReady && state.kernel.verdicts[i] === 1
        if (!isCertain && this.#cache.has(low, high, bytes, start, end)) {
          this.#answers.cache++
          verdicts.push(0)
          continue
        }
        const laid = layOut(bytes, start, end)
        const name = laid.toString('latin1')
        if (isCertain) {
          this.#answers.filter++
          fresh.push(laid)
        } else if (mine.has(name)) {
          this.#answers.cache++
          verdicts.push(0)
          continue
        } else {
          doubts.push({ index: verdicts.length, laid, low, high })
        }
        mine.add(name)
        this.#cache.put(low, high, bytes, start, end)
        verdicts.push(1)
      }
    }
    const before = this.#counts()
    try {
      this.#front.ask(question, take)
      const found = await this.#lookUp(doubts)
      for (const [i, { index, laid }] of doubts.entries()) {
        if (found[i]) verdicts.set(index, 0)
        else fresh.push(laid)
      }
      if (fresh.length > 0) await this.#write(fresh, [])
    } catch (error) {
      this.#cache.clear() // it has keys that were not written
      this.#setCounts(before)
      throw whole(error)
    }
    this.#urls += fresh.length
    this.#seen += verdicts.length - fresh.length
    this.#count()
    return verdicts.all()
  }

  async #has(question: (sieve: Sieve) => void, room: number): Promise<Uint8Array> {
    const verdicts = new Verdicts(room)
    const doubts: Doubt[] = []
    const take = (state: SieveState, from: number, n: number) => {
      for (let i = from; i < n; i++) {
        const [low, high, start, end] = entry(state, i)
        if (this.#front.isReady && state.kernel.verdicts[i] === 1) {
          this.#answers.filter++
          verdicts.push(1)
        } else if (this.#cache.has(low, high, state.kernel.bytes, start, end)) {
          this.#answers.cache++
          verdicts.push(0)
        } else {
          doubts.push({ index: verdicts.length, laid: layOut(state.kernel.bytes, start, end), low, high })
          verdicts.push(1)
        }
      }
    }
    const before = this.#counts()
    let found: boolean[]
    try {
      this.#front.ask(question, take)
      found = await this.#lookUp(doubts)
    } catch (error) {
      this.#setCounts(before)
      throw whole(error)
    }
    for (const [i, { index, laid, low, high }] of doubts.entries()) {
      if (!found[i]) continue
      verdicts.set(index, 0)
      const key = keyOfLayout(laid)
      this.#cache.put(low, high, key, 0, key.length)
    }
    this.#count()
    return verdicts.all()
  }

  // What a call counts before it is known to succeed.
  #counts(): Counts {
    return { invalid: this.#front.sieve[STATE].invalid, answers: { ...this.#answers } }
  }

  #setCounts({ invalid, answers }: Counts): void {
    this.#front.sieve[STATE].invalid = invalid
    Object.assign(this.#answers, answers)
  }

  #count(): void {
    this.#countsFile.write(0, this.#seen, this.#front.invalid)
  }

  #lookUp(doubts: readonly Doubt[]): Promise<boolean[]> {
    this.#answers.disk += doubts.length
    return this.#store.hasMany(doubts.map(({ laid }) => laid))
  }

  // The first write after an opening begins a session, in the same batch: from then on a filter saved before is void.
  async #write(puts: readonly Buffer[], dels: readonly Buffer[]): Promise<void> {
    const isFirst = !this.#isChanged
    const session = isFirst ? newSession() : this.#session
    const meta = isFirst ? metaBytes(this.profile, session) : undefined
    await this.#store.write(puts, dels, isFirst || this.#durability === 'always', meta)
    this.#session = session
    this.#isChanged = true
  }

  #keyOf(url: string): Buffer {
    let key: Buffer = Buffer.alloc(0)
    this.#front.ask(
      (sieve) => sieve.explain(url), // unlike has, counts nothing
      (state) => {
        const [, , start, end] = entry(state, 0)
        key = Buffer.from(state.kernel.bytes.subarray(start, end))
      },
    )
    return key
  }

  // In the background, after a crash or with another size: the filter learns every key on the disk.
  #isFillingWanted = true
  async #fill(): Promise<void> {
    try {
      const count = await this.#front.fill(this.#store, () => this.#isFillingWanted)
      if (count === null) return
      this.#urls += count
      this.#front.isReady = true
    } catch (error) {
      // The filter stays unready: verdicts are right, and cost a read each. Only damage is worth a word.
      if ((error as SieveError).code === 'corrupt') this.#trouble = error as SieveError
    }
  }

  async #stopFilling(): Promise<void> {
    this.#isFillingWanted = false
    await this.#filling
    this.#filling = null
  }

  // A filter that was saved in this session, or is still good, stays; any other goes.
  #saveFilter(): void {
    const name = filterName(this.#session)
    if (this.#front.isReady && (this.#isChanged || !this.#hasSavedFilter)) {
      const { invalid } = this.#front.sieve.stats()
      this.#front.save(join(this.#folder, name), { urls: this.#urls, seen: this.#seen, invalid })
      this.#hasSavedFilter = true
    }
    for (const other of readdirSync(this.#folder)) {
      if (/^filter-.*\.sieve/.test(other) && other !== name) rmSync(join(this.#folder, other))
    }
  }

  // Waits for a sync in the background too, and throws what went wrong there: then nobody else needs to.
  async #sync(): Promise<void> {
    try {
      await this.#store.sync()
    } catch (error) {
      this.#trouble = null
      throw error
    }
  }

  #syncLater(): void {
    this.#countsFile.syncLater()
    if (this.#store.isSyncing) return
    this.#store.sync().catch((error: SieveError) => {
      this.#trouble = error
    })
  }
}

/** Verdicts of a call whose number of lines is not known before. */
class Verdicts {
  length = 0
  #bytes: Uint8Array

  constructor(room: number) {
    this.#bytes = new Uint8Array(Math.max(16, room))
  }

  push(verdict: number): void {
    if (this.length === this.#bytes.length) {
      const wider = new Uint8Array(this.length * 2)
      wider.set(this.#bytes)
      this.#bytes = wider
    }
    this.#bytes[this.length++] = verdict
  }

  set(index: number, verdict: number): void {
    this.#bytes[index] = verdict
  }

  all(): Uint8Array {
    return this.#bytes.slice(0, this.length)
  }
}

// The batch's hashes as 32-bit words.
function wordsOf({ kernel }: SieveState): Uint32Array {
  return new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * kernel.hashes.length)
}

// Entry i of the batch: its hash in two words, and where its key lies.
function entry(state: SieveState, i: number): [low: number, high: number, start: number, end: number] {
  const words = wordsOf(state)
  return [words[2 * i]!, words[2 * i + 1]!, state.kernel.keyStarts[i]!, state.kernel.keyEnds[i]!]
}

const closedError = (folder: string) => new SieveError('disk', `${folder} is closed: open it again`)

// A folder as a URL that the profile can make a key of.
function folderUrl(folder: string): string {
  const text = folder.includes('://') ? folder : `https://${folder}`
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#]+(\/[^?#]*)?$/i.test(text)) {
    throw new SieveError('option', `folder '${folder}': expected a host or folder, such as example.com/blog/`)
  }
  return text.endsWith('/') ? text : `${text}/`
}
