// Seeded URLs for the tests with Redis.
import { randomFrom } from '../support/random.mjs'

export const urlOf = (n: number) => `https://host${n % 97}.example/${n % 7}/page-${n}?q=${n % 13}`

/** URLs [from, to). */
export const urlsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => urlOf(from + i))

/** A stream with many repeats, as a crawl's. */
export function repeating(count: number, distinct: number, seed: number): string[] {
  const next = randomFrom(seed)
  return Array.from({ length: count }, () => urlOf(Math.floor(distinct * next() ** 2)))
}

/** What a sieve without error answers; it remembers in `seen`. */
export function exactVerdicts(urls: readonly string[], seen: Set<string>): Uint8Array {
  return Uint8Array.from(urls, (url) => {
    const isNew = !seen.has(url)
    seen.add(url)
    return Number(isNew)
  })
}

/** All of one answer. */
export const all = (count: number, answer: number) => new Uint8Array(count).fill(answer)

/** How many of an answer there are. */
export const countOf = (verdicts: Uint8Array, answer: number) =>
  verdicts.reduce((sum, verdict) => sum + Number(verdict === answer), 0)
