// Storage of a frontier: batches of texts in the order written. Here the interface and the store in memory; the store on
// disk is in frontier-log.ts.

export interface Entry {
  /** Its place in the store: later entries have greater places. */
  readonly place: number
  readonly text: string
}

export interface Batch {
  readonly entries: readonly Entry[]
  /** The position of the next batch. */
  readonly next: number
}

export type Outcome = 'handled' | 'withdrawn'

export interface FrontierStore {
  /** Writes a batch of one or more texts; either all of it or, when it throws, nothing. */
  append(texts: readonly string[]): { readonly position: number; readonly places: readonly number[] }
  /** The batch at a position; null at the end. */
  read(position: number): Batch | null
  /** Records that entries are finished: handled, or withdrawn. */
  finish(places: readonly number[], outcome: Outcome): void
  /** Nothing before this place will be read again. */
  forgetBefore(place: number): void
  close(): void
  /** Deletes everything and closes. */
  drop(): void
}

/** The state in which a store was last closed. */
export interface Contents {
  /** The first batch with an unfinished entry. */
  readonly position: number
  /** Entries from there on that are finished. */
  readonly finished: Set<number>
  readonly pending: number
  readonly handled: number
}

export const EMPTY: Contents = { position: 0, finished: new Set(), pending: 0, handled: 0 }

export class MemoryFrontierStore implements FrontierStore {
  /** By the place of their first entry, in order. */
  readonly #batches = new Map<number, Batch>()
  #places = 0

  append(texts: readonly string[]): { position: number; places: number[] } {
    const position = this.#places
    const entries = texts.map((text) => ({ place: this.#places++, text }))
    this.#batches.set(position, { entries, next: this.#places })
    return { position, places: entries.map(({ place }) => place) }
  }

  read(position: number): Batch | null {
    return this.#batches.get(position) ?? null
  }

  finish(): void {}

  forgetBefore(place: number): void {
    for (const [position, { next }] of this.#batches) {
      if (next > place) return
      this.#batches.delete(position)
    }
  }

  close(): void {}

  drop(): void {
    this.#batches.clear()
  }
}
