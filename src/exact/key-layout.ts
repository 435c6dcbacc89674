// How a key lies in LevelDB: `example.com/blog/post` 0xff `s`. The scheme goes behind the text, so that a host or a
// folder is one contiguous range and neighbours share a prefix. Every key has a layout and no two share one: what
// stands behind the last 0xff is the scheme: `s` https, `h` http, `ftp:` any other, nothing for a key without one.
import { isSlash, trimEnd } from '../canonical/ends.ts'

import { SieveError } from '../errors.ts'

const MARK = 0xff
const HTTPS = 0x73
const HTTP = 0x68
const COLON = 0x3a
const SLASH = 0x2f

/** Not the key of a URL, since it has no mark: where the store keeps its description. Sorts below every key. */
export const META_KEY: Buffer = Buffer.of(0)

// How many bytes the scheme has, when the key begins with one and `://`; else 0.
function schemeBytes(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const c = bytes[at]!
    const lower = c | 0x20
    if (lower >= 0x61 && lower <= 0x7a) continue
    if (at === start) return 0
    if (c === COLON)
      return bytes[at + 1] === SLASH && bytes[at + 2] === SLASH && at + 2 < end ? at - start : 0
    if (!((c >= 0x30 && c <= 0x39) || c === 0x2b || c === 0x2d || c === 0x2e)) return 0
  }
  return 0
}

function isHttp(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x68 && bytes[at + 1] === 0x74 && bytes[at + 2] === 0x74 && bytes[at + 3] === 0x70
}

/** The layout of the key at [start, end) of `bytes`. */
export function layOut(bytes: Uint8Array, start = 0, end = bytes.length): Buffer {
  const scheme = schemeBytes(bytes, start, end)
  const from = scheme === 0 ? start : start + scheme + 3
  const isHttps = scheme === 5 && isHttp(bytes, start) && bytes[start + 4] === HTTPS
  const isPlain = scheme === 4 && isHttp(bytes, start)
  const code = scheme === 0 ? 0 : isHttps || isPlain ? 1 : scheme + 1
  const size = end - from
  const laid = Buffer.allocUnsafe(size + 1 + code)
  laid.set(bytes.subarray(from, end), 0)
  laid[size] = MARK
  if (isHttps) laid[size + 1] = HTTPS
  else if (isPlain) laid[size + 1] = HTTP
  else if (scheme > 0) {
    laid.set(bytes.subarray(start, start + scheme), size + 1)
    laid[size + 1 + scheme] = COLON
  }
  return laid
}

/** The scheme of a key, from its layout; empty when it has none. */
export function schemeOf(laid: Buffer): string {
  const mark = laid.lastIndexOf(MARK)
  if (mark === laid.length - 1) return ''
  if (laid.length - mark > 2) return laid.toString('latin1', mark + 1, laid.length - 1)
  return laid[mark + 1] === HTTPS ? 'https' : 'http'
}

/** The key itself, from its layout. */
export function keyOfLayout(laid: Buffer): Buffer {
  const mark = laid.lastIndexOf(MARK)
  if (mark < 0)
    throw new SieveError('corrupt', 'the exact sieve is damaged: it holds an entry that is not a key')
  const text = laid.subarray(0, mark)
  const scheme = schemeOf(laid)
  return scheme === '' ? text : Buffer.concat([Buffer.from(`${scheme}://`, 'latin1'), text])
}

/** A range of keys: from `gte`, up to but without `lt`. */
export interface KeyRange {
  readonly gte: Buffer
  readonly lt: Buffer
}

function beginningWith(prefix: Buffer): KeyRange {
  let last = prefix.length - 1
  while (prefix[last] === 0xff) last--
  const lt = Buffer.from(prefix.subarray(0, last + 1))
  lt[last]!++
  return { gte: prefix, lt }
}

/**
 * The ranges of what is under a folder, by the folder's own key. A profile that drops the slash at the end of a path
 * makes `host/blog` the key of the folder itself and `host/blog?page=2` that of a page in it: these belong to it.
 */
export function rangesUnder(folderKey: Buffer): { ranges: KeyRange[]; scheme: string } {
  const laid = layOut(folderKey)
  const text = laid.toString('latin1', 0, laid.lastIndexOf(MARK))
  const bare = trimEnd(text, isSlash)
  const isDropped = !text.endsWith('/') || !bare.includes('/')
  const ends = isDropped ? ['/', '?', '\xff'] : ['/']
  const ranges = ends.map((end) => beginningWith(Buffer.from(`${bare}${end}`, 'latin1')))
  return { ranges, scheme: schemeOf(laid) }
}

/** A folder as a URL that the profile can make a key of. */
export function folderUrl(folder: string): string {
  const text = folder.includes('://') ? folder : `https://${folder}`
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#]+(\/[^?#]*)?$/i.test(text)) {
    throw new SieveError('option', `folder '${folder}': expected a host or folder, such as example.com/blog/`)
  }
  return text.endsWith('/') ? text : `${text}/`
}
