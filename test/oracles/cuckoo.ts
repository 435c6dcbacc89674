// The cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher 2014) as a list of buckets of four: a fingerprint is in one of
// two buckets, whose numbers add up to its own hash modulo their count. An insertion that finds both full moves
// fingerprints on, at most 500, or changes nothing.
import { derived, GAMMA, mix, spread } from './mix.ts'

const SLOTS = 4
const MOST_MOVES = 500

export class CuckooOracle {
  /** 0 where a slot is empty. */
  buckets: bigint[][]
  readonly #bits: bigint

  constructor(buckets: number, bits: number) {
    this.buckets = Array.from({ length: buckets }, () => Array<bigint>(SLOTS).fill(0n))
    this.#bits = BigInt(bits)
  }

  #place(hash: bigint): { print: bigint; first: number; second: number } {
    const print = 1n + spread(derived(hash, 0), (1n << this.#bits) - 1n)
    const exchanged = BigInt.asUintN(64, (hash << 32n) | (hash >> 32n))
    const first = Number(spread(exchanged, BigInt(this.buckets.length)))
    return { print, first, second: this.#other(first, print) }
  }

  #other(bucket: number, print: bigint): number {
    const count = BigInt(this.buckets.length)
    const sum = spread(mix(print * GAMMA), count)
    return Number((sum - BigInt(bucket) + count) % count)
  }

  has(hash: bigint): boolean {
    const { print, first, second } = this.#place(hash)
    return this.buckets[first]!.includes(print) || this.buckets[second]!.includes(print)
  }

  /** True: it is new. Null: there is no room, and nothing has changed. */
  add(hash: bigint): boolean | null {
    if (this.has(hash)) return false
    const { print, first, second } = this.#place(hash)
    for (const bucket of [first, second]) if (this.#put(bucket, print)) return true
    const before = this.buckets.map((bucket) => [...bucket])
    let [homeless, at] = [print, first]
    for (let moves = 0; moves < MOST_MOVES; moves++) {
      const slot = Number(mix(homeless + BigInt(moves)) >> 62n)
      const bucket = this.buckets[at]!
      ;[bucket[slot], homeless] = [homeless, bucket[slot]!]
      at = this.#other(at, homeless)
      if (this.#put(at, homeless)) return true
    }
    this.buckets = before
    return null
  }

  /** True: it was there. */
  delete(hash: bigint): boolean {
    const { print, first, second } = this.#place(hash)
    const bucket = [first, second].map((at) => this.buckets[at]!).find((one) => one.includes(print))
    if (bucket) bucket[bucket.indexOf(print)] = 0n
    return bucket !== undefined
  }

  #put(bucket: number, print: bigint): boolean {
    const slot = this.buckets[bucket]!.indexOf(0n)
    if (slot >= 0) this.buckets[bucket]![slot] = print
    return slot >= 0
  }

  get count(): number {
    return this.buckets.flat().filter((print) => print !== 0n).length
  }

  /** Slot after slot, the lowest bit first. */
  get memory(): Uint8Array {
    const bits = Number(this.#bits)
    const bytes = new Uint8Array(Math.ceil((this.buckets.length * SLOTS * bits) / 8))
    for (const [slot, print] of this.buckets.flat().entries()) {
      for (let i = 0; i < bits; i++) {
        const at = slot * bits + i
        bytes[at >> 3]! |= Number((print >> BigInt(i)) & 1n) << (at & 7)
      }
    }
    return bytes
  }
}
