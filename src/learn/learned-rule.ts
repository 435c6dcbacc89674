// A learned rule as data, and as a rule of a profile. Each changes keys of one host only, and errs towards "seen" where its
// evidence was wrong.
import { parameterName, sortParameters } from '../canonical/parameters.ts'
import { replaceParts, split } from '../canonical/parts.ts'
import { dropIndex, dropTrailingSlashes } from '../canonical/paths.ts'
import type { Rule } from '../canonical/rules.ts'
import { describeScope, memberOf, type Scope } from './scope.ts'

/** What was counted when a rule was applied to pages whose content is known. */
export interface Evidence {
  /** What was tried: sections, paths, keys or URLs, one level below the rule's scope. */
  readonly trials: number
  /** Trials with a merge whose content differs from the first page of its group. */
  readonly wrong: number
  /** URLs that need not be fetched any more: those of a group but its first. */
  readonly merges: number
  /** The share of trials with a wrong merge is at most this, with the file's confidence. */
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
  /** `segment`: paths that begin like this. */
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
  /** The keys that it may make: those of what was seen. */
  readonly scope: Scope
  /** On the pages that it was found with, and on those that were kept apart. */
  readonly found: Evidence
  readonly heldOut: Evidence
  /** Pairs of URLs that it merges though their contents differ. */
  readonly counterExamples: readonly (readonly [string, string])[]
}

/** A rule, and where it holds; without a scope, for the whole host. */
export type ScopedRule = RuleData & Partial<Pick<LearnedRule, 'scope'>>

/** What a rule does, in words. */
export function describeRule(rule: ScopedRule): string {
  return describeChange(rule) + (rule.scope ? describeScope(rule.scope) : '')
}

function describeChange({ kind, host, path = '', name, names, segment, to }: RuleData): string {
  switch (kind) {
    case 'parameter':
      return `drops ${name} on ${host}`
    case 'parameters':
      return `drops ${names!.join(', ')} together on ${host}`
    case 'segment':
      return `takes all values of segment ${segment! + 1} on ${host}${path} for one`
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
export function compileRule(data: ScopedRule, evidence?: string): Rule & { readonly evidence?: string } {
  const change = changeOf(data)
  const does = describeRule(data)
  const prefix = `//${data.host}`
  const { path = '', scope } = data
  const members = new Set(scope?.members)
  const isInScope = (key: string) => scope === undefined || members.has(memberOf(scope.level, key))
  return Object.freeze({
    name: `learned:${does}`,
    does,
    lossy: true,
    ...(evidence !== undefined && { evidence }),
    apply(key: string) {
      // Most keys are of other hosts.
      const at = key.indexOf('//')
      if (at < 0 || !key.startsWith(prefix, at) || !key.startsWith(path, at + prefix.length)) return key
      if (split(key).authority !== prefix) return key
      const changed = change(key)
      return isInScope(changed) ? changed : key
    },
  })
}

function changeOf(data: RuleData): (key: string) => string {
  const { kind, path = '/', name, names, segment, segments, to } = data
  switch (kind) {
    case 'parameter':
      return (key) => dropTogether(key, [name!])
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
