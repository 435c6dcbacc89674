// The queue of a crawl whose frontier is shared with other crawlers. A request is written to the frontier before the
// sieve marks it; one whose crawler ended on the way returns after its lease. It errs towards fetching twice.
import { SieveError } from '../errors.ts'
import type { FrontierCounts, RedisFrontier } from '../redis/frontier.ts'
import type { AddOptions, QueueCodec, Queued, QueueStats, Taken } from './crawl-queue.ts'
import type { ItemQueue } from './item-queue.ts'
import { addInOrder, choose } from './offer.ts'
import type { SeenUrls } from './seen-urls.ts'

/** What a shared queue needs of its frontier. */
export type SharedFrontier = Pick<
  RedisFrontier,
  'hold' | 'release' | 'next' | 'finish' | 'again' | 'counts' | 'texts' | 'clear' | 'close'
>

export class SharedQueue<T extends Queued> implements ItemQueue<T> {
  readonly #frontier: SharedFrontier
  readonly #sieve: SeenUrls
  readonly #codec: QueueCodec<T>
  /** Tokens by place: a place is the number of a taking in this process. */
  readonly #open = new Map<number, string>()
  #places = 0
  #offered = 0
  #repeats = 0
  /** As last read, with what this process has changed since. */
  #counts: Pick<FrontierCounts, 'unfinished' | 'handled'>

  private constructor(
    frontier: SharedFrontier,
    sieve: SeenUrls,
    codec: QueueCodec<T>,
    counts: FrontierCounts,
  ) {
    this.#frontier = frontier
    this.#sieve = sieve
    this.#codec = codec
    this.#counts = counts
  }

  /** The caller closes the sieve; closing the queue closes the frontier. */
  static async open<T extends Queued>(
    frontier: SharedFrontier,
    sieve: SeenUrls,
    codec: QueueCodec<T>,
  ): Promise<SharedQueue<T>> {
    return new SharedQueue(frontier, sieve, codec, await frontier.counts())
  }

  /** `offered`, `repeats` and `inProgress` of this process; `pending` and `handled` of all, when they were last read. */
  stats(): QueueStats {
    const { unfinished: pending, handled } = this.#counts
    const inProgress = this.#open.size
    return { offered: this.#offered, repeats: this.#repeats, inProgress, pending, handled }
  }

  async refresh(): Promise<void> {
    await this.#count()
  }

  /** Whether nothing is left, pending or in progress, in any crawler. */
  get isFinished(): Promise<boolean> {
    return this.#count().then(({ unfinished }) => unfinished === 0)
  }

  /** Whether no item can be given out now. */
  get isEmpty(): Promise<boolean> {
    return this.#count().then(({ waiting }) => waiting === 0)
  }

  /**
   * Offers items: true for each one that is new. When the sieve fails it throws, and the items are in the frontier. When
   * the frontier fails it throws, and they may be there.
   */
  add(items: readonly T[], options: AddOptions = {}): Promise<boolean[]> {
    return addInOrder(items, this.#sieve, this.#codec, {
      add: (some) => this.#add(some, options),
      addHandled: (texts, repeats) => this.#addHandled(texts, repeats),
    })
  }

