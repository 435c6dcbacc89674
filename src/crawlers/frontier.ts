// What a crawl still has to fetch, in the order found: texts that are pending, in progress or handled. Memory does not
// grow with what is pending: the shelf is read at a cursor, a batch at a time. After a crash whatever was in progress
// is pending again: it errs towards fetching twice, and loses nothing that `add` has returned for.
import { type FrontierDurability, FrontierLog } from './frontier-log.ts'
import { type Contents, EMPTY, type Entry, MemoryShelf, type Shelf } from './shelf.ts'

/** Handled entries between two looks for files that may go. */
const TIDY_EVERY = 1024

/** A batch that is written down but not given out yet. */
export interface Held {
  readonly position: number
  readonly places: readonly number[]
}

export interface FrontierOptions {
  /** Where it lives on disk; in memory without it. */
  readonly folder?: string
  /** Default `interval`. */
  readonly durability?: FrontierDurability
  /** How long a file may grow; for tests. */
  readonly fileBytes?: number
}

export class Frontier {
  readonly #shelf: Shelf
  /** Batches written down but not released. */
  readonly #held = new Set<number>()
  /** Batches given out from `#first` instead of in their turn. */
  readonly #early = new Set<number>()
  /** Entries ahead of the cursor that are not to be given out. */
  readonly #over: Set<number>
  readonly #inProgress = new Set<number>()
  /** Entries that go before all others, the next one last. */
  readonly #first: Entry[] = []
  #ahead: readonly Entry[] = []
  #aheadAt = 0
  #position: number
  #pending: number
  #handled: number
  #untidied = 0

  private constructor(shelf: Shelf, { position, over, pending, handled }: Contents) {
    this.#shelf = shelf
    this.#position = position
    this.#over = new Set(over)
    this.#pending = pending
    this.#handled = handled
  }

  /** Opens a frontier in its folder as it was left, or a new one. One process at a time. */
  static open({ folder, durability, fileBytes }: FrontierOptions = {}): Frontier {
    if (folder === undefined) return new Frontier(new MemoryShelf(), EMPTY)
    const { log, contents } = FrontierLog.open(folder, durability, fileBytes)
    return new Frontier(log, contents)
  }

  /** Not handled yet, in progress included. */
  get pending(): number {
    return this.#pending
  }

  get handled(): number {
    return this.#handled
  }

  /** Writes texts down, whole or not at all. They are given out once released. */
  hold(texts: readonly string[]): Held {
    const held = this.#shelf.append(texts)
    this.#held.add(held.position)
    this.#pending += texts.length
    return held
  }

  /** Gives a held batch free, but for entries taken back; at the end, or before all others. */
  release({ position, places }: Held, takenBack: readonly number[] = [], first = false): void {
    if (takenBack.length > 0) {
      this.#shelf.finish(takenBack, 'taken back')
      this.#pending -= takenBack.length
    }
    this.#held.delete(position)
    const back = new Set(takenBack)
    if (first) {
      const entries = this.#shelf.read(position)!.entries.filter(({ place }) => !back.has(place))
      if (places.length > 0) this.#early.add(position)
      this.#first.push(...entries.toReversed())
    } else for (const place of takenBack) this.#over.add(place)
  }

  /** Whether `next` would give something. */
  get hasNext(): boolean {
    if (this.#first.length > 0) return true
    for (;;) {
      while (this.#aheadAt < this.#ahead.length) {
        if (!this.#over.delete(this.#ahead[this.#aheadAt]!.place)) return true
        this.#aheadAt++
      }
      if (this.#held.has(this.#position)) return false
      const batch = this.#shelf.read(this.#position)
      if (!batch) return false
      this.#ahead = this.#early.delete(this.#position) ? [] : batch.entries
      this.#aheadAt = 0
      this.#position = batch.next
    }
  }

  /** The next text to fetch: in progress until it is handled or comes again. Null: none now. */
  next(): Entry | null {
    if (!this.hasNext) return null
    const entry = this.#first.pop() ?? this.#ahead[this.#aheadAt++]!
    this.#inProgress.add(entry.place)
    return entry
  }

  /** Done, for good. */
  finish(place: number): void {
    this.#shelf.finish([place], 'handled')
    this.#inProgress.delete(place)
    this.#pending--
    this.#handled++
    this.#tidy()
  }

  /** To be fetched again, under a new text. Written down before the old one is over. */
  again(place: number, text: string, first = false): void {
    this.release(this.hold([text]), [], first)
    this.#shelf.finish([place], 'taken back')
    this.#inProgress.delete(place)
    this.#pending--
    this.#tidy()
  }

  /** All that is pending, without giving it out, in batches. Before the first `next` only. */
  *texts(): Generator<string[]> {
    for (let at = this.#position, batch = this.#shelf.read(at); batch; batch = this.#shelf.read(at)) {
      const open = batch.entries.filter(({ place }) => !this.#over.has(place))
      if (open.length > 0) yield open.map(({ text }) => text)
      at = batch.next
    }
  }

  close(): void {
    this.#shelf.close()
  }

  #tidy(): void {
    if (++this.#untidied < TIDY_EVERY) return
    this.#untidied = 0
    let lowest = this.#ahead[this.#aheadAt]?.place ?? this.#position
    for (const place of this.#inProgress) lowest = Math.min(lowest, place)
    for (const { place } of this.#first) lowest = Math.min(lowest, place)
    this.#shelf.forgetBefore(lowest)
  }
}
