// A profile is an ordered list of rules, and the key of a URL is what they leave of it. Which way each one errs is
// in its comment: a lossy rule errs towards "seen" and may lose a page; without one the error is a second fetch.

import { SieveError } from '../errors.ts'
import { type Rule, type RuleName, rules } from './rules.ts'

/** The profiles by name; `web` is the default. */
export type ProfileName = 'raw' | 'whatwg' | 'web' | 'crawlee' | 'scrapy' | 'aggressive'

/** How a URL becomes a key: an ordered list of rules. */
export interface Profile {
  readonly name: string
  /** What it does, in one line. */
  readonly does: string
  /** Its rules, in the order in which they are applied. */
  readonly rules: readonly Rule[]
}

export type ProfileChoice = ProfileName | readonly (RuleName | Rule)[] | Profile

const profile = (name: string, does: string, ...names: RuleName[]): Profile =>
  Object.freeze({ name, does, rules: Object.freeze(names.map((rule) => rules[rule])) })

/** The built-in profiles; each says which way it errs. */
export const profiles: Readonly<Record<ProfileName, Profile>> = Object.freeze({
  /** The line itself. Errs towards "new": every spelling is its own page. */
  raw: profile('raw', 'the line as it stands'),

  /** One key for one request, byte for byte `new URL(x).href` without its fragment. Errs towards "new". */
  whatwg: profile('whatwg', 'the URL as a browser writes it, without its fragment', 'whatwg', 'no-fragment'),

  /**
   * The default. Errs towards "seen" where a site's http pages are not its https pages, or where it tells apart what
   * RFC 3986 calls equivalent (`%7E` and `~`).
   */
  web: profile(
    'web',
    'whatwg, http is https, and escapes are as RFC 3986 has them',
    'whatwg',
    'no-fragment',
    'https',
    'escapes',
  ),

  /**
   * Crawlee's own unique key. Errs towards "seen": pages that differ only by credentials, a utm_ parameter, the order
   * of parameters or a trailing slash are one.
   */
  crawlee: profile(
    'crawlee',
    'the unique key of Crawlee’s requests',
    'trim',
    'whatwg',
    'no-fragment',
    'no-credentials',
    'no-utm',
    'form-query',
    'sort-query',
    'crawlee',
  ),

  /**
   * What Scrapy's duplicate filter compares. Errs both ways: towards "seen" where pages differ by the order of
   * parameters or by an encoded character of the path, towards "new" for default ports and dot segments.
   */
  scrapy: profile('scrapy', 'the URL Scrapy’s duplicate filter compares', 'scrapy'),

  /** For a site you know, or a survey. Errs towards "seen" with every lossy rule: it will lose pages. */
  aggressive: profile(
    'aggressive',
    'web, and whatever rarely makes another page is dropped',
    'bare-host',
    'whatwg',
    'no-fragment',
    'https',
    'escapes',
    'escape-unwise',
    'no-tracking',
    'no-session',
    'no-host-dot',
    'no-www-number',
    'single-slashes',
    'no-index',
    'no-empty-parameters',
    'sort-query',
    'no-trailing-slash',
    'no-empty-query',
  ),
})

/** The profile of that name, or one made of your own list of rules. Throws a SieveError that names what is known. */
export function resolveProfile(choice: ProfileChoice): Profile {
  if (typeof choice === 'string') {
    if (Object.hasOwn(profiles, choice)) return profiles[choice]
    throw new SieveError(
      'option',
      `unknown profile '${choice}': expected one of ${Object.keys(profiles).join(', ')}`,
    )
  }
  if (!isList(choice)) return choice
  const chosen = choice.map(resolveRule)
  const name = chosen.map((rule) => rule.name).join(',') || 'raw'
  return Object.freeze({ name, does: `the rules ${name}, in this order`, rules: Object.freeze(chosen) })
}

/** A profile as it is written down with a sieve: its rules count, so that a later version's profile changes no key. */
export interface StoredProfile {
  readonly name: string
  readonly rules: readonly string[]
}

/**
 * Whether a sieve that was stored with a profile can be opened with this choice: by the name of a built-in profile,
 * whatever rules it had then, or by the same rules.
 */
export function isStoredAs(choice: ProfileChoice, stored: StoredProfile): boolean {
  const { name, rules } = resolveProfile(choice)
  const isByName = choice === name || choice === (profiles as Record<string, Profile>)[name]
  if (isByName && name === stored.name) return true
  return rules.map((rule) => rule.name).join() === stored.rules.join()
}

/** The key of a URL, or null when a rule says it is none: such a line is keyed as it stands. */
export function keyOf(profile: Profile, url: string): string | null {
  let key = url
  for (const rule of profile.rules) {
    const next = rule.apply(key)
    if (next === null) return null
    key = next
  }
  return key
}

const isList = (choice: readonly (RuleName | Rule)[] | Profile): choice is readonly (RuleName | Rule)[] =>
  Array.isArray(choice)

function resolveRule(rule: RuleName | Rule): Rule {
  if (typeof rule !== 'string') return rule
  if (Object.hasOwn(rules, rule)) return rules[rule]
  throw new SieveError('option', `unknown rule '${rule}': expected one of ${Object.keys(rules).join(', ')}`)
}
