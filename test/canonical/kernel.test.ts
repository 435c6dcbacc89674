// The kernel's fast path against the rules: the keys it makes are, byte for byte, what the profile's rules make through the
// platform's URL; the rest it hands over. 120,000 URLs; URLSIEVE_FULL=1: five million.
import { expect, it } from 'vitest'
import { keyOf } from '../../src/canonical/profiles.ts'
import { Sieve } from '../../src/sieve.ts'
import { randomFrom } from '../support/random.mjs'
import { expectSameKeys, fast, keysByKernel } from './kernel-keys.ts'
import { generateUrls, mutateUrl, type Random } from './urls.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const COUNT = FULL ? 5_040_000 : 120_000
const CHUNK = 60_000
/** URLs of the other tests, for a fast profile. */
const USUAL = FULL ? 100_000 : 30_000

const encoder = new TextEncoder()

const hosts =
  'www.example.com news.example.co.uk Example.org shop-24.example.net a_b.example m.example.io'.split(' ')
const segments =
  'news Shop item archive tag page ~user index.html about-us a%20b caf%C3%A9 x(1) a,b;v=1 @me .well-known %7Euser caf%c3%a9 %66oo %%34%31 %4%31 %zz %2f'.split(
    ' ',
  )
const names = 'q id page utm_source a[] sort'.split(' ')
const values = '1 a+b %26 x%2Fy red|blue * ! %2e%2E %61%2d %c3%A9 %'.split(' ')
const ports = ['', '', '', '', '', '', ':', ':80', ':443', ':8080']

// What profiles that rewrite path and query look for.
const wwwHosts = 'www2.example.com www.www3.example.org www.com www1.co.uk wwwx.example.com www.w'.split(' ')
const pages =
  'index.html/ INDEX.PHP /default.aspx index.html/index.php index.htmlx default. index.php5/ a;sid=1 ;JSESSIONID=a ;a; (S(x)) a|b a[b]|c] /// /./ x.html'.split(
    ' ',
  )
const longName = 'abcdefgh'
const dropped =
  'utm_a UTM_b gclid GCLID sid PHPSESSID aspsessionidxyz fb_action_types pk_ _ga ga_ mkt_tok'.split(' ')
const oddNames =
  `${longName} ${longName}2 ${longName}10 %61bcdefgh1 a%62 + %20 %00 %c3%a9 a%C3%A9 = utm%5fx %67clid ab a[0] a%5B0%5d %zz %`.split(
    ' ',
  )
const oddValues =
  "= =a a=b a==b ; a;b=c ~ * a~b %7e %2a + %20 %2B %ff %c3 %c3%28 %e2%82%ac %E2%82 %ed%a0%80 %f0%9f%98%80 %f4%90%80%80 %c0%80 %ef%bb%bfx %00 | ' !$()@:/?,".split(
    ' ',
  )

const pick = (rng: Random, from: readonly string[]) => from[Math.floor(rng() * from.length)]!

/** What crawlers meet most: a host, a path, perhaps a query, a fragment, a port, capitals. */
function usualUrl(rng: Random): string {
  const many = (most: number, make: () => string, glue: string) =>
    Array.from({ length: Math.floor(rng() * (most + 1)) }, make).join(glue)
  const id = () => Math.floor(rng() * 1e6).toString(rng() < 0.5 ? 10 : 36)
  const segment = () => pick(rng, segments) + id()
  let url =
    pick(rng, ['http://', 'https://', 'https://', 'https://', 'HTTP://']) +
    pick(rng, hosts) +
    pick(rng, ports)
  if (rng() < 0.95) url += `/${many(5, segment, '/')}`
  if (rng() < 0.3) url += '/'
  if (rng() < 0.03) url += '../'
  if (rng() < 0.5) url += `?${many(4, () => `${pick(rng, names)}=${pick(rng, values)}${id()}`, '&')}`
  if (rng() < 0.2) url += `#${many(2, segment, '/')}`
  return url
}

