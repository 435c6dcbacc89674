// SimHash as Charikar 2002 and Manku et al. 2007 write it, on BigInt, and a search that compares with everything.
import { siphash } from './siphash.ts'

const encoder = new TextEncoder()

/** Each bit by the majority of the shingles' hashes; null for a text shorter than a shingle. */
export function simhash(words: readonly string[], shingleWords: number, key: Uint8Array): bigint | null {
  const votes = new Array<number>(64).fill(0)
  for (let i = 0; i + shingleWords <= words.length; i++) {
    const shingle = encoder.encode(words.slice(i, i + shingleWords).join(' '))
    const hash = siphash(key, shingle, { c: 1, d: 3 })
    for (let bit = 0; bit < 64; bit++) votes[bit]! += (hash >> BigInt(bit)) & 1n ? 1 : -1
  }
  if (words.length < shingleWords) return null
  return votes.reduce((all, vote, bit) => (vote > 0 ? all | (1n << BigInt(bit)) : all), 0n)
}

export const hamming = (a: bigint, b: bigint) => (a ^ b).toString(2).replaceAll('0', '').length

/** What ContentSieve promises, with an array and a Map. */
export class PlainContentSieve {
  readonly #texts = new Map<string, string>()
  readonly #pages: { hash: bigint; id: string }[] = []
  readonly #shingleWords: number
  readonly #key: Uint8Array

  constructor(shingleWords: number, key: Uint8Array) {
    this.#shingleWords = shingleWords
    this.#key = key
  }

  add(words: readonly string[], id: string): { verdict: string; of?: string; distance?: number } {
    const text = words.join(' ')
    const same = this.#texts.get(text)
    if (same !== undefined) return { verdict: 'same', of: same }
    this.#texts.set(text, id)
    const hash = simhash(words, this.#shingleWords, this.#key)
    if (hash === null) return { verdict: 'new' }
    const [nearest] = this.#pages
      .map((page) => ({ of: page.id, distance: hamming(page.hash, hash) }))
      .sort((a, b) => a.distance - b.distance)
    if (nearest && nearest.distance <= 3) return { verdict: 'near', ...nearest }
    this.#pages.push({ hash, id })
    return { verdict: 'new' }
  }
}
