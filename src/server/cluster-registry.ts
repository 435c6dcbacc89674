// The sieves of a server on Redis or a cluster, shared by any number of servers: each finds the sieves of the others.
import { option, SieveError, wording } from '../errors.ts'
import type { Explanation, FilterName, Items, Stats } from '../index.ts'
import { type ConnectOptions, hostsOf } from '../redis/address.ts'
import { CallMetrics } from '../redis/call-metrics.ts'
import { type Connection, connectRedis } from '../redis/connect.ts'
import { within } from '../redis/deadline.ts'
import type { Durability } from '../redis/durability.ts'
import type { Shape } from '../redis/parameters.ts'
import { RedisSieve } from '../redis/redis-sieve.ts'
import { Faults } from './faults.ts'
import { type Meters, newMeters } from './meters.ts'
import { nameTaken } from './names.ts'
import type {
  BloomSpec,
  Purpose,
  ServedSieve,
  SieveKind,
  SieveRegistry,
  SieveSpec,
  Storage,
} from './registry.ts'
import { flatSpec, refuseLimits } from './sieve-spec.ts'

/** Interval between two polls for sieves created or dropped by other servers, and for the sizes. */
const POLL_MS = 2000
/** After a poll of this length Redis counts as unreachable, until a poll succeeds. */
const POLL_LIMIT_MS = 5000
/** After this long, `stats` returns those of the last poll. */
const STATS_LIMIT_MS = 1000
/** Default of `retryMs`. */
const RETRY_MS = 30_000

const CLUSTER_FILTERS: readonly FilterName[] = ['fingerprint', 'window']

/** Errs as its sieve does; as a Bloom filter far less often than promised, and it is never full. */
class ClusterSieve implements ServedSieve {
  readonly name: string
  readonly kind: SieveKind
  readonly bloom?: BloomSpec
  readonly createdAt: Date
  readonly meters: Meters = newMeters()
  readonly forget?: (urls: readonly string[]) => Promise<Uint8Array>
  readonly remove?: (items: Items) => Promise<Uint8Array>
  readonly sieve: RedisSieve
  readonly #registry: ClusterRegistry
  /** As of the last poll. */
  #stats: Stats

  private constructor(sieve: RedisSieve, registry: ClusterRegistry, stats: Stats) {
    const { notes, createdAt } = sieve.parameters
    this.sieve = sieve
    this.#registry = registry
    this.#stats = stats
    this.name = sieve.name
    this.kind = notes ? (notes.isSet ? 'set' : 'bloom') : 'sieve'
    if (this.kind === 'bloom') this.bloom = notes as unknown as BloomSpec
    else {
      this.forget = (urls) => {
        registry.checkReachable()
        return sieve.deleteMany(urls)
      }
      this.remove = (items) => {
        registry.checkReachable()
        return sieve.deleteItems(items)
      }
    }
    this.createdAt = new Date(createdAt)
  }

  static async open(sieve: RedisSieve, registry: ClusterRegistry): Promise<ClusterSieve> {
    return new ClusterSieve(sieve, registry, await sieve.stats())
  }

  add(items: Items): Promise<Uint8Array> {
    this.#registry.checkReachable()
    return this.sieve.addItems(items)
  }

  has(items: Items): Promise<Uint8Array> {
    this.#registry.checkReachable()
    return this.sieve.hasItems(items)
  }

  explain(url: string): Promise<Explanation> {
    this.#registry.checkReachable()
    return this.sieve.explain(url)
  }

