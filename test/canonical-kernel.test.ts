// The kernel's fast path against the platform: what it canonicalises by itself is, byte for byte, what the profile's
// rules make of it through the platform's URL; the rest it hands over. 240,000 URLs; URLSIEVE_FULL=1: five million.
import { describe, expect, it } from 'vitest'
import { keyOf, type Profile, profiles, resolveProfile } from '../src/canonical/profiles.ts'
import { compileKernel, Kernel } from '../src/kernel.ts'
import { Sieve } from '../src/sieve.ts'
import { generateUrls, mutateUrl, type Random } from './canonical/urls.ts'
import { randomFrom } from './support/random.mjs'

const FULL = process.env.URLSIEVE_FULL === '1'
const COUNT = FULL ? 5_040_000 : 240_000
const CHUNK = 60_000

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The lists of rules that the kernel knows, with their bits of kernel/canonical.ts. */
const fast = [
  { name: 'whatwg', profile: profiles.whatwg, rules: 0 },
  { name: 'web', profile: profiles.web, rules: 9 },
  { name: 'web of 0.1', profile: resolveProfile(['whatwg', 'no-fragment', 'https']), rules: 1 },
] as const

const modulePromise = compileKernel()

/** What the kernel makes of each URL: its key, or null where it hands the line over. Lines lie side by side. */
async function keysByKernel(urls: readonly string[], rules: number): Promise<(string | null)[]> {
  const kernel = Kernel.create(await modulePromise)
  const keys: (string | null)[] = []
  for (let from = 0; from < urls.length; from += kernel.batchLines) {
    const batch = urls.slice(from, from + kernel.batchLines)
    const lines = encoder.encode(batch.join(''))
    const input = kernel.call.reserveInput(lines.length) >>> 0
    kernel.refresh()
    kernel.bytes.set(lines, input)
    let at = input
    for (const [i, url] of batch.entries()) {
      kernel.lineStarts[i] = at
      at += Buffer.byteLength(url)
      kernel.lineEnds[i] = at
    }
    const unusual = kernel.call.canonicalise(batch.length, rules)
    kernel.refresh()
    const handed = new Set(kernel.unusual.subarray(0, unusual))
    const { bytes, keyStarts, keyEnds } = kernel
    for (let i = 0; i < batch.length; i++) {
      keys.push(handed.has(i) ? null : decoder.decode(bytes.subarray(keyStarts[i], keyEnds[i])))
    }
  }
  return keys
}

/** The same for one URL with another behind it. */
const keyByKernel = async (url: string, rules: number) => (await keysByKernel([url, 'http://x/'], rules))[0]!

/** Cuts characters out of a URL for as long as the kernel and the platform disagree on what is left. */
async function shortest(profile: Profile, rules: number, url: string): Promise<string> {
  const differs = async (text: string) => {
    const key = await keyByKernel(text, rules)
    return key !== null && key !== keyOf(profile, text)
  }
  let characters = Array.from(url)
  for (let at = 0; at < characters.length; ) {
    const fewer = characters.toSpliced(at, 1)
    if (await differs(fewer.join(''))) characters = fewer
    else at++
  }
  return characters.join('')
}

/** Fails with the smallest URL on which the two disagree. Gives back how many the kernel did by itself. */
async function expectSameKeys(profile: Profile, rules: number, urls: readonly string[]): Promise<number> {
  const keys = await keysByKernel(urls, rules)
  let handled = 0
  for (const [i, url] of urls.entries()) {
    const key = keys[i]!
    if (key === null) continue
    handled++
    if (key === keyOf(profile, url)) continue
    const small = await shortest(profile, rules, url)
    const of = (text: string | null) => JSON.stringify(text)
    expect.fail(
      `profile ${profile.name}, URL ${of(small)} (found as ${of(url)})\n` +
        `  kernel:   ${of((await keyByKernel(small, rules)) ?? key)}\n  platform: ${of(keyOf(profile, small))}`,
    )
  }
  return handled
}

const hosts =
  'www.example.com news.example.co.uk Example.org shop-24.example.net a_b.example m.example.io'.split(' ')
const segments =
  'news Shop item archive tag page ~user index.html about-us a%20b caf%C3%A9 x(1) a,b;v=1 @me .well-known %7Euser caf%c3%a9 %66oo %%34%31 %4%31 %zz %2f'.split(
    ' ',
  )
const names = 'q id page utm_source a[] sort'.split(' ')
const values = '1 a+b %26 x%2Fy red|blue * ! %2e%2E %61%2d %c3%A9 %'.split(' ')
const ports = ['', '', '', '', '', '', ':', ':80', ':443', ':8080']

