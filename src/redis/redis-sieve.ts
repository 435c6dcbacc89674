// The sieve on Redis or Valkey, one node or a cluster, shared by any number of processes: a keyer here, in the kernel, and a
// set of hashes there.
import type { AnySieve, Explanation, Stats } from '../any-sieve.ts'
import { explainKey } from '../canonical/explain.ts'
import type { Profile } from '../canonical/profiles.ts'
import { closedError, SieveError } from '../errors.ts'
import { chooseHash } from '../hashes.ts'
import { Keyer } from '../keyer/keyer.ts'
import { checkUrlsOf, type Urls } from '../keyer/urls.ts'
import { SharedCalls } from '../shared-calls.ts'
import { checkUrl, type Items } from '../url-input.ts'
import { toSeen } from '../verdicts.ts'
import { CallMetrics } from './call-metrics.ts'
import { Calls, type Patience, patienceOf } from './calls.ts'
import { type RedisClient, scriptClient } from './client.ts'
import { memoryOf } from './memory.ts'
import {
  checkName,
  checkShape,
  type Parameters,
  parametersFor,
  profileOf,
  rateAt,
  readParameters,
  type Shape,
  withMoreTags,
} from './parameters.ts'
import { RedisSieveError, UNKNOWN } from './partial-error.ts'
import { replaceScript } from './scripts.ts'
import { tagPrefixes } from './slots.ts'
import { TaggedSets } from './tagged-sets.ts'
import { type OnPart, type VerdictPart, verdictParts } from './verdict-parts.ts'

export interface RedisSieveOptions extends Shape, Patience {
  /**
   * A connected client: createClient, createClientPool, createCluster or createSentinel of the package `redis`, or Redis or
   * Cluster of ioredis.
   */
  readonly client: RedisClient
  /** Which sieve: any number of them live on one cluster. */
  readonly name: string
}

/** The names of all sieves there. */
const NAMES = 'urlsieve'
const parametersKey = (name: string) => `urlsieve:${name}`
/** Keys of many nodes, before a sieve's own tags are known. */
const SOME_KEYS = tagPrefixes(32)

/**
 * Answers "have I seen this URL?", and marks it, for every process that opens the same name: of two that add a URL at
 * the same time one gets "new". Errs towards "seen" at its mode's rate and where its profile's rules merge pages;
 * towards "new" when Redis loses what it acknowledged: a failover, an eviction, a restart without persistence.
 */
export class RedisSieve implements AnySieve {
  readonly name: string
  readonly profile: Profile
  /** Counts and events of this object's calls, or of all that were given the same. */
  readonly metrics: CallMetrics
  readonly #keyer: Keyer
  readonly #calls: Calls
  readonly #hashes: TaggedSets
  readonly #shared = new SharedCalls<Uint8Array>()
  readonly #running = new Set<Promise<unknown>>()
  #invalid = 0
  #isClosed = false

  private constructor(name: string, parameters: Parameters, keyer: Keyer, calls: Calls) {
    this.name = name
    this.profile = keyer.profile
    this.#keyer = keyer
    this.#calls = calls
    this.metrics = calls.metrics
    this.#hashes = new TaggedSets(
      name,
      parameters,
      calls,
      async () => (await this.#stored())?.parameters ?? null,
    )
  }

  /** As every process reads them. */
  get parameters(): Parameters {
    return this.#hashes.parameters
  }

  /**
   * Opens the sieve of that name, or makes it; of several processes, one makes it. Throws a SieveError when it is there with
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
    const { client, name, timeoutMs: _, retryMs: __, waitReplicas: ___, waitAof: ____, ...rest } = options
    const { metrics = new CallMetrics(), ...shape } = rest
    checkName(name)
    const patience = { ...patienceOf(options), metrics }
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
    const hashKey = Uint8Array.from(Buffer.from(parameters.key, 'hex'))
    const keyer = await Keyer.create(profileOf(parameters), chooseHash('siphash', hashKey))
    const tags = tagPrefixes(parameters.tags)
    const keys = tags.length < SOME_KEYS.length ? SOME_KEYS : tags
    return new RedisSieve(name, parameters, keyer, new Calls(scriptClient(client), keys, patience))
  }

  /** Marks a URL. True: it is new. False: it was seen, or the sieve errs. Adds that are called together go together. */
  async add(url: string): Promise<boolean> {
    return (await this.#single('add', url)) === 1
  }

  /** Whether a URL was seen. Marks nothing. */
  async has(url: string): Promise<boolean> {
    return (await this.#single('has', url)) === 1
  }

  /**
   * Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. When the cluster
   * fails on the way it throws a RedisSieveError, which has the verdicts that are known.
   */
  addMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#run('add', { strings: urls })
  }

  /** Whether each of many URLs was seen: in order, 1 seen and 0 not. Marks nothing. Fails as `addMany`. */
  hasMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#seen('has', { strings: urls })
  }

