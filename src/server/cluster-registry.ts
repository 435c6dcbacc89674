// The sieves of a server on Redis or a cluster: servers in any number share them, and what one makes the others find.
import { option, SieveError, wording } from '../errors.ts'
import type { Explanation, Items, Stats } from '../index.ts'
import { type Connection, connectRedis } from '../redis/connect.ts'
import { within } from '../redis/deadline.ts'
import type { Shape } from '../redis/parameters.ts'
import { RedisSieve } from '../redis/redis-sieve.ts'
import { Faults } from './faults.ts'
import { type Meters, newMeters } from './meters.ts'
import { nameTaken } from './names.ts'
import type { BloomSpec, ServedSieve, SieveRegistry, SieveSpec } from './registry.ts'
import { flatSpec } from './sieve-spec.ts'

/** How often to look for sieves that others made or dropped, and how large all are. */
const LOOK_MS = 2000
/** A look that takes longer: Redis counts as away until a look ends well. */
const LOOK_LIMIT_MS = 5000
/** How long stats may take before those of the last look are given. */
const STATS_LIMIT_MS = 1000
/** How long a call goes on without an answer unless the server's options say otherwise. */
const RETRY_MS = 30_000

/** Errs as its sieve does; as a bloom filter far less often than it promised, and it never says that it is full. */
class ClusterSieve implements ServedSieve {
  readonly name: string
  readonly kind: 'sieve' | 'bloom'
  readonly bloom?: BloomSpec
  readonly createdAt: Date
  readonly meters: Meters = newMeters()
  readonly forget?: (urls: readonly string[]) => Promise<Uint8Array>
  readonly sieve: RedisSieve
  readonly #registry: ClusterRegistry
  /** As of the last look. */
  #stats: Stats

  private constructor(sieve: RedisSieve, registry: ClusterRegistry, stats: Stats) {
    const { notes, createdAt } = sieve.parameters
    this.sieve = sieve
    this.#registry = registry
    this.#stats = stats
    this.name = sieve.name
    this.kind = notes ? 'bloom' : 'sieve'
    if (notes) this.bloom = notes as unknown as BloomSpec
    else {
      this.forget = (urls) => {
        registry.checkThere()
        return sieve.deleteMany(urls)
      }
    }
    this.createdAt = new Date(createdAt)
  }

  static async open(sieve: RedisSieve, registry: ClusterRegistry): Promise<ClusterSieve> {
    return new ClusterSieve(sieve, registry, await sieve.stats())
  }

  add(items: Items): Promise<Uint8Array> {
    this.#registry.checkThere()
    return this.sieve.addItems(items)
  }

  has(items: Items): Promise<Uint8Array> {
    this.#registry.checkThere()
    return this.sieve.hasItems(items)
  }

  explain(url: string): Promise<Explanation> {
    this.#registry.checkThere()
    return this.sieve.explain(url)
  }