/** What crawlers meet most: a host, a path, perhaps a query, a fragment, a port, capitals. */
function usualUrl(rng: Random): string {
  const pick = (from: readonly string[]) => from[Math.floor(rng() * from.length)]!
  const many = (most: number, make: () => string, glue: string) =>
    Array.from({ length: Math.floor(rng() * (most + 1)) }, make).join(glue)
  const id = () => Math.floor(rng() * 1e6).toString(rng() < 0.5 ? 10 : 36)
  const segment = () => pick(segments) + id()
  let url = pick(['http://', 'https://', 'https://', 'https://', 'HTTP://']) + pick(hosts) + pick(ports)
  if (rng() < 0.95) url += `/${many(5, segment, '/')}`
  if (rng() < 0.3) url += '/'
  if (rng() < 0.03) url += '../'
  if (rng() < 0.5) url += `?${many(4, () => `${pick(names)}=${pick(values)}${id()}`, '&')}`
  if (rng() < 0.2) url += `#${many(2, segment, '/')}`
  return url
}

/** A third each: generated URLs, those with one to three changes, and usual ones with as many. */
function* chunks(seed: number, count: number): Generator<string[]> {
  for (let done = 0; done < count; done += CHUNK) {
    const rng = randomFrom(seed + done)
    const odd = generateUrls(seed + done, CHUNK / 3, { lineEnds: done % (4 * CHUNK) === 0 })
    const usual = Array.from({ length: CHUNK / 3 }, () => usualUrl(rng))
    yield [...odd, ...[...odd, ...usual].map((url) => mutateUrl(rng, url))]
  }
}

it(`${COUNT} generated and mutated URLs: no difference`, { timeout: 3_600_000 }, async () => {
  const handled = { whatwg: 0, web: 0 }
  for (const urls of chunks(100, COUNT)) {
    for (const name of ['whatwg', 'web'] as const) {
      const { profile, rules } = fast.find((one) => one.name === name)!
      handled[name] += await expectSameKeys(profile, rules, urls)
    }
  }
  // Even of URLs made to be odd it does a part itself: what it never did would prove nothing.
  expect(handled.whatwg / COUNT).toBeGreaterThan(0.2)
  expect(handled.web).toBe(handled.whatwg)
})

it.each(fast)(
  '$name: of usual URLs the kernel does more than 95 of 100 itself',
  async ({ profile, rules }) => {
    const rng = randomFrom(5)
    const urls = Array.from({ length: 100_000 }, () => usualUrl(rng))
    expect((await expectSameKeys(profile, rules, urls)) / urls.length).toBeGreaterThan(0.95)
  },
)

