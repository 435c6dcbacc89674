// The built-in rules: each takes one form of a key to the next. A lossy rule errs towards "seen": two different pages
// may get one key, and the second is then never fetched. The others only join spellings of the same request.

import { withScheme } from './bare-hosts.ts'
import { escapeUnwise, normaliseEscapes } from './escapes.ts'
import { dropHostDot, dropNumberedWww, isHostTooLong } from './hosts.ts'
import { dropEmptyParameters, dropParameters, formParameters, sortParameters } from './parameters.ts'
import { replaceParts, split } from './parts.ts'
import { dropIndex, dropTrailingSlashes, joinSlashes } from './paths.ts'
import { dropSessionsFromPath, isListed, isSession, isTracking, utmParameters } from './tracking.ts'
import { canonicalizeLikeOldW3lib, canonicalizeLikeW3lib } from './w3lib.ts'

/** One step from a URL to its key. */
export interface Rule {
  /** What it is called in lists of rules, in stored sieves and by `explain`. */
  readonly name: string
  /** One line, for the docs and for `explain`. */
  readonly does: string
  /** True when two different pages may get the same key. */
  readonly lossy: boolean
  /** Of a learned rule: why it is believed, for `explain`. */
  readonly evidence?: string
  /** The next form of the key; null means this is no URL, and the line is keyed as it stands. */
  apply(key: string): string | null
}

/** The built-in rules by name. */
export type RuleName = keyof typeof builtIn

