// `urlsieve/crawlee`: a request queue for Crawlee with a sieve for "seen" and a frontier for pending requests. On disk it
// is a log and a sieve, not a file per URL: a crawl continues after `kill -9`, with any number of requests.
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  Dictionary,
  IRequestManager,
  Request,
  RequestProvider,
  RequestQueueOperationInfo,
  RequestQueueOperationOptions,
  RequestsLike,
  Source,
} from '@crawlee/core'
import { SieveError } from '../errors.ts'
import { crawleeCore } from '../peers.ts'
import { Sieve, type SieveOptions } from '../sieve.ts'
import { type AddOptions, CrawlQueue, type QueueCodec, type Queued, type QueueStats } from './crawl-queue.ts'
import type { FrontierDurability } from './frontier-log.ts'
import { type KeyedRequest, keyInText, requestOf, textOf, withKey } from './request-text.ts'
import type { SeenUrls } from './seen-urls.ts'

export type { QueueStats } from './crawl-queue.ts'
export type { SeenUrls } from './seen-urls.ts'

/** Requests written and marked at a time. */
const BATCH = 1000

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
}

/** The type of Crawlee's option `requestQueue`; at run time Crawlee uses only the methods of SieveQueue. */
export type CrawleeQueue = SieveQueue & RequestProvider

/** A request with its key, depth and URL. */
interface Item extends KeyedRequest, Queued {}

/**
 * For Crawlee's option `requestQueue`. A request whose URL the sieve has seen is not fetched: it errs as the sieve does,
 * towards "seen" at its rate. Across a crash it errs towards "new": requests in progress are fetched again, and none is
 * lost, since a request is written before the sieve marks it.
 */
export class SieveQueue implements IRequestManager {
  readonly #Request: typeof Request
  readonly #queue: CrawlQueue<Item>
  readonly #sieve: SeenUrls
  readonly #ownsSieve: boolean

  private constructor(Class: typeof Request, queue: CrawlQueue<Item>, sieve: SeenUrls, ownsSieve: boolean) {
    this.#Request = Class
    this.#queue = queue
    this.#sieve = sieve
    this.#ownsSieve = ownsSieve
  }

  /** A queue in memory, or that of a folder in its last state. */
  static async open(options: SieveQueueOptions = {}): Promise<CrawleeQueue> {
    const { Request: Class } = await crawleeCore()
    const sieve = options.sieve ?? (await ownSieve(options))
    try {
      const codec: QueueCodec<Item> = {
        textOf,
        keyOf: ({ key }) => key,
        itemOf: (text: string) => itemOf(requestOf(text, Class), Class),
        keyIn: keyInText,
      }
      const queue = await CrawlQueue.open(sieve, codec, options)
      return new SieveQueue(Class, queue, sieve, !options.sieve) as CrawleeQueue
    } catch (error) {
      if (!options.sieve) await sieve.close?.()
      throw error
    }
  }

  stats(): QueueStats {
    return this.#queue.stats()
  }

  async isFinished(): Promise<boolean> {
    return this.#queue.isFinished
  }

  async isEmpty(): Promise<boolean> {
    return this.#queue.isEmpty
  }

  async handledCount(): Promise<number> {
    return this.stats().handled
  }

  getTotalCount(): number {
    const { handled, pending } = this.stats()
    return handled + pending
  }

