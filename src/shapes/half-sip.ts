// HalfSipHash-1-3 (Aumasson and Bernstein) over bytes in JavaScript: its words have 32 bits, as JavaScript's integer
// operations have. It is keyed, so that a page cannot choose URLs whose hashes collide. `lo` is the 64-bit variant's first
// half; `hi` is the rest of its state instead of three more rounds: for this process only, never written to a file.

export class HalfSip {
  /** The two halves of the last hash. */
  lo = 0
  hi = 0
  readonly #k0: number
  readonly #k1: number

  constructor(key: readonly [number, number]) {
    this.#k0 = key[0] | 0
    this.#k1 = key[1] | 0
  }

  /** Hashes bytes [start, end) into `lo` and `hi`. */
  hash(bytes: Uint8Array, start: number, end: number): void {
    let v0 = this.#k0
    let v1 = this.#k1 ^ 0xee
    let v2 = this.#k0 ^ 0x6c796765
    let v3 = this.#k1 ^ 0x74656462
    const length = end - start
    const whole = start + (length & ~3)
    let last = (length & 0xff) << 24
    for (let i = whole, shift = 0; i < end; i++, shift += 8) last |= bytes[i]! << shift
    // The words, the last one with the length, and three rounds without a word.
    for (let i = start; i <= whole + 12; i += 4) {
      let word = 0
      if (i < whole) word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
      else if (i === whole) word = last
      else if (i === whole + 4) v2 ^= 0xee
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    this.lo = v1 ^ v3
    this.hi = v0 ^ v2
  }
}
