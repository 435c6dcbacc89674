// The description of an exact sieve in its folder: its version, its profile, and the session that last wrote to it.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  isStoredAs,
  type Profile,
  type ProfileChoice,
  resolveProfile,
  type StoredProfile,
} from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { checkField, savedObject } from '../filters/saved-plan.ts'
import { dropDamagedCounts } from '../store/counts.ts'
import { diskError } from '../store/file.ts'
import { checkProfile, checkSavable } from '../store/header-check.ts'
import { listStore } from '../store/layout.ts'
import type { KeyStore } from './key-store.ts'
import { missingKeys } from './verify.ts'

const VERSION = 1

/** The store's description, as JSON under its own key. */
export interface Meta {
  readonly version: number
  readonly profile: StoredProfile
  /** Changes with the first write after each opening: a saved filter of another session knows too little. */
  readonly session: string
}

export const newSession = () => randomBytes(8).toString('hex')

/** The same, written down. */
export function metaBytes(profile: Profile, session: string): Buffer {
  const meta: Meta = {
    version: VERSION,
    profile: { name: profile.name, rules: profile.rules.map((rule) => rule.name) },
    session,
  }
  return Buffer.from(JSON.stringify(meta))
}

// What was written down, checked: its session becomes the name of a file.
function metaOf(folder: string, bytes: Buffer): Meta {
  const damage = (what: string) => new SieveError('corrupt', `${folder} is damaged: ${what}`)
  let meta: Meta
  try {
    meta = savedObject('its description', JSON.parse(bytes.toString())) as unknown as Meta
  } catch {
    throw damage('its description is not a JSON object')
  }
  if (meta.version !== VERSION) {
    const got = JSON.stringify(meta.version)?.slice(0, 40)
    throw new SieveError('version', `${folder} has version ${got}: this urlsieve reads version ${VERSION}`)
  }
  try {
    checkProfile(folder, meta.profile)
    const { session } = meta
    const isSession = typeof session === 'string' && /^[0-9a-f]{16}$/.test(session)
    checkField('session', session, isSession, '8 bytes in hexadecimal')
  } catch (error) {
    if (error instanceof RangeError) throw damage(error.message)
    throw error
  }
  return meta
}

/** Makes the folder, unless something else is there, or its keys are gone. With `repair` what is damaged is left out. */
export function prepareFolder(folder: string, repair: boolean): void {
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new SieveError('option', `${folder} is a file: expected a folder`)
  }
  if (existsSync(folder) && listStore(folder).snapshots.length > 0) {
    throw new SieveError('option', `${folder} holds a sieve of another filter: use another folder`)
  }
  const missing = missingKeys(folder)
  if (missing !== null && !repair) throw new SieveError('corrupt', `${missing}; see \`urlsieve verify\``)
  if (repair) dropDamagedCounts(folder)
  try {
    // LevelDB makes its files readable by all: their folder is not.
    mkdirSync(join(folder, 'keys'), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw diskError(folder, error)
  }
}

/** What the folder's sieve is; a new one is written down before anything is added. */
export async function identify(
  folder: string,
  store: KeyStore,
  choice: ProfileChoice | undefined,
  repair: boolean,
): Promise<{ meta: Meta; isEmpty: boolean }> {
  const bytes = await store.meta()
  if (bytes === undefined) {
    const isEmpty = await store.isEmpty()
    if (!isEmpty && !repair) {
      throw new SieveError(
        'corrupt',
        `${folder} is damaged: it has keys, and no description of their profile`,
      )
    }
    const profile = resolveProfile(choice ?? 'web')
    checkSavable(profile)
    const made = metaBytes(profile, newSession())
    await store.write([], [], true, made)
    return { meta: JSON.parse(made.toString()) as Meta, isEmpty }
  }
  const meta = metaOf(folder, bytes)
  if (choice !== undefined && !isStoredAs(choice, meta.profile)) {
    throw new SieveError(
      'option',
      `${folder} has profile '${meta.profile.name}', not '${resolveProfile(choice).name}': leave the option out, or use another folder`,
    )
  }
  return { meta, isEmpty: false }
}
