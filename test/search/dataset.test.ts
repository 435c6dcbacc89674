import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { binomialQuantile } from '../../src/lab/interval.ts'
import { layerReadings } from '../../src/search/dictionary.ts'
import { holdsAll, prepare, scanPrepared, scanTexts } from '../../src/search/scan.ts'
import { filterRate, planSignatures } from '../../src/search/signature-sizing.ts'
import { WordHashes } from '../../src/search/word-hashes.ts'
import { distinctWords } from '../../src/search/words.ts'
import { addresses, RowBloom } from '../oracles/row-bloom.ts'
import { datasetOf, largeTable, madeTexts, wordNumber } from './tables.ts'

describe('word hashes', () => {
  it('are XXH64 as the specification has it', async () => {
    const hashes = await WordHashes.create()
    const words = ['', 'a', 'knight', 'ké'.repeat(9), 'x'.repeat(32), 'abcdefg'.repeat(40)]
    const got = hashes.of(words, 7)
    const m = 1 << 20
    words.forEach((word, i) => {
      const at = Array.from({ length: 7 }, (_, j) => Math.floor((got[i * 7 + j]! * m) / 2 ** 32))
      expect(at).toEqual(addresses(word, 7, m))
    })
  })

  it('are the same in one batch and in many', async () => {
    const hashes = await WordHashes.create()
    const words = Array.from({ length: 5000 }, (_, i) => wordNumber(i))
    const all = hashes.of(words, 3)
    for (const i of [0, 2047, 2048, 4999]) {
      expect([...all.subarray(i * 3, i * 3 + 3)]).toEqual([...hashes.of([words[i]!], 3)])
    }
  })
})

describe('row filters', () => {
  it('equal one plain Bloom filter a row, bit for bit', async () => {
    const texts = [...madeTexts(300, { most: 40 }), '', '—']
    const { rowFilters } = await datasetOf(texts)
    expect(rowFilters.bands.length).toBeGreaterThan(3)
    let seen = 0
    for (const { rows, signatures } of rowFilters.bands) {
      const stride = Math.ceil(rows.length / 32)
      rows.forEach((row, filter) => {
        const oracle = new RowBloom(signatures.bits, signatures.hashes, distinctWords(texts[row]!))
        const bits = oracle.bits.map((_, bit) => {
          return ((signatures.columns[bit * stride + (filter >> 5)]! >>> (filter & 31)) & 1) === 1
        })
        expect(bits).toEqual(oracle.bits)
        seen++
      })
      // Nothing is set past the last row.
      for (let bit = 0; bit < signatures.bits; bit++) {
        const last = signatures.columns[(bit + 1) * stride - 1]!
        if (rows.length % 32) expect(last >>> (rows.length % 32)).toBe(0)
      }
    }
    expect(seen).toBe(300)
  })

  it('answer as the plain filters do, for words that are there and words that are not', async () => {
    const texts = madeTexts(200, { most: 20, seed: 3 })
    const dataset = await datasetOf(texts, { rowRate: 0.2, dictionaryRate: 0.9 })
    const oracles = dataset.rowFilters.bands.flatMap(({ rows, signatures }) => {
      return Array.from(rows, (row) => {
        return [row, new RowBloom(signatures.bits, signatures.hashes, distinctWords(texts[row]!))] as const
      })
    })
    oracles.sort(([a], [b]) => a - b)
    const hashes = await WordHashes.create()
    const { hashes: k } = dataset.rowFilters
    for (const words of [['ba'], ['lo', 'mi'], ['absent'], ['none', 'such'], ['ké', 'gone']]) {
      const expected = oracles
        .filter(([, bloom]) => words.every((word) => bloom.has(word)))
        .map(([row]) => row)
      const froms = words.map((_, i) => i * k)
      expect([...dataset.rowFilters.holding(hashes.of(words, k), froms)]).toEqual(expected)
    }
  })

  it('keep their rate on rows of very different lengths', async () => {
    const rowRate = 0.01
    const dataset = await datasetOf(madeTexts(4000, { most: 60, seed: 9 }), { rowRate, dictionaryRate: 0.99 })
    const hashes = await WordHashes.create()
    const words = Array.from({ length: 100 }, (_, i) => `absent${i}`)
    const k = dataset.rowFilters.hashes
    const all = hashes.of(words, k)
    const hits = words.reduce((sum, _, i) => sum + dataset.rowFilters.holding(all, [i * k]).length, 0)
    const trials = 4000 * words.length
    expect(dataset.rowFilters.rate).toBeLessThanOrEqual(rowRate)
    // One word asks all rows at the same columns, which correlates them: a margin of a fifth covers that.
    expect(hits).toBeLessThan(1.2 * binomialQuantile({ trials, rate: rowRate, probability: 0.999 }))
    expect(hits).toBeGreaterThan(0.5 * trials * dataset.rowFilters.rate)
  })
})

