// How many URLs of a list share a folder, by the layer of their last piece. It matters to a multi-layer filter: where a
// new page has one address in common with a page of its own folder, it has that address of the XOR layer in common too.
import type { Pieces } from './negatives.ts'

/** Names of the folders are stored as 53 bits of two hashes: for sums over folders, not for verdicts. */
export class Folders {
  readonly #pieces: Pieces
  /** For each layer, how many URLs have their last piece there, by folder. */
  readonly #counts: Map<number, number>[]
  #urls = 0

  constructor(pieces: Pieces) {
    this.#pieces = pieces
    this.#counts = Array.from({ length: pieces.layers }, () => new Map())
  }

  /** Counts the URLs up to n. */
  reach(n: number): void {
    const { counts } = this.#pieces
    for (; this.#urls < n; this.#urls++) {
      const last = counts[this.#urls]! - 1
      const name = this.#name(this.#urls, last)
      const folders = this.#counts[last]!
      folders.set(name, (folders.get(name) ?? 0) + 1)
    }
  }

  /**
   * False positives expected of one new page beside each URL. One address passes its own layer and the XOR layer
   * together when a page of its folder has it (chance a), else by either's chance: a + (fill − a) · xorHit.
   */
  expected({ bits, hashes, fills, xorHit }: ExpectedOf): number {
    let sum = 0
    this.#counts.forEach((folders, layer) => {
      const fill = fills[layer]!
      for (const urls of folders.values()) {
        const shared = Math.min(fill, -Math.expm1(-urls / bits))
        sum += urls * (shared + (fill - shared) * xorHit) ** hashes
      }
    })
    return sum
  }

  #name(url: number, last: number): number {
    const { bytes } = this.#pieces.urls
    const to = this.#pieces.start(url, last)
    let [one, two] = [0x811c9dc5, 0x9747b28c]
    for (let p = this.#pieces.start(url, 0); p < to; p++) {
      one = Math.imul(one ^ bytes[p]!, 0x01000193)
      two = Math.imul(two ^ bytes[p]!, 0x5bd1e995) ^ (two >>> 15)
    }
    return (one >>> 0) + (two & 0x1fffff) * 2 ** 32
  }
}

export interface ExpectedOf {
  /** m and k of every layer. */
  readonly bits: number
  readonly hashes: number
  /** Share of set bits in each layer. */
  readonly fills: readonly number[]
  /** The chance that one address of a new combination hits a set bit of the XOR layer. */
  readonly xorHit: number
}
