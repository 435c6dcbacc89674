// Where a learned rule holds. What was sampled on a host are its members: sections, paths in a section, keys on a path, URLs
// of a key. A rule is proven for a level by trials one level below it, since URLs of one path are right or wrong together, and it
// holds for the members of that level that were seen: for a whole host only when hundreds of its sections were.
import { split } from '../canonical/parts.ts'

/** From the widest on; a rule is tried at each, in this order. */
export const LEVELS = ['host', 'section', 'path', 'key'] as const

export type Level = (typeof LEVELS)[number]

/** The keys that a rule may make. */
export interface Scope {
  readonly level: Level
  /** The members of that level that were seen: sections, paths, or paths with queries. Of a host: one, the empty text. */
  readonly members: readonly string[]
}

/** What a trial at a level is, for texts. */
export const TRIALS: Readonly<Record<Level, string>> = {
  host: 'section',
  section: 'path',
  path: 'key',
  key: 'URL',
}

/** The member of a level that a key belongs to. */
export function memberOf(level: Level, key: string): string {
  if (level === 'host') return ''
  const { path, query } = split(key)
  if (level === 'key') return path + query
  return level === 'path' ? path : sectionOf(path)
}

/** The trial that the merge of a URL, by its key before, into a key is at a level. */
export function trialOf(level: Level, key: string, before: string): string {
  const below = LEVELS[LEVELS.indexOf(level) + 1]
  return below === undefined ? before : memberOf(below, key)
}

/** The first segment of a path that has more behind it; the pages without one are a section of their own. */
function sectionOf(path: string): string {
  const second = path.indexOf('/', 1)
  return second > 0 ? path.slice(0, second + 1) : '/'
}

const LISTED = 3

/** Where a rule holds, in words. */
export function describeScope({ level, members }: Scope): string {
  if (level === 'host') return ''
  if (level === 'key') return ` for ${members.length} known ${members.length === 1 ? 'page' : 'pages'}`
  const names = members.map((member) => (level === 'section' && member === '/' ? 'the top level' : member))
  const rest = names.length > LISTED ? ` and ${names.length - LISTED} more` : ''
  return ` ${level === 'section' ? 'in' : 'at'} ${names.slice(0, LISTED).join(', ')}${rest}`
}
