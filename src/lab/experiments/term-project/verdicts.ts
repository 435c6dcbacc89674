// The claims of term-project with the verdicts on them, and the numbers that it printed.
import { classicPlan, classicRate } from '../../../sizing/classic.ts'
import { memoryVerdict } from '../../claims.ts'
import type { Claim } from '../../experiment.ts'
import { count, factor, percent } from '../../wording.ts'
import { type Replicated, replicaClaims } from './procedure.ts'

export const TARGET = 0.05
export const SEGMENTS = 'segments in one filter'
export const STRUCTURES = ['hash table', 'BF', 'MLBF', 'BF, memory of MLBF', SEGMENTS] as const
export type Structure = (typeof STRUCTURES)[number]

/** Printed for linear search in its published notebook, not in its text: 100 queries, from which it reckoned 222 hours. */
export const PRINTED_LINEAR_SECONDS = 14.7
export const LINEAR_QUERIES = 100
export const PRINTED_HOURS = 222
export const PRINTED_QUERIES = 800_000

export interface Outcome {
  readonly urls: number
  readonly structure: Structure
  readonly queries: number
  readonly falsePositives: number
  readonly insertionSeconds: number
  readonly querySeconds: number
  readonly bytes: number
  readonly layers: number | null
}

/** What its own measurement of linear search gives, in hours. */
export function printedHours(): number {
  return ((PRINTED_LINEAR_SECONDS / LINEAR_QUERIES) * PRINTED_QUERIES) / 3600
}

export function claims(outcomes: readonly Outcome[], replicated: readonly Replicated[]): Claim[] {
  const n = outcomes.at(-1)!.urls
  const last = (structure: Structure) =>
    outcomes.find((outcome) => outcome.urls === n && outcome.structure === structure)!
  const [table, bf, mlbf, large, segments] = STRUCTURES.map(last) as [
    Outcome,
    Outcome,
    Outcome,
    Outcome,
    Outcome,
  ]
  const rate = ({ falsePositives, queries }: Outcome) => falsePositives / queries
  const [insertion, query] = [
    mlbf.insertionSeconds / bf.insertionSeconds,
    mlbf.querySeconds / bf.querySeconds,
  ]
  const layers = mlbf.layers!
  const urls = Math.ceil(n / 2)
  const formula = classicRate({ ...classicPlan({ urls, rate: TARGET }), urls }) ** layers
  const isSlower = insertion > 1.1 && query > 1.1
  return [
    {
      source: 'term-project, Fig. 3',
      claim: 'MLBF makes far fewer false positives than BF',
      verdict: memoryVerdict(rate(mlbf) < rate(bf) / 2, rate(mlbf) < rate(large)),
      number: `${percent(rate(mlbf))} with ${factor(mlbf.bytes / bf.bytes)} times the memory; BF with that memory ${percent(rate(large))}`,
    },
    ...replicaClaims(replicated),
    {
      source: 'term-project, analysis',
      claim: 'the rate of MLBF is (1 − e^(−kn/m))^(kl)',
      verdict: rate(mlbf) > 10 * formula ? 'wrong' : 'confirmed',
      number: `${percent(rate(mlbf))} measured; the formula gives ${formula.toExponential(0)}`,
    },
    {
      source: 'term-project, Fig. 4 and 5',
      claim: 'MLBF takes longer than BF to insert and to query',
      verdict: isSlower ? 'confirmed' : 'not reproduced',
      number: `${factor(insertion)} and ${factor(query)} times; printed 3.1 and 4.6`,
    },
    {
      source: 'term-project, conclusion',
      claim: 'MLBF and BF take the same time',
      verdict: isSlower ? 'wrong' : 'confirmed',
      number: `${factor(insertion)} and ${factor(query)} times`,
    },
    {
      source: 'term-project, Algorithms 1 and 2',
      claim: 'segments put into one filter are a Bloom filter of URLs',
      verdict: rate(segments) > 1.1 * rate(bf) ? 'wrong' : 'confirmed',
      number: `${percent(rate(segments))} false positives; the whole URL as one key ${percent(rate(bf))}`,
    },
    {
      source: 'term-project, notebook',
      claim: `linear search takes ${PRINTED_HOURS} hours for ${count(PRINTED_QUERIES)} queries`,
      verdict: Math.abs(printedHours() / PRINTED_HOURS - 1) < 0.1 ? 'confirmed' : 'wrong',
      number: `${factor(printedHours())} hours by its own ${PRINTED_LINEAR_SECONDS} s per ${LINEAR_QUERIES}`,
    },
    {
      source: 'term-project, introduction',
      claim: 'a hash table needs more space than a Bloom filter',
      verdict: table.bytes > bf.bytes ? 'confirmed' : 'wrong',
      number: `${factor(table.bytes / bf.bytes)} times the memory of BF`,
    },
  ]
}
