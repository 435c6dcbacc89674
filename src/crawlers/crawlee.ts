// `urlsieve/crawlee`: a request queue for Crawlee with a sieve for "seen" and a frontier for pending requests. On disk it
// is a log and a sieve, not a file per URL: a crawl continues after `kill -9`, with any number of requests. On Redis it is
// shared by any number of crawlers.
import type { ProxyConfiguration } from '@crawlee/core'
import { crawleeCore } from '../peers.ts'
import type { QueueCodec } from './crawl-queue.ts'
import { openParts, type QueueOptions } from './queue-parts.ts'
import { keyInText, requestOf, textOf } from './request-text.ts'
import { type Item, itemOf, type SieveQueue as Queue, sieveQueueClass } from './sieve-queue.ts'

export type {
  BackendBatchResult,
  BackendMetadata,
  BackendOperationInfo,
  BackendRequest,
  ForefrontOption,
  RequestQueueBackend,
} from './backend-contract.ts'
export type { QueueStats } from './crawl-queue.ts'
export { SieveQueueBackend } from './crawlee-backend.ts'
export type { QueueOptions } from './queue-parts.ts'
export type { SeenUrls } from './seen-urls.ts'

export interface SieveQueueOptions extends QueueOptions {
  /** Proxies for the lists of `requestsFromUrl`. */
  readonly proxyConfiguration?: ProxyConfiguration
}

/** A request queue that extends Crawlee's `RequestProvider`. */
export type SieveQueue = Queue

/** One class per copy of Crawlee, so that all its queues are of one class. */
const classes = new WeakMap<object, ReturnType<typeof sieveQueueClass>>()

export const SieveQueue = {
  /** A queue in memory, that of a folder in its last state, or one that is shared. */
  async open(options: SieveQueueOptions = {}): Promise<SieveQueue> {
    const core = await crawleeCore()
    const codec: QueueCodec<Item> = {
      textOf,
      keyOf: ({ key }) => key,
      itemOf: (text: string) => itemOf(requestOf(text, core.Request), core.Request),
      keyIn: keyInText,
    }
    const parts = await openParts(options, codec)
    const Class = classes.get(core.RequestProvider) ?? sieveQueueClass(core)
    classes.set(core.RequestProvider, Class)
    return new Class(parts, options.proxyConfiguration)
  },
}