  async #addHandled(texts: readonly string[], repeats: number): Promise<void> {
    this.#offered += texts.length + repeats
    this.#repeats += repeats
    if (texts.length === 0) return
    const token = await this.#frontier.hold(texts)
    await this.#frontier.release(token, [...texts.keys()], { state: 'handled' })
    this.#change(0, texts.length)
  }

  async #add(
    items: readonly T[],
    { first = false, lastFirst = false, sieve = 'now' }: AddOptions,
  ): Promise<boolean[]> {
    const keys = items.map((item) => this.#codec.keyOf(item))
    const { fresh, failure } = await choose(this.#sieve, keys, sieve)
    if (first && lastFirst) fresh.reverse()
    const isNew = new Array<boolean>(items.length).fill(false)
    if (fresh.length > 0) {
      const token = await this.#frontier.hold(fresh.map((i) => this.#codec.textOf(items[i]!)))
      const freshKeys = fresh.map((i) => keys[i]!)
      const isLater = sieve !== 'now' || failure !== undefined
      const repeated = isLater ? [] : await this.#mark(token, freshKeys, first)
      const state = sieve === 'never' ? 'marked' : isLater ? 'unmarked' : 'marked'
      await this.#frontier.release(token, repeated, { first, state })
      const back = new Set(repeated)
      for (const [j, i] of fresh.entries()) isNew[i] = !back.has(j)
      this.#change(fresh.length - repeated.length)
    }
    this.#offered += isNew.length
    for (const one of isNew) if (!one) this.#repeats++
    if (failure !== undefined) throw failure
    return isNew
  }

  async next(): Promise<Taken<T> | null> {
    for (;;) {
      const leased = await this.#frontier.next()
      if (!leased) return null
      const { token, text, state } = leased
      const item = this.#codec.itemOf(text)
      if (state !== 'marked' && (await this.#isRepeat(this.#codec.keyOf(item))) && state === 'unmarked') {
        this.#repeats++
        if (await this.#frontier.finish(token, 'withdrawn')) this.#change(-1)
        continue
      }
      const place = this.#places++
      this.#open.set(place, token)
      return { item, place, host: '' }
    }
  }

  /** Marks an item as handled. False: it was not given out, or its lease had ended. */
  async finish(place: number): Promise<boolean> {
    const isDone = await this.#conclude(place, (token) => this.#frontier.finish(token))
    if (isDone) this.#change(-1, 1)
    return isDone
  }

  /** Queues an item again, as `item`. False: as `finish`. */
  again(place: number, item: T, first = false): Promise<boolean> {
    return this.#conclude(place, (token) => this.#frontier.again(token, this.#codec.textOf(item), first))
  }

  /** Also finds what another crawler has in progress. */
  async find(matches: (item: T) => boolean): Promise<T | null> {
    for await (const texts of this.#frontier.texts()) {
      for (const text of texts) {
        const item = this.#codec.itemOf(text)
        if (matches(item)) return item
      }
    }
    return null
  }

  keepDelay(): never {
    throw new SieveError('option', 'keepDelay: a shared frontier has no delays of hosts; use a folder')
  }

  redirected(): void {}

  /** Returns what this crawler has in progress. */
  close(): Promise<void> {
    return this.#frontier.close()
  }

  /** Deletes the items, also those of other crawlers. */
  async clear(): Promise<void> {
    this.#open.clear()
    await this.#frontier.clear()
    this.#counts = { unfinished: 0, handled: 0 }
  }

  async drop(): Promise<void> {
    await this.clear()
    await this.#frontier.close()
  }

  async #count(): Promise<FrontierCounts> {
    const counts = await this.#frontier.counts()
    this.#counts = counts
    return counts
  }

  #change(unfinished: number, handled = 0): void {
    const before = this.#counts
    this.#counts = { unfinished: before.unfinished + unfinished, handled: before.handled + handled }
  }

  // The item stays in progress when the call fails.
  async #conclude(place: number, end: (token: string) => Promise<boolean>): Promise<boolean> {
    const token = this.#open.get(place)
    if (token === undefined) return false
    const isDone = await end(token)
    this.#open.delete(place)
    return isDone
  }

  // The indexes of repeats. A sieve that fails may have marked some: the whole batch is fetched rather than lost.
  async #mark(token: string, keys: readonly string[], first: boolean): Promise<number[]> {
    try {
      const verdicts = await this.#sieve.addMany(keys)
      return [...keys.keys()].filter((j) => verdicts[j] === 0)
    } catch (error) {
      this.#offered += keys.length
      await this.#frontier.release(token, [], { first, state: 'unsure' })
      throw error
    }
  }

  // While the sieve fails: fetch.
  async #isRepeat(key: string): Promise<boolean> {
    try {
      return (await this.#sieve.addMany([key]))[0] === 0
    } catch {
      return false
    }
  }
}
