// `urlsieve/crawlee`: Crawlee's request queue with a sieve for "seen" and a frontier for what is to be fetched. On disk
// that is a log and a sieve, not a file for each URL: a crawl goes on after `kill -9`, past any number of requests.
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
import { type AskedRequest, askedFor, askedIn, requestOf, textOf } from './request-text.ts'
import type { SeenUrls } from './seen-urls.ts'

export type { QueueStats } from './crawl-queue.ts'
export type { SeenUrls } from './seen-urls.ts'

/** Requests written down and asked for at a time. */
const BATCH = 1000

export interface SieveQueueOptions {
  /** Where frontier and sieve live; in memory without it, and gone with the process. */
  readonly folder?: string
  /**
   * What remembers the URLs: a sieve, or anything like it, also asynchronous (a cluster's). Default: a sieve of its own, in
   * the folder if there is one, of filter `fingerprint` and profile `crawlee`, which is Crawlee's own idea of "the same".
   */
  readonly sieve?: SeenUrls
  /** Options of the sieve of its own. */
  readonly sieveOptions?: SieveOptions
  /** `always`: what is found is on the disk before it counts as seen. Default `interval`: within a second. */
  readonly durability?: FrontierDurability
  /** Layer by layer: no request goes out while one of a lower `crawlDepth` is open. Default false. */
  readonly layers?: boolean
  /** At most so many requests a second to each host. Default: no limit. */
  readonly perHostPerSecond?: number
  /** Each host's own delay is told by `keepDelay`; until it is, the host gets one request at a time. Default false. */
  readonly hostDelays?: boolean
}

/** As Crawlee's option `requestQueue` is typed; at run time it asks for the verbs of SieveQueue only. */
export type CrawleeQueue = SieveQueue & RequestProvider

/** What the queue holds: a request, and what its place and host depend on. */
interface Item extends AskedRequest, Queued {}

/**
 * For Crawlee's option `requestQueue`. A request whose URL the sieve has seen is not fetched: it errs as the sieve does,
 * towards "seen" at its rate. Across a crash it errs towards "new": what was in progress is fetched again, and nothing
 * that was found is lost, since a request is written down before the sieve marks it.
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

  /** A queue in memory, or the one of a folder, as it was left. */
  static async open(options: SieveQueueOptions = {}): Promise<CrawleeQueue> {
    const { Request: Class } = await crawleeCore()
    const sieve = options.sieve ?? (await ownSieve(options))
    try {
      const codec: QueueCodec<Item> = {
        textOf,
        askedOf: ({ asked }) => asked,
        itemOf: (text: string) => itemOf(requestOf(text, Class), Class),
        askedIn,
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
    // By place: the sieve may tell apart what has one unique key.
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
   * Returns when all are added, unlike Crawlee's own: a page is handled only when its links are safe. When the sieve fails
   * it writes all of them down before it throws.
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
   * With `hostDelays`: the host of that URL asks for so many seconds from the end of a request to the next; 0: for none.
   * The largest it has asked for counts, up to a minute, and the pace of `perHostPerSecond` if that is slower.
   */
  keepDelay(url: string, seconds: number): void {
    this.#queue.keepDelay(url, seconds)
  }

  /** A redirect has led to that URL. It is not held back, but the delay of its host counts once more. */
  redirected(url: string): void {
    this.#queue.redirected(url)
  }

  /** Puts everything on the disk and lets another process open it. Closes the sieve too, unless it was given. */
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
      throw new SieveError('option', 'requestsFromUrl: a SieveQueue takes requests, not lists of them by URL')
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
  return { ...askedFor(request, Class), url: request.url, depth: request.crawlDepth }
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
