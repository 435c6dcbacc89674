// A learned rule as data, and as a rule of a profile. Each changes keys of one host only, and errs towards "seen" where its
// evidence was wrong.
import { parameterName, sortParameters } from '../canonical/parameters.ts'
import { replaceParts, split } from '../canonical/parts.ts'
import { dropIndex, dropTrailingSlashes } from '../canonical/paths.ts'
import type { Rule } from '../canonical/rules.ts'

/** What was counted when a rule was applied to pages whose content is known. */
export interface Evidence {
  /** Groups of URLs that become one key. */
  readonly groups: number
  /** URLs that need not be fetched any more: those of a group but its first. */
  readonly merges: number
  /** Merges whose content differs from the first page of their group. */
  readonly wrong: number
  /** The share of wrong merges is at most this, with the file's confidence. */
  readonly upper: number
}

export type RuleKind =
  | 'parameter'
  | 'parameters'
  | 'segment'
  | 'index'
  | 'slash'
  | 'case'
  | 'order'
  | 'mirror'

export interface RuleData {
  readonly kind: RuleKind
  /** Host (with port) whose keys are changed. */
  readonly host: string
  /** `parameter`, `segment`: paths that begin like this. */
  readonly path?: string
  /** `parameter`: the name that is dropped. */
  readonly name?: string
  /** `parameters`: names that are dropped where all of them stand. */
  readonly names?: readonly string[]
  /** `segment`: which one is dropped, from 0, of paths with `segments` of them. */
  readonly segment?: number
  readonly segments?: number
  /** `mirror`: the host that stands for this one. */
  readonly to?: string
}

export interface LearnedRule extends RuleData {
  /** On the pages that it was found with, and on those that were kept apart. */
  readonly found: Evidence
  readonly heldOut: Evidence
  /** Pairs of URLs that it merges though their contents differ. */
  readonly counterExamples: readonly (readonly [string, string])[]
}

/** What a rule does, in words. */
export function describeRule({ kind, host, path = '/', name, names, segment, to }: RuleData): string {
  const where = path === '/' ? host : `${host}${path}`
  switch (kind) {
    case 'parameter':
      return `drops ${name} on ${where}`
    case 'parameters':
      return `drops ${names!.join(', ')} together on ${host}`
    case 'segment':
      return `takes all values of segment ${segment! + 1} on ${where} for one`
    case 'index':
      return `drops the name of an index page on ${host}`
    case 'slash':
      return `drops the slash at the end of a path on ${host}`
    case 'case':
      return `takes capitals of a path for small letters on ${host}`
    case 'order':
      return `sorts the parameters on ${host}`
    case 'mirror':
      return `takes ${host} for ${to}`
  }
}

/** The rule of a profile. `evidence` is what `explain` cites. */
export function compileRule(data: RuleData, evidence?: string): Rule & { readonly evidence?: string } {
  const change = changeOf(data)
  const does = describeRule(data)
  const prefix = `//${data.host}`
  const { path = '' } = data
  return Object.freeze({
    name: `learned:${does}`,
    does,
    lossy: true,
    ...(evidence !== undefined && { evidence }),
    apply(key: string) {
      // Most keys are of other hosts.
      const at = key.indexOf('//')
      if (at < 0 || !key.startsWith(prefix, at) || !key.startsWith(path, at + prefix.length)) return key
      return split(key).authority === prefix ? change(key) : key
    },
  })
}

function changeOf(data: RuleData): (key: string) => string {
  const { kind, path = '/', name, names, segment, segments, to } = data
  switch (kind) {
    case 'parameter':
      return (key) => dropParameter(key, path, name!)
    case 'parameters':
      return (key) => dropTogether(key, names!)
    case 'segment':
      return (key) => replacePath(key, (text) => dropSegment(text, path, segment!, segments!))
    case 'index':
      return (key) => replacePath(key, dropIndex)
    case 'slash':
      return (key) => replacePath(key, dropTrailingSlashes)
    case 'case':
      return (key) => replacePath(key, (text) => text.toLowerCase())
    case 'order':
      return sortParameters
    case 'mirror':
      return (key) => replaceParts(key, () => ({ authority: `//${to}` }))
  }
}

const replacePath = (key: string, change: (path: string) => string) =>
  replaceParts(key, ({ path }) => ({ path: change(path) }))

function dropParameter(key: string, prefix: string, name: string): string {
  return split(key).path.startsWith(prefix) ? dropTogether(key, [name]) : key
}

function dropTogether(key: string, names: readonly string[]): string {
  const { query } = split(key)
  if (query === '') return key
  const all = query.slice(1).split('&')
  const found = new Set(all.map(parameterName))
  if (!names.every((name) => found.has(name))) return key
  const kept = all.filter((parameter) => !names.includes(parameterName(parameter)))
  return replaceParts(key, () => ({ query: kept.length > 0 ? `?${kept.join('&')}` : '' }))
}

function dropSegment(path: string, prefix: string, segment: number, segments: number): string {
  if (!path.startsWith(prefix)) return path
  const parts = path.slice(1).split('/')
  if (parts.length !== segments) return path
  parts[segment] = '*'
  return `/${parts.join('/')}`
}
