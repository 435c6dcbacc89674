// Rules worth trying on the pages of a host, found by counting: parameters and variable segments by where they come up,
// the usual aliases, and hosts with the same paths. The number of candidates is bounded whatever the URLs are.
import { parameterName, parametersOf } from '../canonical/parameters.ts'
import { split } from '../canonical/parts.ts'
import { FIRST_VARIABLE } from '../shapes/forms.ts'
import { UrlTokens } from '../shapes/url-tokens.ts'
import type { Page } from './evidence.ts'
import type { RuleData } from './learned-rule.ts'

/** Candidates with fewer pages are not tried. */
const LEAST_PAGES = 10
/** Candidates of one kind per host. */
const MOST_CANDIDATES = 200
const MOST_COUNTED = 20_000
const MOST_SEGMENTS = 8
const MOST_PARAMETERS = 16
/** Parameters that are tried together. */
const MOST_GROUPED = 8
/** Hosts with the same path that are compared. */
const MOST_MIRRORS = 8

const encoder = new TextEncoder()

/** Counts texts, up to a number of different ones; later ones are left out. */
class Tally {
  readonly #counts = new Map<string, number>()

  add(text: string): void {
    const count = this.#counts.get(text)
    if (count !== undefined) this.#counts.set(text, count + 1)
    else if (this.#counts.size < MOST_COUNTED) this.#counts.set(text, 1)
  }

  /** The most frequent first. */
  list(): string[] {
    return [...this.#counts]
      .filter(([, count]) => count >= LEAST_PAGES)
      .sort((a, b) => b[1] - a[1])
      .slice(0, MOST_CANDIDATES)
      .map(([text]) => text)
  }
}

/** Aliases, in the order in which they are tried. */
export function aliasCandidates(host: string, pages: readonly Page[]): RuleData[] {
  if (pages.length < LEAST_PAGES) return []
  return (['order', 'case', 'index', 'slash'] as const).map((kind) => ({ kind, host }))
}

/**
 * Parameters that come together and do not matter one by one, such as `utm_source` and `utm_campaign`: names that stand on
 * the same pages of a host, and the whole sets of names of its pages.
 */
export function groupCandidates(host: string, pages: readonly Page[]): RuleData[] {
  const sets = new Tally()
  const pagesByName = new Map<string, { count: number; sum: number }>()
  for (const [i, { key }] of pages.entries()) {
    const names = namesOf(key)
    if (names.length > 1 && names.length <= MOST_GROUPED) sets.add(names.join('&'))
    for (const name of names) {
      const known = pagesByName.get(name)
      if (known === undefined && pagesByName.size >= MOST_COUNTED) continue
      // Names on the same pages have the same sum; other names that have it are refused by the evidence.
      const { count, sum } = known ?? { count: 0, sum: 0 }
      pagesByName.set(name, { count: count + 1, sum: (sum + Math.imul(i + 1, 0x9e3779b1)) | 0 })
    }
  }
  const together = new Map<string, string[]>()
  for (const [name, { count, sum }] of pagesByName) {
    if (count < LEAST_PAGES) continue
    const group = together.get(`${count} ${sum}`)
    if (group) group.push(name)
    else together.set(`${count} ${sum}`, [name])
  }
  const groups = [...together.values()]
    .filter(({ length }) => length > 1 && length <= MOST_GROUPED)
    .slice(0, MOST_CANDIDATES)
    .map((names) => names.sort().join('&'))
  return [...new Set([...groups, ...sets.list()])].map((text) => ({
    kind: 'parameters',
    host,
    names: text.split('&'),
  }))
}

const namesOf = (key: string): string[] => {
  const { query } = split(key)
  if (query.length < 2) return []
  return [...new Set(parametersOf(query).slice(0, MOST_PARAMETERS).map(parameterName))].sort()
}

/** The parameters of a host. */
export function parameterCandidates(host: string, pages: readonly Page[]): RuleData[] {
  const tally = new Tally()
  for (const { key } of pages) for (const name of namesOf(key)) tally.add(name)
  return tally.list().map((name) => ({ kind: 'parameter', host, name }))
}

/** Segments of a variable form behind literal ones. */
export function segmentCandidates(host: string, pages: readonly Page[]): RuleData[] {
  const tally = new Tally()
  for (const { key } of pages) {
    const parts = split(key).path.slice(1).split('/')
    if (parts.length > MOST_SEGMENTS) continue
    let prefix = '/'
    for (const [i, part] of parts.entries()) {
      const bytes = encoder.encode(part)
      if (UrlTokens.shared().formOf(bytes, true) < FIRST_VARIABLE) {
        prefix += `${part}/`
        continue
      }
      // A place behind a place is tried with the first one only.
      tally.add(`${prefix} ${i} ${parts.length}`)
      break
    }
  }
  return tally.list().map((text) => {
    const [path, segment, segments] = text.split(' ')
    return { kind: 'segment', host, path: path!, segment: Number(segment), segments: Number(segments) }
  })
}

/** Pairs of hosts with the same paths: the one with fewer pages, or with `www.`, is taken for the other. */
export function mirrorCandidates(pagesByHost: ReadonlyMap<string, readonly Page[]>): RuleData[] {
  const hostsByPath = new Map<string, string[]>()
  for (const [host, pages] of pagesByHost)
    for (const { key } of pages) {
      const { path, query } = split(key)
      const hosts = hostsByPath.get(path + query)
      if (hosts === undefined) hostsByPath.set(path + query, [host])
      else if (hosts.length < MOST_MIRRORS) hosts.push(host)
    }
  const tally = new Tally()
  for (const hosts of hostsByPath.values())
    for (const [i, one] of hosts.entries())
      for (const other of hosts.slice(i + 1)) tally.add([one, other].sort().join(' '))
  return tally.list().map((text) => {
    const [a, b] = text.split(' ') as [string, string]
    const size = (host: string) => pagesByHost.get(host)!.length
    const isFirst = b === `www.${a}` || (a !== `www.${b}` && size(a) >= size(b))
    return isFirst ? { kind: 'mirror', host: b, to: a } : { kind: 'mirror', host: a, to: b }
  })
}