describe('by hand', () => {
  const label63 = 'a'.repeat(63)
  const oddHosts = [
    ...'a A a.b a.B.c example.com EXAMPLE.COM example.com. example.com.. .example.com a..b a-b -a a- a--b xn--a'.split(
      ' ',
    ),
    ...'xn--bcher-kva.example XN--BCHER-KVA.example a.xn--b ab--c.d ab-c-.d a_b _ __ -- - . .. localhost'.split(
      ' ',
    ),
    ...'1 1.2 1.2.3.4 1.2.3.4. 1.2.3.4.5 01.02.03.04 0x7f.1 0x7f000001 2130706433 0xg 09 08.1 256.1.1.1 a.1 a.0x1'.split(
      ' ',
    ),
    ...'a.1b a.b1 1.a 1a 0xa.b a.0x a.0xg a.09 4294967296 999999999999 [::1] [::1 ::1 [1.2.3.4] %61.com a%2eb a%00b'.split(
      ' ',
    ),
    ...'ａ.com bücher.example straße.de ☃.net a\u00adb.com a\u200db.com 。 a。b % %zz a%41'.split(' '),
    label63,
    `${label63}a`,
    `${label63}.${label63}`,
    `${'a.'.repeat(31)}b`,
    `${'a.'.repeat(32)}b`,
    `${'a'.repeat(15)}.${'b'.repeat(15)}.com`,
    `${'a'.repeat(15)}-.com`,
    `${'a'.repeat(15)}--.com`,
    // No such name, wherever in sixteen bytes its two hyphens lie.
    ...Array.from({ length: 34 }, (_, i) => `${'a'.repeat(i)}.xn--a.example`),
    `${'a'.repeat(16)}--.com`,
    `${'a'.repeat(14)}--b.com`,
    `${'a'.repeat(15)}.1`,
    `${'a'.repeat(16)}.1`,
    '',
    ' ',
    'a b',
    'a\tb',
    'a\nb',
    'a<b',
    'a>b',
    'a^b',
    'a|b',
    'a"b',
    'a`b',
    'a{b}',
    'a\\b',
    'a@b',
    'a:b@c',
    'u:80@h',
    ':@h',
    '@h',
    'u@',
    'a,b',
    "a'b",
    'a;b',
    'a!$&()*+=~b',
  ]
  const oddPorts = [
    ...': :0 :1 :00 :00080 :080 :80 :443 :0443 :8080 :65535 :65536 :99999 :100000 :000080 :8a :a :-1 :+1 :80: ::80'.split(
      ' ',
    ),
    ': 80',
    ':80 ',
    ':\t80',
    ':8\t0',
    ':٨٠',
    ':1.0',
    ':21',
    ':4294967376',
  ]
  const paths = [
    ...'/ // /// /. /.. /./ /../ /a/. /a/.. /a/./ /a/../ /a/./b /a/../b /a/b/../../c /../../a /a//../b /a/..// //..//a'.split(
      ' ',
    ),
    ...'/... /.../ /a/.../b /..a /.a /a. /a.. /a../b /.well-known /.well-known/x /a/.b/c /.%2e /%2e /%2E /%2e%2e/a'.split(
      ' ',
    ),
    ...'/a/%2e/b /a/%2E%2E/b /a/.%2e/b /a/%2e./b /%2 /% /%2e%2 /a%2eb /a%2e /%2f /a%2Fb /%00 /%zz /a;b /a;b/../c /;'.split(
      ' ',
    ),
    ...'/a;jsessionid=1 /a,b /a:b /:80 /@ /a@b /a|b /a^b /a`b /a{b} /a"b /a<b> /[a] /a\\b /a\\..\\b \\a \\ \\\\a /a\'b'.split(
      ' ',
    ),
    ...'/é /日本 /😀 /a+b /a&b /a=b /~a /a!$&()*+,;=:@b /C:/x /C|/x /aaaaaaaaaaaaaa/. /aaaaaaaaaaaaaa/.. /aaaaaaaaaaaaaaa/..'.split(
      ' ',
    ),
    ...'/aaaaaaaaaaaaa/../b /aaaaaaaaaaaaaa./b /aaaaaaaaaaaaaa/%2e/ /aaaaaaaaaaaa%2e /aaaaaaaaaaaaa/%2e%2e'.split(
      ' ',
    ),
    '',
    '/a b',
    '/a\tb',
    '/a\nb',
    '/\0',
    '/a\x7f',
    '/a\x1f',
    `/${'a'.repeat(14)}\x7f`,
    `/${'a/'.repeat(100)}${'../'.repeat(99)}x`,
    `/${'a/'.repeat(100)}${'../'.repeat(150)}..`,
    `/${'x'.repeat(5000)}/../y`,
  ]
  const tails = [
    ..."? ?a ?a=b&c=d ??a ?a?b ?a/../b ?a/./b ?/.. ?. ?%2e ?' ?a'b ?a\"b ?a<b> ?a`b ?a{b} ?a|b ?a^b ?a\\b ?é ?😀 ?a+b ?a%20b".split(
      ' ',
    ),
    ..."# #a #a#b #?a ?#a ?a#b #a?b ?a#?b #/.. #é #' #%2e ?#% ?aaaaaaaaaaaaaa#b ?aaaaaaaaaaaaaaa#b ?aaaaaaaaaaaaaaaa#'".split(
      ' ',
    ),
    '',
    '? ',
    '?a b',
    '?a\tb',
    '?a\nb',
    '?\x7f',
    '#a b',
    '# ',
    '#\0',
    '#a\tb',
    `?${'a'.repeat(20)}'`,
    `?${'a'.repeat(20)}#'"<`,
  ]
  const starts = [
    ...'http:// https:// HTTP:// HtTpS:// hTTPs:// http:/ https:/ http: https: http:/// https://// http:\\\\ http:/\\ ftp://'.split(
      ' ',
    ),
    ...'ws:// file:// htt:// httpp:// httpx:// https//: http// :// // / h: \u0085http:// \ufeffhttp:// ht\u200btp://'.split(
      ' ',
    ),
    '',
    ' http://',
    '\thttps://',
    '\x00\x1f http://',
    '\x7fhttp://',
    '\xa0http://',
    'ht\ttp://',
    'http:\n//',
    'h ttp://',
    'http ://',
  ]
  const ends = ['', ' ', '  ', '\t', '\r', '\n', '\r\n', '\0', '\x1f', '\x7f', '\xa0', ' \x00 ', ' a']

  it.each(fast)(
    'every host, port, path, tail, start and end, with usual ones around it: $name',
    async ({ profile, rules }) => {
      const usual = { host: 'example.com', path: '/a/b' }
      const urls = [
        ...oddHosts.flatMap((host) =>
          ['', '/', '/a', '?a', '#a', ':80/', ':8080'].map((rest) => `http://${host}${rest}`),
        ),
        ...oddHosts.map((host) => `https://${host}/a/../b?c#d`),
        ...oddPorts.flatMap((port) =>
          ['', '/', '/a/../b', '?a', '#a'].flatMap((rest) =>
            ['http', 'https', 'HTTP'].map((scheme) => `${scheme}://${usual.host}${port}${rest}`),
          ),
        ),
        ...paths.flatMap((path) => tails.map((tail) => `https://${usual.host}${path}${tail}`)),
        ...starts.flatMap((start) =>
          ends.flatMap((end) =>
            ['', 'h', usual.host, `${usual.host}/`, `${usual.host}/a?b#c`].map((rest) => start + rest + end),
          ),
        ),
        'a',
        'ab',
        'http',
        'http:',
        'https:',
        'http:/',
        'https:/',
        'http://',
        'https://',
        'http://a',
        'https://a',
        'http://a:',
        'http://a/',
      ]
      expect(urls.length).toBeGreaterThan(4000)
      const handled = await expectSameKeys(profile, rules, urls)
      expect(handled / urls.length).toBeGreaterThan(0.3)
    },
  )

  it.each(fast)('a path of any length with a mark at any place: $name', async ({ profile, rules }) => {
    const marks = [
      "'",
      '#',
      '?',
      '%',
      '%2e',
      '%41',
      '%2f',
      '%%34%31',
      '/.',
      '/..',
      '/../',
      '/./',
      '/.a',
      '.',
      '..',
      ' ',
      '"',
      '\\',
      'é',
      '\x7f',
      '{',
      '|',
      '@',
      ':',
    ]
    const urls = marks.flatMap((mark) =>
      Array.from(
        { length: 40 },
        (_, at) => `http://h.example/${'a'.repeat(at)}${mark}${'b'.repeat((7 * at) % 23)}`,
      ),
    )
    await expectSameKeys(profile, rules, urls)
    await expectSameKeys(
      profile,
      rules,
      urls.map((url) => url.replace('/', '/?')),
    )
    await expectSameKeys(
      profile,
      rules,
      urls.map((url) => url.replace('.example/', '.example/?q=')),
    )
  })

  it('what is plainly usual stays in the kernel, what is not goes to the platform', async () => {
    const usual = [
      'http://example.com',
      'https://Example.com:443/a/../b#top',
      'http://example.com:80/',
      'https://example.com:8443/a%20b?q=a+b&c[]=d',
      "http://example.com/it's",
      'HTTP://EXAMPLE.COM/.well-known/x',
      ' https://example.com/ \r',
      'https://a_b.example/a|b',
    ]
    const not = [
      "http://example.com/?it's",
      'http://user@example.com/',
      'http://127.0.0.1/',
      'http://xn--bcher-kva.example/',
      'http://example.com/%2e%2e/',
      'http://example.com/a b',
      'http://example.com\\a',
      'http://example.com:00080/',
      'http://example.com:65536/',
      'http://example.com./',
      'https:/example.com/',
      'ftp://example.com/',
      'http://bücher.example/',
    ]
    for (const { rules } of fast) {
      expect((await keysByKernel(usual, rules)).indexOf(null)).toBe(-1)
      expect((await keysByKernel(not, rules)).every((key) => key === null)).toBe(true)
    }
    expect(await keyByKernel('https://Example.com:443/a/../b#top', 0)).toBe('https://example.com/b')
    expect(await keyByKernel('http://example.com/a/.b/../c/./d/.', 0)).toBe('http://example.com/a/c/d/')
    expect(await keyByKernel('http://example.com:443/', 1)).toBe('https://example.com/')
    expect(await keyByKernel('https://example.com:80/', 1)).toBe('https://example.com:80/')
    const escaped = 'http://example.com/%66oo/%7e/%2f/%%34%31?%5a=%c3%a9#%41'
    expect(await keyByKernel(escaped, 9)).toBe('https://example.com/foo/~/%2F/%%341?Z=%C3%A9')
    expect(await keyByKernel(escaped, 1)).toBe('https://example.com/%66oo/%7e/%2f/%%34%31?%5a=%c3%a9')
  })
})

it.each(fast)('a sieve gives those keys, in order, whoever made them: $name', async ({ profile, rules }) => {
  const urls = [...new Set(generateUrls(9, 60_000))]
  const byKernel = await keysByKernel(urls, rules)
  const expected = new Set(urls.map((url, i) => byKernel[i] ?? keyOf(profile, url) ?? url))
  const sieve = await Sieve.create({ profile })
  const feed = sieve.feed({ keep: 'new', as: 'key' })
  const lines = encoder.encode(urls.join('\n'))
  let keys = ''
  const stream = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let at = 0; at < lines.length; at += 300_000) {
    const part = lines.subarray(at, at + 300_000)
    feed.room(part.length).set(part)
    keys += stream.decode(feed.push(part.length), { stream: true })
  }
  keys += stream.decode(feed.end())
  expect(keys.split('\n').slice(0, -1)).toEqual([...expected])
  expect(sieve.stats().invalid).toBe(urls.filter((url) => keyOf(profile, url) === null).length)
})
