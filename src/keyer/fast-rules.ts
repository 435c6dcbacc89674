// The lists of rules that the kernel applies to usual URLs, as its bits and lists of names. What it does not know, or finds
// unusual, goes through the rules themselves (src/canonical), with which it must agree byte for byte.
import { indexNames } from '../canonical/paths.ts'
import type { Profile } from '../canonical/profiles.ts'
import { type Rule, rules } from '../canonical/rules.ts'
import {
  type ParameterNames,
  sessionParameters,
  trackingParameters,
  utmParameters,
} from '../canonical/tracking.ts'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'

/** Bits of kernel/canonical/rules.ts. */
type Bit = 'HTTP_IS_HTTPS' | 'ESCAPES' | 'CRAWLEE' | 'SCRAPY' | 'AGGRESSIVE'

interface FastRules {
  readonly bits: readonly Bit[]
  /** Parameters that are dropped. */
  readonly parameters?: readonly ParameterNames[]
  /** Names at the end of a path that are dropped. */
  readonly pages?: Iterable<string>
}

const web = 'whatwg,no-fragment,https,escapes'

const inKernel: Readonly<Record<string, FastRules>> = {
  'whatwg,no-fragment': { bits: [] },
  'whatwg,no-fragment,https': { bits: ['HTTP_IS_HTTPS'] },
  [web]: { bits: ['HTTP_IS_HTTPS', 'ESCAPES'] },
  'trim,whatwg,no-fragment,no-credentials,no-utm,form-query,sort-query,crawlee': {
    bits: ['CRAWLEE'],
    parameters: [utmParameters],
  },
  scrapy: { bits: ['SCRAPY'] },
  [`bare-host,${web},escape-unwise,no-tracking,no-session,no-host-dot,no-www-number,single-slashes,no-index,no-empty-parameters,sort-query,no-trailing-slash,no-empty-query`]:
    {
      bits: ['HTTP_IS_HTTPS', 'ESCAPES', 'AGGRESSIVE'],
      parameters: [trackingParameters, sessionParameters],
      pages: indexNames,
    },
}

/** Whether a rule of the profile is the caller's own function: it may have any name. */
export const hasOwnRules = (profile: Profile): boolean =>
  profile.rules.some((rule) => (rules as Record<string, Rule>)[rule.name] !== rule)

/** What the kernel knows of a profile's rules; undefined: nothing. */
export function fastRulesOf(profile: Profile): FastRules | undefined {
  const names = profile.rules.map((rule) => rule.name).join(',')
  return hasOwnRules(profile) || !Object.hasOwn(inKernel, names) ? undefined : inKernel[names]
}

/** Gives an instance the lists of names. Returns the bits for its `canonicalise`. */
export function applyFastRules({ call }: Kernel, { bits, parameters = [], pages = [] }: FastRules): number {
  call.clearNames()
  const page = call.PAGE.value as number
  const parameter = call.PARAMETER.value as number
  let fits = true
  for (const name of pages) fits &&= call.addName(page, ...wordsOf(name)) === 1
  for (const { names, prefixes } of parameters) {
    for (const name of names) fits &&= call.addName(parameter, ...wordsOf(name)) === 1
    for (const prefix of prefixes) fits &&= call.addBeginning(...wordsOf(prefix), prefix.length) === 1
  }
  if (!fits) throw new SieveError('option', 'the kernel has no place for all names of a profile')
  return bits.reduce((sum, bit) => sum | (call[bit].value as number), 0)
}

/** A name of at most sixteen characters of ASCII as two words, padded with zeros. */
function wordsOf(name: string): [bigint, bigint] {
  if (!/^[\x01-\x7f]{1,16}$/.test(name))
    throw new SieveError('option', `name '${name}' of a profile: expected 1 to 16 characters of ASCII`)
  const words = new DataView(new ArrayBuffer(16))
  for (let i = 0; i < name.length; i++) words.setUint8(i, name.charCodeAt(i))
  return [words.getBigUint64(0, true), words.getBigUint64(8, true)]
}
