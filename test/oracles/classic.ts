// Bloom's filter of 1970: an array of bits, and k derived hashes of a key's own that say which of them to set.
import { derived, spread } from './mix.ts'

export function classicAddresses(hash: bigint, bits: number, hashes: number): number[] {
  return Array.from({ length: hashes }, (_, j) => Number(spread(derived(hash, j), BigInt(bits))))
}

export class ClassicOracle {
  /** One byte for each bit. */
  readonly bits: Uint8Array
  readonly hashes: number

  constructor(bits: number, hashes: number) {
    this.bits = new Uint8Array(bits)
    this.hashes = hashes
  }

  has(hash: bigint): boolean {
    return classicAddresses(hash, this.bits.length, this.hashes).every((at) => this.bits[at] === 1)
  }

  /** True: it is new. */
  add(hash: bigint): boolean {
    const isNew = !this.has(hash)
    for (const at of classicAddresses(hash, this.bits.length, this.hashes)) this.bits[at] = 1
    return isNew
  }
}