  /** Marks items that lie in one buffer, any bytes, without making strings; as `addMany`. */
  addItems(items: Items): Promise<Uint8Array> {
    return this.#run('add', { items })
  }

  /** Whether each item of one buffer was seen; as `hasMany`. */
  hasItems(items: Items): Promise<Uint8Array> {
    return this.#seen('has', { items })
  }

  /** Marks newline-separated lines without making strings; as `addMany`. */
  addLines(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#run('add', { lines: bytes })
  }

  /** Whether each of the newline-separated lines was seen; as `hasMany`. */
  hasLines(bytes: Uint8Array): Promise<Uint8Array> {
    return this.#seen('has', { lines: bytes })
  }

  /**
   * Marks many URLs as `addMany`, and gives the verdicts of each node as they come: a slow one does not hold back the
   * others. Throws after the last part when the cluster failed for some.
   */
  addInParts(urls: readonly string[]): AsyncGenerator<VerdictPart, void> {
    return verdictParts((onPart) => this.#run('add', { strings: urls }, onPart))
  }

  /** Whether each of many URLs was seen, 1 or 0, as the answers come; otherwise as `addInParts`. */
  hasInParts(urls: readonly string[]): AsyncGenerator<VerdictPart, void> {
    return verdictParts((onPart) =>
      this.#seen('has', { strings: urls }, ({ indexes, verdicts }) =>
        onPart({ indexes, verdicts: toSeen(verdicts) }),
      ),
    )
  }

  /** Forgets a URL: true when it was remembered. With `compact` it may take another with it, at its rate. */
  async delete(url: string): Promise<boolean> {
    return (await this.deleteMany([url]))[0] === 1
  }

  /** Forgets many URLs: in order, 1 was remembered and 0 was not. Fails as `addMany`. */
  deleteMany(urls: readonly string[]): Promise<Uint8Array> {
    return this.#seen('forget', { strings: urls })
  }

  /** Forgets items of one buffer, any bytes; as `deleteMany`. */
  deleteItems(items: Items): Promise<Uint8Array> {
    return this.#seen('forget', { items })
  }

  /** The key, what each rule did, and the verdict an add would get. Marks and counts nothing. */
  async explain(url: string): Promise<Explanation> {
    checkUrl(url)
    this.#checkOpen()
    const { hashes } = this.#keyer.hashesOf({ strings: [url] })
    const [verdict] = await this.#track(this.#hashes.run('has', hashes))
    return { url, ...explainKey(this.profile, url), verdict: verdict === 0 ? 'seen' : 'new' }
  }

  /** Lines, in this object's calls that were answered, whole or in part, that are not URLs: their keys are the lines themselves. */
  get invalid(): number {
    return this.#invalid
  }

