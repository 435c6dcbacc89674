// SimHash as Charikar 2002 and Manku et al. 2007 write it, on BigInt, and a search that compares with everything.
import { siphash } from './siphash.ts'

const encoder = new TextEncoder()

/** Each bit by the majority of the shingles' hashes, by 1 + ⌊log₂ count⌋; null for a text shorter than a shingle. */
export function simhash(words: readonly string[], shingleWords: number, key: Uint8Array): bigint | null {
  if (words.length < shingleWords) return null
  const counts = new Map<string, number>()
  for (let i = 0; i + shingleWords <= words.length; i++) {
    const shingle = words.slice(i, i + shingleWords).join(' ')
    counts.set(shingle, (counts.get(shingle) ?? 0) + 1)
  }
  const votes = new Array<number>(64).fill(0)
  for (const [shingle, count] of counts) {
    const weight = 1 + Math.floor(Math.log2(count))
    const [low, high] = halvesOf(siphash(key, encoder.encode(shingle), { c: 1, d: 3 }))
    for (let bit = 0; bit < 32; bit++) {
      votes[bit]! += (low >>> bit) & 1 ? weight : -weight
      votes[32 + bit]! += (high >>> bit) & 1 ? weight : -weight
    }
  }
  return votes.reduce((all, vote, bit) => (vote > 0 ? all | (1n << BigInt(bit)) : all), 0n)
}

const halvesOf = (hash: bigint): [number, number] => [Number(hash & 0xffffffffn), Number(hash >> 32n)]

export function hamming(a: bigint, b: bigint): number {
  let count = 0
  for (let half of halvesOf(a ^ b)) for (; half !== 0; half &= half - 1) count++
  return count
}

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
    // The first of those that are nearest.
    let nearest = { of: '', distance: 65 }
    for (const page of this.#pages) {
      const distance = hamming(page.hash, hash)
      if (distance < nearest.distance) nearest = { of: page.id, distance }
    }
    if (nearest.distance <= 3) return { verdict: 'near', ...nearest }
    this.#pages.push({ hash, id })
    return { verdict: 'new' }
  }
}
