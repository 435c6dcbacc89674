// What a queue for Crawlee consists of: its requests, in this process or shared, and a sieve, its own or given.
import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { option, optionConflict, wording } from '../errors.ts'
import type { RedisFrontier } from '../redis/frontier.ts'
import { Sieve, type SieveOptions } from '../sieve.ts'
import { CrawlQueue, type QueueCodec, type Queued } from './crawl-queue.ts'
import type { FrontierDurability } from './frontier-log.ts'
import type { ItemQueue } from './item-queue.ts'
import type { SeenUrls } from './seen-urls.ts'
import { SharedQueue } from './shared-queue.ts'

/** The sieve's own folder. */
const SIEVE = 'seen'

export interface QueueOptions {
  /** The folder of frontier and sieve; without it both are in memory and end with the process. */
  readonly folder?: string
  /** A frontier that several crawlers share, with a `sieve` that they share. Closed with the queue. */
  readonly frontier?: RedisFrontier
  /**
   * What remembers the URLs: a sieve or anything with its methods, also asynchronous ones (a cluster's). Default: a sieve of
   * its own, in the folder if given, with filter `fingerprint` and profile `crawlee`, which is Crawlee's own unique key.
   */
  readonly sieve?: SeenUrls
  /** Options of its own sieve. */
  readonly sieveOptions?: SieveOptions
  /** `always`: a request is on disk before it counts as seen. Default `interval`: within a second. */
  readonly durability?: FrontierDurability
  /** Layer by layer: no request is sent while one of a lower `crawlDepth` is unfinished. Default false. */
  readonly layers?: boolean
  /** Requests per second to each host. Default: no limit. */
  readonly perHostPerSecond?: number
  /** Each host's own delay is set by `keepDelay`; until it is, the host gets one request at a time. Default false. */
  readonly hostDelays?: boolean
}

export interface QueueParts<T extends Queued> {
  readonly id: string
  readonly createdAt: Date
  readonly queue: ItemQueue<T>
  /** Ends what belongs to the queue besides its requests: the sieve, if it is the queue's own. */
  end(way: 'close' | 'drop'): Promise<void>
}

/** Options that only a queue of one process has. */
const LOCAL = ['folder', 'sieveOptions', 'durability', 'layers', 'perHostPerSecond', 'hostDelays'] as const

export async function openParts<T extends Queued>(
  options: QueueOptions,
  codec: QueueCodec<T>,
): Promise<QueueParts<T>> {
  const { folder, frontier } = options
  if (frontier) {
    const { name: id, createdAt } = frontier
    const queue = await SharedQueue.open(frontier, checkShared(options), codec)
    return { id, createdAt, queue, end: async () => {} }
  }
  const sieve = options.sieve ?? (await ownSieve(options))
  const end = async (way: 'close' | 'drop') => {
    if (options.sieve) return
    await sieve.close?.()
    if (way === 'drop' && folder !== undefined)
      await rm(join(folder, SIEVE), { recursive: true, force: true })
  }
  try {
    const queue = await CrawlQueue.open(sieve, codec, options)
    const createdAt = folder === undefined ? new Date() : (await stat(folder)).birthtime
    return { id: folder ?? randomUUID(), createdAt, queue, end }
  } catch (error) {
    await end('close')
    throw error
  }
}

function checkShared(options: QueueOptions): SeenUrls {
  const extra = LOCAL.find((name) => options[name] !== undefined && options[name] !== false)
  if (extra) {
    throw optionConflict(extra, wording`${option(extra)} with ${option('frontier')}: expected one of them`)
  }
  if (options.sieve) return options.sieve
  throw optionConflict(
    'sieve',
    wording`${option('frontier')}: expected a sieve that the crawlers share, as ${option('sieve')}`,
  )
}

async function ownSieve({ folder, sieveOptions, durability }: QueueOptions): Promise<Sieve> {
  const options: SieveOptions = { profile: 'crawlee', ...sieveOptions }
  if (folder === undefined) return Sieve.create(options)
  return Sieve.open(join(folder, SIEVE), { ...options, ...(durability && { durability }) })
}
