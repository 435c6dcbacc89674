// A batch of hashes, sorted by tag: the top bits of a hash are its tag. One buffer for each tag, and where its answers go.

export interface Part {
  readonly tag: number
  /** The hashes, 8 bytes each, least first. */
  readonly items: Buffer
  /** Their places in the batch. */
  readonly indexes: Uint32Array
}

export class Spread {
  readonly #tags: number
  readonly #bits: number
  readonly #ends: Uint32Array

  constructor(tags: number) {
    this.#tags = tags
    this.#bits = Math.log2(tags)
    this.#ends = new Uint32Array(tags)
  }

  /** The parts that are not empty; inside a part the order is the batch's. */
  over(hashes: BigUint64Array): Part[] {
    const n = hashes.length
    const words = new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * n)
    // A shift by 32 would be none.
    const shift = 32 - this.#bits
    const tagOf = this.#bits === 0 ? () => 0 : (i: number) => words[2 * i + 1]! >>> shift
    const ends = this.#ends.fill(0)
    for (let i = 0; i < n; i++) ends[tagOf(i)]!++
    for (let tag = 1; tag < this.#tags; tag++) ends[tag]! += ends[tag - 1]!
    const sorted = new Uint32Array(2 * n)
    const indexes = new Uint32Array(n)
    for (let i = n - 1; i >= 0; i--) {
      const at = --ends[tagOf(i)]!
      indexes[at] = i
      sorted[2 * at] = words[2 * i]!
      sorted[2 * at + 1] = words[2 * i + 1]!
    }
    const parts: Part[] = []
    for (let tag = 0; tag < this.#tags; tag++) {
      const from = ends[tag]!
      const to = tag + 1 < this.#tags ? ends[tag + 1]! : n
      if (from === to) continue
      const items = Buffer.from(sorted.buffer, 8 * from, 8 * (to - from))
      parts.push({ tag, items, indexes: indexes.subarray(from, to) })
    }
    return parts
  }
}
