// The claims of sharma-keywords with the verdicts on them; its "15–30 %" has two readings, and both are tested.
import { memoryVerdict } from '../../claims.ts'
import type { Claim } from '../../experiment.ts'
import { isAbove, pooled } from '../../trial.ts'
import { count, factor, percent } from '../../wording.ts'
import { type Answered, CLAIM, layersOf, TARGET } from './measurement.ts'

export function claims(answers: readonly Answered[]): Claim[] {
  const all = answers.flatMap((one) => {
    const single = one.measured[0]!
    return layersOf(one).map((layered) => ({
      ...{ one, single, layered, rival: one.measured[one.measured.indexOf(layered) + 1]! },
      precision: layered.precision / single.precision - 1,
      fewer: 1 - layered.rate.rate / single.rate.rate,
    }))
  })
  const best = (of: (one: (typeof all)[number]) => number) => all.reduce((a, b) => (of(b) > of(a) ? b : a))
  const [precise, fewest] = [best(({ precision }) => precision), best(({ fewer }) => fewer)]
  const holds = (gain: number) => gain >= CLAIM.least
  const atEqual = all.filter(({ layered, rival }) => isAbove(rival.rate, layered.rate)).length
  const lowest = all.reduce((a, b) => (b.rival.rate.rate < a.rival.rate.rate ? b : a)).rival
  const words = answers.map(({ measured }) => measured.find(({ ofWords }) => ofWords)!)
  const wordsRate = pooled(words.map(({ rate }) => rate))
  const singleRate = pooled(answers.map(({ measured }) => measured[0]!.rate))
  const titleBits = answers.map(
    ({ table: { titles } }) =>
      (8 * titles.reduce((sum, title) => sum + Buffer.byteLength(title), 0)) / titles.length,
  )
  const mostBits = Math.max(...all.map(({ layered }) => layered.bitsPerTitle))
  return [
    {
      source: 'sharma-keywords, 8',
      claim: `layers of keywords improve precision by ${percent(CLAIM.least)} to ${percent(CLAIM.most)}: precision itself`,
      verdict: holds(precise.precision) ? 'confirmed' : 'not reproduced',
      number: `${percent(precise.precision)} at best (${precise.one.table.name}, ${count(precise.layered.layers)} layers)`,
    },
    {
      source: 'sharma-keywords, 8',
      claim: `the same, read as ${percent(CLAIM.least)} to ${percent(CLAIM.most)} fewer false positives (35,000 → 30,000)`,
      verdict: memoryVerdict(holds(fewest.fewer), atEqual > 0),
      number: `${percent(fewest.fewer)} fewer at best, with ${factor(fewest.layered.bitsPerTitle / fewest.single.bitsPerTitle)} times the memory`,
    },
    {
      source: 'sharma-keywords, 8',
      claim: 'layers reduce false positives more than any traditional approach',
      verdict: memoryVerdict(fewest.fewer > 0, atEqual === all.length),
      number: `better than a single filter of the same memory in ${atEqual} of ${all.length} comparisons`,
    },
    {
      source: 'sharma-keywords, 8',
      claim: 'it takes far less memory than traditional approaches',
      verdict: mostBits < Math.min(...titleBits) ? 'confirmed' : 'wrong',
      number: `up to ${factor(mostBits)} bits per title; the titles themselves have ${factor(Math.min(...titleBits))}`,
    },
    {
      source: 'sharma-keywords, 6',
      claim: `${percent(TARGET)} is the lowest error rate of a Bloom filter`,
      verdict: lowest.rate.high < TARGET ? 'wrong' : 'not reproduced',
      number: `${percent(lowest.rate.rate)} with ${factor(lowest.bitsPerTitle)} bits per title`,
    },
    {
      source: 'sharma-keywords, Algorithms 1 and 2',
      claim: 'words put into one filter are a Bloom filter of titles',
      verdict: isAbove(wordsRate, singleRate) ? 'wrong' : 'confirmed',
      number: `${percent(wordsRate.rate)} false positives; whole titles ${percent(singleRate.rate)}`,
    },
  ]
}
