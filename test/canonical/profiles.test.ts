// The profiles: what they promise of every URL, and how they are chosen.

import { describe, expect, it } from 'vitest'
import { keyOf, type ProfileName, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { type Rule, type RuleName, rules } from '../../src/canonical/rules.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'
import { generateUrls, mutateUrl } from './urls.ts'

const urls = generateUrls(21, 20_000, { lineEnds: true })

// Node 20 leaves dot segments behind a segment like `.b`, unless they are spelled %2e: those are left out here.
const hasDots = (href: string) => /^[^?#]*\/\.\.?(?:[/?#]|$)/.test(href)

function platformHref(url: string): string | null {
  try {
    return new URL(url).href
  } catch {
    return null
  }
}

it('raw is the line', () => {
  for (const url of urls) expectIs(keyOf(profiles.raw, url), url)
})

it('whatwg is new URL(x).href without its fragment, byte for byte', () => {
  for (const url of urls) {
    const href = platformHref(url)
    if (href !== null && hasDots(href)) continue
    // Without the fragment, spaces that it kept alive at the end of an opaque path (`data:a #b`) go as well.
    expectIs(keyOf(profiles.whatwg, url), href?.replace(/ *#.*$/s, '') ?? null, url)
  }
})

it('web is whatwg with https in place of http, no default port, and escapes by RFC 3986', () => {
  for (const url of urls) {
    const plain = keyOf(profiles.whatwg, url)
    const secure = plain?.startsWith('http:') ? new URL(plain.replace('http:', 'https:')).href : plain
    expectIs(keyOf(before, url), secure, url)
    const isWeb = secure !== null && /^(?!file:)[^:/?#]+:\/\//.test(secure)
    expectIs(keyOf(profiles.web, url), isWeb ? equivalent(secure) : secure, url)
  }
})

/** What web was before the rule `escapes`. */
const before = resolveProfile(['whatwg', 'no-fragment', 'https'])

// By the letter of the RFC: escapes and other characters one by one; a digit behind a bare % stays escaped.
function equivalent(key: string): string {
  const isHex = (text = '') => /^[0-9a-f]+$/i.test(text)
  let made = ''
  for (let at = 0; at < key.length; ) {
    const hex = key.slice(at + 1, at + 3)
    if (key[at] !== '%' || hex.length < 2 || !isHex(hex)) {
      made += key[at++]
      continue
    }
    at += 3
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    const joins = isHex(character) && (made.endsWith('%') || (made.at(-2) === '%' && isHex(made.at(-1))))
    made += /[\w.~-]/.test(character) && !joins ? character : `%${hex.toUpperCase()}`
  }
  return made
}

it('web joins what RFC 3986 calls equivalent and keeps what is reserved apart', () => {
  const web = (url: string) => keyOf(profiles.web, url)
  const same = [
    ['http://h/%66oo', 'http://h/foo'],
    ['http://h/%7Ea', 'http://h/~a'],
    ['http://h/a%2fb', 'http://h/a%2Fb'],
    ['http://h/?q=%c3%A9', 'http://h/?q=%C3%a9'],
    ['http://h/a%2Eb', 'http://h/a.b'],
  ] as const
  for (const [a, b] of same) expect(web(a)).toBe(web(b))
  for (const c of ':/?#[]@!$&\'()*+,;=% "<>') {
    const spelled = `%${c.charCodeAt(0).toString(16).toUpperCase()}`
    expect(web(`http://h/a${spelled}b?c${spelled}d`)).toBe(`https://h/a${spelled}b?c${spelled}d`)
  }
})

it.each([
  ['double slashes', 'http://h.com//a///b', 'http://h.com/a/b'],
  ['the dot of a host', 'http://h.com./a', 'http://h.com/a'],
  ['b= and b', 'http://h.com/?a=1&b=', 'http://h.com/?b&a=1'],
  ['&&', 'http://h.com/?a&&b&', 'http://h.com/?a&b'],
  ['www2.', 'http://www2.h.com/', 'http://www.h.com/'],
  ['^', 'http://h.com/a^b?c^d', 'http://h.com/a%5Eb?c%5ed'],
  ['|', 'http://h.com/a|b?c|d', 'http://h.com/a%7Cb?c%7cd'],
  ['`', 'http://h.com/a`b?c`d', 'http://h.com/a%60b?c%60d'],
  ['[ and ]', 'http://h.com/a[b]?c[d]=1', 'http://h.com/a%5Bb%5D?c%5bd%5d=1'],
  ['no scheme', 'h.com/a', 'http://h.com/a'],
  ['no scheme, www2.', 'www2.h.com', 'https://h.com/'],
  ['//', '//h.com/a', 'http://h.com/a'],
])('aggressive joins what crawlers’ normalisers join: %s', (_, a, b) => {
  expect(keyOf(profiles.aggressive, a)).toBe(keyOf(profiles.aggressive, b))
})

it.each(['whatwg', 'web', 'aggressive'] as const)('%s is idempotent', (name) => {
  for (const url of urls) {
    const key = keyOf(profiles[name], url)
    if (key !== null) expectIs(keyOf(profiles[name], key), key, url)
  }
})

it('aggressive joins whatever web joins', () => {
  const rng = randomFrom(22)
  let joined = 0
  for (const url of urls) {
    const other = mutateUrl(rng, url)
    const key = keyOf(profiles.web, url)
    if (key === null || key !== keyOf(profiles.web, other)) continue
    joined++
    expectIs(keyOf(profiles.aggressive, other), keyOf(profiles.aggressive, url), url)
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
      /^unknown rule 'no-www2': expected one of trim, whatwg, bare-host, no-fragment, .*w3lib$/,
    )
  })
})

it('the generator is the same for the same seed, well-formed, and without line ends unless asked', () => {
  expect(generateUrls(3, 500)).toEqual(generateUrls(3, 500))
  expect(generateUrls(3, 500)).not.toEqual(generateUrls(4, 500))
  for (const url of generateUrls(5, 20_000)) expectIs(/^[^\n\r\ud800-\udfff]+$/u.test(url), true, url)
})
