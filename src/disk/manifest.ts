// The manifest of a store of runs: what it is (profile, secret key), which runs are its own and which log goes on from them. One
// small file, replaced whole: a run or log that it does not name does not count.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Profile, resolveProfile, type StoredProfile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { checkField, savedObject, savedWhole } from '../filters/saved-plan.ts'
import { AtomicFile, readError, writeFully } from '../store/file.ts'
import { damaged, decodeHeader, encodeHeader } from '../store/format.ts'
import { asDamage, checkProfile, parseJson } from '../store/header-check.ts'
import { logName } from '../store/layout.ts'
import { Log } from '../store/log.ts'
import { readWhole } from '../store/whole-file.ts'

export const MANIFEST = 'manifest'
const KIND = 'disk'
/** More runs than any number of merges leaves. */
const MOST_RUNS = 4096
const MOST_BYTES = 1024 ** 2

export interface Manifest {
  readonly profile: StoredProfile
  /** 16 bytes in hexadecimal: of SipHash. */
  readonly key: string
  /** 8 bytes in hexadecimal: in the header of each run. */
  readonly set: string
  /** Numbers of the runs, oldest first. */
  readonly runs: readonly number[]
  /** Number of the log with what was added since. */
  readonly log: number
}

export const runName = (n: number) => `run-${String(n).padStart(8, '0')}`

/** Whether a folder is a store of runs. */
export function isDiskStore(folder: string): boolean {
  return existsSync(join(folder, MANIFEST))
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const file = new AtomicFile(join(folder, MANIFEST))
  try {
    writeFully(file.fd, encodeHeader({ kind: KIND, ...manifest }))
    file.commit()
  } catch (error) {
    file.abandon()
    throw error
  }
}

/** Checks every value. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST)
  let bytes: Buffer
  try {
    bytes = readWhole(path, MOST_BYTES)
  } catch (error) {
    throw readError(path, error)
  }
  if (bytes.length < 16) throw damaged(path, bytes.length, 'it ends before its header does')
  const json = parseJson(path, 16, decodeHeader(path, bytes))
  return asDamage(path, 16, () => {
    const { kind, profile, key, set, runs, log } = savedObject('the manifest', json)
    checkField('kind', kind, kind === KIND, `'${KIND}'`)
    checkProfile(path, profile)
    checkField('key', '', typeof key === 'string' && /^[0-9a-f]{32}$/.test(key), '16 bytes in hexadecimal')
    checkField('set', set, typeof set === 'string' && /^[0-9a-f]{16}$/.test(set), '8 bytes in hexadecimal')
    const isList = Array.isArray(runs) && runs.length <= MOST_RUNS && new Set(runs).size === runs.length
    checkField('runs', runs, isList, `a list of at most ${MOST_RUNS} different numbers`)
    for (const run of runs as unknown[]) savedWhole('a run', run, 1, 1e8 - 1)
    savedWhole('log', log, 1, 1e8 - 1)
    return { profile, key, set, runs, log } as Manifest
  })
}

/** Creates an empty store in a new folder, of the same rules and secret key as all these: only such stores can be merged. */
export function createStore(folder: string, like: readonly string[]): void {
  const [first, ...others] = like.map((one) => readManifest(one))
  for (const [i, other] of others.entries()) {
    const isSame = other.key === first!.key && other.profile.rules.join() === first!.profile.rules.join()
    if (isSame) continue
    throw new SieveError(
      'option',
      `cannot merge ${like[i + 1]} into ${like[0]}: they have different rules or secret keys`,
    )
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  new Log(join(folder, logName(1))).close()
  const { profile, key } = first!
  writeManifest(folder, { profile, key, set: randomBytes(8).toString('hex'), runs: [], log: 1 })
}

/** The profile of a manifest. */
export function profileOf({ profile }: Manifest): Profile {
  return { ...resolveProfile(profile.rules as never), name: profile.name }
}
