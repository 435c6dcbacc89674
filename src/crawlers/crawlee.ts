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
import { Frontier, type Held } from './frontier.ts'
import type { FrontierDurability } from './frontier-log.ts'
import { hostOf, Pace } from './pace.ts'
import { askedFor, askedIn, requestOf, textOf } from './request-text.ts'
import type { SeenUrls } from './seen-urls.ts'

export type { SeenUrls } from './seen-urls.ts'

/** Requests written down and asked for at a time. */
const BATCH = 1000
/** How far to look ahead for a request whose host may be asked. */
const LOOK_AHEAD = 1000

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

export interface QueueStats {
  /** Requests offered by enqueueLinks, addRequests and run. */
  readonly offered: number
  /** Of those, answered "seen". */
  readonly repeats: number
  /** Given out and not handled yet. */
  readonly inProgress: number
  /** Not handled yet, in progress or not. */
  readonly pending: number
  readonly handled: number
}

/** As Crawlee's option `requestQueue` is typed; at run time it asks for the verbs of SieveQueue only. */
export type CrawleeQueue = SieveQueue & RequestProvider

interface Ready {
  readonly request: Request
  readonly place: number
  readonly host: string
}

/** Given out. */
interface Open {
  readonly place: number
  readonly depth: number
  readonly host: string
}

/**
 * For Crawlee's option `requestQueue`. A request whose URL the sieve has seen is not fetched: it errs as the sieve does,
 * towards "seen" at its rate. Across a crash it errs towards "new": what was in progress is fetched again, and nothing
 * that was found is lost, since a request is written down before the sieve marks it.
 */
export class SieveQueue implements IRequestManager {
  readonly #Request: typeof Request
  readonly #frontier: Frontier
  readonly #sieve: SeenUrls
  readonly #ownsSieve: boolean
  readonly #layers: boolean
  readonly #pace: Pace
  /** Given out and not handled, by id: the sieve may tell apart what has one unique key. */
  readonly #open = new Map<string, Open>()
  /** Read from the frontier, waiting for their turn. */
  readonly #ready: Ready[] = []
  #offered = 0
  #repeats = 0

  private constructor(
    Class: typeof Request,
    frontier: Frontier,
    sieve: SeenUrls,
    { layers = false, perHostPerSecond = 0, hostDelays = false, sieve: given }: SieveQueueOptions,
  ) {
    this.#Request = Class
    this.#frontier = frontier
    this.#sieve = sieve
    this.#ownsSieve = given === undefined
    this.#layers = layers
    this.#pace = new Pace(perHostPerSecond, hostDelays)
  }

  /** A queue in memory, or the one of a folder, as it was left. */
  static async open(options: SieveQueueOptions = {}): Promise<CrawleeQueue> {
    const { folder, durability } = options
    const { Request: Class } = await crawleeCore()
    const sieve = options.sieve ?? (await ownSieve(options))
    let frontier: Frontier | undefined
    try {
      frontier = Frontier.open({
        ...(folder !== undefined && { folder }),
        ...(durability && { durability }),
      })
      // What was written down but perhaps not marked when the process ended.
      for (const texts of frontier.texts()) {
        await sieve.addMany(texts.map(askedIn))
      }
      return new SieveQueue(Class, frontier, sieve, options) as CrawleeQueue
    } catch (error) {
      frontier?.close()
      if (!options.sieve) await sieve.close?.()
      throw error
    }
  }

  stats(): QueueStats {
    const { pending, handled } = this.#frontier
    const inProgress = this.#open.size
    return { offered: this.#offered, repeats: this.#repeats, inProgress, pending, handled }
  }

  async isFinished(): Promise<boolean> {
    return this.#frontier.pending === 0
  }

  async isEmpty(): Promise<boolean> {
    return this.#find() < 0
  }

  async handledCount(): Promise<number> {
    return this.#frontier.handled
  }

  getTotalCount(): number {
    return this.#frontier.handled + this.#frontier.pending
  }

  getPendingCount(): number {
    return this.#frontier.pending
  }

  async fetchNextRequest<T extends Dictionary = Dictionary>(): Promise<Request<T> | null> {
    const i = this.#find()
    if (i < 0) return null
    const [{ request, place, host }] = this.#ready.splice(i, 1) as [Ready]
    this.#pace.take(host)
    this.#open.set(request.id!, { place, depth: request.crawlDepth, host })
    return request as Request<T>
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let next = await this.fetchNextRequest(); next; next = await this.fetchNextRequest()) yield next
  }

  async markRequestHandled(request: Request): Promise<RequestQueueOperationInfo | null> {
    const open = this.#open.get(request.id ?? '')
    if (!open) return null
    this.#frontier.finish(open.place)
    this.#end(request, open)
    request.handledAt ??= new Date().toISOString()
    return this.#info(request.uniqueKey, true, true)
  }

  async reclaimRequest(
    request: Request,
    { forefront = false }: RequestQueueOperationOptions = {},
  ): Promise<RequestQueueOperationInfo | null> {
    const open = this.#open.get(request.id ?? '')
    if (!open) return null
    const first = forefront || this.#layers
    this.#frontier.again(open.place, textOf(askedFor(request, this.#Request)), first)
    this.#end(request, open)
    if (first) this.#loadFirst(1)
    return this.#info(request.uniqueKey, true, false, forefront)
  }

  async addRequest(
    source: Source,
    { forefront = false }: RequestQueueOperationOptions = {},
  ): Promise<RequestQueueOperationInfo> {
    const [info] = await this.#add([this.#requestOf(source)], forefront)
    return info!
  }

