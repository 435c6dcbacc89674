// The sketches: distinct counts and most frequent values, against exact ones; seeded, within their stated errors.
import { expect, it } from 'vitest'
import { DISTINCT_ERROR, DistinctCounts, EXACT_VALUES } from '../../src/shapes/distinct-counts.ts'
import { TopValues } from '../../src/shapes/top-values.ts'
import { UrlTokens } from '../../src/shapes/url-tokens.ts'
import { randomFrom } from '../support/random.mjs'

const encoder = new TextEncoder()
/** The hash of a segment of a path. */
function hashOf(text: string, tokens = keyed): number {
  const url = encoder.encode(`https://a.example/${text}`)
  const start = tokens.put(url)
  tokens.read(start, start + url.length)
  return tokens.los[0]!
}
const keyed = new UrlTokens([0x01234567, 0x89abcdef | 0])

it('a hash depends on every byte, the length and the key', () => {
  const texts = ['', 'a', 'b', 'aa', 'aaa', 'aaaa', 'aaaaa', 'aaab', 'a\0', 'a\0\0']
  const hashes = texts.map((text) => hashOf(text))
  expect(new Set(hashes).size).toBe(texts.length)
  expect(hashOf('aaaa', new UrlTokens([1, 2]))).not.toBe(hashOf('aaaa'))
})

it('distinct counts are exact up to 8, then within four standard errors', () => {
  const counts = new DistinctCounts(20, 20)
  const sizes = [0, 1, 5, EXACT_VALUES, 9, 50, 700, 3000, 20_000, 100_000]
  for (const [set, size] of sizes.entries())
    for (let i = 0; i < size; i++) {
      counts.add(set, hashOf(`${set} ${i}`))
      if (i % 3 === 0) counts.add(set, hashOf(`${set} ${i}`))
    }
  for (const [set, size] of sizes.entries()) {
    const error = size <= EXACT_VALUES ? 0 : 4 * DISTINCT_ERROR * size
    expect(Math.abs(counts.count(set)! - size), `${size} values`).toBeLessThanOrEqual(
      Math.max(error, size > 8 ? 1 : 0),
    )
  }
})

it('a merge counts what either set has', () => {
  const counts = new DistinctCounts(6, 6)
  const fill = (set: number, from: number, to: number) => {
    for (let i = from; i < to; i++) counts.add(set, hashOf(`m${i}`))
  }
  fill(0, 0, 3)
  fill(1, 2, 6)
  counts.merge(0, 1)
  expect(counts.count(0)).toBe(6)
  fill(2, 0, 5000)
  fill(3, 2500, 7500)
  counts.merge(2, 3)
  expect(Math.abs(counts.count(2)! - 7500)).toBeLessThan(4 * DISTINCT_ERROR * 7500)
  counts.merge(0, 2)
  expect(counts.count(0)).toBe(counts.count(2))
  counts.clear(0)
  expect(counts.count(0)).toBe(0)
})

it('when the pool is used up a count is unknown, not wrong', () => {
  const counts = new DistinctCounts(3, 1)
  for (let i = 0; i < 20; i++) for (let set = 0; set < 2; set++) counts.add(set, hashOf(`${i}`))
  expect(counts.count(0)).toBeGreaterThan(15)
  expect(counts.count(1)).toBeNull()
  counts.clear(0)
  for (let i = 0; i < 20; i++) counts.add(2, hashOf(`${i}`))
  expect(counts.count(2)).toBeGreaterThan(15)
})

it('a value with more than an eighth of the URLs is found, and its count is within its error', () => {
  const top = new TopValues(1)
  const next = randomFrom(5)
  const counts = new Map<string, number>()
  for (let i = 0; i < 20_000; i++) {
    const value = next() < 0.2 ? 'often' : `v${Math.floor(next() * 5000)}`
    counts.set(value, (counts.get(value) ?? 0) + 1)
    const bytes = encoder.encode(value)
    top.add(0, hashOf(value), 1, bytes, 0, bytes.length)
  }
  const [first] = top.list(0)
  expect(first!.text).toBe('often')
  for (const { text, count, error } of top.list(0)) {
    expect(count).toBeGreaterThanOrEqual(counts.get(text)!)
    expect(count - error).toBeLessThanOrEqual(counts.get(text)!)
  }
})
