// The queue of a crawl: a frontier of pending requests, a sieve for "seen", a pace per host. A request is written to the
// frontier before the sieve marks it, also when the sieve fails: it errs towards fetching twice.
import { Frontier, type FrontierOptions, type Held } from './frontier.ts'
import type { ItemQueue } from './item-queue.ts'
import { addInOrder, choose } from './offer.ts'
import { hostOf, Pace } from './pace.ts'
import type { SeenUrls } from './seen-urls.ts'

/** How far to look ahead for a request whose host is due. */
const LOOK_AHEAD = 1000

/** What order and pace depend on. */
export interface Queued {
  readonly url: string
  readonly depth: number
  /** Offered as handled already: it is seen and counted, and not given out. */
  readonly isHandled?: boolean
}

/** How items are written to the frontier. */
export interface QueueCodec<T> {
  textOf(item: T): string
  itemOf(text: string): T
  /** What the sieve marks for an item: its URL, or a key of its own. */
  keyOf(item: T): string
  /** The same, from the text of an item. */
  keyIn(text: string): string
}

export interface CrawlQueueOptions {
  /** The folder of the frontier; without it the frontier is in memory. */
  readonly folder?: string
  readonly durability?: NonNullable<FrontierOptions['durability']>
  /** No item is given out while one of a lower depth is unfinished. Default false. */
  readonly layers?: boolean
  /** Requests per second to each host. Default: no limit. */
  readonly perHostPerSecond?: number
  /** Each host's own delay is set by `keepDelay`; until it is, the host gets one request at a time. Default false. */
  readonly hostDelays?: boolean
}

export interface QueueStats {
  /** Items offered. */
  readonly offered: number
  /** Of those, seen before. */
  readonly repeats: number
  /** Given out and not handled yet. */
  readonly inProgress: number
  /** Not handled yet, in progress or not. */
  readonly pending: number
  readonly handled: number
}

/** Given out: in progress until `finish`, `again`, `giveBack` or `postpone`. */
export interface Taken<T> {
  readonly item: T
  readonly place: number
  readonly host: string
}

export interface AddOptions {
  /** Before all pending items. */
  readonly first?: boolean
  /** With `first`: the last item precedes the others, as if each had been added on its own. */
  readonly lastFirst?: boolean
  /** `later`: only write, and query the sieve when the item's turn comes. `never`: fetch without querying the sieve. */
  readonly sieve?: 'now' | 'later' | 'never'
}

export class CrawlQueue<T extends Queued> implements ItemQueue<T> {
  readonly #frontier: Frontier
  readonly #sieve: SeenUrls
  readonly #codec: QueueCodec<T>
  readonly #layers: boolean
  readonly #pace: Pace
  readonly #open = new Map<number, Taken<T>>()
  /** Read from the frontier, waiting for their turn. */
  readonly #ready: Taken<T>[] = []
  /** Keys by place of items that were written without querying the sieve. */
  readonly #unmarked = new Map<number, string>()
  #offered = 0
  #repeats = 0
  #postponed = 0

  private constructor(
    frontier: Frontier,
    sieve: SeenUrls,
    codec: QueueCodec<T>,
    { layers = false, perHostPerSecond = 0, hostDelays = false }: CrawlQueueOptions,
  ) {
    this.#frontier = frontier
    this.#sieve = sieve
    this.#codec = codec
    this.#layers = layers
    this.#pace = new Pace(perHostPerSecond, hostDelays)
  }

  /** A queue in memory, or that of a folder in its last state. The caller closes the sieve. */
  static async open<T extends Queued>(
    sieve: SeenUrls,
    codec: QueueCodec<T>,
    options: CrawlQueueOptions = {},
  ): Promise<CrawlQueue<T>> {
    const { folder, durability } = options
    const frontier = Frontier.open({
      ...(folder !== undefined && { folder }),
      ...(durability && { durability }),
    })
    try {
      // The process may have ended between writing and marking.
      for (const texts of frontier.texts()) await sieve.addMany(texts.map((text) => codec.keyIn(text)))
      return new CrawlQueue(frontier, sieve, codec, options)
    } catch (error) {
      frontier.close()
      throw error
    }
  }

