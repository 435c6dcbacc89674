// `urlsieve/crawlee`: a request queue for Crawlee with a sieve for "seen" and a frontier for pending requests. On disk it
// is a log and a sieve, not a file per URL: a crawl continues after `kill -9`, with any number of requests.
import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProxyConfiguration } from '@crawlee/core'
import { crawleeCore } from '../peers.ts'
import { Sieve, type SieveOptions } from '../sieve.ts'
import { CrawlQueue, type QueueCodec } from './crawl-queue.ts'
import type { FrontierDurability } from './frontier-log.ts'
import { keyInText, requestOf, textOf } from './request-text.ts'
import type { SeenUrls } from './seen-urls.ts'
import { type Item, itemOf, type SieveQueue as Queue, sieveQueueClass } from './sieve-queue.ts'

export type { QueueStats } from './crawl-queue.ts'
export type { SeenUrls } from './seen-urls.ts'

/** The sieve's own folder. */
const SIEVE = 'seen'

export interface SieveQueueOptions {
  /** The folder of frontier and sieve; without it both are in memory and end with the process. */
  readonly folder?: string
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
  /** Proxies for the lists of `requestsFromUrl`. */
  readonly proxyConfiguration?: ProxyConfiguration
}

/** A request queue that extends Crawlee's `RequestProvider`. */
export type SieveQueue = Queue

/** One class per copy of Crawlee, so that all its queues are of one class. */
const classes = new WeakMap<object, ReturnType<typeof sieveQueueClass>>()

export const SieveQueue = {
  /** A queue in memory, or that of a folder in its last state. */
  async open(options: SieveQueueOptions = {}): Promise<SieveQueue> {
    const core = await crawleeCore()
    const { folder, proxyConfiguration } = options
    const sieve = options.sieve ?? (await ownSieve(options))
    const end = async (way: 'close' | 'drop') => {
      if (options.sieve) return
      await sieve.close?.()
      if (way === 'drop' && folder !== undefined)
        await rm(join(folder, SIEVE), { recursive: true, force: true })
    }
    try {
      const codec: QueueCodec<Item> = {
        textOf,
        keyOf: ({ key }) => key,
        itemOf: (text: string) => itemOf(requestOf(text, core.Request), core.Request),
        keyIn: keyInText,
      }
      const queue = await CrawlQueue.open(sieve, codec, options)
      const Class = classes.get(core.RequestProvider) ?? sieveQueueClass(core)
      classes.set(core.RequestProvider, Class)
      const createdAt = folder === undefined ? new Date() : (await stat(folder)).birthtime
      return new Class({ id: folder ?? randomUUID(), createdAt, queue, end, proxyConfiguration })
    } catch (error) {
      await end('close')
      throw error
    }
  },
}

async function ownSieve({ folder, sieveOptions, durability }: SieveQueueOptions): Promise<Sieve> {
  const options: SieveOptions = { profile: 'crawlee', ...sieveOptions }
  if (folder === undefined) return Sieve.create(options)
  return Sieve.open(join(folder, SIEVE), { ...options, ...(durability && { durability }) })
}
