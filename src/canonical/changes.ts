// What changed between two forms of a key, in words: found by comparing their parts, not by asking the rule.

import { stripControls } from './ends.ts'
import { parameterName, parametersOf } from './parameters.ts'
import { type Parts, split } from './parts.ts'

/** What any rule changed: one note for each part that is not as before. */
export function describeChange(before: string, after: string): string[] {
  const old = split(before)
  const now = split(after)
  let notes: string[] = []
  if (old.scheme !== now.scheme) notes.push(`scheme ${shown(old.scheme)} → ${shown(now.scheme)}`)
  if (old.authority !== now.authority) notes.push(`host ${shown(old.authority)} → ${shown(now.authority)}`)
  if (old.path !== now.path) notes.push(`path ${shown(old.path)} → ${shown(now.path)}`)
  if (old.query !== now.query) notes = [...notes, ...describeQuery(old.query, now.query)]
  if (old.fragment !== now.fragment) notes.push(`fragment ${shown(old.fragment)} dropped`)
  return notes
}

const shown = (part: string) => (part === '' ? '(none)' : part)

function describeQuery(before: string, after: string): string[] {
  const old = parametersOf(before)
  const now = parametersOf(after)
  if (old.length === 0 && now.length === 0) return ['empty query dropped']
  const left = new Set(now.map(parameterName))
  const dropped = new Set(old.map(parameterName).filter((name) => !left.has(name)))
  const notes = [...dropped].map((name) => `parameter ${shown(name)} dropped`)
  const kept = old.filter((parameter) => !dropped.has(parameterName(parameter)))
  if (kept.join('&') === now.join('&')) return notes.length > 0 ? notes : ['empty parameters dropped']
  const sorted = [...kept].sort().join('&') === [...now].sort().join('&')
  return [...notes, sorted ? 'parameters in another order' : 'parameters in another spelling']
}

const defaultPorts: Record<string, string> = {
  'http:': '80',
  'https:': '443',
  'ws:': '80',
  'wss:': '443',
  'ftp:': '21',
}

/** What parsing and writing by the WHATWG standard changed. */
export function describeWhatwg(before: string, after: string): string[] {
  const notes: string[] = []
  let text = stripControls(before)
  if (text !== before) notes.push('white space stripped at the ends')
  const joined = text.replace(/[\t\n\r]/g, '')
  if (joined !== text) notes.push('tabs and line ends removed')
  text = joined
  const now = split(after)
  const special = now.scheme in defaultPorts || now.scheme === 'file:'
  if (special) {
    const slashed = text.replace(/^[^?#]+/, (start) => start.replaceAll('\\', '/'))
    if (slashed !== text) notes.push('backslashes read as slashes')
    text = slashed
  }
  if (now.scheme in defaultPorts) {
    const spelled = text.replace(/^([^:]*:)\/*/, '$1//')
    if (spelled !== text) notes.push('scheme followed by two slashes')
    text = spelled
  }
  const old = split(text)
  if (old.scheme !== now.scheme) notes.push('scheme lower-cased')
  notes.push(...describeAuthority(old, now), ...describePath(old, now))
  for (const part of ['query', 'fragment'] as const) {
    if (old[part] !== now[part]) notes.push(encoded(old[part], now[part], part) ?? `${part} rewritten`)
  }
  return notes.length > 0 ? notes : ['written as the standard spells it']
}

function describeAuthority(old: Parts, now: Parts): string[] {
  const was = authorityOf(old.authority)
  const is = authorityOf(now.authority)
  const notes: string[] = []
  if (was.credentials !== is.credentials) {
    notes.push(is.credentials === '' ? 'empty credentials dropped' : 'credentials percent-encoded')
  }
  if (was.host !== is.host) notes.push(describeHost(was.host, is.host))
  if (was.port !== is.port) {
    if (is.port !== '') notes.push('leading zeros of the port dropped')
    else if (was.port === ':') notes.push('empty port dropped')
    else notes.push(`default port ${Number(was.port.slice(1))} dropped`)
  }
  return notes
}

function authorityOf(authority: string): { credentials: string; host: string; port: string } {
  const [, credentials = '', host = '', port = ''] = /^(?:\/\/)?(.*@)?(.*?)(:[0-9]*)?$/s.exec(authority)!
  return { credentials, host, port }
}

function describeHost(was: string, is: string): string {
  if (is === was.toLowerCase()) return 'host lower-cased'
  if (is === '') return 'host localhost dropped'
  if (is.startsWith('[')) return 'IPv6 address in its shortest form'
  if (/^[0-9.]+$/.test(is)) return 'IPv4 address written as four decimal numbers'
  if (/[^\0-\x7f]/.test(was) || /%[89a-f]/i.test(was)) {
    return is.includes('xn--')
      ? 'international host written as punycode'
      : 'host characters mapped to plain ones'
  }
  return was.includes('%') ? 'host percent-decoded' : 'host rewritten'
}

function describePath(old: Parts, now: Parts): string[] {
  if (old.path === now.path) return []
  if (old.path === '' && now.path === '/') return ['empty path written as /']
  const notes: string[] = []
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(old.path)) notes.push('dot segments resolved')
  const percent = encoded(old.path, now.path, 'path')
  if (percent !== null) notes.push(percent)
  return notes.length > 0 ? notes : ['path rewritten']
}

function encoded(was: string, is: string, part: string): string | null {
  const left = new Set(is)
  const gone = [...new Set(was)].filter((c) => /[^A-Za-z0-9./%]/.test(c) && !left.has(c))
  if (gone.length === 0 || !is.includes('%')) return null
  return `percent-encoded in the ${part}: ${gone.map(characterName).join(' ')}`
}

const characterName = (c: string) =>
  c === ' '
    ? 'space'
    : /\p{C}/u.test(c)
      ? `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
      : c
