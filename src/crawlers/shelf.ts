// Where a frontier keeps what is to be fetched: batches of texts, written in order. This one is in memory; the one on
// disk is in frontier-log.ts.

export interface Entry {
  /** Where it is on the shelf: later ones have greater places. */
  readonly place: number
  readonly text: string
}

export interface Batch {
  readonly entries: readonly Entry[]
  /** The position of the batch after it. */
  readonly next: number
}

export interface Shelf {
  /** Writes a batch of one or more down whole, or throws and has written nothing. */
  append(texts: readonly string[]): { readonly position: number; readonly places: readonly number[] }
  /** The batch at a position; null at the end. */
  read(position: number): Batch | null
  /** Writes down that entries are over: handled, or taken back. */
  finish(places: readonly number[], how: 'handled' | 'taken back'): void
  /** Nothing before this place will be read again. */
  forgetBefore(place: number): void
  close(): void
}

/** What a shelf holds that was used before. */
export interface Contents {
  /** The first batch with an entry that is not over. */
  readonly position: number
  /** Entries from there on that are over. */
  readonly over: Set<number>
  readonly pending: number
  readonly handled: number
}

export const EMPTY: Contents = { position: 0, over: new Set(), pending: 0, handled: 0 }

export class MemoryShelf implements Shelf {
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
}
