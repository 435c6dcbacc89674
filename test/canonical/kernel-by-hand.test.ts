// The kernel's fast path against the rules, on URLs chosen by hand: every odd host, port, path and query, and marks at every
// place of the 64 bytes that it reads at a time.
import { describe, expect, it } from 'vitest'
import { profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { expectSameKeys, fast, keyByKernel, keysByKernel } from './kernel-keys.ts'

const { whatwg, web } = profiles
const oldWeb = resolveProfile(['whatwg', 'no-fragment', 'https'])

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
    async ({ profile }) => {
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
      const handled = await expectSameKeys(profile, urls)
      expect(handled / urls.length).toBeGreaterThan(0.3)
    },
  )

  it.each(fast)('a path of any length with a mark at any place: $name', async ({ profile }) => {
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
    await expectSameKeys(profile, urls)
    await expectSameKeys(
      profile,
      urls.map((url) => url.replace('/', '/?')),
    )
    await expectSameKeys(
      profile,
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
    for (const { profile } of fast.filter(({ name }) => /^w/.test(name))) {
      expect((await keysByKernel(profile, usual)).indexOf(null)).toBe(-1)
      expect((await keysByKernel(profile, not)).every((key) => key === null)).toBe(true)
    }
    expect(await keyByKernel(whatwg, 'https://Example.com:443/a/../b#top')).toBe('https://example.com/b')
    expect(await keyByKernel(whatwg, 'http://example.com/a/.b/../c/./d/.')).toBe('http://example.com/a/c/d/')
    expect(await keyByKernel(oldWeb, 'http://example.com:443/')).toBe('https://example.com/')
    expect(await keyByKernel(oldWeb, 'https://example.com:80/')).toBe('https://example.com:80/')
    const escaped = 'http://example.com/%66oo/%7e/%2f/%%34%31?%5a=%c3%a9#%41'
    expect(await keyByKernel(web, escaped)).toBe('https://example.com/foo/~/%2F/%%341?Z=%C3%A9')
    expect(await keyByKernel(oldWeb, escaped)).toBe('https://example.com/%66oo/%7e/%2f/%%34%31?%5a=%c3%a9')
  })
})
