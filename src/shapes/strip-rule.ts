// A rule of a profile that drops parameters on some pages of some hosts: `host/pattern=name,name`. Lossy: it errs towards
// "seen" where a parameter changes the page.
import { dropParameters } from '../canonical/parameters.ts'
import { split } from '../canonical/parts.ts'
import type { Rule } from '../canonical/rules.ts'
import { SieveError } from '../errors.ts'

const EXPECTED = "host/path=name,name such as 'example.com/wiki/*=rev,do'"

/**
 * The rule for one text `host/pattern=name,name`. In host, pattern and names a `*` stands for any characters; a host also
 * matches with a port. Without a pattern all paths of the host match.
 */
export function stripRule(text: string): Rule {
  const equals = text.indexOf('=')
  const names =
    equals < 0
      ? []
      : text
          .slice(equals + 1)
          .split(',')
          .filter(Boolean)
  const place = equals < 0 ? text : text.slice(0, equals)
  const slash = place.indexOf('/')
  const host = slash < 0 ? place : place.slice(0, slash)
  if (names.length === 0 || host === '')
    throw new SieveError('option', `strip '${text}': expected ${EXPECTED}`)
  const isHost = matcher(host.toLowerCase())
  const isPath = matcher(slash < 0 ? '*' : place.slice(slash))
  const isName = names.map(matcher)
  return Object.freeze({
    name: `strip:${text}`,
    does: `drops ${names.join(', ')} on ${place}`,
    lossy: true,
    apply(key: string) {
      if (!key.includes('?')) return key
      const { authority, path } = split(key)
      const at = authority.replace(/^\/\/(?:.*@)?/s, '').toLowerCase()
      if (!(isHost(at) || isHost(at.replace(/:\d+$/, ''))) || !isPath(path)) return key
      return dropParameters(key, (name) => isName.some((matches) => matches(name)))
    },
  })
}

/** Whether a text has a pattern: parts between the stars, each after the one before. Linear in the text. */
function matcher(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return (text) => text === pattern
  const first = parts[0]!
  const last = parts.at(-1)!
  const middle = parts.slice(1, -1)
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    let at = first.length
    for (const part of middle) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}
