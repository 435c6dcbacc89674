// The requests still to be fetched, in the order found: texts that are pending, in progress or handled. Memory use does
// not depend on how many are pending: the store is read at a cursor, one batch at a time. After a crash, requests in
// progress are pending again: it errs towards fetching twice, and loses nothing once `release` has returned.
import { type FrontierDurability, FrontierLog } from './frontier-log.ts'
import {
  type Contents,
  EMPTY,
  type Entry,
  type FrontierStore,
  MemoryFrontierStore,
} from './frontier-store.ts'

/** Finished entries between two checks for files that can be deleted. */
const TRIM_EVERY = 1024

/** A batch that is written but not released yet. */
export interface Held {
  readonly position: number
  readonly places: readonly number[]
}

export interface FrontierOptions {
  /** The folder on disk; without it the frontier is in memory. */
  readonly folder?: string
  /** Default `interval`. */
  readonly durability?: FrontierDurability
  /** The size at which a new file is started; for tests. */
  readonly fileBytes?: number
}

export class Frontier {
  readonly #store: FrontierStore
  /** Batches written but not released. */
  readonly #held = new Set<number>()
  /** Batches given out from `#first` before their turn. */
  readonly #early = new Set<number>()
  /** Entries ahead of the cursor that must not be given out. */
  readonly #finished: Set<number>
  readonly #inProgress = new Set<number>()
  /** Entries that precede all others, the next one last. */
  readonly #first: Entry[] = []
  #ahead: readonly Entry[] = []
  #aheadAt = 0
  #position: number
  #pending: number
  #handled: number
  #untrimmed = 0

  private constructor(store: FrontierStore, { position, finished, pending, handled }: Contents) {
    this.#store = store
    this.#position = position
    this.#finished = new Set(finished)
    this.#pending = pending
    this.#handled = handled
  }

  /** Opens the frontier in a folder in its last state, or creates one. One process at a time. */
  static open({ folder, durability, fileBytes }: FrontierOptions = {}): Frontier {
    if (folder === undefined) return new Frontier(new MemoryFrontierStore(), EMPTY)
    const { log, contents } = FrontierLog.open(folder, durability, fileBytes)
    return new Frontier(log, contents)
  }

  /** Entries not handled yet, including those in progress. */
  get pending(): number {
    return this.#pending
  }

  get handled(): number {
    return this.#handled
  }

  /** Writes texts, all or none. They are given out once released. */
  hold(texts: readonly string[]): Held {
    const held = this.#store.append(texts)
    this.#held.add(held.position)
    this.#pending += texts.length
    return held
  }

  /** Releases a held batch, without its withdrawn entries; at the end, or (`first`) before all others. */
  release(
    { position, places }: Held,
    withdrawn: readonly number[] = [],
    first = false,
    outcome: 'withdrawn' | 'handled' = 'withdrawn',
  ): void {
    if (withdrawn.length > 0) {
      this.#store.finish(withdrawn, outcome)
      this.#pending -= withdrawn.length
      if (outcome === 'handled') this.#handled += withdrawn.length
    }
    this.#held.delete(position)
    const isWithdrawn = new Set(withdrawn)
    if (first) {
      const entries = this.#store.read(position)!.entries.filter(({ place }) => !isWithdrawn.has(place))
      if (places.length > 0) this.#early.add(position)
      this.#first.push(...entries.toReversed())
    } else for (const place of withdrawn) this.#finished.add(place)
  }

  /** Whether `next` would return an entry. */
  get hasNext(): boolean {
    if (this.#first.length > 0) return true
    for (;;) {
      while (this.#aheadAt < this.#ahead.length) {
        if (!this.#finished.delete(this.#ahead[this.#aheadAt]!.place)) return true
        this.#aheadAt++
      }
      if (this.#held.has(this.#position)) return false
      const batch = this.#store.read(this.#position)
      if (!batch) return false
      this.#ahead = this.#early.delete(this.#position) ? [] : batch.entries
      this.#aheadAt = 0
      this.#position = batch.next
    }
  }

  /** The next text to fetch: in progress until `finish` or `again`. Null: none now. */
  next(): Entry | null {
    if (!this.hasNext) return null
    const entry = this.#first.pop() ?? this.#ahead[this.#aheadAt++]!
    this.#inProgress.add(entry.place)
    return entry
  }

  /** Marks an entry as handled. */
  finish(place: number): void {
    this.#store.finish([place], 'handled')
    this.#inProgress.delete(place)
    this.#pending--
    this.#handled++
    this.#trim()
  }

  /** Queues an entry again under a new text, which is written before the old one is withdrawn. */
  again(place: number, text: string, first = false): void {
    this.release(this.hold([text]), [], first)
    this.#store.finish([place], 'withdrawn')
    this.#inProgress.delete(place)
    this.#pending--
    this.#trim()
  }

  /** All pending texts that are released and not given out, in batches, without giving them out. */
  *texts(): Generator<string[]> {
    for (const entries of this.#waiting()) {
      const open = entries.filter(({ place }) => !this.#finished.has(place))
      if (open.length > 0) yield open.map(({ text }) => text)
    }
  }

  close(): void {
    this.#store.close()
  }

  /** Deletes all entries and closes. */
  drop(): void {
    this.#store.drop()
  }

  *#waiting(): Generator<readonly Entry[]> {
    yield this.#first.toReversed()
    yield this.#ahead.slice(this.#aheadAt)
    for (let at = this.#position; ; ) {
      // Batches before the cursor may have been given out since, and their files deleted.
      at = Math.max(at, this.#position)
      const batch = this.#store.read(at)
      if (!batch) return
      if (!this.#held.has(at) && !this.#early.has(at)) yield batch.entries
      at = batch.next
    }
  }

  #trim(): void {
    if (++this.#untrimmed < TRIM_EVERY) return
    this.#untrimmed = 0
    let lowest = this.#ahead[this.#aheadAt]?.place ?? this.#position
    for (const place of this.#inProgress) lowest = Math.min(lowest, place)
    for (const { place } of this.#first) lowest = Math.min(lowest, place)
    this.#store.forgetBefore(lowest)
  }
}