  stats(): QueueStats {
    const { pending, handled } = this.#frontier
    const inProgress = this.#open.size
    return { offered: this.#offered, repeats: this.#repeats, inProgress, pending, handled }
  }

  /** Whether nothing is left except postponed items. */
  get isFinished(): boolean {
    return this.#frontier.pending === this.#postponed
  }

  /** Whether no item can be given out now. */
  get isEmpty(): boolean {
    return this.#find() < 0
  }

  /**
   * Offers items: true for each one that is new. When the sieve fails it throws, and the items are in the frontier:
   * written unmarked if the sieve could not be queried, released if it could not mark.
   */
  add(items: readonly T[], options: AddOptions = {}): Promise<boolean[]> {
    return addInOrder(items, this.#sieve, this.#codec, {
      add: (some) => this.#add(some, options),
      addHandled: (texts, repeats) => this.#addHandled(texts, repeats),
    })
  }

  #addHandled(texts: readonly string[], repeats: number): void {
    this.#offered += texts.length + repeats
    this.#repeats += repeats
    if (texts.length === 0) return
    const held = this.#frontier.hold(texts)
    this.#frontier.release(held, held.places, false, 'handled')
  }

  async #add(
    items: readonly T[],
    { first = false, lastFirst = false, sieve = 'now' }: AddOptions,
  ): Promise<boolean[]> {
    const texts = items.map((item) => this.#codec.textOf(item))
    const keys = items.map((item) => this.#codec.keyOf(item))
    const { fresh, failure } = await choose(this.#sieve, keys, sieve)
    const isLater = sieve === 'later' || failure !== undefined
    if (first && lastFirst) fresh.reverse()
    const isNew = new Array<boolean>(items.length).fill(false)
    if (fresh.length > 0) {
      const held = this.#frontier.hold(fresh.map((i) => texts[i]!))
      const freshKeys = fresh.map((i) => keys[i]!)
      if (isLater) for (const [j, place] of held.places.entries()) this.#unmarked.set(place, freshKeys[j]!)
      const repeated = isLater || sieve === 'never' ? [] : await this.#mark(held, freshKeys, first)
      const back = new Set(repeated)
      this.#release(held, repeated, first)
      for (const [j, i] of fresh.entries()) isNew[i] = !back.has(held.places[j]!)
    }
    this.#offered += items.length
    this.#repeats += isNew.filter((one) => !one).length
    if (failure !== undefined) throw failure
    return isNew
  }

  /** The next item whose host is due; null: none now. */
  async next(): Promise<Taken<T> | null> {
    for (;;) {
      const i = this.#find()
      if (i < 0) return null
      const [taken] = this.#ready.splice(i, 1) as [Taken<T>]
      this.#pace.take(taken.host)
      this.#open.set(taken.place, taken)
      if (!(await this.#isRepeat(taken.place))) return taken
      this.#repeats++
      this.giveBack(taken.place)
    }
  }

  /** Marks an item as handled. False: it was not given out. */
  finish(place: number): boolean {
    const taken = this.#open.get(place)
    if (!taken) return false
    this.#frontier.finish(place)
    this.#end(taken)
    return true
  }

  /** Queues an item again, as `item`. False: it was not given out. */
  again(place: number, item: T, first = false): boolean {
    const taken = this.#open.get(place)
    if (!taken) return false
    this.#frontier.again(place, this.#codec.textOf(item), first || this.#layers)
    this.#end(taken)
    if (first || this.#layers) this.#loadFirst(1)
    return true
  }

  /** Marks an item as handled without a request: it does not count for its host's pace. */
  giveBack(place: number): void {
    const taken = this.#open.get(place)
    if (!taken) return
    this.#frontier.finish(place)
    this.#open.delete(place)
    this.#pace.giveBack(taken.host)
  }

  /** Leaves an item for a later run, without a request: it stays pending until the folder is opened again. */
  postpone(place: number): void {
    const taken = this.#open.get(place)
    if (!taken) return
    this.#postponed++
    this.#open.delete(place)
    this.#pace.giveBack(taken.host)
  }

  /**
   * The first pending item that is not given out and matches; it stays where it is. Reads every pending item if need be,
   * and lets others go on after each batch.
   */
  async find(matches: (item: T) => boolean): Promise<T | null> {
    const waits = () => this.#ready.find(({ item }) => matches(item))?.item
    const waiting = waits()
    if (waiting) return waiting
    for (const texts of this.#frontier.texts()) {
      for (const text of texts) {
        const item = this.#codec.itemOf(text)
        if (matches(item)) return item
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    // It may have been read from the frontier during the search.
    return waits() ?? null
  }

  /** With `hostDelays`: the seconds between two requests to the host of a URL, from the end of the first; 0: none. */
  keepDelay(url: string, seconds: number): void {
    this.#pace.keep(hostOf(url), seconds * 1000)
  }

  /** A redirect to that URL was followed outside the queue: the delay of its host starts again. */
  redirected(url: string): void {
    this.#pace.redirect(hostOf(url))
  }

  /** Writes everything to disk and releases the lock. */
  close(): void {
    this.#frontier.close()
  }

  /** Deletes all items, in memory and on disk, and releases the lock. */
  drop(): void {
    this.#frontier.drop()
  }

  #end({ place, host }: Taken<T>): void {
    this.#open.delete(place)
    this.#pace.end(host)
  }

  #release(held: Held, repeated: readonly number[], first: boolean): void {
    this.#frontier.release(held, repeated, first)
    if (first) this.#loadFirst(held.places.length - repeated.length)
  }

  // The places of repeats. A sieve that fails may have marked some: the whole batch is fetched rather than lost.
  async #mark(held: Held, keys: readonly string[], first: boolean): Promise<number[]> {
    try {
      const verdicts = await this.#sieve.addMany(keys)
      return held.places.filter((_, j) => verdicts[j] === 0)
    } catch (error) {
      this.#release(held, [], first)
      throw error
    }
  }

  // The item itself was never marked, so "seen" means a repeat. While the sieve fails: fetch.
  async #isRepeat(place: number): Promise<boolean> {
    const key = this.#unmarked.get(place)
    if (key === undefined) return false
    this.#unmarked.delete(place)
    try {
      return (await this.#sieve.addMany([key]))[0] === 0
    } catch {
      return false
    }
  }

  // The index in `#ready` of the next item that can be given out now; -1: none.
  #find(): number {
    let lowest = Number.POSITIVE_INFINITY
    if (this.#layers) for (const { item } of this.#open.values()) lowest = Math.min(lowest, item.depth)
    for (let i = 0; i < LOOK_AHEAD; i++) {
      if (i === this.#ready.length) {
        const more = this.#load()
        if (!more) return -1
        this.#ready.push(more)
      }
      const { item, host } = this.#ready[i]!
      if (this.#layers && item.depth > lowest) return -1
      if (this.#pace.isDue(host)) return i
      lowest = Math.min(lowest, item.depth)
    }
    return -1
  }

  #load(): Taken<T> | null {
    const entry = this.#frontier.next()
    if (!entry) return null
    const item = this.#codec.itemOf(entry.text)
    return { item, place: entry.place, host: hostOf(item.url) }
  }

  // Puts the frontier's next items before those that wait already.
  #loadFirst(count: number): void {
    const first = Array.from({ length: count }, () => this.#load()).filter((ready) => ready !== null)
    this.#ready.unshift(...first)
  }
}
