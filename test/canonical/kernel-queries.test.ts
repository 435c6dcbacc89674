// The profiles that rewrite path and query, in the kernel: crawlee, scrapy and aggressive, on queries chosen by hand.
import { describe, expect, it } from 'vitest'
import { indexNames } from '../../src/canonical/paths.ts'
import { keyOf, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { rules } from '../../src/canonical/rules.ts'
import { sessionParameters, trackingParameters } from '../../src/canonical/tracking.ts'
import { fastRulesOf } from '../../src/keyer/fast-rules.ts'
import { expectSameKeys, keyByKernel, keysByKernel } from './kernel-keys.ts'

const { crawlee, scrapy, aggressive } = profiles
const rewriting = [
  { name: 'crawlee', profile: crawlee },
  { name: 'scrapy', profile: scrapy },
  { name: 'aggressive', profile: aggressive },
]

describe('keys that the kernel makes', () => {
  it.each([
    ['HTTP://Example.com:80/a/../b/?b=1&a=2&utm_x=3#top', 'http://example.com/b?a=2&b=1'],
    ['https://example.com/', 'https://example.com'],
    ['https://example.com/?', 'https://example.com'],
    ['https://example.com/a//', 'https://example.com/a/'],
    ['https://example.com/?c&a=x+y&b=%7e%c3%a9[]', 'https://example.com?a=x+y&b=%7E%C3%A9%5B%5D&c='],
    ['https://example.com/?a=b=c&&UTM_a=1', 'https://example.com?UTM_a=1&a=b%3Dc'],
    ['https://example.com/?b=2&a=1&b=1', 'https://example.com?a=1&b=2&b=1'],
    ["https://example.com/?it's=1*", 'https://example.com?it%27s=1*'],
  ])('crawlee: %s', async (url, key) => {
    expect(await keyByKernel(crawlee, url)).toBe(key)
    expect(keyOf(crawlee, url)).toBe(key)
  })

  it.each([
    ['HTTP://Example.com:80/a/../%7euser/%2f?b=1&a=2#top', 'http://example.com:80/a/../~user/%2F?a=2&b=1'],
    ['http://example.com', 'http://example.com/'],
    ['http://example.com:/?', 'http://example.com/'],
    ['http://example.com/%41;%41', 'http://example.com/A;%41'],
    ['http://example.com/a;b/c;', 'http://example.com/a;b/c'],
    ['http://example.com/?b=2&a;b=1&c=~%2a', 'http://example.com/?a=&b=1&b=2&c=~%2A'],
    ['http://example.com/?q=%ff%20+', 'http://example.com/?q=%FF++'],
  ])('scrapy: %s', async (url, key) => {
    expect(await keyByKernel(scrapy, url)).toBe(key)
    expect(keyOf(scrapy, url)).toBe(key)
  })

  it.each([
    ['http://WWW2.Example.com:443/a//b/Index.HTML?b=&a=%7e&GCLID=1&sid=2#x', 'https://example.com/a/b?a=~&b'],
    ['http://www.www.example.com/', 'https://example.com'],
    ['http://www.com/index.php/index.php/', 'https://www.com'],
    ['http://example.com/a|b?c|d&a', 'https://example.com/a%7Cb?a&c%7Cd'],
    ['http://example.com/x(1)/a;v=1?=&&', 'https://example.com/x(1)/a;v=1'],
    [
      'http://example.com/?abcdefgh10=1&abcdefgh1=2&abcdefgh=3',
      'https://example.com?abcdefgh=3&abcdefgh1=2&abcdefgh10=1',
    ],
    ['http://example.com/?utm_source=1&fb_action_types=2', 'https://example.com'],
  ])('aggressive: %s', async (url, key) => {
    expect(await keyByKernel(aggressive, url)).toBe(key)
    expect(keyOf(aggressive, url)).toBe(key)
  })
})

it('all names that are dropped are dropped by the kernel, and no others', async () => {
  const names = [trackingParameters, sessionParameters].flatMap((list) => [...list.names, ...list.prefixes])
  const spelled = names.flatMap((name) => [
    name,
    name.toUpperCase(),
    `${name}x`,
    `x${name}`,
    name.slice(0, -1),
  ])
  const urls = [
    ...spelled,
    ...spelled.map((name) => `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`),
  ].map((name) => `http://example.com/?a=1&${name}=2&z=3`)
  const pages = [...indexNames].flatMap((name) => [
    name,
    name.toUpperCase(),
    `${name}x`,
    `x${name}`,
    name.slice(0, -1),
  ])
  const paths = pages.flatMap((page) =>
    ['', 'a/', 'abcdefghijklmnopq/'].map((path) => `http://example.com/${path}${page}`),
  )
  for (const { profile } of rewriting) {
    expect(await expectSameKeys(profile, urls)).toBe(urls.length)
    expect(await expectSameKeys(profile, paths)).toBe(paths.length)
  }
})

describe.each(rewriting)('$name', ({ profile }) => {
  it('parameters in any order, of any length and at any place', async () => {
    const urls: string[] = []
    for (let size = 0; size < 140; size++) {
      const [long, other] = ['n'.repeat(size), `${'n'.repeat(size)}m`]
      urls.push(
        `http://example.com/?${long}=1&${other}=2&${long}`,
        `http://example.com/?${other}=1&${long}=2&=3`,
        `http://example.com/${long}?b=${long}&a=%20${other}&c`,
        `http://example.com/?b=${long}&&a=${other}&`,
      )
    }
    expect(await expectSameKeys(profile, urls)).toBe(urls.length)
  })

  it('32 parameters are sorted in the kernel, more by the rules', async () => {
    const url = (count: number) =>
      `http://example.com/?${Array.from({ length: count }, (_, i) => `p${(i * 7) % count}=${i}`).join('&')}`
    const urls = Array.from({ length: 40 }, (_, i) => url(i + 1))
    expect(await expectSameKeys(profile, urls)).toBe(32)
  })

  it('a line of 4096 bytes is rewritten in the kernel, a longer one by the rules', async () => {
    const url = (length: number, unit: string) => `http://example.com/?${unit.repeat(5000)}`.slice(0, length)
    const units = ['a', '[', '/', 'a=', '+', '~', '|', '%41', '%2f', '%c3%a9', '%', 'a|[']
    const lengths = [4090, 4093, 4096]
    const urls = units.flatMap((unit) => lengths.map((length) => url(length, unit)))
    await expectSameKeys(profile, urls)
    expect((await keysByKernel(profile, urls)).filter((key) => key !== null).length).toBeGreaterThan(25)
    expect(
      await keysByKernel(
        profile,
        ['a', '|', '['].map((unit) => url(4097, unit)),
      ),
    ).toEqual([null, null, null])
  })

  it('a batch of lines whose keys are three times as long fits', async () => {
    const urls = Array.from({ length: 600 }, (_, i) => `http://e.co/?${'|['.repeat(i % 200)}${i}`)
    expect(await expectSameKeys(profile, urls)).toBe(urls.length)
  })
})

it('a rule of the caller’s own is never taken for the built-in one of its name', () => {
  const own = { ...rules.scrapy, apply: (key: string) => key.toUpperCase() }
  expect(fastRulesOf(resolveProfile(['scrapy']))).toBeDefined()
  expect(fastRulesOf(resolveProfile([own]))).toBeUndefined()
})
