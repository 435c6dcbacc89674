// A request queue for Crawlee 3, over any ItemQueue: the class is made when Crawlee is loaded, since it extends Crawlee's
// own base class. Ids, order and answers are those of Crawlee's own queue.
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  Dictionary,
  InternalSource,
  ProxyConfiguration,
  Request,
  RequestProvider,
  RequestQueueOperationInfo,
  RequestQueueOperationOptions,
  RequestsLike,
  Source,
} from '@crawlee/core'
import type { Answer } from '../any-sieve.ts'
import { invalidOption, SieveError } from '../errors.ts'
import type { crawleeCore } from '../peers.ts'
import type { AddOptions, Queued, QueueStats } from './crawl-queue.ts'
import { InProgress } from './in-progress.ts'
import type { ItemQueue } from './item-queue.ts'
import { noStorage } from './no-storage.ts'
import type { QueueParts } from './queue-parts.ts'
import { isFetchable, type KeyedRequest, requestId, withKey } from './request-text.ts'

/** Requests written and marked at a time. */
const BATCH = 1000

/**
 * For Crawlee's option `requestQueue`. A request whose URL the sieve has seen is not fetched: it errs as the sieve does,
 * towards "seen" at its rate. Across a crash it errs towards "new": requests in progress are fetched again, and none is
 * lost, since a request is written before the sieve marks it.
 */
export interface SieveQueue extends RequestProvider {
  stats(): QueueStats
  /**
   * With `hostDelays`: the seconds between two requests to the host of a URL, from the end of the first; 0: none.
   * The largest value per host applies, up to a minute, or the pace of `perHostPerSecond` if that is slower.
   */
  keepDelay(url: string, seconds: number): void
  /** A redirect to that URL was followed. It is not delayed, but the delay of its host starts again. */
  redirected(url: string): void
  /** Writes everything to disk and releases the lock. Also closes the sieve, unless it was given. */
  close(): Promise<void>
}

/** A request with its key, depth and URL. */
export interface Item extends KeyedRequest, Queued {}

type Core = Awaited<ReturnType<typeof crawleeCore>>
type Batches = Awaited<ReturnType<RequestProvider['addRequests']>>
type Info = NonNullable<Awaited<ReturnType<RequestProvider['getInfo']>>>

