// Many small Bloom filters of one size, bit-sliced: for each of the m bit positions one column with a bit for
// every filter. To test all filters for a word, its k columns are ANDed: k bits per filter, 32 filters at a time.
// Errs towards "may contain", at each filter's own fill; has no false negatives.

/** The position of a 32-bit hash in an array of `bits`. */
export function addressOf(hash: number, bits: number): number {
  return Math.floor((hash * bits) / 2 ** 32)
}

export interface SignatureShape {
  /** How many filters. */
  readonly filters: number
  /** The papers' m, of each filter. */
  readonly bits: number
  /** The papers' k. */
  readonly hashes: number
}

export class Signatures {
  readonly filters: number
  readonly bits: number
  readonly hashes: number
  /** Column after column, each of `stride` words; filter f is bit f % 32 of word f / 32. */
  readonly columns: Uint32Array
  readonly #stride: number

  constructor({ filters, bits, hashes }: SignatureShape, columns?: Uint32Array) {
    this.filters = filters
    this.bits = bits
    this.hashes = hashes
    this.#stride = Math.ceil(filters / 32)
    const length = this.#stride * bits
    if (columns && columns.length !== length) {
      throw new RangeError(`columns of ${columns.length} words: expected ${length}`)
    }
    this.columns = columns ?? new Uint32Array(length)
  }

  get sizeBytes(): number {
    return this.columns.byteLength
  }

  /** Marks a word in a filter. `from` is the index of its first hash. */
  add(filter: number, hashes: Uint32Array, from: number): void {
    const word = filter >>> 5
    const bit = 1 << (filter & 31)
    for (let j = 0; j < this.hashes; j++) {
      const at = addressOf(hashes[from + j]!, this.bits) * this.#stride + word
      this.columns[at] = this.columns[at]! | bit
    }
  }

  /** Whether one filter may contain a word. */
  has(filter: number, hashes: Uint32Array, from: number): boolean {
    const word = filter >>> 5
    for (let j = 0; j < this.hashes; j++) {
      const column = addressOf(hashes[from + j]!, this.bits) * this.#stride
      if (!((this.columns[column + word]! >>> (filter & 31)) & 1)) return false
    }
    return true
  }

  /** The filters that may contain all of the words, at least one, whose hashes start at `froms`; ascending. */
  holding(hashes: Uint32Array, froms: readonly number[]): number[] {
    const { columns } = this
    const starts = this.#columnsOf(hashes, froms)
    const found: number[] = []
    // Half of all bits are set, so four columns are always worth reading; after that most words of bits are zero.
    const [a = 0, b = a, c = a, d = a] = starts
    for (let word = 0; word < this.#stride; word++) {
      let set = columns[a + word]! & columns[b + word]! & columns[c + word]! & columns[d + word]!
      for (let i = 4; set !== 0 && i < starts.length; i++) set &= columns[starts[i]! + word]!
      while (set !== 0) {
        const bit = 31 - Math.clz32(set & -set)
        found.push(word * 32 + bit)
        set &= set - 1
      }
    }
    return found
  }

  /** Whether no bit is set past the last filter. */
  isWithin(): boolean {
    const last = this.filters % 32
    if (last === 0) return true
    for (let at = this.#stride - 1; at < this.columns.length; at += this.#stride) {
      if (this.columns[at]! >>> last !== 0) return false
    }
    return true
  }

  /** Whether every filter has a bit, as one with a word has. */
  areFilled(): boolean {
    for (let word = 0; word < this.#stride; word++) {
      let set = 0
      for (let at = word; at < this.columns.length; at += this.#stride) set |= this.columns[at]!
      const filters = Math.min(32, this.filters - 32 * word)
      if (set >>> 0 !== (2 ** filters - 1) >>> 0) return false
    }
    return true
  }

  /** Share of ones in each filter. */
  fills(): Float64Array {
    const ones = new Float64Array(this.filters)
    for (let bit = 0; bit < this.bits; bit++) {
      for (let f = 0; f < this.filters; f++) {
        ones[f]! += (this.columns[bit * this.#stride + (f >>> 5)]! >>> (f & 31)) & 1
      }
    }
    return ones.map((count) => count / this.bits)
  }

  // Distinct columns: a word may select one twice, and two words may share one.
  #columnsOf(hashes: Uint32Array, froms: readonly number[]): Uint32Array {
    const starts = new Set<number>()
    for (const from of froms) {
      for (let j = 0; j < this.hashes; j++) {
        starts.add(addressOf(hashes[from + j]!, this.bits) * this.#stride)
      }
    }
    return Uint32Array.from(starts)
  }
}
