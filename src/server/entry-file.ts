// Reads `server.json` of a sieve's folder: the options it was created with, validated before use. Unknown fields are
// ignored.
import { SieveError } from '../errors.ts'
import { checkField, savedObject, savedWhole } from '../filters/saved-plan.ts'
import { limitOptions } from '../options/limit-options.ts'
import { filterOptions, sharedNames } from '../sieve-options.ts'
import { MiB, readWhole } from '../store/whole-file.ts'
import type { Entry } from './data-folder.ts'
import { checkName, nameFrom } from './names.ts'
import type { BloomSpec, SieveSpec } from './registry.ts'

export const ENTRY_VERSION = 1
const isName = (value: unknown) => typeof value === 'string'

const isAmount = (value: unknown) => typeof value === 'number' && value > 0

/** Throws a SieveError for a file that no server can have written. */
export function readEntry(path: string): Entry {
  let text: Record<string, unknown>
  try {
    text = savedObject('it', JSON.parse(readWhole(path, MiB).toString()))
  } catch (error) {
    throw new SieveError('corrupt', `cannot read ${path}: ${(error as Error).message.replaceAll('\n', ' ')}`)
  }
  const { version, name: hex, spec, createdAt: date } = text
  if (version !== ENTRY_VERSION) {
    const got = JSON.stringify(version)?.slice(0, 40)
    throw new SieveError('version', `${path} has version ${got}: this urlsieve reads ${ENTRY_VERSION}`)
  }
  const createdAt = new Date(String(date))
  if (typeof hex !== 'string' || Number.isNaN(createdAt.getTime())) {
    throw new SieveError('corrupt', `${path} is damaged: expected a name and a date`)
  }
  try {
    const name = nameFrom(Buffer.from(hex, 'hex'))
    checkName(name)
    return { name, spec: savedSpec(spec ?? {}), createdAt, ...savedRest(text) }
  } catch (error) {
    throw new SieveError('corrupt', `${path} is damaged: ${(error as Error).message}`)
  }
}

// What only some sieves have.
function savedRest(text: Record<string, unknown>): Partial<Entry> {
  const { kind, bloom, expiresAt, folder, replaces, isByAdd } = text
  if (kind !== undefined) checkField('kind', kind, kind === 'set', '"set"')
  const isTime = Number.isInteger(expiresAt) && (expiresAt as number) > 0
  if (expiresAt !== undefined) checkField('expiresAt', expiresAt, isTime, 'milliseconds since 1970')
  if (folder !== undefined) checkField('folder', folder, isName(folder), 'a name')
  if (replaces !== undefined) checkField('replaces', replaces, isName(replaces), 'a name')
  return {
    ...(kind === 'set' && { purpose: kind }),
    ...(bloom !== undefined && { purpose: savedBloom(bloom) }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt as number }),
    ...(folder !== undefined && { folder: folder as string }),
    ...(replaces !== undefined && { replaces: replaces as string }),
    ...(isByAdd === true && { isByAdd }),
  }
}

// The options a client can have given; creating a sieve checks their combination.
function savedSpec(value: unknown): SieveSpec {
  const saved = savedObject('spec', value)
  const spec: Record<string, unknown> = {}
  for (const { name, kind } of [...sharedNames, ...filterOptions]) {
    if (saved[name] === undefined) continue
    const [isRight, expected] = 'enum' in kind.schema ? [isName, 'a name'] : [isAmount, 'a number over 0']
    checkField(`spec.${name}`, saved[name], isRight(saved[name]), expected)
    spec[name] = saved[name]
  }
  for (const { name, kind } of limitOptions) {
    if (saved[name] === undefined) continue
    checkField(`spec.${name}`, saved[name], kind.isValid(saved[name]), kind.valid)
    spec[name] = saved[name]
  }
  if (saved.window === undefined) return spec
  const window = savedObject('spec.window', saved.window)
  for (const [name, amount] of Object.entries(window)) {
    const isKnown = ['windowMs', 'windowUrls', 'generations'].includes(name)
    checkField(`spec.window.${name.slice(0, 40)}`, amount, isKnown && isAmount(amount), 'a number over 0')
  }
  return { ...spec, window: window as Record<string, number> }
}

/** The parameters of a Bloom filter from a file or a dump. Throws a RangeError for those that no server can have written. */
export function savedBloom(value: unknown): BloomSpec {
  const { capacity, errorRate, expansion } = savedObject('bloom', value)
  const isRate = typeof errorRate === 'number' && errorRate > 0 && errorRate < 1
  checkField('bloom.errorRate', errorRate, isRate, 'a number between 0 and 1')
  return {
    capacity: savedWhole('bloom.capacity', capacity, 1, Number.MAX_SAFE_INTEGER),
    errorRate: errorRate as number,
    expansion: savedWhole('bloom.expansion', expansion, 0, Number.MAX_SAFE_INTEGER),
  }
}