  /** Returns those of the last poll when Redis is unreachable or slow. */
  async stats(): Promise<Stats> {
    if (this.#registry.isUnreachable) return this.#stats
    return within(STATS_LIMIT_MS, this.refresh()).catch(() => this.#stats)
  }

  get sizeBytes(): number {
    return this.#stats.sizeBytes
  }

  async refresh(): Promise<Stats> {
    this.#stats = await this.sieve.stats()
    return this.#stats
  }

  /** Does nothing: the settings of Redis decide. */
  async save(): Promise<void> {}
}

export interface ClusterRegistryOptions extends Durability {
  /** Where an unreachable Redis is reported. */
  readonly faults?: Faults
  /** How long a call may go without an answer before it fails. Default 30,000. */
  readonly retryMs?: number
  /** How often changes by other servers are looked for. Default 2000. */
  readonly pollMs?: number
  readonly connect?: ConnectOptions | undefined
}

export class ClusterRegistry implements SieveRegistry {
  readonly faults: Faults
  readonly filters = CLUSTER_FILTERS
  readonly isShared = true
  readonly calls = new CallMetrics()
  readonly #sieves = new Map<string, ClusterSieve>()
  /** Sieves that this server is dropping. */
  readonly #drops = new Map<string, Promise<void>>()
  readonly #connection: Connection
  readonly #place: string
  readonly #retryMs: number
  readonly #durability: Durability
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | null = null
  /** Start of the last successful poll. */
  #reachableAt = performance.now()

  private constructor(connection: Connection, place: string, options: ClusterRegistryOptions) {
    const { faults, retryMs, waitReplicas, waitAof } = options
    this.#durability = { waitReplicas, waitAof }
    this.faults = faults ?? new Faults()
    this.#connection = connection
    this.#place = place
    this.#retryMs = retryMs ?? RETRY_MS
  }

  /** Opens all sieves at a redis:// or rediss:// URL. Throws a SieveError when no server answers there. */
  static async open(url: string, options: ClusterRegistryOptions = {}): Promise<ClusterRegistry> {
    const { pollMs = POLL_MS } = options
    const connection = await connectRedis(url, options.connect)
    const registry = new ClusterRegistry(connection, hostsOf(url), options)
    try {
      await registry.#poll()
      registry.#timer = setInterval(() => registry.#pollWithin(), pollMs)
      registry.#timer.unref()
      return registry
    } catch (error) {
      await registry.close()
      throw error
    }
  }

  /** Redis did not answer the last poll. */
  get isUnreachable(): boolean {
    return this.faults.find('redis') !== undefined
  }

  /** Throws when Redis has been unreachable for longer than a call would wait, so that successive calls fail without waiting. */
  checkReachable(): void {
    const fault = this.faults.find('redis')
    if (fault && performance.now() - this.#reachableAt >= this.#retryMs)
      throw new SieveError('network', fault.message)
  }

  readonly get = (name: string): ServedSieve | undefined => this.#sieves.get(name)

  readonly list = (): readonly ClusterSieve[] => Array.from(this.#sieves.values())

  get sizeBytes(): number {
    return this.list().reduce((bytes, sieve) => bytes + sieve.sizeBytes, 0)
  }

  async storage(): Promise<Storage> {
    return { kind: 'redis', place: this.#place }
  }

  /** Creates a sieve, or opens the one of that name and shape that another server created since the last poll. */
  async create(name: string, spec: SieveSpec, purpose?: Purpose): Promise<ServedSieve> {
    // URLs added to a sieve that is being dropped would be lost.
    while (this.#drops.has(name)) await this.#drops.get(name)!.catch(() => {})
    if (this.#sieves.has(name)) throw nameTaken(name)
    this.checkReachable()
    const notes = purpose === 'set' ? { isSet: 1 } : purpose && { ...purpose }
    refuseLimits(spec)
    return this.#open(name, notes ? { profile: 'raw', notes } : shapeOf(spec))
  }

  async drop(name: string): Promise<boolean> {
    const served = this.#sieves.get(name)
    if (!served) return false
    this.checkReachable()
    this.#sieves.delete(name)
    const work = served.sieve.drop().finally(() => this.#drops.delete(name))
    this.#drops.set(name, work)
    await work
    return true
  }

  async dropAll(): Promise<void> {
    for (const name of [...this.#sieves.keys()]) await this.drop(name)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.isUnreachable) await this.#connection.close() // calls in progress will get no answer
    await this.#polling?.catch(() => {})
    await Promise.all(Array.from(this.#sieves.values(), ({ sieve }) => sieve.close()))
    await this.#connection.close()
  }

  async #open(name: string, shape: Shape): Promise<ClusterSieve> {
    return this.#register(await RedisSieve.open({ ...this.#at(name), ...shape }))
  }

  #at(name: string) {
    return {
      client: this.#connection.client,
      name,
      retryMs: this.#retryMs,
      metrics: this.calls,
      ...this.#durability,
    }
  }

  async #register(sieve: RedisSieve): Promise<ClusterSieve> {
    const { name } = sieve
    const served = await ClusterSieve.open(sieve, this)
    // Opened twice at the same time: keep one.
    const kept = this.#sieves.get(name) ?? served
    this.#sieves.set(name, kept)
    return kept
  }

  // Opens a sieve of another server unless it has been dropped. One that cannot be read is set aside; the others are served.
  async #find(name: string): Promise<void> {
    try {
      const sieve = await RedisSieve.find(this.#at(name))
      if (!sieve || this.#drops.has(name)) return
      await this.#register(sieve)
      this.faults.end('set-aside', name)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.faults.begin('set-aside', error.message, name)
    }
  }

  // A poll that takes too long continues: it ends soon after Redis is reachable again.
  async #pollWithin(): Promise<void> {
    try {
      await within(POLL_LIMIT_MS, this.#poll())
    } catch (error) {
      const hasReason = error instanceof SieveError
      const why = hasReason ? error.message : `Redis does not answer, for ${POLL_LIMIT_MS / 1000} s`
      this.faults.begin('redis', `${why}; expected it at ${this.#place}`)
    }
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null
    })
    return this.#polling
  }

  async #pollOnce(): Promise<void> {
    const startedAt = performance.now()
    const before = [...this.#sieves]
    const names = new Set(
      await RedisSieve.names(this.#connection.client, {
        retryMs: this.#retryMs,
        metrics: this.calls,
      }),
    )
    for (const [name, served] of before) {
      if (names.has(name) && (await isCurrent(served.sieve))) continue
      // Another server dropped it, and may have created one with its name: calls on the old one fail.
      if (this.#sieves.get(name) === served) this.#sieves.delete(name)
      void served.sieve.close()
    }
    for (const name of names) if (!this.#sieves.has(name)) await this.#find(name)
    for (const { sieve } of this.faults.list()) {
      if (sieve !== undefined && !names.has(sieve)) this.faults.endAll(sieve)
    }
    for (const sieve of this.#sieves.values()) await sieve.refresh()
    this.#reachableAt = startedAt
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
  if (!CLUSTER_FILTERS.includes(filter)) throw notForRedis('filter', filter, CLUSTER_FILTERS.join(' or '))
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
