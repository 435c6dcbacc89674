// Seeded URLs for tests: usual ones, odd ones, and what is no URL at all; the same seed gives the same list.
// Every string is well-formed Unicode, never empty, and without line ends unless asked for.
import { randomFrom } from '../support/random.mjs'

export type Random = () => number

const below = (rng: Random, n: number) => Math.floor(rng() * n)
const pick = <T>(rng: Random, from: readonly T[]): T => from[below(rng, from.length)]!
const often = (rng: Random, probability: number) => rng() < probability
const some = (rng: Random, most: number, make: () => string, glue: string) =>
  Array.from({ length: below(rng, most + 1) }, make).join(glue)

const schemes = ['http', 'https', 'https', 'https', 'http', 'HTTP', 'Https', 'ftp', 'ws', 'wss', 'file']
const otherSchemes = [
  'mailto',
  'javascript',
  'data',
  'tel',
  'urn',
  'about',
  'blob',
  'svn+ssh',
  'git',
  'foo',
  'x-y.z',
]
const words =
  'a b news shop item archive tag page user index.html index.php default.aspx products about-us 2024 07 42 x_y ~me img.png'.split(
    ' ',
  )
const hosts =
  'example.com www.example.com sub.example.co.uk EXAMPLE.com Www.Example.ORG h a.b localhost xn--bcher-kva.example www.www.a.com www.com example.com. a-b.example a_b.example'.split(
    ' ',
  )
const idnHosts =
  'bücher.example straße.de 例え.jp пример.рф mañana.com ☃.net 😀.ws www.bücher.example Bücher.Example faß.de ｅｘａｍｐｌｅ.com a。b σας.gr אבג.com ex­ample.com xn--zca.com xn--a İstanbul.tr'.split(
    ' ',
  )
const oddHosts = [
  ...'127.0.0.1 127.1 0x7f.1 0x7f000001 2130706433 017700000001 1.2.3.4. 1.2.3 256.256.256.256 1.2.3.4.5 0'.split(
    ' ',
  ),
  ...'[::1] [2001:DB8::1] [::ffff:1.2.3.4] [1:2:3:4:5:6:7:8] [::0:0] [fe80::1%25eth0] [v1.x] [::1 [] [1.2.3.4]'.split(
    ' ',
  ),
  ...'a..b .a a. .. %65xample.com ex%41mple.com a%00b a%2fb a<b a^b a|b a%b -a a- _ * a,b a;b a!b a$b'.split(
    ' ',
  ),
  `${'a'.repeat(70)}.com`,
  `${'abc.'.repeat(70)}com`,
]
const ports = ['', ':', ':80', ':443', ':8080', ':21', ':0', ':00080', ':65535', ':65536', ':8a', ':-1']
const credentials = ['u@', 'u:p@', ':p@', 'u:@', '@', ':@', 'a@b@', 'ü:é@', 'a b:c d@', 'u%40x:p%3A@']
const dots = ['.', '..', '%2e', '%2E%2e', '.%2e', '...', './', '../..', '%2e%2e%2f']
const oddities = [
  ...'| ^ { } \' " < > ` [ ] \\ // ; , = & + ! * ( ) $ @ : ~ %20 %2f %2F %3f %3F %23 %25 %2541 %zz % %e %C3%A9 %c3%a9 %E9 %00 %7C'.split(
    ' ',
  ),
  ...[
    'é',
    'ü',
    'ß',
    '日本',
    '😀',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u200d',
    '\ufffd',
    'e\u0301',
    'Ａ',
    '℀',
    '\u{e0001}',
  ],
  ...[' ', '  ', '\t', '\0', '\x01', '\x0b', '\x0c', '\x1f', '\x7f', '\x80'],
]
const names =
  'a b c q id page sort utm_source utm_medium UTM_Campaign utm%5Fx gclid fbclid msclkid mc_eid sid PHPSESSID jsessionid é a%20b a+b'.split(
    ' ',
  )
const badUrls =
  'http:// https:// //example.com/a /relative/path relative?x=1 ?q=1 #f : :// http http: http:/ http:/a http:a http:///a https:example.com www.example.com example.com:80 127.0.0.1:80/a 1http://a ht!tp://a javascript:void(0) mailto:a@b.c tel:+1-2 about:blank data:text/plain,hi urn:isbn:1 file:///etc/passwd file://h/C|/x file:C:/x blob:https://a/b'.split(
    ' ',
  )

