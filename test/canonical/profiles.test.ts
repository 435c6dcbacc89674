// The profiles: what they promise of every URL, and how they are chosen.

import { describe, expect, it } from 'vitest'
import { keyOf, type ProfileName, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { type Rule, type RuleName, rules } from '../../src/canonical/rules.ts'
import { generateUrls, mutateUrl, seededRandom } from './urls.ts'

const urls = generateUrls(21, 20_000, { lineEnds: true })

function platformHref(url: string): string | null {
  try {
    return new URL(url).href
  } catch {
    return null
  }
}

it('raw is the line', () => {
  for (const url of urls) expect(keyOf(profiles.raw, url)).toBe(url)
})

it('whatwg is new URL(x).href without its fragment, byte for byte', () => {
  for (const url of urls) {
    const href = platformHref(url)
    // Without the fragment, spaces that it kept alive at the end of an opaque path (`data:a #b`) go as well.
    expect(keyOf(profiles.whatwg, url)).toBe(href?.replace(/ *#.*$/s, '') ?? null)
  }
})

it('web is whatwg with https in place of http and no default port', () => {
  for (const url of urls) {
    const plain = keyOf(profiles.whatwg, url)
    const expected = plain?.startsWith('http:') ? new URL(plain.replace('http:', 'https:')).href : plain
    expect(keyOf(profiles.web, url), JSON.stringify(url)).toBe(expected)
  }
})

it.each(['whatwg', 'web', 'aggressive'] as const)('%s is idempotent', (name) => {
  for (const url of urls) {
    const key = keyOf(profiles[name], url)
    if (key !== null) expect(keyOf(profiles[name], key), JSON.stringify(url)).toBe(key)
  }
})

it('aggressive joins whatever web joins', () => {
  const rng = seededRandom(22)
  let joined = 0
  for (const url of urls) {
    const other = mutateUrl(rng, url)
    const key = keyOf(profiles.web, url)
    if (key === null || key !== keyOf(profiles.web, other)) continue
    joined++
    expect(keyOf(profiles.aggressive, other)).toBe(keyOf(profiles.aggressive, url))
  }
  expect(joined).toBeGreaterThan(500)
})

it('only aggressive and what copies a crawler has lossy rules, but for https in web', () => {
  const lossy = (name: ProfileName) =>
    profiles[name].rules.filter((rule) => rule.lossy).map((rule) => rule.name)
  expect(lossy('raw')).toEqual([])
  expect(lossy('whatwg')).toEqual([])
  expect(lossy('web')).toEqual(['https'])
})

describe('resolveProfile', () => {
  it('takes a name, a profile, and a list of rules and names', () => {
    const shout: Rule = { name: 'shout', does: 'capitals', lossy: true, apply: (key) => key.toUpperCase() }
    expect(resolveProfile('web')).toBe(profiles.web)
    expect(resolveProfile(profiles.scrapy)).toBe(profiles.scrapy)
    const own = resolveProfile(['whatwg', shout])
    expect(own.name).toBe('whatwg,shout')
    expect(own.rules).toEqual([rules.whatwg, shout])
    expect(keyOf(own, 'http://h')).toBe('HTTP://H/')
    expect(keyOf(own, 'h')).toBeNull()
    expect(keyOf(resolveProfile([]), ' x ')).toBe(' x ')
  })

  it('says in one line what it got and what it knows', () => {
    expect(() => resolveProfile('www' as ProfileName)).toThrow(
      "unknown profile 'www': expected one of raw, whatwg, web, crawlee, scrapy, aggressive",
    )
    expect(() => resolveProfile('toString' as ProfileName)).toThrow("unknown profile 'toString'")
    expect(() => resolveProfile(['whatwg', 'no-www2' as RuleName])).toThrow(
      /^unknown rule 'no-www2': expected one of trim, whatwg, no-fragment, .*w3lib$/,
    )
  })
})

it('the generator is the same for the same seed, well-formed, and without line ends unless asked', () => {
  expect(generateUrls(3, 500)).toEqual(generateUrls(3, 500))
  expect(generateUrls(3, 500)).not.toEqual(generateUrls(4, 500))
  for (const url of generateUrls(5, 20_000)) expect(url).toMatch(/^[^\n\r\ud800-\udfff]+$/u)
})
