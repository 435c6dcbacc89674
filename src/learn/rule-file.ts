// The file of learned rules: JSON, checked whole when it is read; and the profile that it describes.
import { type Profile, type ProfileName, profiles } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { formatCounted } from '../quantities.ts'
import { compileRule, type LearnedRule } from './learned-rule.ts'
import { LEVELS, type Scope, TRIALS } from './scope.ts'

export const RULES_FORMAT = 'urlsieve rules'
export const RULES_VERSION = 2

export interface LearnedRules {
  readonly format: typeof RULES_FORMAT
  readonly version: typeof RULES_VERSION
  /** The profile whose keys the rules take on. */
  readonly profile: ProfileName
  /** Each rule's share of wrong trials is under this on pages kept apart, with this confidence. */
  readonly risk: number
  readonly confidence: number
  /** Pages of nearly the same text counted as the same. */
  readonly near: boolean
  /** Pages that the rules were learned from. */
  readonly pages: number
  readonly rules: readonly LearnedRule[]
}

const KINDS = ['parameter', 'parameters', 'segment', 'index', 'slash', 'case', 'order', 'mirror']

/** The profile of learned rules: the base profile's rules, then the learned ones in their order. Errs towards "seen". */
export function learnedProfile({ profile, rules, confidence }: LearnedRules): Profile {
  const base = profiles[profile]
  const learned = rules.map((rule) => compileRule(rule, citation(rule, confidence)))
  return Object.freeze({
    name: `${profile}+${rules.length} learned`,
    does: `${base.does}, and ${rules.length} learned rules`,
    rules: Object.freeze([...base.rules, ...learned]),
  })
}

const citation = ({ scope, heldOut: { trials, wrong, upper } }: LearnedRule, confidence: number) =>
  `learned: ${wrong} of ${formatCounted(trials, TRIALS[scope.level])} kept apart had a wrong merge; at most ${(upper * 100).toFixed(2)} % with ${confidence * 100} % confidence`

/** Reads and checks the text of a file of rules. */
export function parseRules(text: string, name = 'rules'): LearnedRules {
  const fail = (got: string, expected: string): never => {
    throw new SieveError('corrupt', `${name}: ${got}: expected ${expected}`)
  }
  let file: Partial<LearnedRules> | null = null
  try {
    file = JSON.parse(text) as Partial<LearnedRules> | null
  } catch {
    fail('not JSON', "a file that 'urlsieve learn' wrote")
  }
  if (file?.format !== RULES_FORMAT) return fail(`format ${String(file?.format)}`, `'${RULES_FORMAT}'`)
  if (file.version !== RULES_VERSION) return fail(`version ${String(file.version)}`, String(RULES_VERSION))
  if (typeof file.profile !== 'string' || !Object.hasOwn(profiles, file.profile))
    fail(`profile ${String(file.profile)}`, `one of ${Object.keys(profiles).join(', ')}`)
  for (const key of ['risk', 'confidence'] as const)
    if (!(typeof file[key] === 'number' && file[key] > 0 && file[key] < 1))
      fail(`${key} ${String(file[key])}`, 'a share')
  if (!Array.isArray(file.rules)) fail('no rules', 'a list')
  for (const [i, rule] of file.rules!.entries())
    if (!isRule(rule)) fail(`rule ${i + 1} is damaged`, 'a learned rule')
  return file as LearnedRules
}

function isRule(rule: LearnedRule | null): boolean {
  if (rule === null || typeof rule !== 'object' || !KINDS.includes(rule.kind)) return false
  const { kind, host, path, name, names, segment, segments, to } = rule
  if (!isHost(host) || !isScope(rule.scope)) return false
  if (!isEvidence(rule.found) || !isEvidence(rule.heldOut)) return false
  if (path !== undefined && !(typeof path === 'string' && path.startsWith('/'))) return false
  if (kind === 'parameter') return typeof name === 'string'
  if (kind === 'parameters') return isNames(names)
  if (kind === 'mirror') return isHost(to) && to !== host
  if (kind !== 'segment') return true
  return (
    Number.isSafeInteger(segment) && Number.isSafeInteger(segments) && segment! >= 0 && segment! < segments!
  )
}

const isNames = (names: unknown) =>
  Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string')

const isHost = (host: unknown) => typeof host === 'string' && /^[^/?#\s]+$/.test(host)

const isScope = (scope: Partial<Scope> | null | undefined) =>
  LEVELS.some((level) => level === scope?.level) &&
  Array.isArray(scope?.members) &&
  scope.members.every((member) => typeof member === 'string')

const isEvidence = (evidence: LearnedRule['found'] | undefined) =>
  [evidence?.trials, evidence?.wrong, evidence?.merges, evidence?.upper].every(
    (value) => typeof value === 'number' && value >= 0,
  )
