// Why a URL has the key it has: every rule of the profile with what it was given, what it made of it, and in words
// what changed. For people; the words are no interface.

import { describeChange, describeWhatwg } from './changes.ts'
import type { Profile } from './profiles.ts'
import { rules } from './rules.ts'

/** What one rule did to a URL on its way to the key. */
export interface Step {
  /** The rule's name. */
  rule: string
  /** What the rule does, in one line. */
  does: string
  /** The key before it. */
  before: string
  /** The key after it. */
  after: string
  /** Whether the two differ. */
  changed: boolean
  /** What changed, in words, for people. */
  notes: string[]
}

/** The key and the steps to it. Where a rule finds no URL the steps end there and the key is the line as it stands. */
export function explainKey(profile: Profile, url: string): { key: string; isUrl: boolean; steps: Step[] } {
  const steps: Step[] = []
  // As it is written down: UTF-8 has no lone surrogates.
  const line = url.replace(/\p{Surrogate}/gu, '\ufffd')
  let key = line
  for (const rule of profile.rules) {
    const { name, does } = rule
    const next = rule.apply(key)
    if (next === null) {
      const notes = ['no URL by this rule: the line is keyed as it stands']
      steps.push({ rule: name, does, before: key, after: key, changed: false, notes })
      return { key: line, isUrl: false, steps }
    }
    const changed = next !== key
    const describe = rule === rules.whatwg ? describeWhatwg : describeChange
    steps.push({
      rule: name,
      does,
      before: key,
      after: next,
      changed,
      notes: changed ? [...describe(key, next), ...(rule.evidence === undefined ? [] : [rule.evidence])] : [],
    })
    key = next
  }
  return { key, isUrl: true, steps }
}
