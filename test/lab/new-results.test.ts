// The experiments of our own ideas at small sizes: whole tables, the same numbers for the same seed, and what they rest on.
import { describe, expect, it, test } from 'vitest'
import type { Result } from '../../src/lab/experiment.ts'
import { adversary, searchBits } from '../../src/lab/experiments/adversary.ts'
import { bestSplit, layering, predictedRate } from '../../src/lab/experiments/layering.ts'
import { hashesFor, valueBits } from '../../src/lab/experiments/value-bits.ts'
import { xorOrder } from '../../src/lab/experiments/xor-order.ts'
import { address, PlainBits, plainHash } from '../../src/lab/plain-bits.ts'
import { smallLab } from './small-lab.ts'

const words = Array.from({ length: 30 }, (_, i) => `w${i}`)
const urls = Array.from({ length: 6000 }, (_, i) => {
  const [a, b] = [words[i % 30]!, words[Math.floor(i / 30) % 30]!]
  return `https://h${i % 11}.example/${a}/${b}${i % 3 ? `/${i}` : ''}`
})

describe.each([xorOrder, layering, adversary, valueBits])('$name', (experiment) => {
  let result: Result
  it('has claims, a finding, tables and a plot, the same for the same seed', async () => {
    const lab = smallLab(urls)
    result = await experiment.run(lab)
    expect(lab.shares.at(-1)).toBe(1)
    expect(result.claims.length).toBeGreaterThan(0)
    expect(result.finding).toMatch(/\d.*\.$/s)
    expect(JSON.stringify(result)).not.toMatch(/NaN|undefined|Infinity/)
    for (const { columns, rows } of result.tables) {
      expect(rows.length).toBeGreaterThan(0)
      for (const row of rows) expect(row.length).toBe(columns.length)
    }
    expect(await experiment.run(smallLab(urls))).toEqual(result)
  })
})

test('an order-safe XOR layer has no certain false positives', async () => {
  const { tables } = await xorOrder.run(smallLab(urls))
  const rate = (kind: string, variant: string) =>
    tables[0]!.rows.find(([is, of]) => is === kind && of === variant)![4] as number
  expect(rate('swapped', 'plain XOR')).toBe(1)
  expect(rate('swapped', 'a hash for each layer')).toBeLessThan(0.5)
})

test('the adversary needs three URLs against multilayer and one against keyword-layers, whatever the key', async () => {
  const { tables } = await adversary.run(smallLab(urls))
  const any = Object.fromEntries(tables[0]!.rows.map((row) => [row[0], row[3]]))
  expect(any).toMatchObject({ multilayer: '3', 'keyword-layers': '1', classic: 'none', blocked: 'none' })
})

test('chosen URLs set every bit of their victim', () => {
  const { urls: chosen, hashes, tries } = searchBits(5000, 7, 'victim.example/')
  expect(chosen).toBeGreaterThan(0)
  expect(chosen).toBeLessThanOrEqual(hashes)
  expect(tries).toBeGreaterThan(5000 / 7)
})

test('the best split is no worse than one filter, and uses all memory', () => {
  const statistics = { urls: 1000, distinct: [50, 900], unknown: [0.1, 0.2, 0.6, 0.1] }
  const split = bestSplit(8000, statistics)
  const total = split.whole + split.layers.reduce((sum, bits) => sum + bits, 0)
  expect(total).toBeCloseTo(8000, 6)
  expect(predictedRate(split, statistics)).toBeLessThanOrEqual(
    predictedRate({ whole: 8000, layers: [0, 0] }, statistics),
  )
  // New URLs whose segments are all known: no layer can help.
  const known = { ...statistics, unknown: [1, 0, 0, 0] }
  expect(bestSplit(8000, known).layers).toEqual([0, 0])
})

test('a URL of twice the value gets one hash more', () => {
  expect([1, 2, 4, 1e9].map((value) => hashesFor(value, 1, 5))).toEqual([5, 6, 7, 24])
  expect(hashesFor(1, 64, 5)).toBe(1)
})

test('plain bits: what was added is known, and about as few others as the formula says', () => {
  const filter = new PlainBits(8 * 5000)
  const hash = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    return plainHash(bytes, 0, bytes.length, 0)
  }
  for (let i = 0; i < 5000; i++) filter.add(hash(`in ${i}`), 5)
  for (let i = 0; i < 5000; i++) expect(filter.knows(hash(`in ${i}`), 5)).toBe(true)
  let seen = 0
  for (let i = 0; i < 100_000; i++) if (filter.knows(hash(`out ${i}`), 5)) seen++
  expect(seen).toBeGreaterThan(1900)
  expect(seen).toBeLessThan(2450)
  expect(address(hash('x'), 0, 7)).toBeLessThan(7)
})
