// What a crawl fetches next: a frontier of what is pending, a sieve for "seen", a pace for each host. What is found is
// written to the frontier before the sieve marks it, and also when the sieve fails: it errs towards fetching twice.
import { Frontier, type FrontierOptions, type Held } from './frontier.ts'
import { hostOf, Pace } from './pace.ts'
import type { SeenUrls } from './seen-urls.ts'

/** How far to look ahead for a request whose host may be asked. */
const LOOK_AHEAD = 1000

/** What order and pace depend on. */
export interface Queued {
  readonly url: string
  readonly depth: number
}

/** How items are written to the frontier. */
export interface QueueCodec<T> {
  textOf(item: T): string
  itemOf(text: string): T
  /** What the sieve is asked for an item: its URL, or a key of its own. */
  askedOf(item: T): string
  /** The same, for the item written so. */
  askedIn(text: string): string
}

export interface CrawlQueueOptions {
  /** Where the frontier lives; in memory without it. */
  readonly folder?: string
  readonly durability?: NonNullable<FrontierOptions['durability']>
  /** No item goes out while one of a lower depth is open. Default false. */
  readonly layers?: boolean
  /** Requests per second to each host. Default: no limit. */
  readonly perHostPerSecond?: number
  /** Each host's own delay is set by `keepDelay`; until it is, the host gets one request at a time. Default false. */
  readonly hostDelays?: boolean
}

export interface QueueStats {
  /** Items offered. */
  readonly offered: number
  /** Of those, answered "seen". */
  readonly repeats: number
  /** Given out and not handled yet. */
  readonly inProgress: number
  /** Not handled yet, in progress or not. */
  readonly pending: number
  readonly handled: number
}

/** Given out: in progress until `finish`, `again`, `giveBack` or `setAside`. */
export interface Taken<T> {
  readonly item: T
  readonly place: number
  readonly host: string
}

export interface AddOptions {
  /** Before all that is pending. */
  readonly first?: boolean
  /** `later`: write only, and ask the sieve when the item's turn comes. `never`: fetch whatever the sieve knows. */
  readonly sieve?: 'now' | 'later' | 'never'
}

export class CrawlQueue<T extends Queued> {
  readonly #frontier: Frontier
  readonly #sieve: SeenUrls
  readonly #codec: QueueCodec<T>
  readonly #layers: boolean
  readonly #pace: Pace
  readonly #open = new Map<number, Taken<T>>()
  /** Read from the frontier, waiting for their turn. */
  readonly #ready: Taken<T>[] = []
  /** Places of items that were written while the sieve was away, with what it is to be asked. */
  readonly #unasked = new Map<number, string>()
  #offered = 0
  #repeats = 0
  #aside = 0

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

  /** A queue in memory, or the one of a folder, as it was left. The sieve is its owner's to close. */
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
      // What was written but perhaps not marked when the process ended.
      for (const texts of frontier.texts()) await sieve.addMany(texts.map((text) => codec.askedIn(text)))
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

  /** Nothing is left, but for items set aside. */
  get isFinished(): boolean {
    return this.#frontier.pending === this.#aside
  }

  /** Whether no item may go out now. */
  get isEmpty(): boolean {
    return this.#find() < 0
  }

