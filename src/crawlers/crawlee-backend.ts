// A request queue's backend for Crawlee 4, over a folder or a shared frontier. It takes and returns plain requests and
// needs nothing of Crawlee. The texts in the frontier are those of SieveQueue: a crawl of Crawlee 3 can go on with 4.
import { keyOf, profiles } from '../canonical/profiles.ts'
import { invalidOption, SieveError } from '../errors.ts'
import type {
  BackendBatchResult,
  BackendMetadata,
  BackendOperationInfo,
  BackendRequest,
  ForefrontOption,
  RequestQueueBackend,
} from './backend-contract.ts'
import type { QueueCodec, Queued, QueueStats } from './crawl-queue.ts'
import { InProgress } from './in-progress.ts'
import { openParts, type QueueOptions, type QueueParts } from './queue-parts.ts'
import { isFetchable, keyInText, notARequest, ownKey, requestId } from './request-text.ts'

/** Ids of handled requests that are remembered, so that a call that is repeated gets its answer. */
const REMEMBERED = 1000

type Stored = BackendRequest & { readonly id: string }

interface StoredItem extends Queued {
  readonly request: Stored
  readonly key: string
}

const codec: QueueCodec<StoredItem> = {
  textOf: ({ request: { id: _, uniqueKey, ...rest }, key, url }) =>
    JSON.stringify(key === url ? rest : { ...rest, uniqueKey }),
  keyOf: ({ key }) => key,
  itemOf: (text) => {
    keyInText(text) // throws unless it is a request
    const saved = JSON.parse(text) as BackendRequest
    return itemOf({ ...saved, uniqueKey: saved.uniqueKey ?? plainKey(saved.url) })
  },
  keyIn: keyInText,
}

/**
 * For a storage backend's `createRequestQueueBackend`. A request whose URL the sieve has seen is not fetched: it errs as
 * the sieve does, towards "seen" at its rate; across a crash towards "new".
 */
export class SieveQueueBackend implements RequestQueueBackend {
  readonly #options: QueueOptions
  readonly #inProgress = new InProgress<Stored>()
  readonly #handled = new Set<string>()
  #parts: QueueParts<StoredItem>
  #modifiedAt: Date
  #isClosed = false
  #isDropped = false

  private constructor(options: QueueOptions, parts: QueueParts<StoredItem>) {
    this.#options = options
    this.#parts = parts
    this.#modifiedAt = parts.createdAt
  }

  /** A queue in memory, that of a folder in its last state, or one that is shared. */
  static async open(options: QueueOptions = {}): Promise<SieveQueueBackend> {
    return new SieveQueueBackend(options, await openParts(options, codec))
  }

  stats(): QueueStats {
    return this.#parts.queue.stats()
  }

  async getMetadata(): Promise<BackendMetadata> {
    const queue = this.#queue()
    await queue.refresh?.()
    const { handled, pending } = queue.stats()
    return {
      id: this.#parts.id,
      createdAt: this.#parts.createdAt,
      modifiedAt: this.#modifiedAt,
      accessedAt: new Date(),
      totalRequestCount: handled + pending,
      handledRequestCount: handled,
      pendingRequestCount: pending,
    }
  }