  /** Counts that the cluster keeps: no key is searched for. The size is an estimate. */
  async stats(): Promise<Stats> {
    const { parameters } = this
    const { urls, seen, sets } = await this.#hashes.counts()
    const sizeBytes = memoryOf(parameters.mode, urls, sets)
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

  /**
   * Spreads what is added from now on over more tags, a power of two up to 8,192, while all processes go on: each learns of it with
   * a call. What was added before stays where it is and is asked first, with a call for each earlier number of tags. Not for `compact`.
   */
  async moreTags(tags: number): Promise<void> {
    this.#checkOpen()
    const key = parametersKey(this.name)
    for (;;) {
      const stored = await this.#stored()
      if (!stored) throw new SieveError('option', `sieve '${this.name}' was dropped: open it again`)
      const { text, parameters } = stored
      // Another process has done it.
      if (parameters.tags === tags && parameters.earlier) return this.#hashes.take(parameters)
      const more = withMoreTags(this.name, parameters, tags)
      const isReplaced = await this.#calls.script(replaceScript, [key], [text, JSON.stringify(more)])
      if (isReplaced === 1) return this.#hashes.take(more)
    }
  }

  // The parameters as they are written down now; null when the sieve was dropped.
  async #stored(): Promise<{ text: string; parameters: Parameters } | null> {
    const key = parametersKey(this.name)
    const there = await this.#calls.command(key, ['GET', key])
    if (there === null) return null
    const parameters = readParameters(this.name, String(there))
    return isSame(parameters, this.parameters) ? { text: String(there), parameters } : null
  }

  /** Forgets everything. URLs that others add meanwhile may stay. */
  async clear(): Promise<void> {
    this.#checkOpen()
    await this.#hashes.clear()
  }

  /** Forgets everything, and the sieve itself. Nobody may be using it. */
  async drop(): Promise<void> {
    await this.clear()
    await this.#hashes.forgetLeaving()
    const key = parametersKey(this.name)
    await this.#calls.command(key, ['DEL', key])
    await this.#calls.command(NAMES, ['SREM', NAMES, this.name])
    await this.close()
  }

  /** Whether the sieve of this name is still this one: not dropped, and not made again with another key. */
  async isCurrent(): Promise<boolean> {
    return (await this.#stored()) !== null
  }

  /** Waits for the calls under way. The client stays open: it is yours. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // Single URLs of one turn of the event loop go together.
  async #single(verb: 'add' | 'has', url: string): Promise<number> {
    checkUrl(url)
    const run = (urls: readonly string[]) => (verb === 'add' ? this.addMany(urls) : this.hasMany(urls))
    const { answers, index, urls } = this.#shared.join(verb, url, async (all) => {
      await new Promise((resolve) => setImmediate(resolve))
      this.#shared.end(all)
      return run(all)
    })
    try {
      return (await answers)[index]!
    } catch (error) {
      // The failure of another URL of the group does not concern this one.
      if (error instanceof RedisSieveError) {
        const answer = error.verdicts[index]!
        if (answer !== UNKNOWN) return answer
      } else if (urls.length > 1 && !this.#isClosed) {
        return (await run([url]))[0]!
      }
      throw error
    }
  }

  // Verdicts turned into "was seen", those of a call that failed too.
  async #seen(verb: 'has' | 'forget', urls: Urls, onPart?: OnPart): Promise<Uint8Array> {
    try {
      return toSeen(await this.#run(verb, urls, onPart))
    } catch (error) {
      if (error instanceof RedisSieveError) {
        toSeen(error.verdicts)
        toSeen(error.answered!)
      }
      throw error
    }
  }

  // The input is read before anything waits: the caller may change it afterwards.
  async #run(verb: 'add' | 'has' | 'forget', urls: Urls, onPart?: OnPart): Promise<Uint8Array> {
    this.#checkOpen()
    checkUrlsOf(urls)
    const { hashes, invalid } = this.#keyer.hashesOf(urls)
    try {
      const verdicts = await this.#track(this.#hashes.run(verb, hashes, onPart))
      this.#invalid += invalid
      return verdicts
    } catch (error) {
      // A call of which nothing was answered counts nothing.
      const isAnswered = error instanceof RedisSieveError && error.verdicts.some((one) => one !== UNKNOWN)
      if (isAnswered) this.#invalid += invalid
      throw error
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError(`sieve '${this.name}'`)
  }

  // Makes `close` wait for it.
  #track<T>(run: Promise<T>): Promise<T> {
    const tracked = run.finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
    return tracked
  }
}

/** Whether both are of one sieve, and not of two that had the name one after the other. */
const isSame = (a: Parameters, b: Parameters) => a.key === b.key && a.createdAt === b.createdAt

function taken(name: string): SieveError {
  return new SieveError('option', `sieve '${name}' is there already: open it, or use another name`)
}
