// Seeded rows of made-up words: few common ones and many rare ones, as texts have them.
import { type Dataset, DatasetBuilder, type DatasetOptions } from '../../src/search/dataset.ts'
import { distinctWords } from '../../src/search/words.ts'
import { randomFrom } from '../support/random.mjs'

export function wordNumber(n: number): string {
  const syllables = ['ba', 'ké', 'lo', 'mi', 'nu', 'ra', 'so', 'ti', 'vu', 'zö']
  return [...String(n)].map((digit) => syllables[Number(digit)]).join('')
}

/** `rows` texts of 1 to `most` words out of `vocabulary`. */
export function madeTexts(rows: number, { vocabulary = 5000, most = 12, seed = 1 } = {}): string[] {
  const random = randomFrom(seed)
  return Array.from({ length: rows }, () => {
    const count = 1 + Math.floor(random() ** 2 * most)
    const words = Array.from({ length: count }, () => wordNumber(Math.floor(random() ** 2 * vocabulary)))
    return words.join(random() < 0.3 ? ', ' : ' ')
  })
}

export async function datasetOf(texts: readonly string[], options?: DatasetOptions): Promise<Dataset> {
  const builder = await DatasetBuilder.create(options)
  for (const text of texts) builder.add(distinctWords(text))
  return builder.finish()
}

/** 100,000 rows, and queries: two words of a row, as for a title, and single rare words. */
export function largeTable(): { texts: string[]; queries: string[][] } {
  const table = madeTexts(10_000, { vocabulary: 20_000, seed: 8 })
  const texts = Array.from({ length: 100_000 }, (_, i) => table[i % table.length]!)
  const random = randomFrom(4)
  const queries = Array.from({ length: 12 }, (_, i) => {
    const row = [...distinctWords(texts[Math.floor(random() * 10_000)]!)]
    return i % 2 ? row.slice(0, 2) : [wordNumber(9000 + Math.floor(random() * 11_000))]
  })
  return { texts, queries }
}
