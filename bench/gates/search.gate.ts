// A search by filters, matches checked, against scans of all rows: of the prepared text and of sets of words.
import { expect } from 'vitest'
import { prepare, scanPrepared } from '../../src/search/scan.ts'
import { distinctWords } from '../../src/search/words.ts'
import { datasetOf, largeTable } from '../../test/search/tables.ts'
import { gate } from './gate.ts'

gate('search: at least 20 times as fast as the fastest scan of 100,000 rows', {}, async ({ measured }) => {
  const { texts, queries } = largeTable()
  const dataset = await datasetOf(texts)
  const prepared = texts.map((t) => prepare(distinctWords(t)))
  const sets = texts.map((t) => distinctWords(t))
  const byFilter = (words: string[]) =>
    [...dataset.ask(words).rows].filter((row) => scanPrepared([prepared[row]!], words).length > 0)
  const bySets = (words: string[]) => {
    const found: number[] = []
    for (let row = 0; row < sets.length; row++) if (words.every((w) => sets[row]!.has(w))) found.push(row)
    return found
  }
  // The median of some rounds over all queries, in ms per query, after half a second of warm-up for each.
  const time = (rounds: number, find: (words: string[]) => number[]) => {
    const started = performance.now()
    while (performance.now() - started < 500) for (const words of queries) find(words)
    const times = Array.from({ length: rounds }, () => {
      const from = performance.now()
      for (const words of queries) find(words)
      return (performance.now() - from) / queries.length
    })
    return times.sort((a, b) => a - b)[rounds >> 1]!
  }
  const filter = time(25, byFilter)
  const text = time(5, (words) => scanPrepared(prepared, words))
  const set = time(5, bySets)
  const ratio = Math.min(text, set) / filter
  measured(
    `${ratio.toFixed(0)} times: ${filter.toFixed(3)} ms per query, text ${text.toFixed(2)}, sets ${set.toFixed(2)}`,
  )
  expect(ratio).toBeGreaterThan(20)
})