  async addRequests(
    requests: RequestsLike,
    options: RequestQueueOperationOptions = {},
  ): Promise<{ processedRequests: RequestQueueOperationInfo[]; unprocessedRequests: [] }> {
    const { addedRequests } = await this.addRequestsBatched(requests, options)
    return { processedRequests: addedRequests as RequestQueueOperationInfo[], unprocessedRequests: [] }
  }

  /** Returns when all are added, unlike Crawlee's own: a page is handled only when its links are safe. */
  async addRequestsBatched(
    requests: RequestsLike,
    { forefront = false, batchSize = BATCH, maxNewRequests }: AddRequestsBatchedOptions = {},
  ): Promise<AddRequestsBatchedResult> {
    const sources = iterate(requests)
    const addedRequests: RequestQueueOperationInfo[] = []
    let budget = maxNewRequests ?? Number.POSITIVE_INFINITY
    for (;;) {
      const batch = await take(sources, Math.min(batchSize, budget))
      if (batch.length === 0) break
      const infos = await this.#add(
        batch.map((source) => this.#requestOf(source)),
        forefront,
      )
      addedRequests.push(...infos)
      budget -= infos.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length
    }
    const requestsOverLimit: Source[] = []
    for await (const source of sources) requestsOverLimit.push(asSource(source))
    return { addedRequests, waitForAllRequestsToBeAdded: Promise.resolve([]), requestsOverLimit }
  }

  /**
   * With `hostDelays`: the host of that URL asks for so many seconds from the end of a request to the next; 0: for none.
   * The largest it has asked for counts, up to a minute, and the pace of `perHostPerSecond` if that is slower.
   */
  keepDelay(url: string, seconds: number): void {
    this.#pace.keep(hostOf(url), seconds * 1000)
  }

  /** A redirect has led to that URL. It is not held back, but the delay of its host counts once more. */
  redirected(url: string): void {
    this.#pace.redirect(hostOf(url))
  }

  /** Puts everything on the disk and lets another process open it. Closes the sieve too, unless it was given. */
  async close(): Promise<void> {
    this.#frontier.close()
    if (this.#ownsSieve) await this.#sieve.close?.()
  }

  #end({ id }: Request, { host }: Open): void {
    this.#open.delete(id!)
    this.#pace.end(host)
  }

  // First written down, then marked: what a crash leaves between the two is written down, and marked on opening.
  async #add(requests: readonly Request[], first: boolean): Promise<RequestQueueOperationInfo[]> {
    if (requests.length === 0) return []
    const offered = requests.map((request) => askedFor(request, this.#Request))
    const asked = offered.map((one) => one.asked)
    const fresh = await this.#unseen(asked)
    const isNew = new Array<boolean>(requests.length).fill(false)
    if (fresh.length > 0) {
      const held = this.#frontier.hold(fresh.map((i) => textOf(offered[i]!)))
      const verdicts = await this.#mark(
        held,
        fresh.map((i) => asked[i]!),
      )
      const repeated = held.places.filter((_, j) => verdicts[j] === 0)
      this.#frontier.release(held, repeated, first)
      if (first) this.#loadFirst(held.places.length - repeated.length)
      for (const [j, i] of fresh.entries()) isNew[i] = verdicts[j] === 1
    }
    this.#offered += requests.length
    this.#repeats += isNew.filter((one) => !one).length
    return requests.map((request, i) => this.#info(request.uniqueKey, !isNew[i], false, first))
  }

  // Which of the URLs are worth writing down: not seen yet, each spelling once.
  async #unseen(asked: readonly string[]): Promise<number[]> {
    const seen = (await this.#sieve.hasMany?.(asked)) ?? new Uint8Array(asked.length)
    const spellings = new Set<string>()
    return asked.flatMap((url, i) => {
      if (seen[i] === 1 || spellings.has(url)) return []
      spellings.add(url)
      return [i]
    })
  }

  // A sieve that fails has perhaps marked some: all of the batch is fetched rather than lost.
  async #mark(held: Held, asked: readonly string[]): Promise<Uint8Array> {
    try {
      return await this.#sieve.addMany(asked)
    } catch (error) {
      this.#frontier.release(held)
      throw error
    }
  }

  // Where in `#ready` the next request is that may go out now; -1: none.
  #find(): number {
    let lowest = Number.POSITIVE_INFINITY
    if (this.#layers) for (const { depth } of this.#open.values()) lowest = Math.min(lowest, depth)
    for (let i = 0; i < LOOK_AHEAD; i++) {
      if (i === this.#ready.length) {
        const more = this.#load()
        if (!more) return -1
        this.#ready.push(more)
      }
      const { request, host } = this.#ready[i]!
      if (this.#layers && request.crawlDepth > lowest) return -1
      if (this.#pace.isDue(host)) return i
      lowest = Math.min(lowest, request.crawlDepth)
    }
    return -1
  }

  #load(): Ready | null {
    const entry = this.#frontier.next()
    if (!entry) return null
    const request = requestOf(entry.text, this.#Request)
    request.id = String(entry.place)
    return { request, place: entry.place, host: hostOf(request.url) }
  }

  // Puts the frontier's next ones before those that wait already.
  #loadFirst(count: number): void {
    const first = Array.from({ length: count }, () => this.#load()).filter((ready) => ready !== null)
    this.#ready.unshift(...first)
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
