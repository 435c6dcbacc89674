// How often each of many 64-bit hashes came: open addressing over places in the order of first occurrence. The hashes are
// keyed, so their low bits are a place in the table that no input can choose.
import { SieveError } from '../errors.ts'
import { formatCount } from '../quantities.ts'

const FIRST_SLOTS = 1 << 16

export class HashCounts {
  /** Distinct hashes. */
  size = 0
  /** Per slot: the place of a hash and 1; 0 is empty. At most half of the slots are in use. */
  #slots = new Uint32Array(FIRST_SLOTS)
  #hashes = new Uint32Array(FIRST_SLOTS)
  /** Not of 32 bits: one URL may come more often than 2^32 times. */
  #counts = new Float64Array(FIRST_SLOTS / 2)
  readonly #limitBytes: number

  /** Throws instead of growing over `limitBytes` of the whole process. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Counts a hash by its two halves. True: it is new. */
  add(low: number, high: number): boolean {
    if (2 * this.size >= this.#slots.length) this.#grow()
    const mask = this.#slots.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const place = this.#slots[slot]! - 1
      if (place < 0) {
        this.#slots[slot] = this.size + 1
        this.#hashes[2 * this.size] = low
        this.#hashes[2 * this.size + 1] = high
        this.#counts[this.size++] = 1
        return true
      }
      if (this.#hashes[2 * place] !== low || this.#hashes[2 * place + 1] !== high) continue
      this.#counts[place]!++
      return false
    }
  }

  /** How often the hash came that was the `place`-th to come first. */
  count(place: number): number {
    return this.#counts[place]!
  }

  get sizeBytes(): number {
    return this.#slots.byteLength + this.#hashes.byteLength + this.#counts.byteLength
  }

  #grow(): void {
    const slots = 2 * this.#slots.length
    const more = 2 * this.sizeBytes
    // More slots have no place of 31 bits.
    if (process.memoryUsage.rss() + more > this.#limitBytes || slots > 2 ** 31) {
      throw new SieveError(
        'memory',
        `no memory left to count more than ${formatCount(this.size)} distinct URLs: expected a part of the input, such as one host`,
      )
    }
    const hashes = new Uint32Array(slots)
    hashes.set(this.#hashes)
    const counts = new Float64Array(slots / 2)
    counts.set(this.#counts)
    const mask = slots - 1
    const table = new Uint32Array(slots)
    for (let place = 0; place < this.size; place++) {
      let slot = hashes[2 * place]! & mask
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = place + 1
    }
    this.#slots = table
    this.#hashes = hashes
    this.#counts = counts
  }
}