  /** Those of the last look when Redis is away or slow: whoever shows them is not kept waiting. */
  async stats(): Promise<Stats> {
    if (this.#registry.isAway) return this.#stats
    return within(STATS_LIMIT_MS, this.look()).catch(() => this.#stats)
  }

  get sizeBytes(): number {
    return this.#stats.sizeBytes
  }

  async look(): Promise<Stats> {
    this.#stats = await this.sieve.stats()
    return this.#stats
  }

  /** Redis keeps it as its own settings say. */
  async save(): Promise<void> {}
}

export interface ClusterRegistryOptions {
  /** Where it is reported that Redis is away. */
  readonly faults?: Faults
  /** How long connecting, or a call, goes on without an answer before it fails. Default 30,000, and 10,000 to connect. */
  readonly retryMs?: number
}

export class ClusterRegistry implements SieveRegistry {
  readonly faults: Faults
  readonly isShared = true
  readonly #sieves = new Map<string, ClusterSieve>()
  /** Names that are being dropped here. */
  readonly #drops = new Map<string, Promise<void>>()
  readonly #connection: Connection
  readonly #place: string
  readonly #retryMs: number
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  /** When the last look that ended well began. */
  #thereAt = performance.now()

  private constructor(connection: Connection, place: string, { faults, retryMs }: ClusterRegistryOptions) {
    this.faults = faults ?? new Faults()
    this.#connection = connection
    this.#place = place
    this.#retryMs = retryMs ?? RETRY_MS
  }

  /** Opens all sieves that are at a redis:// or rediss:// URL. Throws a SieveError when no server answers there. */
  static async open(url: string, options: ClusterRegistryOptions = {}): Promise<ClusterRegistry> {
    const { retryMs } = options
    const connection = await connectRedis(url, retryMs === undefined ? {} : { connectTimeoutMs: retryMs })
    const registry = new ClusterRegistry(connection, new URL(url).host, options)
    try {
      await registry.#look()
      registry.#timer = setInterval(() => registry.#watch(), LOOK_MS)
      registry.#timer.unref()
      return registry
    } catch (error) {
      await registry.close()
      throw error
    }
  }

  /** Redis does not answer, by the last look. */
  get isAway(): boolean {
    return this.faults.find('redis') !== undefined
  }

  /** Throws when Redis has been away for as long as a call would wait: many calls in a row then wait once, not each. */
  checkThere(): void {
    const fault = this.faults.find('redis')
    if (fault && performance.now() - this.#thereAt >= this.#retryMs)
      throw new SieveError('network', fault.message)
  }

  readonly get = (name: string): ServedSieve | undefined => this.#sieves.get(name)

  readonly list = (): readonly ClusterSieve[] => Array.from(this.#sieves.values())

  get sizeBytes(): number {
    return this.list().reduce((bytes, sieve) => bytes + sieve.sizeBytes, 0)
  }

  /** Makes a sieve, or opens the one of that name and shape that another server made since the last look. */
  async create(name: string, spec: SieveSpec, bloom?: BloomSpec): Promise<ServedSieve> {
    // What is added to a sieve that is being dropped would be forgotten.
    while (this.#drops.has(name)) await this.#drops.get(name)!.catch(() => {})
    if (this.#sieves.has(name)) throw nameTaken(name)
    this.checkThere()
    return this.#open(name, bloom ? { profile: 'raw', notes: { ...bloom } } : shapeOf(spec))
  }

  async drop(name: string): Promise<boolean> {
    const served = this.#sieves.get(name)
    if (!served) return false
    this.checkThere()
    this.#sieves.delete(name)
    const work = served.sieve.drop().finally(() => this.#drops.delete(name))
    this.#drops.set(name, work)
    await work
    return true
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.isAway) await this.#connection.close() // what is under way has no answer to wait for
    await this.#looking?.catch(() => {})
    await Promise.all(Array.from(this.#sieves.values(), ({ sieve }) => sieve.close()))
    await this.#connection.close()
  }

  async #open(name: string, shape: Shape): Promise<ClusterSieve> {
    return this.#take(await RedisSieve.open({ ...this.#at(name), ...shape }))
  }

  #at(name: string) {
    return { client: this.#connection.client, name, retryMs: this.#retryMs }
  }

  async #take(sieve: RedisSieve): Promise<ClusterSieve> {
    const { name } = sieve
    const served = await ClusterSieve.open(sieve, this)
    // Two that were opened at once are one sieve.
    const there = this.#sieves.get(name) ?? served
    this.#sieves.set(name, there)
    return there
  }

  // Opens a sieve that another made; none when it was dropped since. One that cannot be read is set aside: the others are
  // served.
  async #find(name: string): Promise<void> {
    try {
      const sieve = await RedisSieve.find(this.#at(name))
      if (!sieve || this.#drops.has(name)) return
      await this.#take(sieve)
      this.faults.end('set-aside', name)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.faults.begin('set-aside', error.message, name)
    }
  }

  // A look that takes too long goes on: it ends soon after Redis is back.
  async #watch(): Promise<void> {
    try {
      await within(LOOK_LIMIT_MS, this.#look())
    } catch (error) {
      const isSaid = error instanceof SieveError
      const why = isSaid ? error.message : `Redis does not answer, for ${LOOK_LIMIT_MS / 1000} s`
      this.faults.begin('redis', `${why}; expected it at ${this.#place}`)
    }
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const startedAt = performance.now()
    const before = [...this.#sieves]
    const names = new Set(await RedisSieve.names(this.#connection.client, { retryMs: this.#retryMs }))
    for (const [name, served] of before) {
      if (names.has(name) && (await isCurrent(served.sieve))) continue
      // Another server dropped it, and may have made one of its name: whoever holds the old one gets no more answers.
      if (this.#sieves.get(name) === served) this.#sieves.delete(name)
      void served.sieve.close()
    }
    for (const name of names) if (!this.#sieves.has(name)) await this.#find(name)
    for (const { sieve } of this.faults.list()) {
      if (sieve !== undefined && !names.has(sieve)) this.faults.endAll(sieve)
    }
    for (const sieve of this.#sieves.values()) await sieve.look()
    this.#thereAt = startedAt
    this.faults.end('redis')
  }
}

const isUnreadable = (error: unknown): error is SieveError =>
  error instanceof SieveError && ['corrupt', 'version'].includes(error.code)

async function isCurrent(sieve: RedisSieve): Promise<boolean> {
  try {
    return await sieve.isCurrent()
  } catch (error) {
    if (isUnreadable(error)) return false
    throw error
  }
}

function shapeOf(spec: SieveSpec): Shape {
  const { filter, profile, hash, expectedUrls, windowMs, generations, ...others } = flatSpec(spec)
  if (filter !== 'fingerprint' && filter !== 'window') {
    throw notForRedis('filter', filter, 'fingerprint or window')
  }
  if (hash !== undefined && hash !== 'siphash') throw notForRedis('hash', hash, 'siphash')
  if (others.windowUrls !== undefined || (filter === 'window' && windowMs === undefined)) {
    throw new SieveError(
      'option',
      wording`a window on Redis forgets by age: expected ${option('windowMs')}`,
      { option: 'windowMs', expected: 'a duration' },
    )
  }
  const [other] = Object.entries(others).filter(([, value]) => value !== undefined)
  if (other) throw notForRedis(other[0], String(other[1]), 'expectedUrls, windowMs and generations')
  return {
    ...(profile && { profile }),
    ...(expectedUrls !== undefined && { expectedUrls }),
    ...(windowMs !== undefined && { windowMs, ...(generations !== undefined && { generations }) }),
  }
}

const notForRedis = (name: string, got: string, expected: string) =>
  new SieveError('option', wording`${option(name)} '${got}' is not for Redis: expected ${expected}`, {
    option: name,
    got,
    expected,
  })