describe('sizing', () => {
  it.each([0.2, 0.05, 0.001, 1e-6])('keeps %d with no bit to spare', (rate) => {
    for (const words of [1, 2, 7, 100, 3000]) {
      const plan = planSignatures(new Map([[words, 5]]), rate)
      expect(plan.rate).toBeLessThanOrEqual(rate)
      expect(filterRate({ bits: plan.bits - 1, hashes: plan.hashes, words })).toBeGreaterThan(rate)
    }
  })
})

describe('dictionary', () => {
  it.each(layerReadings)('%s: holds every word of the dataset', async (layers) => {
    const texts = madeTexts(2000, { seed: 5 })
    const { dictionary } = await datasetOf(texts, { layers })
    const words = [...distinctWords(texts.join(' '))]
    const all = (await WordHashes.create()).of(words, dictionary.hashes)
    for (let i = 0; i < words.length; i++) expect(dictionary.has(all, i * dictionary.hashes)).toBe(true)
  })

  it.each([
    ['all', 0.05],
    ['own', 0.05],
    ['paper', 1],
  ] as const)('%s: errs at most at a rate of %d', async (layers, rate) => {
    const { dictionary } = await datasetOf(madeTexts(2000, { seed: 6 }), { layers })
    const absent = Array.from({ length: 4000 }, (_, i) => `absent${i}`)
    const all = (await WordHashes.create()).of(absent, dictionary.hashes)
    const hits = absent.filter((_, i) => dictionary.has(all, i * dictionary.hashes)).length
    const most =
      rate === 1 ? 4000 : binomialQuantile({ trials: 4000, rate: dictionary.rate(), probability: 0.9999 })
    expect(hits).toBeLessThanOrEqual(most)
    expect(dictionary.rate()).toBeLessThan(rate * 1.1)
    // The paper's reading says yes to nearly everything: 1 − 0.95^L with hundreds of layers.
    if (layers === 'paper') expect(hits / 4000).toBeGreaterThan(0.99)
  })

  it('has words ÷ hashes layers, and at least one', async () => {
    const { dictionary } = await datasetOf(['one two'])
    expect(dictionary.layers).toBe(1)
    const paper = await datasetOf(madeTexts(500), { layers: 'paper' })
    // 0.05 has four hashes in the classic plan, which is what the paper divides by.
    expect(paper.dictionary.layers).toBe(Math.floor(paper.counts.words / 4))
  })
})

describe('dataset', () => {
  const word = fc.integer({ min: 0, max: 40 }).map(wordNumber)
  const text = fc.array(word, { maxLength: 70 }).map((words) => words.join(' '))
  const options = fc.record({
    dictionaryRate: fc.constantFrom(0.5, 0.05, 1e-4),
    rowRate: fc.constantFrom(0.5, 0.05, 1e-4),
    layers: fc.constantFrom(...layerReadings),
  })

  it('finds every row that holds all the words, and after checking only those', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 80 }),
        options,
        fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
        async (texts, chosen, words) => {
          const answer = (await datasetOf(texts, chosen)).ask(words)
          const expected = scanTexts(texts, words)
          expect(
            scanPrepared(
              texts.map((t) => prepare(distinctWords(t))),
              words,
            ),
          ).toEqual(expected)
          const rows = [...answer.rows]
          expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b))
          expect(rows.filter((row) => holdsAll(texts[row]!, words))).toEqual(expected)
          if (expected.length > 0) expect(answer.mayHold).toBe(true)
        },
      ),
      { seed: 42, numRuns: 150 },
    )
  })

  it('lists what a scan finds in 100,000 rows', async () => {
    const { texts, queries } = largeTable()
    const dataset = await datasetOf(texts)
    const prepared = texts.map((t) => prepare(distinctWords(t)))
    for (const words of queries) {
      const rows = [...dataset.ask(words).rows]
      expect(rows.filter((row) => scanPrepared([prepared[row]!], words).length > 0)).toEqual(
        scanPrepared(prepared, words),
      )
    }
  })
})