/** Makes the class of the queues of a copy of Crawlee. */
export function sieveQueueClass(
  core: Core,
): new (
  parts: QueueParts<Item>,
  proxies?: ProxyConfiguration,
) => SieveQueue {
  return class extends core.RequestProvider implements SieveQueue {
    readonly #queue: ItemQueue<Item>
    readonly #end: QueueParts<Item>['end']
    readonly #createdAt: Date
    readonly #inProgress = new InProgress<Request>()
    #modifiedAt: Date
    #isClosed = false

    constructor({ id, createdAt, queue, end }: QueueParts<Item>, proxies?: ProxyConfiguration) {
      // A configuration of its own: the base class registers a listener that would otherwise outlive the queue.
      super(
        {
          id,
          client: noStorage,
          logPrefix: 'SieveQueue',
          requestCacheMaxSize: 1,
          recentlyHandledRequestsMaxSize: 1,
        },
        new core.Configuration(),
      )
      this.#queue = queue
      this.#end = end
      this.#createdAt = createdAt
      this.#modifiedAt = createdAt
      if (proxies) this.proxyConfiguration = proxies
    }

    stats(): QueueStats {
      return this.#queue.stats()
    }

    override getTotalCount(): number {
      const { handled, pending } = this.stats()
      return handled + pending
    }

    override getPendingCount(): number {
      return this.stats().pending
    }

    override async getInfo(): Promise<Info> {
      this.#check()
      await this.#queue.refresh?.()
      const { handled, pending } = this.stats()
      return {
        id: this.id,
        createdAt: this.#createdAt,
        modifiedAt: this.#modifiedAt,
        accessedAt: new Date(),
        totalRequestCount: handled + pending,
        handledRequestCount: handled,
        pendingRequestCount: pending,
      }
    }

    override async isFinished(): Promise<boolean> {
      this.#check()
      return this.#queue.isFinished
    }

    override async isEmpty(): Promise<boolean> {
      this.#check()
      return this.#queue.isEmpty
    }

    /** A request that is pending or in progress. Of handled requests only the sieve's mark is kept: null. */
    override async getRequest<T extends Dictionary = Dictionary>(id: string): Promise<Request<T> | null> {
      this.#check()
      const isIt = ({ request }: KeyedRequest) => requestId(request.uniqueKey) === id
      const found =
        this.#inProgress.get(id) ??
        (await this.#queue.find(isIt))?.request ??
        // It may have been given out during the search.
        this.#inProgress.get(id)
      if (!found) return null
      found.id = id
      return found as Request<T>
    }

    override async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
      this.#check()
      const taken = await this.#queue.next()
      if (!taken) return null
      const { request } = taken.item
      const id = requestId(request.uniqueKey)
      request.id = id
      this.#inProgress.add(id, request, taken.place)
      return request as Request<T>
    }

    /** Null: the request is not in progress here, or another crawler has taken it over. */
    override async markRequestHandled(request: Request): Promise<RequestQueueOperationInfo | null> {
      if (!(await this.#conclude(request, (place) => this.#queue.finish(place)))) return null
      request.handledAt ??= new Date().toISOString()
      return infoOf(request.uniqueKey, true, false)
    }

    /** Null: as `markRequestHandled`. */
    override async reclaimRequest(
      request: Request,
      { forefront = false }: RequestQueueOperationOptions = {},
    ): Promise<RequestQueueOperationInfo | null> {
      const item = itemOf(request, core.Request)
      if (!(await this.#conclude(request, (place) => this.#queue.again(place, item, forefront)))) return null
      return infoOf(request.uniqueKey, true, forefront)
    }

    override async addRequest(
      source: Source,
      { forefront = false }: RequestQueueOperationOptions = {},
    ): Promise<RequestQueueOperationInfo> {
      this.#check()
      if (!isList(source)) return (await this.#add([this.#requestOf(source)], { first: forefront }))[0]!
      const [first] = await this._addFetchedRequests(source, await this._fetchRequestsFromUrl(source), {
        forefront,
      })
      if (!first)
        throw invalidOption('requestsFromUrl', source.requestsFromUrl, 'a list with at least one URL')
      return { ...first, forefront }
    }

    override async addRequests(
      requests: RequestsLike,
      { forefront = false }: RequestQueueOperationOptions = {},
    ): Promise<Batches> {
      const { addedRequests } = await this.addRequestsBatched(requests, { forefront })
      return { processedRequests: addedRequests, unprocessedRequests: [] }
    }

    /**
     * Returns when all are added, unlike Crawlee's own: a page is handled only when its links are safe. When the sieve
     * fails, all of them are written before it throws. An invalid URL in an array refuses the whole array.
     */
    override async addRequestsBatched(
      requests: RequestsLike,
      { forefront: first = false, batchSize = BATCH, maxNewRequests }: AddRequestsBatchedOptions = {},
    ): Promise<AddRequestsBatchedResult> {
      this.#check()
      if (Array.isArray(requests)) for (const source of requests) if (!isList(source)) checkUrlOf(source)
      const sources = this.#expand(requests, first)
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

    keepDelay(url: string, seconds: number): void {
      this.#queue.keepDelay(url, seconds)
    }

    redirected(url: string): void {
      this.#queue.redirected(url)
    }

    async close(): Promise<void> {
      if (this.#isClosed) return
      this.#isClosed = true
      await this.#queue.close()
      await this.#end('close')
    }

    /** Deletes the requests, and the sieve unless it was given; the queue is closed then. */
    override async drop(): Promise<void> {
      this.#check()
      this.#isClosed = true
      await this.#queue.drop()
      await this.#end('drop')
    }

    // Nothing is read ahead by the base class.
    protected override async ensureHeadIsNonEmpty(): Promise<void> {}

    #check(): void {
      if (this.#isClosed) throw new SieveError('option', 'the queue is closed: open it again')
    }

    async #conclude(request: Request, end: (place: number) => Answer<boolean>): Promise<boolean> {
      this.#check()
      const isEnded = await this.#inProgress.end(requestId(request.uniqueKey), request, end)
      if (isEnded) this.#modifiedAt = new Date()
      return isEnded
    }

    async #add(requests: readonly Request[], options: AddOptions): Promise<RequestQueueOperationInfo[]> {
      const items = requests.map((request) => itemOf(request, core.Request))
      const isNew = await this.#queue.add(items, { ...options, lastFirst: true })
      this.#modifiedAt = new Date()
      return requests.map(({ uniqueKey }, i) => infoOf(uniqueKey, !isNew[i], options.first))
    }

    // Lists of URLs at a URL are added on the way, as Crawlee's own queue does.
    async *#expand(requests: RequestsLike, forefront: boolean): AsyncGenerator<Source | string> {
      for await (const source of requests) {
        if (!isList(source)) yield source
        else {
          const fetched = await this._fetchRequestsFromUrl(source)
          await this._addFetchedRequests(source, fetched, { forefront })
        }
      }
    }

    #requestOf(source: Source | string): Request {
      const url = checkUrlOf(source)
      if (source instanceof core.Request) return source
      return new core.Request({ ...asSource(source), url })
    }
  }
}

/** A request as the queue keeps it. */
export function itemOf(request: Request, Class: Core['Request']): Item {
  const { url, crawlDepth: depth, handledAt } = request
  return { ...withKey(request, Class), url, depth, ...(handledAt && { isHandled: true }) }
}

// `wasAlreadyHandled` is false: a sieve does not know which of the URLs that it has seen are handled.
function infoOf(uniqueKey: string, present: boolean, forefront = false): RequestQueueOperationInfo {
  return {
    requestId: requestId(uniqueKey),
    uniqueKey,
    wasAlreadyPresent: present,
    wasAlreadyHandled: false,
    forefront,
  }
}

const asSource = (source: Source | string): Source => (typeof source === 'string' ? { url: source } : source)

const isList = (source: Source | string): source is Source & InternalSource =>
  typeof source === 'object' && 'requestsFromUrl' in source && source.requestsFromUrl !== undefined

function checkUrlOf(source: Source | string): string {
  const url: unknown = typeof source === 'object' && source !== null ? source.url : source
  if (!isFetchable(url)) throw invalidOption('url', url, 'an absolute URL with http or https')
  return url
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
