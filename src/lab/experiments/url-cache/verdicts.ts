// url-caching as the document uses it, each of its three functions once, and the verdicts on its claims.
import { optimalHashes } from '../../../sizing/classic.ts'
import type { Claim, Lab, Table, UrlList } from '../../experiment.ts'
import { covers, MEASURED_COLUMNS, type MeasuredRate, measuredCells, measuredRate } from '../../trial.ts'
import { unboundedHits } from '../../unbounded.ts'
import { count, factor, percent } from '../../wording.ts'
import { type GridCell, lowest, PAPER_HASHES, shownRatio, TRIO } from './grid.ts'

export interface Held {
  readonly name: string
  readonly sizeBytes: number
  readonly heapBytes: number | null
  readonly rate: MeasuredRate
}

export interface Use {
  readonly ratio: number
  readonly integers: 'wrapping' | 'unbounded'
  readonly rate: MeasuredRate
  readonly expected: number
}

/** k = 3, each function once: from the grid, and with unbounded integers where they are asked for. */
export function documentUses(
  lab: Lab,
  cells: readonly GridCell[],
  list: UrlList,
  urls: number,
  ratios: readonly number[],
): Use[] {
  const wrapping = cells
    .filter(({ choice, hashes }) => choice.name === TRIO && hashes === PAPER_HASHES)
    .map(({ ratio, rate, expected }): Use => ({ ratio, integers: 'wrapping', rate, expected }))
  if (lab.integers !== 'unbounded') return wrapping
  const hits = unboundedHits(list, urls, ratios)
  return wrapping.flatMap((use) => {
    const rate = measuredRate(hits[ratios.indexOf(use.ratio)]!, list.count - urls)
    return [use, { ...use, integers: 'unbounded' as const, rate }]
  })
}

export function useTable(uses: readonly Use[], urls: number): Table {
  return {
    title: 'The document’s use: three functions, each once',
    note: `${count(urls)} URLs held, k = ${PAPER_HASHES}. Wrapping: modulo 2^32, then modulo m. Unbounded (--integers unbounded): as wide as they become, then modulo m; the same rate, other false positives.`,
    columns: [
      { name: 'm/n', as: 'text' },
      { name: 'integers', as: 'text' },
      ...MEASURED_COLUMNS,
      { name: 'formula', as: 'rate' },
      { name: 'rate / formula', as: 'ratio' },
    ],
    rows: uses.map(({ ratio, integers, rate, expected }) => [
      shownRatio(ratio),
      integers,
      ...measuredCells(rate),
      expected,
      rate.rate / expected,
    ]),
  }
}

/** Within this of the formula we call a rate as predicted, where chance alone would allow less. */
const NEAR = 0.1

export function claims(
  uses: readonly Use[],
  cells: readonly GridCell[],
  held: readonly Held[],
  urls: number,
): Claim[] {
  const [paper] = uses as [Use]
  const isNear = ({ rate, expected }: Pick<Use, 'rate' | 'expected'>) =>
    covers(rate, expected) || Math.abs(rate.rate / expected - 1) < NEAR
  const worst = uses.reduce((a, b) => (b.rate.rate / b.expected > a.rate.rate / a.expected ? b : a))
  const good = cells.filter(({ choice }) => choice.good)
  const isBest = good
    .filter(({ ratio, hashes }) => optimalHashes({ bits: Math.ceil(ratio * urls), urls }) === hashes)
    .map((cell) => {
      const same = good.filter(({ choice, ratio }) => choice === cell.choice && ratio === cell.ratio)
      return cell.rate.low <= lowest(same).rate.high
    })
  const best = isBest.filter(Boolean).length
  const copies = cells
    .filter(({ choice, hashes }) => choice.name === 'k of poly31' && hashes > 1)
    .reduce((a, b) => (b.rate.rate / b.expected > a.rate.rate / a.expected ? b : a))
  const set = held.find(({ name }) => name.startsWith('hash set'))!
  const strong = good.filter(({ ratio }) => ratio === Math.max(...good.map((cell) => cell.ratio)))
  const top = strong.reduce((a, b) => (b.hashes > a.hashes ? b : a))
  return [
    {
      source: 'url-caching, 2.4 to 2.6',
      claim: 'the three functions, each used once, spread URLs evenly enough',
      verdict: uses.every(isNear) ? 'confirmed' : 'wrong',
      number: `${percent(worst.rate.rate)} at m/n = ${shownRatio(worst.ratio)}, ${factor(worst.rate.rate / worst.expected)} times the formula`,
    },
    {
      source: 'url-caching, 2.2',
      claim: 'm = k·n / ln 2 is the size for k hash functions',
      verdict: isNear(paper) ? 'confirmed' : 'not reproduced',
      number: `half of the bits set; it loses ${percent(paper.rate.rate)} of new URLs`,
    },
    {
      source: 'url-caching, 4',
      claim: 'k = (m/n)·ln 2 is the best number of hash functions',
      verdict: best === isBest.length ? 'confirmed' : 'not reproduced',
      number: `the best, or within chance of it, in ${best} of ${isBest.length} cases with good functions`,
    },
    {
      source: 'url-caching, 4',
      claim: 'past that number more hash functions make more false positives',
      verdict:
        top.rate.rate > lowest(strong.filter(({ choice }) => choice === top.choice)).rate.rate
          ? 'confirmed'
          : 'not reproduced',
      number: `${percent(top.rate.rate)} with k = ${top.hashes}, ${percent(lowest(strong.filter(({ choice }) => choice === top.choice)).rate.rate)} at best`,
    },
    {
      source: 'url-caching, 3',
      claim: 'a hash set needs significantly more memory',
      verdict: set.sizeBytes > 2 * held[0]!.sizeBytes ? 'confirmed' : 'wrong',
      number: `${factor(set.sizeBytes / held[0]!.sizeBytes)} times`,
    },
    {
      source: 'ours, of url-caching',
      claim: 'k functions can be made of poly31 by neighbouring start values',
      verdict: copies.rate.rate > (1 + NEAR) * copies.expected ? 'wrong' : 'confirmed',
      number: `${factor(copies.rate.rate / copies.expected)} times the formula with k = ${copies.hashes} at m/n = ${shownRatio(copies.ratio)}`,
    },
  ]
}
