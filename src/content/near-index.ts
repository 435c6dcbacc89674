// Finds 64-bit hashes within three bits of a given one (Manku, Jain, Das Sarma 2007). Four blocks of 16 bits: two
// hashes that differ in at most three bits agree in at least one block, so the four lists of that block hold them all.
import { type Bits64, distance } from './simhash.ts'

const BLOCKS = 4
const HEADS = 65536
/** The most bits that four blocks can answer for. */
export const MOST_BITS = BLOCKS - 1

export interface Neighbour {
  readonly page: number
  readonly distance: number
}

export class NearIndex {
  /** Of each block's value, the hash added last, plus one; 0: none. */
  readonly #heads = new Uint32Array(BLOCKS * HEADS)
  /** Of each hash: both halves, its page, and the hash before it in each of its four lists. */
  #entries: Uint32Array
  #count = 0

  constructor(expected = 1024) {
    this.#entries = new Uint32Array(expected * ENTRY)
  }

  get sizeBytes(): number {
    return this.#heads.byteLength + this.#entries.byteLength
  }

  add(hash: Bits64, page: number): void {
    if ((this.#count + 1) * ENTRY > this.#entries.length) this.#widen()
    const at = this.#count * ENTRY
    this.#count++
    this.#entries[at] = hash.low
    this.#entries[at + 1] = hash.high
    this.#entries[at + 2] = page
    for (let block = 0; block < BLOCKS; block++) {
      const head = headOf(hash, block)
      this.#entries[at + FIRST_LINK + block] = this.#heads[head]!
      this.#heads[head] = this.#count
    }
  }

  /** The nearest within `most` bits, the one added first among equals. Misses none. */
  nearest(hash: Bits64, most: number): Neighbour | null {
    let best = -1
    let bestDistance = most + 1
    for (let block = 0; block < BLOCKS; block++) {
      for (let entry = this.#heads[headOf(hash, block)]!; entry > 0; ) {
        const at = (entry - 1) * ENTRY
        const bits = distance(hash, { low: this.#entries[at]!, high: this.#entries[at + 1]! })
        if (bits < bestDistance || (bits === bestDistance && at < best)) {
          best = at
          bestDistance = bits
        }
        entry = this.#entries[at + FIRST_LINK + block]!
      }
    }
    return best < 0 || bestDistance > most ? null : { page: this.#entries[best + 2]!, distance: bestDistance }
  }

  #widen(): void {
    const wider = new Uint32Array(this.#entries.length * 2)
    wider.set(this.#entries)
    this.#entries = wider
  }
}

const FIRST_LINK = 3
const ENTRY = FIRST_LINK + BLOCKS

function headOf({ low, high }: Bits64, block: number): number {
  const half = block < 2 ? low : high
  return block * HEADS + ((block & 1 ? half >>> 16 : half) & 0xffff)
}
