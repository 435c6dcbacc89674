// A trial: a sieve filled with some URLs and queried for others. Each "seen" is a false positive; the count comes with
// the exact interval (Clopper–Pearson, 99 %) of its rate.

import { Sieve, type SieveOptions, type Stats } from '../sieve.ts'
import type { Cell, Column, Point } from './experiment.ts'
import { clopperPearson } from './interval.ts'

/** A counted share with its confidence interval. */
export interface MeasuredRate {
  readonly hits: number
  readonly trials: number
  readonly rate: number
  readonly low: number
  readonly high: number
}

export function measuredRate(hits: number, trials: number): MeasuredRate {
  const { lower, upper } = clopperPearson({ hits, trials })
  return { hits, trials, rate: trials === 0 ? 0 : hits / trials, low: lower, high: upper }
}

export const MEASURED_COLUMNS: readonly Column[] = [
  { name: 'false positives', as: 'count' },
  { name: 'queries', as: 'count' },
  { name: 'rate', as: 'rate' },
  { name: 'low', as: 'rate' },
  { name: 'high', as: 'rate' },
]

/** The cells of MEASURED_COLUMNS. */
export function measuredCells({ hits, trials, rate, low, high }: MeasuredRate): Cell[] {
  return [hits, trials, rate, low, high]
}

/** Several counts as one. */
export function pooled(rates: readonly MeasuredRate[]): MeasuredRate {
  return measuredRate(
    rates.reduce((sum, { hits }) => sum + hits, 0),
    rates.reduce((sum, { trials }) => sum + trials, 0),
  )
}

/**
 * Counts of which those of one cluster are not independent: the same titles asked again in another split. The interval is
 * that of the pooled count, wider by the square root of the design effect: the variance between clusters over the binomial one.
 */
export function clustered(
  clusters: readonly { readonly hits: number; readonly trials: number }[],
): MeasuredRate {
  const all = measuredRate(
    clusters.reduce((sum, { hits }) => sum + hits, 0),
    clusters.reduce((sum, { trials }) => sum + trials, 0),
  )
  const chance = all.trials * all.rate * (1 - all.rate)
  if (chance === 0) return all
  const between = clusters.reduce((sum, { hits, trials }) => sum + (hits - all.rate * trials) ** 2, 0)
  const wider = Math.sqrt(Math.max(1, between / chance))
  return {
    ...all,
    low: Math.max(0, all.rate - wider * (all.rate - all.low)),
    high: Math.min(1, all.rate + wider * (all.high - all.rate)),
  }
}

/** Whether the first rate is significantly higher: the intervals do not overlap. */
export function isAbove(a: MeasuredRate, b: MeasuredRate): boolean {
  return a.low > b.high
}

/** Whether the interval contains a predicted rate. */
export function covers({ low, high }: MeasuredRate, rate: number): boolean {
  return low <= rate && rate <= high
}

/** A rate as a point with its interval; where there was no error, the upper end of the interval. */
export function ratePoint(x: number, { hits, rate, low, high }: MeasuredRate): Point {
  return hits === 0 ? { x, y: high, bound: true } : { x, y: rate, low, high }
}

/** Points that a logarithmic axis can show: those above zero. */
export function aboveZero(points: readonly Point[]): Point[] {
  return points.filter(({ y }) => y > 0)
}

/** How many of the lines the sieve has seen. Marks nothing. */
export function countSeen(sieve: Sieve, lines: Uint8Array): number {
  let seen = 0
  for (const answer of sieve.hasLines(lines)) seen += answer
  return seen
}

export interface Trial {
  readonly falsePositives: MeasuredRate
  readonly stats: Stats
  readonly bits: number
  readonly hashes: number
}

/** Fills a new sieve with `members` and queries it for `strangers`: `queries` lines, none of them a member. */
export async function trial(
  options: SieveOptions,
  members: Uint8Array,
  strangers: Uint8Array,
  queries: number,
): Promise<Trial> {
  const sieve: Sieve = await Sieve.create({ profile: 'raw', ...options })
  sieve.addLines(members)
  const falsePositives = measuredRate(countSeen(sieve, strangers), queries)
  const { bits, hashes, sizeBytes } = sieve.plan
  return { falsePositives, stats: sieve.stats(), bits: bits ?? sizeBytes * 8, hashes: hashes ?? 1 }
}
