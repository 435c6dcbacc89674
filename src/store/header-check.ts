// What a .sieve file says of itself, checked field by field and against the rest before a sieve is made of it. Fields that
// are not known are passed over.
import { type Profile, resolveProfile } from '../canonical/profiles.ts'
import { rules as builtIn } from '../canonical/rules.ts'
import { SieveError } from '../errors.ts'
import type { AnyKind } from '../filters/filter.ts'
import { filterKind } from '../filters/registry.ts'
import { checkField, MOST_COUNT, savedObject, savedPlan, savedWhole } from '../filters/saved-plan.ts'
import { MOST_SHARDS } from '../filters/shards.ts'
import { chooseHash, type HashName, isWideHash } from '../hashes.ts'
import { damaged, PREFIX_BYTES } from './format.ts'
import type { SieveCounts, SieveHeader } from './snapshot.ts'

/** More rules than any profile has. */
const MOST_RULES = 100
const MOST_NAME = 4096
/** No filter is spread over instances of which each holds less. */
const LEAST_SHARE_BYTES = 64 * 1024

/** Of the names of logs. */
const MOST_LOGS = 99_999_999
/** Control characters: a name is shown on terminals. */
const CONTROL = /\p{Cc}/u

/** Throws what `check` finds as damage of the file at byte `at`. */
export function asDamage<T>(path: string, at: number, check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof RangeError) throw damaged(path, at, error.message)
    throw error
  }
}

/** JSON from a file, or one line that names the file. */
export function parseJson(path: string, at: number, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw damaged(path, at, 'what should be JSON is not')
  }
}

/** The header of a file of `fileBytes` bytes, from its JSON. */
export function checkHeader(path: string, json: unknown, fileBytes: number): SieveHeader {
  return asDamage(path, PREFIX_BYTES, () => {
    const header = savedObject('the header', json)
    const kind = kindOf(path, header.filter)
    const plan = savedPlan(header.plan, kind.name)
    checkProfile(path, header.profile)
    const hash = checkHash(path, header.hash)
    const shards = checkShards(header.shards, kind, hash)
    const bytes = Math.max(kind.arrayBytes(plan, shards), fileBytes)
    const most = 1 + bytes / LEAST_SHARE_BYTES
    checkField('shards', shards, shards <= most, `at most ${Math.floor(most)} for ${bytes} bytes`)
    const { keepKeys, keysFrom, hasLog } = header
    checkField('keepKeys', keepKeys, [undefined, true, false].includes(keepKeys as boolean), 'true or false')
    checkField('hasLog', hasLog, [undefined, true, false].includes(hasLog as boolean), 'true or false')
    if (keysFrom !== undefined) savedWhole('keysFrom', keysFrom, 0, MOST_LOGS)
    return header as unknown as SieveHeader
  })
}

function kindOf(path: string, name: unknown): AnyKind {
  checkField('filter', name, typeof name === 'string' && name.length < MOST_NAME, 'the name of a filter')
  try {
    return filterKind(name as string)
  } catch {
    throw new SieveError(
      'version',
      `${path} has filter ${JSON.stringify(name)}: this urlsieve has none of that name`,
    )
  }
}

const isProfileName = (name: unknown) =>
  typeof name === 'string' && name.length <= MOST_NAME && !CONTROL.test(name)

/** Throws one line for a profile that a file cannot hold: with rules of the caller's own, or one that could not be read again. */
export function checkSavable({ name, rules }: Profile): void {
  const own = rules.find((rule) => (builtIn as Record<string, unknown>)[rule.name] !== rule)
  if (own) throw new SieveError('option', `rule '${own.name}' is a function of yours: a file cannot hold it`)
  if (isProfileName(name) && rules.length <= MOST_RULES) return
  throw new SieveError(
    'option',
    `profile ${JSON.stringify(name).slice(0, 40)} with ${rules.length} rules: a file holds names of up to ${MOST_NAME} characters that can be shown, and ${MOST_RULES} rules`,
  )
}

/** A profile from a file: a name, and rules that are known. */
export function checkProfile(path: string, value: unknown): void {
  const { name, rules } = savedObject('profile', value)
  checkField('profile.name', name, isProfileName(name), `up to ${MOST_NAME} characters that can be shown`)
  const isList = Array.isArray(rules) && rules.length <= MOST_RULES
  checkField('profile.rules', rules, isList, `a list of at most ${MOST_RULES}`)
  for (const rule of rules as unknown[])
    checkField('a rule', rule, typeof rule === 'string', 'the name of a rule')
  try {
    resolveProfile(rules as never)
  } catch (error) {
    throw new SieveError(
      'version',
      `${path} has a profile that this urlsieve does not know: ${(error as Error).message}`,
    )
  }
}

function checkHash(path: string, value: unknown): readonly HashName[] {
  const { names, key } = savedObject('hash', value)
  checkField('hash.names', names, Array.isArray(names) && names.length <= 8, 'a list of hash functions')
  for (const name of names as unknown[])
    checkField('a hash', name, typeof name === 'string', 'the name of a hash')
  checkField('hash.key', '', typeof key === 'string' && /^[0-9a-f]{32}$/.test(key), '16 bytes in hexadecimal')
  try {
    return chooseHash(names as HashName[], new Uint8Array(16)).names
  } catch (error) {
    throw new SieveError(
      'version',
      `${path} has hashes that this urlsieve does not know: ${(error as Error).message}`,
    )
  }
}

// From 0; only a filter that takes hashes of 64 bits can have several. They ascend, apart from empty ones in files of
// earlier versions, which never get a hash. Returns how many.
function checkShards(value: unknown, kind: AnyKind, hash: readonly HashName[]): number {
  const isWide = hash.every(isWideHash)
  const most = isWide && kind.takes !== 'keys' ? MOST_SHARDS : 1
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= most
  checkField('shards', value, isList, `a list of 1 to ${most}`)
  for (const [i, from] of (value as unknown[]).entries()) {
    savedWhole('a shard that begins at', from, 0, i === 0 ? 0 : 2 ** 32 - 1)
  }
  return (value as unknown[]).length
}

/** The counts at a file's end, from their JSON at byte `at`. */
export function checkEnd(path: string, json: unknown, shards: number, at: number): SieveCounts {
  return asDamage(path, at, () => {
    const end = savedObject('the end', json)
    for (const name of ['urls', 'seen', 'invalid', 'chunks']) savedWhole(name, end[name], 0, MOST_COUNT)
    const { counts, urlsEstimated } = end
    const isFlag = urlsEstimated === undefined || typeof urlsEstimated === 'boolean'
    checkField('urlsEstimated', urlsEstimated, isFlag, 'true or false')
    checkField('counts', counts, Array.isArray(counts) && counts.length === shards, `a list of ${shards}`)
    for (const list of counts as unknown[]) {
      const isList = Array.isArray(list) && list.every((count) => typeof count === 'number')
      checkField('counts', list, isList, 'a list of numbers for each shard')
    }
    return end as unknown as SieveCounts
  })
}