const builtIn = {
  trim: {
    does: 'strips white space at both ends, Unicode’s too (JavaScript’s trim)',
    lossy: false,
    apply: (key: string) => key.trim(),
  },
  whatwg: {
    does: 'parses and writes the URL as browsers do (WHATWG URL)',
    lossy: false,
    apply: hrefOf,
  },
  'bare-host': {
    does: 'reads what begins with a host instead of a scheme as https://, as an address bar does',
    lossy: true,
    apply: withHostScheme,
  },
  'no-fragment': {
    does: 'cuts the fragment, which is never sent to a server',
    lossy: false,
    apply: (key: string) => (key.includes('#') ? replaceParts(key, () => ({ fragment: '' })) : key),
  },
  https: {
    does: 'takes http for https, and drops the default port',
    lossy: true,
    apply: (key: string) => key.replace(/^(http|https):\/\/([^/?#]*)/, secure),
  },
  escapes: {
    does: 'decodes escaped letters, digits and -._~, and writes other escapes in capitals (RFC 3986)',
    lossy: false,
    apply: (key: string) => (hasEquivalentEscapes(key) ? normaliseEscapes(key) : key),
  },
  'escape-unwise': {
    does: 'escapes ^ | ` { } [ ] and \\, which RFC 3986 never allows bare there',
    lossy: true,
    apply: (key: string) =>
      replaceParts(key, ({ authority, path, query }) =>
        authority === '' ? {} : { path: escapeUnwise(path), query: escapeUnwise(query) },
      ),
  },
  'no-credentials': {
    does: 'drops user name and password',
    lossy: true,
    apply: (key: string) =>
      replaceParts(key, ({ authority }) => ({ authority: authority.replace(/^\/\/.*@/s, '//') })),
  },
  'no-utm': {
    does: 'drops the parameters that start with utm_',
    lossy: true,
    apply: (key: string) => dropParameters(key, (name) => isListed(name, utmParameters)),
  },
  'no-tracking': {
    does: 'drops campaign and click parameters: utm_*, gclid, fbclid, msclkid, mc_eid, …',
    lossy: true,
    apply: (key: string) => dropParameters(key, isTracking),
  },
  'no-session': {
    does: 'drops session identifiers: ;jsessionid=, PHPSESSID, sid, /(S(…))/, …',
    lossy: true,
    apply: (key: string) => replacePath(dropParameters(key, isSession), dropSessionsFromPath),
  },
  'no-www': {
    does: 'drops www. in front of a host',
    lossy: true,
    apply: (key: string) =>
      key.replace(/^([^:/?#]+:\/\/(?:[^/?#]*@)?)(?:www\.)+(?=[^./?#:@]+\.[^./?#:@])/i, '$1'),
  },
  'no-www-number': {
    does: 'drops www., www2., www3., … in front of a host',
    lossy: true,
    apply: dropNumberedWww,
  },
  'no-host-dot': {
    does: 'drops the dot at the end of a host',
    lossy: true,
    apply: dropHostDot,
  },
  'single-slashes': {
    does: 'writes slashes side by side in the path as one',
    lossy: true,
    apply: (key: string) => replacePath(key, joinSlashes),
  },
  'no-index': {
    does: 'drops the name of an index page: index.html, index.php, default.aspx, …',
    lossy: true,
    apply: (key: string) => replacePath(key, dropIndex),
  },
  'form-query': {
    does: 'decodes the query and writes it again as a form would (%20 is +, a is a=)',
    lossy: true,
    apply: formParameters,
  },
  'no-empty-parameters': {
    does: 'drops empty parameters (a&&b is a&b) and the = in front of no value (b= is b)',
    lossy: true,
    apply: dropEmptyParameters,
  },
  'sort-query': {
    does: 'sorts the parameters by name',
    lossy: true,
    apply: sortParameters,
  },
  'no-empty-query': {
    does: 'drops a ? with nothing behind it',
    lossy: true,
    apply: (key: string) => replaceParts(key, ({ query }) => (query === '?' ? { query: '' } : {})),
  },
  'no-trailing-slash': {
    does: 'drops the slashes at the end of the path',
    lossy: true,
    apply: (key: string) => replacePath(key, dropTrailingSlashes),
  },
  crawlee: {
    does: 'drops one slash at the end of the path and writes scheme://, as Crawlee’s unique key does',
    lossy: true,
    apply: writeLikeCrawlee,
  },
  scrapy: {
    does: 'canonicalises as Scrapy does (w3lib’s canonicalize_url)',
    lossy: true,
    apply: canonicalizeLikeW3lib,
  },
  w3lib: {
    does: 'as scrapy, with user name, password, host and port as w3lib up to 2.1 took them: as one name',
    lossy: true,
    apply: canonicalizeLikeOldW3lib,
  },
} satisfies Record<string, Omit<Rule, 'name'>>

/** Every built-in rule by its name. */
export const rules: Readonly<Record<RuleName, Rule>> = Object.freeze(
  Object.fromEntries(Object.entries(builtIn).map(([name, rule]) => [name, Object.freeze({ name, ...rule })])),
) as unknown as Readonly<Record<RuleName, Rule>>

// Asking first spares the exception, which costs over ten times the parsing. But Node 20 and 22 misread Latin-1 text
// once canParse is hot (they say no to http://bücher.example), so only plain ASCII is asked about.
function hrefOf(key: string): string | null {
  if (isHostTooLong(key)) return null
  if (!/[^\0-\x7f]/.test(key)) return URL.canParse(key) ? withoutDots(new URL(key).href) : null
  try {
    return withoutDots(new URL(key).href)
  } catch {
    return null
  }
}

// Ada before its fix of issue 935 (Node 20 has 2.9) leaves dot segments in a path behind a segment like `.b`, which the
// standard resolves. Spelled %2e it resolves them.
function withoutDots(href: string): string {
  if (!href.includes('/.')) return href
  const { scheme, authority, path, query, fragment } = split(href)
  if (!path.startsWith('/') || !/\/\.\.?(?:\/|$)/.test(path)) return href
  const spelled = path.replace(/\/(\.\.?)(?=\/|$)/g, (_, dots: string) => `/${'%2e'.repeat(dots.length)}`)
  return new URL(scheme + authority + spelled + query + fragment).href
}

// What the platform strips is no part of a host.
function withHostScheme(key: string): string {
  const text = key.replace(/^[\0- ]+|[\t\n\r]/g, '')
  const url = withScheme(text)
  return url === text ? key : url
}

const replacePath = (key: string, change: (path: string) => string) =>
  replaceParts(key, ({ authority, path }) => (authority === '' ? {} : { path: change(path) }))

// A drive letter (`file:///%43|/`) and an opaque path would be read another way once decoded.
function hasEquivalentEscapes(key: string): boolean {
  if (!key.includes('%')) return false
  const { scheme, authority } = split(key)
  return authority !== '' && scheme.toLowerCase() !== 'file:'
}

function secure(_: string, scheme: string, authority: string): string {
  const port = scheme === 'http' ? /:(?:443|80)$/ : /:443$/
  return `https://${authority.replace(port, '')}`
}

function writeLikeCrawlee(key: string): string {
  return replaceParts(key, ({ authority, path }) => ({
    authority: authority.toLowerCase() || '//',
    path: (authority === '' && path.startsWith('/.//') ? path.slice(2) : path).replace(/\/$/, ''),
  }))
}
