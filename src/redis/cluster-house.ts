// The sieves of a server on Redis or a cluster: servers in any number share them, and what one makes the others find.
import { SieveError } from '../errors.ts'
import type { Explanation, Items, Stats } from '../index.ts'
import { Faults } from '../server/faults.ts'
import type { BloomSpec, Hosted, House, SieveSpec } from '../server/house.ts'
import { type Meters, newMeters } from '../server/meters.ts'
import { nameTaken } from '../server/names.ts'
import { type Connection, connectRedis } from './connect.ts'
import type { Shape } from './parameters.ts'
import { RedisSieve } from './redis-sieve.ts'

/** How often to look for sieves that others made or dropped, and how large all are. */
const LOOK_MS = 2000

/** Errs as its sieve does; as a bloom filter far less often than it promised, and it never says that it is full. */
class ClusterSieve implements Hosted {
  readonly name: string
  readonly kind: 'sieve' | 'bloom'
  readonly bloom?: BloomSpec
  readonly createdAt: Date
  readonly meters: Meters = newMeters()
  readonly forget?: (urls: readonly string[]) => Promise<Uint8Array>
  /** By the last look. */
  sizeBytes = 0
  readonly sieve: RedisSieve

  constructor(sieve: RedisSieve) {
    const { notes, createdAt } = sieve.parameters
    this.sieve = sieve
    this.name = sieve.name
    this.kind = notes ? 'bloom' : 'sieve'
    if (notes) this.bloom = notes as unknown as BloomSpec
    else this.forget = (urls) => sieve.deleteMany(urls)
    this.createdAt = new Date(createdAt)
  }

  add(items: Items): Promise<Uint8Array> {
    return this.sieve.addItems(items)
  }

  has(items: Items): Promise<Uint8Array> {
    return this.sieve.hasItems(items)
  }

  explain(url: string): Promise<Explanation> {
    return this.sieve.explain(url)
  }

  async stats(): Promise<Stats> {
    const stats = await this.sieve.stats()
    this.sizeBytes = stats.sizeBytes
    return stats
  }

  /** Redis keeps it as its own settings say. */
  async save(): Promise<void> {}
}

export class ClusterHouse implements House {
  readonly faults: Faults
  readonly #sieves = new Map<string, ClusterSieve>()
  readonly #connection: Connection
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> | null = null

  private constructor(connection: Connection, faults: Faults) {
    this.faults = faults
    this.#connection = connection
    this.#timer = setInterval(() => this.#look().catch(() => {}), LOOK_MS) // the next look, or a call, says more
    this.#timer.unref()
  }

  /** Opens all sieves that are at a redis:// or rediss:// URL. Throws a SieveError when nobody answers there. */
  static async open(url: string, faults = new Faults()): Promise<ClusterHouse> {
    const house = new ClusterHouse(await connectRedis(url), faults)
    try {
      await house.#look()
      return house
    } catch (error) {
      await house.close()
      throw error
    }
  }

  readonly get = (name: string): Hosted | undefined => this.#sieves.get(name)

  readonly list = (): readonly ClusterSieve[] => Array.from(this.#sieves.values())

  get sizeBytes(): number {
    return this.list().reduce((bytes, sieve) => bytes + sieve.sizeBytes, 0)
  }

  /** Makes a sieve, or opens the one of that name and shape that another server made since the last look. */
  async create(name: string, spec: SieveSpec, bloom?: BloomSpec): Promise<Hosted> {
    if (this.#sieves.has(name)) throw nameTaken(name)
    return this.#open(name, bloom ? { profile: 'raw', notes: { ...bloom } } : shapeOf(spec))
  }

  async drop(name: string): Promise<boolean> {
    const hosted = this.#sieves.get(name)
    if (!hosted) return false
    this.#sieves.delete(name)
    await hosted.sieve.drop()
    return true
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking?.catch(() => {})
    await Promise.all(Array.from(this.#sieves.values(), ({ sieve }) => sieve.close()))
    await this.#connection.close()
  }

  async #open(name: string, shape: Shape): Promise<ClusterSieve> {
    const hosted = new ClusterSieve(
      await RedisSieve.open({ client: this.#connection.client, name, ...shape }),
    )
    // Two that were opened at once are one sieve.
    const there = this.#sieves.get(name) ?? hosted
    this.#sieves.set(name, there)
    return there
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookNow(): Promise<void> {
    const before = [...this.#sieves.keys()]
    const names = new Set(await RedisSieve.names(this.#connection.client))
    for (const name of before) if (!names.has(name)) this.#sieves.delete(name)
    for (const name of names) if (!this.#sieves.has(name)) await this.#open(name, {})
    for (const sieve of this.#sieves.values()) await sieve.stats()
  }
}

function shapeOf({ filter, profile, hash, expectedUrls, window }: SieveSpec): Shape {
  const kind = filter ?? (window ? 'window' : 'fingerprint')
  if (kind !== 'fingerprint' && kind !== 'window') {
    throw new SieveError('option', `filter '${kind}' is not for Redis: expected fingerprint or window`)
  }
  if (hash !== undefined && hash !== 'siphash') {
    throw new SieveError('option', `hash '${hash}' is not for Redis: expected siphash`)
  }
  const { windowMs, generations, ...others } = window ?? {}
  if (Object.keys(others).length > 0 || (kind === 'window' && windowMs === undefined)) {
    throw new SieveError('option', 'a window on Redis forgets by age: expected windowMs')
  }
  return {
    ...(profile && { profile }),
    ...(expectedUrls && { expectedUrls }),
    ...(windowMs && { windowMs, ...(generations && { generations }) }),
  }
}