function segment(rng: Random): string {
  const r = rng()
  if (r < 0.7) return pick(rng, words)
  if (r < 0.78) return pick(rng, dots)
  if (r < 0.82) return ''
  if (r < 0.86)
    return `${pick(rng, words)};${pick(rng, ['jsessionid=A1', 'v=1', '', 'sid=2', 'JSESSIONID=b.c'])}`
  if (r < 0.88) return '(S(abc123))'
  return pick(rng, words) + pick(rng, oddities) + (often(rng, 0.5) ? pick(rng, words) : '')
}

function parameter(rng: Random): string {
  const value = often(rng, 0.8) ? pick(rng, words) : pick(rng, oddities) + pick(rng, ['', ...words])
  const r = rng()
  if (r < 0.1)
    return pick(rng, ['', pick(rng, names), `${pick(rng, names)}=`, `=${value}`, pick(rng, oddities)])
  return `${pick(rng, names)}=${value}`
}

function generateUrl(rng: Random): string {
  if (often(rng, 0.03)) return pick(rng, badUrls)
  if (often(rng, 0.04)) {
    return `${pick(rng, otherSchemes)}:${pick(rng, ['', '/', '//', '//h/'])}${some(rng, 3, () => segment(rng), '/')}`
  }
  const kind = rng()
  const host = kind < 0.8 ? pick(rng, hosts) : kind < 0.9 ? pick(rng, idnHosts) : pick(rng, oddHosts)
  let url =
    pick(rng, schemes) + pick(rng, ['://', '://', '://', '://', '://', '://', ':/', ':', ':///', ':\\\\'])
  if (often(rng, 0.08)) url += pick(rng, credentials)
  url += host
  if (often(rng, 0.2)) url += pick(rng, ports)
  if (often(rng, 0.9)) url += `/${some(rng, 5, () => segment(rng), '/')}`
  if (often(rng, 0.01)) url += `/${'long/'.repeat(below(rng, 400))}`
  if (often(rng, 0.2)) url += '/'
  if (often(rng, 0.5)) url += `?${some(rng, 4, () => parameter(rng), pick(rng, ['&', '&', '&', '&', ';']))}`
  if (often(rng, 0.2)) url += `#${some(rng, 2, () => segment(rng), '/')}`
  return url
}

const edits: ((rng: Random, url: string[], at: number) => string[])[] = [
  (rng, url, at) => [...url.slice(0, at), pick(rng, oddities), ...url.slice(at)],
  (rng, url, at) => [...url.slice(0, at), `/${pick(rng, dots)}/`, ...url.slice(at)],
  (_, url, at) => [...url.slice(0, at), ...url.slice(at + 1)],
  (_, url, at) => url.with(at, url[at]!.toUpperCase()),
  (_, url, at) => url.with(at, `%${(url[at]!.codePointAt(0)! & 0xff).toString(16).padStart(2, '0')}`),
  (_, url) => [...url, '#', 'x'],
  (_, url) => [...url, url.includes('?') ? '&' : '?'],
  (rng, url) => [...url, url.includes('?') ? '&' : '?', parameter(rng)],
  (rng, url) => [pick(rng, [' ', '\t', '\x01', '\u00a0', '\ufeff']), ...url],
  (rng, url) => [...url, pick(rng, [' ', '\t', '\x01', '\u00a0', '/', '//'])],
  (rng, url, at) => [...url.slice(0, at), ...url.slice(below(rng, url.length))],
  (_, url) => url.map((c) => (c === '/' ? '\\' : c)),
]

/** As `Array.from`, which is slow; only characters of two units need it. */
const charactersOf = (text: string) => (/[\ud800-\udfff]/.test(text) ? Array.from(text) : text.split(''))

/** The URL with one to three small changes: case, escapes, dots, white space, odd characters, a cut. */
export function mutateUrl(rng: Random, url: string): string {
  let characters = charactersOf(url)
  for (let left = 1 + below(rng, 3); left > 0; left--) {
    const changed = pick(rng, edits)(rng, characters, below(rng, characters.length))
    if (changed.length > 0) characters = charactersOf(changed.join(''))
  }
  return characters.join('')
}

/** `n` URLs from a seed; about a third are mutations. `lineEnds` also puts CR and LF into some. */
export function generateUrls(seed: number, n: number, { lineEnds = false } = {}): string[] {
  const rng = randomFrom(seed)
  return Array.from({ length: n }, () => {
    let url = generateUrl(rng)
    if (often(rng, 0.35)) url = mutateUrl(rng, url)
    if (lineEnds && often(rng, 0.05)) {
      const at = below(rng, url.length)
      if (!/[\ud800-\udfff]/.test(url))
        url = url.slice(0, at) + pick(rng, ['\n', '\r', '\r\n']) + url.slice(at)
    }
    return url
  })
}
