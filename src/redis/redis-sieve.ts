// The sieve on Redis or Valkey, one node or a cluster, shared by any number of processes: a keyer here, in the kernel, and a
// set of hashes there.
import type { AnySieve, Explanation, Stats } from '../any-sieve.ts'
import { explainKey } from '../canonical/explain.ts'
import type { Profile } from '../canonical/profiles.ts'
import { closedError, option, SieveError, wording } from '../errors.ts'
import { chooseHash } from '../hashes.ts'
import { Keyer } from '../keyer/keyer.ts'
import { checkUrlsOf, type Urls } from '../keyer/urls.ts'
import { SharedCalls } from '../shared-calls.ts'
import { checkUrl, type Items, wrongType } from '../url-input.ts'
import { toSeen } from '../verdicts.ts'
import { CallMetrics } from './call-metrics.ts'
import { Calls, type Patience, patienceOf } from './calls.ts'
import { type RedisClient, scriptClient } from './client.ts'
import { checkJob, Job } from './job.ts'
import { memoryOf } from './memory.ts'
import { checkName, type Parameters, profileOf, rateAt, type Shape } from './parameters.ts'
import { RedisSieveError, UNKNOWN } from './partial-error.ts'
import { SieveRecord, sieveNames } from './sieve-record.ts'
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
  /**
   * Name of a job, one process at a time: what it adds is tentative until `confirm`. A URL that it has marked and not confirmed
   * is seen for others, and new again, once, for the next process of the job.
   */
  readonly job?: string
  /** How long a job may stay away before its tentative marks count as confirmed. Default 30 days. */
  readonly leaseMs?: number
}

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
  readonly #record: SieveRecord
  readonly #hashes: TaggedSets
  readonly #shared = new SharedCalls<Uint8Array>()
  readonly #running = new Set<Promise<unknown>>()
  #invalid = 0
  #isClosed = false
  #job: Job | null = null

  private constructor(name: string, parameters: Parameters, keyer: Keyer, calls: Calls) {
    this.name = name
    this.profile = keyer.profile
    this.#keyer = keyer
    this.metrics = calls.metrics
    this.#record = new SieveRecord(name, calls)
    this.#hashes = new TaggedSets(name, parameters, calls, () => this.#record.current(this.parameters))
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
    return sieveNames(calls)
  }

  static #make(options: RedisSieveOptions, way: 'open' | 'create'): Promise<RedisSieve>
  static #make(options: RedisSieveOptions, way: 'find'): Promise<RedisSieve | null>
  static async #make(
    options: RedisSieveOptions,
    way: 'open' | 'create' | 'find',
  ): Promise<RedisSieve | null> {
    const { client, name, timeoutMs: _, retryMs: __, waitReplicas: ___, waitAof: ____, ...rest } = options
    const { metrics = new CallMetrics(), job, leaseMs, ...shape } = rest
    checkName(name)
    checkJob(job, leaseMs)
    const patience = { ...patienceOf(options), metrics }
    const calls = new Calls(scriptClient(client), SOME_KEYS, patience)
    const parameters = await new SieveRecord(name, calls).parameters(shape, way)
    if (!parameters) return null
    const hashKey = Uint8Array.from(Buffer.from(parameters.key, 'hex'))
    const keyer = await Keyer.create(profileOf(parameters), chooseHash('siphash', hashKey))
    const tags = tagPrefixes(parameters.tags)
    const keys = tags.length < SOME_KEYS.length ? SOME_KEYS : tags
    const sieveCalls = new Calls(scriptClient(client), keys, patience)
    const sieve = new RedisSieve(name, parameters, keyer, sieveCalls)
    if (job !== undefined)
      sieve.#job = await Job.start(name, parameters, job, leaseMs, sieveCalls, sieve.#hashes)
    return sieve
  }

  /**
   * With a `job`: identifies the adds answered so far, or those up to the one that has answered these verdicts, which also holds
   * while later adds are under way.
   */
  ticket(verdicts?: Uint8Array): number {
    return this.#jobOf('ticket').marks.ticket(verdicts)
  }

  /** With a `job`: what was answered up to a ticket, or all that was answered, is delivered. Until then it may be new again. */
  async confirm(ticket?: number | readonly string[]): Promise<void> {
    this.#checkOpen()
    if (typeof ticket === 'object') throw wrongType('ticket', ticket, 'a number that ticket() has returned')
    // Without a job what was added is remembered already.
    if (!this.#job && ticket === undefined) return
    await this.#track(this.#jobOf('confirm').marks.confirm(ticket))
  }

  /** With a `job`: URLs that are new and not confirmed, also those that an earlier process has left. */
  unconfirmed(): number {
    return this.#jobOf('unconfirmed').marks.urls
  }

  #jobOf(verb: string): Job {
    this.#checkOpen()
    if (this.#job) return this.#job
    const expected = 'the name of a job, given when the sieve is opened'
    throw new SieveError('option', wording`${verb} needs ${option('job')}: expected ${expected}`, {
      option: 'job',
      expected,
    })
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
    this.#hashes.take(await this.#record.withMoreTags(this.parameters, tags))
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
    await this.#record.remove()
    await this.close()
  }

  /** Whether the sieve of this name is still this one: not dropped, and not made again with another key. */
  async isCurrent(): Promise<boolean> {
    return (await this.#record.current(this.parameters)) !== null
  }

  /** Waits for the calls under way; confirms nothing. The client stays open: it is yours. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
    await this.#job?.lock.release()
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
    if (verb === 'add') this.#job?.lock.check()
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
