// The most frequent values of many places: SpaceSaving (Metwally et al. 2005) with eight counters each. A value with more
// than an eighth of a place's URLs is always among them; a count is high by at most the count it took over.

export const TOP_VALUES = 8
/** The text of a value is kept once it has come up this often since it was taken in. */
const NAMED_AFTER = 4
/** A merge can bring a count without its text: it is looked for this often. */
const NAMED_AGAIN = 16
const MOST_TEXT = 64

const decoder = new TextDecoder()

export interface TopValue {
  readonly text: string
  /** URLs with it: high by at most `error`. */
  readonly count: number
  readonly error: number
}

export class TopValues {
  readonly #hashes: Int32Array
  readonly #counts: Uint32Array
  readonly #errors: Uint32Array
  readonly #texts = new Map<number, string>()

  constructor(places: number) {
    this.#hashes = new Int32Array(places * TOP_VALUES)
    this.#counts = new Uint32Array(places * TOP_VALUES)
    this.#errors = new Uint32Array(places * TOP_VALUES)
  }

  /** Counts a value, whose text is bytes [start, end). Returns how often it has come up at least. */
  add(place: number, hash: number, weight: number, bytes: Uint8Array, start: number, end: number): number {
    const at = this.#count(place, hash, weight)
    const sure = this.#counts[at]! - this.#errors[at]!
    if (
      sure >= NAMED_AFTER &&
      (sure - weight < NAMED_AFTER || (sure % NAMED_AGAIN === 0 && !this.#texts.has(at)))
    )
      this.#texts.set(at, decoder.decode(bytes.subarray(start, Math.min(end, start + MOST_TEXT))))
    return sure
  }

  /** Adds the values of one place to another. */
  merge(into: number, from: number): void {
    const at = from * TOP_VALUES
    for (let i = at; i < at + TOP_VALUES; i++) {
      if (this.#counts[i] === 0) continue
      const slot = this.#count(into, this.#hashes[i]!, this.#counts[i]!)
      this.#errors[slot] = this.#errors[slot]! + this.#errors[i]!
      const text = this.#texts.get(i)
      if (text !== undefined) this.#texts.set(slot, text)
    }
  }

  // The counter of a value, which takes over the least one when it has none.
  #count(place: number, hash: number, weight: number): number {
    const from = place * TOP_VALUES
    const counts = this.#counts
    let least = from
    for (let i = from; i < from + TOP_VALUES; i++) {
      if (this.#hashes[i] === hash && counts[i]! > 0) {
        counts[i] = counts[i]! + weight
        return i
      }
      if (counts[i]! < counts[least]!) least = i
    }
    this.#errors[least] = counts[least]!
    if (counts[least]! >= NAMED_AFTER) this.#texts.delete(least)
    counts[least] = counts[least]! + weight
    this.#hashes[least] = hash
    return least
  }

  /** Takes a value out: it is counted elsewhere from now on. Returns how often it came up at most. */
  remove(place: number, hash: number): number {
    const from = place * TOP_VALUES
    let most = 0
    for (let i = from; i < from + TOP_VALUES; i++) {
      if (this.#hashes[i] !== hash) continue
      most = this.#counts[i]!
      this.#counts[i] = 0
      this.#texts.delete(i)
    }
    return most
  }

  clear(place: number): void {
    const from = place * TOP_VALUES
    for (let i = from; i < from + TOP_VALUES; i++) {
      if (this.#counts[i]! >= NAMED_AFTER) this.#texts.delete(i)
      this.#counts[i] = 0
    }
  }

  /** Values that came up at least four times, the most frequent first. */
  list(place: number): TopValue[] {
    const found: TopValue[] = []
    const from = place * TOP_VALUES
    for (let i = from; i < from + TOP_VALUES; i++) {
      const text = this.#texts.get(i)
      if (text !== undefined) found.push({ text, count: this.#counts[i]!, error: this.#errors[i]! })
    }
    return found.sort((a, b) => b.count - a.count)
  }
}
