// The sieve on Redis or Valkey, one node or a cluster, shared by any number of processes. URLs become keys and hashes
// here, in the kernel; the hashes are spread by tag and sent, one call for each tag; test-and-set is on the server.
import type { Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { checkNumber } from '../filters/filter.ts'
import type { Explanation, Items, Sieve, Stats } from '../sieve.ts'
import { checkUrl } from '../url-input.ts'
import { Calls, type Patience } from './calls.ts'
import { type RedisClient, scriptClient } from './client.ts'
import { UrlHashes } from './hashing.ts'
import {
  checkName,
  checkShape,
  type Parameters,
  parametersFor,
  profileOf,
  rateAt,
  readParameters,
  type Shape,
} from './parameters.ts'
import { clearScript, type Script, scriptsFor, stateScript } from './scripts.ts'
import { evenTags } from './slots.ts'
import { Spread } from './spread.ts'

export interface RedisSieveOptions extends Shape, Patience {
  /** A connected client of the package `redis`: createClient, createClientPool, createCluster or createSentinel. */
  readonly client: RedisClient
  /** Which sieve: any number of them live on one cluster. */
  readonly name: string
}

/** The names of all sieves there. */
const NAMES = 'urlsieve'
const parametersKey = (name: string) => `urlsieve:${name}`
const tagPrefixes = (count: number) => evenTags(count).map((tag) => `urlsieve:{${tag}}:`)
/** Keys of many nodes, before a sieve's own tags are known. */
const SOME_KEYS = tagPrefixes(32)

/** URLs that go to the cluster together, per tag on average: a script that runs about a millisecond. */
const MOST_URLS_PER_TAG = 512
/** All of them together, unless a sieve has so many tags that its calls would be short. */
const MOST_URLS = 16_384
const ENOUGH_URLS_PER_TAG = 32
/** Answers are kept for longer than anyone tries again. */
const LONGEST_RETRY_MS = 60_000
const ANSWERS_MS = 2 * LONGEST_RETRY_MS
/** Sets taken away in one call. */
const CLEARED_SETS = 2000

/** The verdict of a URL whose call failed: it may be marked or not. */
export const UNKNOWN = 2

/** What a set costs besides its members, and a member with what the allocator rounds up. Measured: docs/cluster.md. */
const SET_BYTES = 115
const MEMBER_BYTES = { fingerprint: 8.8, compact: 4.3 } as const

/**
 * Answers "have I seen this URL?", and marks it, for every process that opens the same name: of two that add a URL at
 * the same time one gets "new". Errs towards "seen" at its mode's rate and where its profile's rules merge pages;
 * towards "new" when Redis loses what it acknowledged: a failover, an eviction, a restart without persistence.
 */
export class RedisSieve {
  readonly name: string
  readonly profile: Profile
  readonly parameters: Parameters
  readonly #hashes: UrlHashes
  readonly #calls: Calls
  readonly #spread: Spread
  readonly #tags: readonly string[]
  readonly #scripts: ReturnType<typeof scriptsFor>
  /** This object's own word among the answers kept. */
  readonly #client = Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString('base64url')
  /** Lanes: batches under way at the same time; each has one place for its answers in every tag. */
  readonly #freeLanes: number[] = []
  #lanes = 0
  #batches = 0
  #group: {
    readonly kind: 'add' | 'has'
    readonly urls: string[]
    readonly answers: Promise<Uint8Array>
  } | null = null
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  private constructor(
    name: string,
    parameters: Parameters,
    hashes: UrlHashes,
    calls: Calls,
    tags: readonly string[],
  ) {
    this.name = name
    this.parameters = parameters
    this.profile = hashes.sieve.profile
    this.#hashes = hashes
    this.#calls = calls
    this.#spread = new Spread(parameters.tags)
    this.#tags = tags
    const width = parameters.mode === 'fingerprint' ? 53 : 32
    this.#scripts = scriptsFor({ ...parameters, width, answersMs: ANSWERS_MS })
  }

  /**
   * Opens the sieve of that name, or makes it: once, whoever comes first. Throws a SieveError when it is there with
   * other parameters than those given.
   */
  static open(options: RedisSieveOptions): Promise<RedisSieve> {
    return RedisSieve.#make(options, 'open')
  }

  /** Makes a sieve. Throws a SieveError when the name is taken. */
  static create(options: RedisSieveOptions): Promise<RedisSieve> {
    return RedisSieve.#make(options, 'create')
  }

  /** Opens the sieve of that name; null when there is none. */
  static async find(options: Omit<RedisSieveOptions, keyof Shape>): Promise<RedisSieve | null> {
    return RedisSieve.#make(options, 'find')
  }

  /** The names of the sieves there. */
  static async names(client: RedisClient, patience: Patience = {}): Promise<string[]> {
    const calls = new Calls(scriptClient(client), SOME_KEYS, patience)
    const names = (await calls.command(NAMES, ['SMEMBERS', NAMES])) as Iterable<unknown>
    return Array.from(names, String).sort()
  }

  static #make(options: RedisSieveOptions, way: 'open' | 'create'): Promise<RedisSieve>
  static #make(options: RedisSieveOptions, way: 'find'): Promise<RedisSieve | null>
  static async #make(
    options: RedisSieveOptions,
    way: 'open' | 'create' | 'find',
  ): Promise<RedisSieve | null> {
    const { client, name, timeoutMs, retryMs, ...shape } = options
    checkName(name)
    checkNumber('timeoutMs', timeoutMs, (ms) => ms >= 1, 'at least 1 millisecond')
    checkNumber('retryMs', retryMs, (ms) => ms >= 0 && ms <= LONGEST_RETRY_MS, `0 to ${LONGEST_RETRY_MS}`)
    const patience = { ...(timeoutMs && { timeoutMs }), ...(retryMs !== undefined && { retryMs }) }
    const calls = new Calls(scriptClient(client), SOME_KEYS, patience)
    const key = parametersKey(name)
    let there = await calls.command(key, ['GET', key])
    if (there === null) {
      if (way === 'find') return null
      const text = JSON.stringify(parametersFor(shape))
      // A repeat after a lost answer finds its own text there.
      await calls.command(key, ['SET', key, text, 'NX'])
      there = await calls.command(key, ['GET', key])
      if (way === 'create' && String(there) !== text) throw taken(name)
      await calls.command(NAMES, ['SADD', NAMES, name])
    } else if (way === 'create') throw taken(name)
    const parameters = readParameters(name, String(there))
    checkShape(name, parameters, shape)
    const hashes = await UrlHashes.create(profileOf(parameters), Buffer.from(parameters.key, 'hex'))
    const tags = tagPrefixes(parameters.tags)
    return new RedisSieve(name, parameters, hashes, new Calls(scriptClient(client), tags, patience), tags)
  }

  /** Marks a URL. True: it is new. False: it was seen, or the sieve errs. Adds that are called together go together. */
  async add(url: string): Promise<boolean> {
    return (await this.#grouped('add', url)) === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.#grouped('has', url)) === 1
  }

  /**
   * Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. When the cluster
   * fails on the way it throws a RedisSieveError, which has the verdicts that were given.
   */
  addMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#ask(this.#scripts.add, (sieve) => sieve.hasMany(urls))
  }

  /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
  hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#ask(this.#scripts.has, (sieve) => sieve.hasMany(urls))
  }

  /** Marks items that lie in one buffer, any bytes, no strings made; as `addMany`. */
  addItems(items: Items): Promise<Uint8Array> {
    return this.#ask(this.#scripts.add, (sieve) => sieve.hasItems(items))
  }

  /** Asks for items that lie in one buffer; as `hasMany`. */
  hasItems(items: Items): Promise<Uint8Array> {
    return this.#ask(this.#scripts.has, (sieve) => sieve.hasItems(items))
  }

  /** Marks newline-separated lines, no strings made; as `addMany`. */
  addLines(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#ask(this.#scripts.add, (sieve) => sieve.hasLines(bytes))
  }

  /** Forgets a URL: true when it was remembered. With `compact` it may take another with it, at its rate. */
  async delete(url: string): Promise<boolean> {
    return (await this.deleteMany([url]))[0] === 1
  }

  /** Forgets many URLs: 1 was remembered, 0 was not. */
  deleteMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#ask(this.#scripts.forget, (sieve) => sieve.hasMany(urls))
  }

  /** The key, what each rule did, and the verdict an add would get. Marks nothing. */
  async explain(url: string): Promise<Explanation> {
    const seen = await this.has(url)
    return { ...this.#hashes.sieve.explain(url), verdict: seen ? 'seen' : 'new' }
  }

  /** Lines so far, of this object's calls that were answered, whole or in part, that are not URLs; keyed as they stand. */
  get invalid(): number {
    return this.#hashes.sieve.stats().invalid
  }

  /** Counts that the scripts keep, summed over the tags: no key is searched for. The size is an estimate. */
  async stats(): Promise<Stats> {
    const { parameters } = this
    let [urls, seen, sets] = [0, 0, 0]
    for (const [u, s, n] of await Promise.all(this.#states().map((key) => this.#state(key)))) {
      urls += u
      seen += s
      sets += Math.min(n, u)
    }
    const sizeBytes = Math.round(urls * MEMBER_BYTES[parameters.mode] + sets * SET_BYTES)
    const { expectedUrls } = parameters
    const atMost = expectedUrls === null ? null : rateAt(parameters, expectedUrls)
    return {
      filter: `redis ${parameters.mode}`,
      profile: this.profile.name,
      hash: 'siphash',
      urls,
      seen,
      invalid: this.invalid,
      sizeBytes,
      bitsPerUrl: urls === 0 ? null : (8 * sizeBytes) / urls,
      fill: sets === 0 ? 0 : Math.min(1, urls / sets / (2 * parameters.meanUrls)),
      expectedRate: rateAt(parameters, urls),
      promisedRate: parameters.falsePositiveRate ?? atMost,
      pastCapacity: parameters.mode === 'compact' && urls > expectedUrls!,
    }
  }

  /** Forgets everything. URLs that others add meanwhile may stay. */
  async clear(): Promise<void> {
    await Promise.all(
      this.#states().map(async (state, i) => {
        const tag = this.#tags[Math.floor(i / this.#generations().length)]!
        const total = (await this.#state(state))[2]
        for (let from = 0; from < total; from += CLEARED_SETS) {
          const args = [from, CLEARED_SETS, total].map(String)
          await this.#calls.script(clearScript, [state, `${tag}|guard`], args)
        }
      }),
    )
  }

  /** Forgets everything, and the sieve itself. Nobody may be using it. */
  async drop(): Promise<void> {
    await this.clear()
    const key = parametersKey(this.name)
    await this.#calls.command(key, ['DEL', key])
    await this.#calls.command(NAMES, ['SREM', NAMES, this.name])
    await this.close()
  }

  /** Whether the sieve of this name is still this one: not dropped, and not made again with another key. */
  async isCurrent(): Promise<boolean> {
    const key = parametersKey(this.name)
    const there = await this.#calls.command(key, ['GET', key])
    if (there === null) return false
    const { key: hashKey, createdAt } = readParameters(this.name, String(there))
    return hashKey === this.parameters.key && createdAt === this.parameters.createdAt
  }

  /** Waits for the calls under way. The client stays open: it is yours. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // The generations, newest first: the one that is filled, the next one (another clock may be ahead), and the older.
  #generations(now = Date.now()): string[] {
    const { windowMs, generations } = this.parameters
    if (windowMs === null) return ['']
    const newest = Math.floor((now * generations) / windowMs)
    const older = Array.from({ length: generations - 1 }, (_, i) => newest - 1 - i)
    return [newest, newest + 1, ...older].map((g) => `|g${g}`)
  }

  // When a generation that is filled now ends, in ms since 1970; 0 for ever.
  #ends(now: number): string {
    const { windowMs, generations } = this.parameters
    if (windowMs === null) return '0'
    const newest = Math.floor((now * generations) / windowMs)
    return String(Math.ceil(((newest + generations) * windowMs) / generations))
  }

  #states(): string[] {
    const generations = this.#generations()
    return this.#tags.flatMap((tag) => generations.map((g) => `${tag}${this.name}${g}`))
  }

  async #state(key: string): Promise<[urls: number, seen: number, sets: number]> {
    const reply = await this.#calls.script(stateScript, [key], [String(this.parameters.base)])
    return (reply as unknown[]).map(Number) as [number, number, number]
  }

  // Single URLs of one turn of the event loop go together.
  async #grouped(kind: 'add' | 'has', url: string): Promise<number> {
    checkUrl(url)
    if (this.#group?.kind !== kind) {
      const urls: string[] = []
      const answers = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        if (this.#group?.urls === urls) this.#group = null
        return kind === 'add' ? this.addMany(urls) : this.hasMany(urls)
      })
      this.#group = { kind, urls, answers }
    }
    const { urls, answers } = this.#group
    const index = urls.push(url) - 1
    try {
      return (await answers)[index]!
    } catch (error) {
      // What another URL of the group met is no matter for this one.
      if (error instanceof RedisSieveError) {
        const verdict = error.verdicts[index]!
        if (verdict !== UNKNOWN) return verdict
      } else if (urls.length > 1 && !this.#isClosed) {
        return (await (kind === 'add' ? this.addMany([url]) : this.hasMany([url])))[0]!
      }
      throw error
    }
  }

  #ask(script: Script, question: (sieve: Sieve) => void): Promise<Uint8Array> {
    if (this.#isClosed)
      return Promise.reject(new SieveError('option', `sieve '${this.name}' is closed: open it again`))
    const run = this.#batched(script, question).finally(() => this.#running.delete(run))
    this.#running.add(run)
    return run
  }

  async #batched(script: Script, question: (sieve: Sieve) => void): Promise<Uint8Array> {
    const { invalid } = this
    const hashes = this.#hashes.of(question)
    const newlyInvalid = this.invalid - invalid
    const verdicts = new Uint8Array(hashes.length).fill(UNKNOWN)
    const { tags } = this.parameters
    const most = Math.min(MOST_URLS_PER_TAG * tags, Math.max(MOST_URLS, ENOUGH_URLS_PER_TAG * tags))
    for (let from = 0; from < hashes.length; from += most) {
      const to = Math.min(from + most, hashes.length)
      try {
        await this.#batch(script, hashes.subarray(from, to), verdicts.subarray(from, to))
      } catch (error) {
        // A call of which nothing was answered counts nothing.
        if (verdicts.every((verdict) => verdict === UNKNOWN)) this.#hashes.uncount(newlyInvalid)
        throw error instanceof SieveError ? new RedisSieveError(error, verdicts) : error
      }
    }
    return verdicts
  }

  // One round trip to each node, unless something fails: then that tag's call is repeated.
  async #batch(script: Script, hashes: BigUint64Array, verdicts: Uint8Array): Promise<void> {
    const lane = this.#freeLanes.pop() ?? this.#lanes++
    const number = (++this.#batches).toString(36).padStart(10, '0')
    const now = Date.now()
    const [newest, ...others] = this.#generations(now)
    const tail = [number, this.#ends(now)]
    const answer = async (tag: string, items: Buffer, indexes: Uint32Array) => {
      const state = `${tag}${this.name}`
      const guard = `${tag}|guard`
      const answers = script.isReadOnly ? guard : `${state}|r|${this.#client}.${lane}`
      const keys = [state + newest, guard, answers, ...others.map((g) => state + g)]
      const digits = String(await this.#calls.script(script, keys, [items, ...tail]))
      if (digits.length !== indexes.length) {
        throw new SieveError('corrupt', `Redis gave ${digits.length} answers: expected ${indexes.length}`)
      }
      for (let i = 0; i < indexes.length; i++) verdicts[indexes[i]!] = digits.charCodeAt(i) - 48
    }
    const parts = this.#spread.over(hashes)
    const calls = parts.map(({ tag, items, indexes }) => answer(this.#tags[tag]!, items, indexes))
    const failed = (await Promise.allSettled(calls)).find((call) => call.status === 'rejected')
    // A lane whose call failed is not used again: its answers may still be on the way.
    if (failed) throw failed.reason
    this.#freeLanes.push(lane)
  }
}

function taken(name: string): SieveError {
  return new SieveError('option', `sieve '${name}' is there already: open it, or use another name`)
}

/**
 * A call that the cluster did not answer whole. `answered` has the first verdicts, which stand, as everywhere;
 * `verdicts` has all that are known and 2 for the others: those may be marked or not, so treat them as "new".
 */
export class RedisSieveError extends SieveError {
  readonly verdicts: Uint8Array
  constructor(cause: SieveError, verdicts: Uint8Array) {
    super(cause.code, cause.wording, cause)
    this.name = 'RedisSieveError'
    this.verdicts = verdicts
    const first = verdicts.indexOf(UNKNOWN)
    this.answered = verdicts.slice(0, first < 0 ? verdicts.length : first)
  }
}
