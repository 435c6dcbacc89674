// What a rule does to pages whose content is known: which URLs it merges, and which of these merges are wrong.
import type { Rule } from '../canonical/rules.ts'
import { upperBound } from '../lab/interval.ts'
import type { Evidence } from './learned-rule.ts'
import { type Level, memberOf, type Scope, trialOf } from './scope.ts'

/** A page to learn from: one per key. */
export interface Page {
  readonly url: string
  /** Its key, after the rules that were found so far. */
  key: string
  readonly digest: string
  readonly simhash: bigint | undefined
  readonly near: string | undefined
}

/** A URL that a rule merges with the first page of its group. */
export interface Merge {
  readonly key: string
  readonly page: Page
  readonly first: Page
  readonly isWrong: boolean
}

const NEAR_BITS = 3
const MOST_EXAMPLES = 3

/** Whether two pages have the same content; with `near`, nearly the same. */
export function isSame(a: Page, b: Page, near: boolean): boolean {
  if (a.digest === b.digest) return true
  if (!near) return false
  if (a.near !== undefined && (a.near === b.url || a.near === b.digest || a.near === b.near)) return true
  if (b.near !== undefined && b.near === a.url) return true
  if (a.simhash === undefined || b.simhash === undefined) return false
  let bits = 0
  for (let difference = a.simhash ^ b.simhash; difference > 0n; difference &= difference - 1n) bits++
  return bits <= NEAR_BITS
}

/** The URLs that come together when a key becomes another one, each with the first of its group. */
export function mergesOf(rule: Pick<Rule, 'apply'>, pages: readonly Page[], near: boolean): Merge[] {
  const groups = new Map<string, Page[]>()
  const still: Page[] = []
  for (const page of pages) {
    const key = rule.apply(page.key) ?? page.key
    if (key === page.key) still.push(page)
    else {
      const group = groups.get(key)
      if (group) group.push(page)
      else groups.set(key, [page])
    }
  }
  if (groups.size > 0) for (const page of still) groups.get(page.key)?.unshift(page)
  const merges: Merge[] = []
  for (const [key, [first, ...others]] of groups)
    for (const page of others)
      if (page.key !== first!.key)
        merges.push({ key, page, first: first!, isWrong: !isSame(first!, page, near) })
  return merges
}

export interface Measured {
  /** On the trials that the rule was found with, and on those that were kept apart. */
  readonly found: Evidence
  readonly heldOut: Evidence
  readonly scope: Scope
  readonly counterExamples: readonly (readonly [string, string])[]
}

export interface MeasureOptions {
  readonly risk: number
  readonly confidence: number
  /** Which half a trial belongs to. */
  halfOf(trial: string): 0 | 1
}

interface Trial {
  readonly member: string
  readonly half: 0 | 1
  merges: number
  isWrong: boolean
}

/**
 * The trials of a level, in two halves. The scope is what the first half allows: members whose share of wrong trials is under the
 * risk; only their trials count.
 */
export function measure(merges: readonly Merge[], level: Level, options: MeasureOptions): Measured {
  const trials = new Map<string, Trial>()
  for (const { key, page, isWrong } of merges) {
    const text = trialOf(level, key, page.key)
    let trial = trials.get(text)
    if (trial === undefined) {
      trial = { member: memberOf(level, key), half: options.halfOf(text), merges: 0, isWrong: false }
      trials.set(text, trial)
    }
    trial.merges++
    if (isWrong) trial.isWrong = true
  }
  const members = allowed([...trials.values()], options.risk)
  const inScope = [...trials.values()].filter(({ member }) => members.has(member))
  const evidenceOf = (half: 0 | 1) =>
    evidence(
      inScope.filter((trial) => trial.half === half),
      options.confidence,
    )
  return {
    found: evidenceOf(0),
    heldOut: evidenceOf(1),
    scope: { level, members: [...members].sort() },
    counterExamples: merges
      .filter(({ key, isWrong }) => isWrong && members.has(memberOf(level, key)))
      .slice(0, MOST_EXAMPLES)
      .map(({ first, page }) => [first.url, page.url]),
  }
}

function allowed(trials: readonly Trial[], risk: number): Set<string> {
  const counts = new Map<string, { trials: number; wrong: number }>()
  for (const { member, half, isWrong } of trials) {
    if (half !== 0) continue
    const count = counts.get(member) ?? { trials: 0, wrong: 0 }
    counts.set(member, { trials: count.trials + 1, wrong: count.wrong + Number(isWrong) })
  }
  return new Set(
    [...counts].filter(([, count]) => count.wrong < count.trials * risk).map(([member]) => member),
  )
}

function evidence(trials: readonly Trial[], confidence: number): Evidence {
  const merges = trials.reduce((sum, trial) => sum + trial.merges, 0)
  const wrong = trials.filter(({ isWrong }) => isWrong).length
  return {
    trials: trials.length,
    wrong,
    merges,
    upper: boundOf({ trials: trials.length, wrong }, confidence),
  }
}

/** The share of trials with a wrong merge is at most this with a confidence (Clopper and Pearson); 1 where there is no trial. */
export const boundOf = ({ trials, wrong }: { trials: number; wrong: number }, confidence: number) =>
  trials === 0 ? 1 : upperBound({ hits: wrong, trials, confidence })
