// Spellings of a host that mostly name the same site, and hosts that are too long to be parsed.

import { replaceParts } from './parts.ts'

/** Characters of a host that needs IDNA: past this it is not parsed. A DNS name has at most 253. */
export const MOST_IDNA_HOST = 1024

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

/** The key without one dot at the end of its host. */
export const dropHostDot = (key: string): string =>
  replaceHost(key, (host) => (/[^.]\.$/.test(host.slice(-2)) ? host.slice(0, -1) : host))

/** The key without `www.`, `www2.`, … in front of a host that has two labels more. */
export const dropNumberedWww = (key: string): string =>
  replaceHost(key, (host) => {
    let start = 0
    while (host.startsWith('www', start)) {
      let dot = start + 3
      while (isDigit(host.charCodeAt(dot))) dot++
      if (host[dot] !== '.') break
      const next = host.indexOf('.', dot + 1)
      if (next <= dot + 1 || next + 1 >= host.length || host[next + 1] === '.') break
      start = dot + 1
    }
    return host.slice(start)
  })

// The host of a key as the platform writes it: behind the credentials, before the port.
function replaceHost(key: string, change: (host: string) => string): string {
  return replaceParts(key, ({ authority }) => {
    if (authority === '') return {}
    const at = authority.lastIndexOf('@')
    const start = at < 0 ? 2 : at + 1
    const colon = authority.lastIndexOf(':')
    const end = colon >= start && !authority.includes(']', colon) ? colon : authority.length
    return {
      authority: authority.slice(0, start) + change(authority.slice(start, end)) + authority.slice(end),
    }
  })
}

/**
 * Whether the platform would do work for the host that grows with the square of its length: mapping, normalising and
 * Punycode, of a host of over MOST_IDNA_HOST characters with a character beyond ASCII, an escape or `xn--`.
 */
export function isHostTooLong(url: string): boolean {
  if (url.length <= MOST_IDNA_HOST) return false
  const text = url.replace(/[\t\n\r]+/g, '')
  const start = /^[\0- ]*(?:file:[/\\]{2}(?![/\\])|(?:https?|wss?|ftp):[/\\]*)/i.exec(text)?.[0].length
  if (start === undefined) return false
  const length = text.slice(start).search(/[/\\?#]/)
  const authority = text.slice(start, length < 0 ? text.length : start + length)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.length > MOST_IDNA_HOST && /[^\0-\x7f]|%|xn--/i.test(host)
}
