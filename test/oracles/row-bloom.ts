// The row filters written plainly: for each row an array of booleans.
import { xxh64 } from './xxh64.ts'

/** The k addresses of a word in m bits: halves of XXH64 with seeds 0, 1, …, low one first, times m over 2^32. */
export function addresses(word: string, k: number, m: number): number[] {
  const bytes = new TextEncoder().encode(word)
  return Array.from({ length: k }, (_, j) => {
    const hash = xxh64(bytes, BigInt(j >> 1))
    const half = j % 2 === 0 ? hash & 0xffffffffn : hash >> 32n
    return Number((half * BigInt(m)) >> 32n)
  })
}

export class RowBloom {
  readonly bits: boolean[]
  readonly #k: number

  constructor(m: number, k: number, words: Iterable<string>) {
    this.bits = new Array<boolean>(m).fill(false)
    this.#k = k
    for (const word of words) for (const at of addresses(word, k, m)) this.bits[at] = true
  }

  has(word: string): boolean {
    return addresses(word, this.#k, this.bits.length).every((at) => this.bits[at])
  }
}