  /** Refuses the whole batch if one URL is invalid. When the sieve fails it throws, and all are in the frontier. */
  async addBatchOfRequests(
    requests: readonly BackendRequest[],
    { forefront = false }: ForefrontOption = {},
  ): Promise<BackendBatchResult> {
    const queue = this.#queue()
    const items = requests.map((request) => {
      if (!isFetchable(request.url)) {
        throw invalidOption('url', request.url, 'an absolute URL with http or https')
      }
      // Crawlee's own Request keeps part of its data out of plain sight: its JSON has all of it.
      return itemOf(JSON.parse(JSON.stringify(request)) as BackendRequest)
    })
    const isNew = await queue.add(items, { first: forefront, lastFirst: true })
    this.#modifiedAt = new Date()
    const processedRequests = items.map(({ request: { id, uniqueKey } }, i) => ({
      uniqueKey,
      ...infoOf(id, !isNew[i], this.#handled.has(id)),
    }))
    for (const [i, { request, isHandled }] of items.entries()) {
      if (isHandled && isNew[i]) this.#remember(request.id)
    }
    return { processedRequests, unprocessedRequests: [] }
  }

  /** A request that is pending or in progress. Of handled requests only the sieve's mark is kept: undefined. */
  async getRequest(uniqueKey: string): Promise<Stored | undefined> {
    const queue = this.#queue()
    const id = requestId(uniqueKey)
    const inProgress = this.#inProgress.get(id)
    if (inProgress) return inProgress
    const found = await queue.find(({ request }) => request.uniqueKey === uniqueKey)
    return found?.request ?? this.#inProgress.get(id)
  }

  async fetchNextRequest(): Promise<Stored | undefined> {
    if (this.#isDropped) return undefined
    const taken = await this.#queue().next()
    if (!taken) return undefined
    const { request } = taken.item
    this.#inProgress.add(request.id, request, taken.place)
    return request
  }

  /** Undefined: the request is not in progress here, or another crawler has taken it over. */
  async markRequestAsHandled(request: BackendRequest): Promise<BackendOperationInfo | undefined> {
    const queue = this.#queue()
    const id = requestId(request.uniqueKey)
    if (!(await this.#inProgress.end(id, request, (place) => queue.finish(place)))) {
      return this.#handled.has(id) ? infoOf(id, true, true) : undefined
    }
    this.#modifiedAt = new Date()
    this.#remember(id)
    return infoOf(id, true, false)
  }

  #remember(id: string): void {
    this.#handled.add(id)
    if (this.#handled.size > REMEMBERED) this.#handled.delete(this.#handled.values().next().value!)
  }

  /** Undefined: as `markRequestAsHandled`. */
  async reclaimRequest(
    request: BackendRequest,
    { forefront = false }: ForefrontOption = {},
  ): Promise<BackendOperationInfo | undefined> {
    const queue = this.#queue()
    const item = itemOf(JSON.parse(JSON.stringify(request)) as BackendRequest)
    const { id } = item.request
    const again = (place: number) => queue.again(place, item, forefront)
    if (!(await this.#inProgress.end(id, request, again))) return undefined
    this.#modifiedAt = new Date()
    return infoOf(id, true, false)
  }

  async isEmpty(): Promise<boolean> {
    return this.#isDropped || this.#queue().isEmpty
  }

  async isFinished(): Promise<boolean> {
    return this.#isDropped || this.#queue().isFinished
  }

  /** Forgets all requests and the URLs that were seen. A sieve that was given must have `clear()`. */
  async purge(): Promise<void> {
    const queue = this.#queue()
    const { sieve } = this.#options
    if (sieve && !sieve.clear) {
      throw new SieveError('option', 'purge: the sieve that was given has no clear()')
    }
    if (queue.clear) await queue.clear()
    else {
      await queue.drop()
      await this.#parts.end('drop')
    }
    await sieve?.clear?.()
    if (!queue.clear) this.#parts = await openParts(this.#options, codec)
    this.#inProgress.clear()
    this.#handled.clear()
    this.#modifiedAt = new Date()
  }

  /** Deletes the requests, and the sieve unless it was given. The backend is closed then, and reports an empty queue. */
  async drop(): Promise<void> {
    const queue = this.#queue()
    this.#isClosed = true
    this.#isDropped = true
    await queue.drop()
    await this.#parts.end('drop')
  }

  /** Writes everything to disk and releases the lock; returns what is in progress to a shared frontier. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#parts.queue.close()
    await this.#parts.end('close')
  }

  #queue(): QueueParts<StoredItem>['queue'] {
    if (this.#isClosed) throw new SieveError('option', 'the queue is closed: open it again')
    return this.#parts.queue
  }
}

/** The unique key that Crawlee computes for a plain GET of a URL. */
const plainKey = (url: string) => keyOf(profiles.crawlee, url) ?? url

function itemOf(request: BackendRequest): StoredItem {
  const { url, uniqueKey } = request
  if (typeof url !== 'string' || typeof uniqueKey !== 'string') throw notARequest(JSON.stringify(request))
  const key = uniqueKey === plainKey(url) ? url : ownKey(uniqueKey)
  const internal = request.userData?.__crawlee as { readonly crawlDepth?: unknown } | undefined
  const depth = Number(internal?.crawlDepth ?? 0)
  const isHandled = request.handledAt !== undefined && request.handledAt !== null
  return { request: { ...request, id: requestId(uniqueKey) }, key, url, depth, isHandled }
}

const infoOf = (requestId: string, wasAlreadyPresent: boolean, wasAlreadyHandled: boolean) => ({
  requestId,
  wasAlreadyPresent,
  wasAlreadyHandled,
})
