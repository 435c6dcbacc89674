// Seeded rows of made-up words: few common ones and many rare ones, as texts have them.
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