  getPendingCount(): number {
    return this.stats().pending
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    const taken = await this.#queue.next()
    if (!taken) return null
    const { request } = taken.item
    // The place, not the unique key: the sieve may distinguish requests with the same unique key.
    request.id = String(taken.place)
    return request as Request<T>
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let next = await this.fetchNextRequest(); next; next = await this.fetchNextRequest()) yield next
  }

  async markRequestHandled(request: Request): Promise<RequestQueueOperationInfo | null> {
    if (!this.#queue.finish(Number(request.id))) return null
    request.handledAt ??= new Date().toISOString()
    return this.#info(request.uniqueKey, true, true)
  }

  async reclaimRequest(
    request: Request,
    { forefront = false }: RequestQueueOperationOptions = {},
  ): Promise<RequestQueueOperationInfo | null> {
    if (!this.#queue.again(Number(request.id), itemOf(request, this.#Request), forefront)) return null
    return this.#info(request.uniqueKey, true, false, forefront)
  }

  async addRequest(
    source: Source,
    { forefront = false }: RequestQueueOperationOptions = {},
  ): Promise<RequestQueueOperationInfo> {
    const [info] = await this.#add([this.#requestOf(source)], { first: forefront })
    return info!
  }

  async addRequests(
    requests: RequestsLike,
    options: RequestQueueOperationOptions = {},
  ): Promise<{ processedRequests: RequestQueueOperationInfo[]; unprocessedRequests: [] }> {
    const { addedRequests } = await this.addRequestsBatched(requests, options)
    return { processedRequests: addedRequests as RequestQueueOperationInfo[], unprocessedRequests: [] }
  }

  /**
   * Returns when all are added, unlike Crawlee's own: a page is handled only when its links are safe. When the sieve fails,
   * all of them are written before it throws.
   */
  async addRequestsBatched(
    requests: RequestsLike,
    { forefront: first = false, batchSize = BATCH, maxNewRequests }: AddRequestsBatchedOptions = {},
  ): Promise<AddRequestsBatchedResult> {
    const sources = iterate(requests)
    const addedRequests: RequestQueueOperationInfo[] = []
    let budget = maxNewRequests ?? Number.POSITIVE_INFINITY
    let failure: { readonly error: unknown } | undefined
    for (;;) {
      const batch = await take(sources, Math.min(batchSize, budget))
      if (batch.length === 0) break
      const found = batch.map((source) => this.#requestOf(source))
      try {
        const infos = await this.#add(found, { first, sieve: failure ? 'later' : 'now' })
        addedRequests.push(...infos)
        budget -= infos.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length
      } catch (error) {
        if (failure) throw error
        failure = { error }
        budget -= found.length
      }
    }
    if (failure) throw failure.error
    const requestsOverLimit: Source[] = []
    for await (const source of sources) requestsOverLimit.push(asSource(source))
    return { addedRequests, waitForAllRequestsToBeAdded: Promise.resolve([]), requestsOverLimit }
  }

  /**
   * With `hostDelays`: the seconds between two requests to the host of a URL, from the end of the first; 0: none.
   * The largest value per host applies, up to a minute, or the pace of `perHostPerSecond` if that is slower.
   */
  keepDelay(url: string, seconds: number): void {
    this.#queue.keepDelay(url, seconds)
  }

  /** A redirect to that URL was followed. It is not delayed, but the delay of its host starts again. */
  redirected(url: string): void {
    this.#queue.redirected(url)
  }

  /** Writes everything to disk and releases the lock. Also closes the sieve, unless it was given. */
  async close(): Promise<void> {
    this.#queue.close()
    if (this.#ownsSieve) await this.#sieve.close?.()
  }

  async #add(requests: readonly Request[], options: AddOptions): Promise<RequestQueueOperationInfo[]> {
    const items = requests.map((request) => itemOf(request, this.#Request))
    const isNew = await this.#queue.add(items, options)
    return requests.map(({ uniqueKey }, i) => this.#info(uniqueKey, !isNew[i], false, options.first))
  }

  #requestOf(source: Source | string): Request {
    if (typeof source === 'object' && 'requestsFromUrl' in source) {
      throw new SieveError(
        'option',
        'requestsFromUrl: a SieveQueue accepts requests, not lists of them by URL',
      )
    }
    const options = asSource(source)
    return options instanceof this.#Request
      ? options
      : new this.#Request(options as { url: string } & typeof options)
  }

  #info(uniqueKey: string, present: boolean, handled: boolean, forefront = false): RequestQueueOperationInfo {
    return {
      requestId: uniqueKey,
      uniqueKey,
      wasAlreadyPresent: present,
      wasAlreadyHandled: handled,
      forefront,
    }
  }
}

function itemOf(request: Request, Class: typeof Request): Item {
  return { ...withKey(request, Class), url: request.url, depth: request.crawlDepth }
}

async function ownSieve({ folder, sieveOptions, durability }: SieveQueueOptions): Promise<Sieve> {
  const options: SieveOptions = { profile: 'crawlee', ...sieveOptions }
  if (folder === undefined) return Sieve.create(options)
  return Sieve.open(`${folder}/seen`, { ...options, ...(durability && { durability }) })
}

const asSource = (source: Source | string): Source => (typeof source === 'string' ? { url: source } : source)

async function* iterate(requests: RequestsLike): AsyncGenerator<Source | string> {
  yield* requests
}

async function take<T>(from: AsyncGenerator<T>, most: number): Promise<T[]> {
  const taken: T[] = []
  while (taken.length < most) {
    const { value, done } = await from.next()
    if (done) break
    taken.push(value)
  }
  return taken
}
