// A key cut into its five parts (RFC 3986, appendix B), each with its own delimiter, so that they join
// by concatenation. Exact for what the platform's URL writes; it accepts any string.

import { isSpace, trimEnd } from './ends.ts'

export interface Parts {
  scheme: string // 'https:' or ''
  authority: string // '//user@host:8080' or ''
  path: string
  query: string // '?a=1' or ''
  fragment: string // '#top' or ''
}

const pattern = /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s

export function split(key: string): Parts {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = pattern.exec(key)!
  return { scheme, authority, path, query, fragment }
}

/**
 * The key with some of its parts replaced. An opaque path (`data:a #b`) may end in spaces only while a query or a
 * fragment follows: they go with the last of these, as when a URL object's `hash` is set to nothing.
 */
export function replaceParts(key: string, change: (parts: Parts) => Partial<Parts>): string {
  const parts = split(key)
  const { scheme, authority, path, query, fragment } = { ...parts, ...change(parts) }
  const tail = query + fragment
  if (tail === '' && parts.query + parts.fragment !== '') return scheme + authority + trimEnd(path, isSpace)
  return scheme + authority + path + tail
}
