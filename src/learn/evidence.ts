// What a rule does to pages whose content is known: which URLs it merges, and which of these merges are wrong.
import type { Rule } from '../canonical/rules.ts'
import { upperBound } from '../lab/interval.ts'
import type { Evidence } from './learned-rule.ts'

/** A page to learn from: one per key. */
export interface Page {
  readonly url: string
  /** Its key, after the rules that were found so far. */
  key: string
  readonly digest: string
  readonly simhash: bigint | undefined
  readonly near: string | undefined
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

export interface Measured {
  /** By half: pages to find the rule with, and pages to measure it on. */
  readonly halves: readonly [Evidence, Evidence]
  readonly counterExamples: readonly (readonly [string, string])[]
}

export interface MeasureOptions {
  readonly near: boolean
  readonly confidence: number
  /** Which half a key belongs to. */
  halfOf(key: string): 0 | 1
}

/** The URLs that come together when a key becomes another one, and how many of them differ from their group's first. */
export function measure(
  rule: Pick<Rule, 'apply'>,
  pages: readonly Page[],
  options: MeasureOptions,
): Measured {
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
  const counts = [
    { groups: 0, merges: 0, wrong: 0 },
    { groups: 0, merges: 0, wrong: 0 },
  ] satisfies [object, object]
  const counterExamples: [string, string][] = []
  for (const [key, [first, ...others]] of groups) {
    const merged = others.filter((page) => page.key !== first!.key)
    if (merged.length === 0) continue
    const count = counts[options.halfOf(key)]
    count.groups++
    for (const page of merged) {
      count.merges++
      if (isSame(first!, page, options.near)) continue
      count.wrong++
      if (counterExamples.length < MOST_EXAMPLES) counterExamples.push([first!.url, page.url])
    }
  }
  const finish = (count: (typeof counts)[number]): Evidence => ({
    ...count,
    upper: boundOf(count, options.confidence),
  })
  return { halves: [finish(counts[0]), finish(counts[1])], counterExamples }
}

/** The share of wrong merges is at most this with a confidence (Clopper and Pearson); 1 where there is no merge. */
export const boundOf = ({ merges, wrong }: { merges: number; wrong: number }, confidence: number) =>
  merges === 0 ? 1 : upperBound({ hits: wrong, trials: merges, confidence })