/** Hosts, paths and queries of which the rewriting profiles make others. */
function rewrittenUrl(rng: Random): string {
  const parameter = () => {
    const name = pick(rng, rng() < 0.3 ? dropped : rng() < 0.5 ? oddNames : names)
    const value = pick(rng, rng() < 0.5 ? oddValues : values)
    return rng() < 0.15 ? pick(rng, ['', name, `${name}=`, value]) : `${name}=${value}`
  }
  const path = () =>
    Array.from({ length: Math.floor(rng() * 3) }, () => pick(rng, rng() < 0.5 ? pages : segments))
  const count = rng() < 0.02 ? Math.floor(rng() * 60) : Math.floor(rng() * 6)
  const query = Array.from({ length: count }, parameter).join(rng() < 0.1 ? ';' : '&')
  const tail = rng() < 0.2 ? pick(rng, ['', '?', '?&', '#x']) : `?${query}`
  return `http://${pick(rng, rng() < 0.5 ? wwwHosts : hosts)}${pick(rng, ports)}/${path().join('/')}${tail}`
}

/** A quarter each: generated URLs, those with one to three changes, usual ones and rewritten ones with as many. */
function* chunks(seed: number, count: number): Generator<string[]> {
  for (let done = 0; done < count; done += CHUNK) {
    const rng = randomFrom(seed + done)
    const odd = generateUrls(seed + done, CHUNK / 4, { lineEnds: done % (4 * CHUNK) === 0 })
    const usual = Array.from({ length: CHUNK / 4 }, () => usualUrl(rng))
    const rewritten = Array.from({ length: CHUNK / 4 }, () => rewrittenUrl(rng))
    const changed = rewritten.map((url) => (rng() < 0.5 ? url : mutateUrl(rng, url)))
    yield [...odd, ...[...odd, ...usual].map((url) => mutateUrl(rng, url)), ...changed]
  }
}

it(`${COUNT} generated and mutated URLs: no difference`, { timeout: 3_600_000 }, async () => {
  const handled = new Map<string, number>()
  for (const urls of chunks(100, COUNT)) {
    for (const { name, profile, slowness } of fast) {
      if (name === 'web of 0.1') continue
      const some = FULL ? urls : urls.slice(-urls.length / slowness)
      const count = await expectSameKeys(profile, some)
      // Even of URLs made to be odd it makes a part of the keys: one that made none would prove nothing.
      expect(count / some.length, name).toBeGreaterThan(0.2)
      handled.set(name, (handled.get(name) ?? 0) + count)
    }
  }
  expect(handled.get('web')).toBe(handled.get('whatwg'))
})

it.each(fast)(
  '$name: the kernel makes the keys of more than 95 of 100 usual URLs',
  async ({ profile, slowness }) => {
    const rng = randomFrom(5)
    const urls = Array.from({ length: USUAL / slowness }, () => usualUrl(rng))
    expect((await expectSameKeys(profile, urls)) / urls.length).toBeGreaterThan(0.95)
  },
)

it.each(fast)(
  'a sieve gives those keys, in order, whoever made them: $name',
  async ({ profile, slowness }) => {
    const urls = [...new Set(generateUrls(9, USUAL / slowness))]
    const byKernel = await keysByKernel(profile, urls)
    const byPlatform = urls.map((url) => keyOf(profile, url))
    const expected = new Set(urls.map((url, i) => byKernel[i] ?? byPlatform[i] ?? url))
    const sieve = await Sieve.create({ profile })
    const feed = sieve.feed({ keep: 'new', as: 'key' })
    const lines = encoder.encode(urls.join('\n'))
    let keys = ''
    const stream = new TextDecoder('utf-8', { ignoreBOM: true })
    for (let at = 0; at < lines.length; at += 300_000) {
      const part = lines.subarray(at, at + 300_000)
      feed.reserve(part.length).set(part)
      keys += stream.decode(feed.push(part.length), { stream: true })
    }
    keys += stream.decode(feed.end())
    expect(keys.split('\n').slice(0, -1)).toEqual([...expected])
    expect(sieve.stats().invalid).toBe(byPlatform.filter((key) => key === null).length)
  },
)