  /**
   * Offers items: true for each one that is new. When the sieve fails it throws, and the items are in the frontier: written
   * first if the sieve could not be asked, released unmarked if it could not mark.
   */
  async add(items: readonly T[], { first = false, sieve = 'now' }: AddOptions = {}): Promise<boolean[]> {
    if (items.length === 0) return []
    const texts = items.map((item) => this.#codec.textOf(item))
    const asked = items.map((item) => this.#codec.askedOf(item))
    const { seen, failure } = await this.#seen(asked, sieve)
    const isLater = sieve === 'later' || failure !== undefined
    const fresh = sieve === 'never' ? [...items.keys()] : distinct(asked, seen)
    const isNew = new Array<boolean>(items.length).fill(false)
    if (fresh.length > 0) {
      const held = this.#frontier.hold(fresh.map((i) => texts[i]!))
      const freshAsked = fresh.map((i) => asked[i]!)
      if (isLater) for (const [j, place] of held.places.entries()) this.#unasked.set(place, freshAsked[j]!)
      const repeated = isLater || sieve === 'never' ? [] : await this.#mark(held, freshAsked, first)
      const back = new Set(repeated)
      this.#release(held, repeated, first)
      for (const [j, i] of fresh.entries()) isNew[i] = !back.has(held.places[j]!)
    }
    this.#offered += items.length
    this.#repeats += isNew.filter((one) => !one).length
    if (failure !== undefined) throw failure
    return isNew
  }

  /** The next item whose host may be asked; null: none now. */
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

  /** Handled, for good. False: not given out. */
  finish(place: number): boolean {
    const taken = this.#open.get(place)
    if (!taken) return false
    this.#frontier.finish(place)
    this.#end(taken)
    return true
  }

  /** To be fetched again, as `item`. False: not given out. */
  again(place: number, item: T, first = false): boolean {
    const taken = this.#open.get(place)
    if (!taken) return false
    this.#frontier.again(place, this.#codec.textOf(item), first || this.#layers)
    this.#end(taken)
    if (first || this.#layers) this.#loadFirst(1)
    return true
  }

  /** Handled without a request: its host's turn is not used. */
  giveBack(place: number): void {
    const taken = this.#open.get(place)
    if (!taken) return
    this.#frontier.finish(place)
    this.#open.delete(place)
    this.#pace.giveBack(taken.host)
  }

  /** Not fetched in this run, without a request: it stays pending, and is given out when the folder is opened again. */
  setAside(place: number): void {
    const taken = this.#open.get(place)
    if (!taken) return
    this.#aside++
    this.#open.delete(place)
    this.#pace.giveBack(taken.host)
  }

  /** With `hostDelays`: the host of that URL wants so many seconds from the end of a request to the next; 0: none. */
  keepDelay(url: string, seconds: number): void {
    this.#pace.keep(hostOf(url), seconds * 1000)
  }

  /** A redirect was followed to that URL outside the queue: the delay of its host counts once more. */
  redirected(url: string): void {
    this.#pace.redirect(hostOf(url))
  }

  /** Puts everything on the disk and lets another process open it. */
  close(): void {
    this.#frontier.close()
  }

  #end({ place, host }: Taken<T>): void {
    this.#open.delete(place)
    this.#pace.end(host)
  }

  #release(held: Held, repeated: readonly number[], first: boolean): void {
    this.#frontier.release(held, repeated, first)
    if (first) this.#loadFirst(held.places.length - repeated.length)
  }

  // Which are known already, so that they need not be written. A sieve that fails knows none.
  async #seen(
    asked: readonly string[],
    when: NonNullable<AddOptions['sieve']>,
  ): Promise<{ seen: Uint8Array; failure?: unknown }> {
    const none = new Uint8Array(asked.length)
    if (when !== 'now') return { seen: none }
    try {
      return { seen: (await this.#sieve.hasMany?.(asked)) ?? none }
    } catch (failure) {
      return { seen: none, failure }
    }
  }

  // The places that turn out to be repeats. A sieve that fails has perhaps marked some: the whole batch is fetched
  // rather than lost.
  async #mark(held: Held, asked: readonly string[], first: boolean): Promise<number[]> {
    try {
      const verdicts = await this.#sieve.addMany(asked)
      return held.places.filter((_, j) => verdicts[j] === 0)
    } catch (error) {
      this.#release(held, [], first)
      throw error
    }
  }

  // The sieve was never asked for such an item, so "seen" means another one like it. While it fails: fetch.
  async #isRepeat(place: number): Promise<boolean> {
    const asked = this.#unasked.get(place)
    if (asked === undefined) return false
    this.#unasked.delete(place)
    try {
      return (await this.#sieve.addMany([asked]))[0] === 0
    } catch {
      return false
    }
  }

  // Where in `#ready` the next item is that may go out now; -1: none.
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

  // Puts the frontier's next ones before those that wait already.
  #loadFirst(count: number): void {
    const first = Array.from({ length: count }, () => this.#load()).filter((ready) => ready !== null)
    this.#ready.unshift(...first)
  }
}

// Which are worth writing: not seen yet, each spelling once.
function distinct(asked: readonly string[], seen: Uint8Array): number[] {
  const spellings = new Set<string>()
  return asked.flatMap((text, i) => {
    if (seen[i] === 1 || spellings.has(text)) return []
    spellings.add(text)
    return [i]
  })
}
