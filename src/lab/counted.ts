// Counts of answers, and a counted rate as cells of a table: with the exact interval (Clopper–Pearson, 99 %).

import type { Cell, Column } from './experiment.ts'
import { clopperPearson } from './interval.ts'

/** How many answers are 1. */
export function ones(answers: Uint8Array): number {
  let sum = 0
  for (const answer of answers) sum += answer
  return sum
}

export const RATE_COLUMNS: readonly Column[] = [
  { name: 'queries', as: 'count' },
  { name: 'false positives', as: 'count' },
  { name: 'rate', as: 'rate' },
  { name: 'low', as: 'rate' },
  { name: 'high', as: 'rate' },
]

/** The cells of RATE_COLUMNS. */
export function rateCells(hits: number, trials: number): Cell[] {
  if (trials === 0) return [0, 0, null, null, null]
  const { lower, upper } = clopperPearson({ hits, trials })
  return [trials, hits, hits / trials, lower, upper]
}
