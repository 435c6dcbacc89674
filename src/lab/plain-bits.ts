// A bit array and a hash in plain JavaScript, for structures that are tried in the lab and are no filter of the library.

/** 32 bits of bytes [from, to), different and independent for each seed. */
export function plainHash(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let one = Math.imul(seed + 1, 0x9e3779b1) | 0
  let two = Math.imul(seed + 1, 0x85ebca6b) ^ 0x811c9dc5
  for (let p = from; p < to; p++) {
    one = Math.imul(one ^ bytes[p]!, 0x01000193)
    two = Math.imul(two + bytes[p]!, 0x5bd1e995) ^ (two >>> 15)
  }
  return finish(finish(one) ^ two)
}

function finish(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** The j-th address below `bits`, of a 32-bit hash. */
export function address(hash: number, j: number, bits: number): number {
  return finish((hash + Math.imul(j + 1, 0x9e3779b1)) | 0) % bits
}

export class PlainBits {
  readonly bits: number
  readonly #bytes: Uint8Array

  constructor(bits: number) {
    this.bits = Math.max(1, bits)
    this.#bytes = new Uint8Array(Math.ceil(this.bits / 8))
  }

  set(at: number): void {
    this.#bytes[at >>> 3]! |= 1 << (at & 7)
  }

  has(at: number): boolean {
    return ((this.#bytes[at >>> 3]! >> (at & 7)) & 1) === 1
  }

  /** A Bloom filter: k bits of a hash. */
  add(hash: number, k: number): void {
    for (let j = 0; j < k; j++) this.set(address(hash, j, this.bits))
  }

  knows(hash: number, k: number): boolean {
    for (let j = 0; j < k; j++) if (!this.has(address(hash, j, this.bits))) return false
    return true
  }
}
