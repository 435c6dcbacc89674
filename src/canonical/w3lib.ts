// The key Scrapy's duplicate filter uses: w3lib.url.canonicalize_url(url, keep_fragments=False) of w3lib 2.1.1 over
// Python 3.11's urllib.parse, with the authority as later versions take it. Not the WHATWG standard: ports and dot
// segments stay, backslashes are no slashes.

import { isColon, stripControls, trimEnd } from './ends.ts'
import { percent, replaceEscapes } from './escapes.ts'
import { toAscii } from './idna2003.ts'

/** The canonical form, or null where Python raises ValueError. Not idempotent: `%2541` becomes `%41`, then `A`. */
export const canonicalizeLikeW3lib = (url: string): string | null => canonicalize(url, canonicalNetloc)

/** The same by w3lib 2.1.1 in all. */
export const canonicalizeLikeOldW3lib = (url: string): string | null => canonicalize(url, oldNetloc)

function canonicalize(url: string, netlocOf: (netloc: string) => string): string | null {
  const text = stripControls(url).replace(/[\t\n\r]+/g, '')
  if (/\p{Surrogate}/u.test(text)) return null
  const parts = splitLikePython(text)
  if (parts === null) return null
  const path = requotePath(quote(parts.path, unsafeInPath)) || '/'
  return unsplit(
    parts.scheme,
    netlocOf(parts.netloc),
    path,
    quote(parts.params, unsafe),
    sortQuery(quote(parts.query, unsafe)),
  )
}

interface PythonParts {
  scheme: string
  netloc: string
  path: string
  params: string
  query: string
}

// urllib.parse.urlparse, without the fragment.
function splitLikePython(url: string): PythonParts | null {
  const schemed = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)
  const scheme = schemed ? schemed[1]!.toLowerCase() : ''
  let rest = schemed ? url.slice(schemed[0].length) : url
  let netloc = ''
  if (rest.startsWith('//')) {
    netloc = /^\/\/[^/?#]*/.exec(rest)![0].slice(2)
    rest = rest.slice(netloc.length + 2)
    if (!bracketsAreAnAddress(netloc) || hidesADelimiter(netloc)) return null
  }
  const [beforeFragment] = cutAt(rest, '#')
  const [wholePath, query] = cutAt(beforeFragment, '?')
  if (!schemesWithParams.has(scheme)) return { scheme, netloc, path: wholePath, params: '', query }
  const semicolon = wholePath.indexOf(';', Math.max(wholePath.lastIndexOf('/'), 0))
  if (semicolon < 0) return { scheme, netloc, path: wholePath, params: '', query }
  const path = wholePath.slice(0, semicolon)
  return { scheme, netloc, path, params: wholePath.slice(semicolon + 1), query }
}

// urllib.parse.urlunsplit.
function unsplit(scheme: string, netloc: string, path: string, params: string, query: string): string {
  let url = params === '' ? path : `${path};${params}`
  if (netloc !== '' || (schemesWithNetloc.has(scheme) && !url.startsWith('//'))) {
    url = `//${netloc}${url.startsWith('/') ? '' : '/'}${url}`
  }
  return (scheme === '' ? '' : `${scheme}:`) + url + (query === '' ? '' : `?${query}`)
}

const schemesWithParams = new Set([
  '',
  ...'ftp hdl prospero http imap https shttp rtsp rtspu sip sips mms sftp tel'.split(' '),
])
const schemesWithNetloc = new Set(
  `ftp http gopher nntp telnet imap wais file mms https shttp snews prospero rtsp rtspu rsync svn svn+ssh sftp nfs
   git git+ssh ws wss`.split(/\s+/),
)

// Brackets in a netloc must hold an IPv6 address (perhaps with a zone) or an IPvFuture one, and nothing beside it.
function bracketsAreAnAddress(netloc: string): boolean {
  if (!netloc.includes('[') && !netloc.includes(']')) return true
  if (!netloc.includes('[') || !netloc.includes(']')) return false
  const host = netloc.slice(netloc.lastIndexOf('@') + 1)
  const [before, bracketed] = cutAt(host, '[')
  if (!host.includes('[')) return isAddress(cutAt(host, ':')[0])
  const [address, after] = cutAt(bracketed, ']')
  return before === '' && (after === '' || after.startsWith(':')) && isAddress(address)
}

function isAddress(host: string): boolean {
  if (host.startsWith('v')) return /^v[a-fA-F0-9]+\..+$/s.test(host)
  const [address, zone] = cutAt(host, '%')
  if (host.includes('%') && (zone === '' || zone.includes('%'))) return false
  return /^[0-9a-fA-F:.]+$/.test(address) && URL.canParse(`http://[${address}]/`)
}

// A character such as U+2100 turns into one with a delimiter in it (a/c) once normalised.
function hidesADelimiter(netloc: string): boolean {
  if (!/[^\0-\x7f]/.test(netloc)) return false
  for (const character of netloc) {
    if (character > '\x7f' && /[/?#@:]/.test(character.normalize('NFKC'))) return true
  }
  return false
}

// Since 2.2.1 w3lib leaves the case of user name and password alone; since it makes the URL safe first (2026), the host
// alone is encoded by IDNA, and what is not ASCII before it is percent-encoded. The port stays as written.
function canonicalNetloc(netloc: string): string {
  const at = netloc.lastIndexOf('@') + 1
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(.*)$/s.exec(netloc.slice(at))!
  const credentials = netloc.slice(0, at).replace(/[^\0-\x7f]/gu, encodeURIComponent)
  return credentials + (toAsciiName(host) + trimEnd(port, isColon)).toLowerCase()
}

// Up to 2.1 the netloc is encoded whole: credentials and port are part of the first and the last label.
const oldNetloc = (netloc: string): string => trimEnd(toAsciiName(netloc).toLowerCase(), isColon)

const toAsciiName = (name: string): string => (/[^\0-\x7f]/.test(name) ? (toAscii(name) ?? name) : name)

const unsafe = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=|%]+/gu
const unsafeInPath = /[^A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=|%]+/gu
const unsafeInForm = /[^A-Za-z0-9\-._~]/g

// urllib.parse.quote of the text's UTF-8 bytes: what is unwanted encodeURIComponent escapes as well.
const quote = (text: string, unwanted: RegExp): string => text.replace(unwanted, encodeURIComponent)

// What an escaped byte of a path becomes: decoded where it need not be escaped, else in capitals; %2F and %3F stay.
const requoted = Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 && byte !== 0x2f && byte !== 0x3f
    ? quote(String.fromCharCode(byte), unsafeInPath)
    : percent(byte),
)

const requotePath = (path: string): string => replaceEscapes(path, (byte) => requoted[byte]!)

// Pairs cut at & and ;, sorted as bytes by name and then value, written as a form. Characters here are bytes.
function sortQuery(query: string): string {
  const pairs = query
    .split(/[&;]/)
    .filter((pair) => pair !== '')
    .map((pair) => cutAt(pair, '=').map(unquote) as [string, string])
  pairs.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
  return pairs.map(([name, value]) => `${quotePlus(name)}=${quotePlus(value)}`).join('&')
}

const unquote = (text: string) =>
  replaceEscapes(text.replaceAll('+', ' '), (byte) => String.fromCharCode(byte))

const quotePlus = (bytes: string) =>
  bytes.replace(unsafeInForm, (c) => (c === ' ' ? '+' : percent(c.charCodeAt(0))))

function cutAt(text: string, delimiter: string): [string, string] {
  const at = text.indexOf(delimiter)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + delimiter.length)]
}
