// The blocked Bloom filter (Putze, Sanders, Singler 2007): an array of bits cut into blocks of 512. The hash with its
// halves exchanged says which block; each derived hash gives seven positions of 9 bits in it, low bits first.
import { derived, spread } from './mix.ts'

const BLOCK_BITS = 512
const PER_HASH = 7

export function blockedAddresses(hash: bigint, blocks: number, hashes: number): number[] {
  const exchanged = BigInt.asUintN(64, (hash << 32n) | (hash >> 32n))
  const block = Number(spread(exchanged, BigInt(blocks)))
  return Array.from({ length: hashes }, (_, i) => {
    const positions = derived(hash, Math.floor(i / PER_HASH))
    return block * BLOCK_BITS + Number((positions >> BigInt(9 * (i % PER_HASH))) & 511n)
  })
}

export class BlockedOracle {
  /** One byte for each bit. */
  readonly bits: Uint8Array
  readonly blocks: number
  readonly hashes: number

  constructor(blocks: number, hashes: number) {
    this.blocks = blocks
    this.bits = new Uint8Array(blocks * BLOCK_BITS)
    this.hashes = hashes
  }

  has(hash: bigint): boolean {
    return blockedAddresses(hash, this.blocks, this.hashes).every((at) => this.bits[at] === 1)
  }

  /** True: it is new. */
  add(hash: bigint): boolean {
    const isNew = !this.has(hash)
    for (const at of blockedAddresses(hash, this.blocks, this.hashes)) this.bits[at] = 1
    return isNew
  }
}
