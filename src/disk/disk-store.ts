// The folder of a set of hashes that is larger than memory: a manifest, runs, and a log of what was added since the last run.
// In the log an empty record follows each record that counts: what was recorded and not confirmed was not delivered, and is new
// again. After `kill -9` nothing confirmed is lost with durability `always` or `interval`; after power loss at most the last
// second with `interval`.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fdatasyncSync, fstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isStoredAs, type Profile, type ProfileChoice, resolveProfile } from '../canonical/profiles.ts'
import { invalidOption, option, SieveError, wording } from '../errors.ts'
import { chooseHash, type HashChoice } from '../hashes.ts'
import type { Delivered, Durability } from '../journal.ts'
import { CountsFile, readCounts } from '../store/counts.ts'
import { diskError, openFile, openOwn, removeQuietly, syncFolder } from '../store/file.ts'
import { missingError } from '../store/format.ts'
import { checkSavable } from '../store/header-check.ts'
import { listStore, logName } from '../store/layout.ts'
import { takeLock } from '../store/lock.ts'
import { encodeRecord, Log, type LogRecord, OP, readLogFrom } from '../store/log.ts'
import { isDiskStore, type Manifest, profileOf, readManifest, runName, writeManifest } from './manifest.ts'
import { Run, type RunFile } from './run.ts'

const SYNC_MS = 1000
/** A reader that opens a store while its manifest changes tries this often. */
const MOST_TRIES = 100
const CONFIRMED = encodeRecord(OP.addHashes, 0, new Uint8Array(0), 0)

export interface DiskStoreOptions {
  readonly profile?: ProfileChoice
  readonly durability?: Durability
  /** Opens without a lock, to query only. */
  readonly readOnly?: boolean
}

export class DiskStore {
  readonly folder: string
  readonly profile: Profile
  readonly hash: HashChoice
  readonly durability: Durability
  readonly isReadOnly: boolean
  /** The runs of the manifest, open. */
  readonly runs: readonly Run[]
  #manifest: Manifest
  #log: Log | null = null
  /** Of a reader: the log of the manifest, open, since a writer may remove its name. */
  readonly #logFd: number | null
  readonly #counts: CountsFile | null
  readonly #release: () => void
  readonly #timer: NodeJS.Timeout | undefined
  #trouble: Error | null = null
  /** What is confirmed was delivered there: on the disk before the log and the runs that say so. */
  delivered: Delivered | null = null
  #delivering: Promise<void> | null = null
  #nextRun: number
  #isClosed = false
  /** Repeats, and lines that are not URLs, of earlier sessions too. */
  seen: number
  invalid: number

  private constructor(folder: string, manifest: Manifest, options: DiskStoreOptions, release: () => void) {
    const { durability = 'interval', readOnly = false } = options
    this.folder = folder
    this.#manifest = manifest
    this.profile = profileOf(manifest)
    this.hash = chooseHash('siphash', Buffer.from(manifest.key, 'hex'))
    this.durability = durability
    this.isReadOnly = readOnly
    this.#release = release
    const runs: Run[] = []
    try {
      for (const number of manifest.runs) runs.push(Run.open(join(folder, runName(number)), this.id))
      this.#logFd = readOnly ? openLog(folder, manifest.log) : null
    } catch (error) {
      for (const run of runs) run.close()
      throw error
    }
    this.runs = runs
    this.#nextRun = Math.max(0, ...manifest.runs) + 1
    const counts = readCounts(folder) ?? { seen: 0, invalid: 0 }
    this.seen = counts.seen
    this.invalid = counts.invalid
    this.#counts = readOnly ? null : new CountsFile(folder, counts)
    if (durability === 'interval' && !readOnly) {
      this.#timer = setInterval(() => this.#syncLater(), SYNC_MS)
      this.#timer.unref()
    }
  }

  /** Opens the store of a folder, or creates it there. One writer at a time. */
  static open(folder: string, options: DiskStoreOptions = {}): DiskStore {
    const { durability = 'interval', readOnly = false } = options
    if (!['always', 'interval', 'never'].includes(durability)) {
      throw invalidOption('durability', durability, 'always, interval or never')
    }
    checkFolder(folder, readOnly)
    if (readOnly) return DiskStore.#openReader(folder, options)
    const release = takeLock(join(folder, 'lock'))
    try {
      if (!isDiskStore(folder)) create(folder, options.profile)
      const manifest = readManifest(folder)
      checkProfileOf(folder, manifest, options.profile)
      removeLeftovers(folder, manifest)
      return new DiskStore(folder, manifest, options, release)
    } catch (error) {
      release()
      throw error
    }
  }

  // A writer may replace runs and log after the manifest was read: then there is another manifest.
  static #openReader(folder: string, options: DiskStoreOptions): DiskStore {
    for (let tries = 1; ; tries++) {
      const manifest = readManifest(folder)
      try {
        return new DiskStore(folder, manifest, options, () => {})
      } catch (error) {
        const isStill = isDeepStrictEqual(readManifest(folder), manifest)
        if (isStill || tries === MOST_TRIES) throw error
      }
    }
  }

  /** Identifies the store in its runs. */
  get id(): bigint {
    return BigInt(`0x${this.#manifest.set}`)
  }

  /** Of a reader: the log has no more hashes than this. */
  get mostLogged(): number {
    return this.#logFd === null ? 0 : fstatSync(this.#logFd).size / 8
  }

  get logBytes(): number {
    return this.#log?.bytes ?? 0
  }

  /** Passes the hashes of the log that count to `take`, and opens it to go on from there. Call once, first. */
  readLog(take: (hashes: BigUint64Array) => void): void {
    const path = join(this.folder, logName(this.#manifest.log))
    let waiting: LogRecord | null = null
    let end = 0
    const read = (record: LogRecord) => {
      if (record.entries > 0) {
        waiting = record
        return
      }
      if (waiting) take(hashesIn(waiting.payload))
      waiting = null
      end = record.at + CONFIRMED.length
    }
    if (this.#logFd !== null) readLogFrom(this.#logFd, path, read)
    else {
      const fd = openLog(this.folder, this.#manifest.log)
      try {
        readLogFrom(fd, path, read)
      } finally {
        closeSync(fd)
      }
      this.#log = new Log(path, end)
    }
  }

  /** Writes hashes down: 8 bytes each. They count when `confirm` was called after that. */
  record(hashes: Uint8Array): void {
    this.#throwTrouble()
    this.#log!.append(encodeRecord(OP.addHashes, hashes.length / 8, hashes))
    if (this.durability === 'always') this.#log!.sync()
  }

  confirm(): void {
    if (this.durability === 'always') this.delivered?.sync()
    this.#log!.append(CONFIRMED)
    if (this.durability === 'always') this.#log!.sync()
  }

  /** The same in one write, for what is delivered by that. When it throws, nothing of it counts. */
  add(hashes: Uint8Array): void {
    this.#throwTrouble()
    const record = encodeRecord(OP.addHashes, hashes.length / 8, hashes)
    const bytes = Buffer.concat([record, CONFIRMED])
    this.#log!.append(bytes)
    if (this.durability !== 'always') return
    try {
      this.#log!.sync()
    } catch (error) {
      this.#log!.retract(bytes.length)
      throw error
    }
  }

  /** Hands the counts to the system. */
  count(seen: number, invalid: number): void {
    this.seen += seen
    this.invalid += invalid
    this.#counts?.write(0, this.seen, this.invalid)
  }

  /** A file for another run, which counts when it was committed. */
  create(): RunFile {
    const path = join(this.folder, runName(this.#nextRun++))
    const errorOf = (error: unknown) => diskError(path, error)
    try {
      return { fd: openOwn(path, 'w+'), path, errorOf }
    } catch (error) {
      throw errorOf(error)
    }
  }

  /** These are the runs now, on the disk; with `isLogged` they hold what the log has, and an empty one begins. */
  commit(runs: readonly Run[], isLogged: boolean): void {
    this.delivered?.sync()
    const before = this.#manifest
    const numbers = runs.map(({ file }) => Number(/run-(\d+)$/.exec(file.path)![1]))
    for (const [i, run] of runs.entries()) {
      if (before.runs.includes(numbers[i]!)) continue
      try {
        fdatasyncSync(run.file.fd)
      } catch (error) {
        throw diskError(run.file.path, error)
      }
    }
    const log = isLogged ? before.log + 1 : before.log
    const next = isLogged ? new Log(join(this.folder, logName(log))) : null
    try {
      syncFolder(this.folder)
      this.#manifest = { ...before, runs: numbers, log }
      writeManifest(this.folder, this.#manifest)
    } catch (error) {
      this.#manifest = before
      next?.close()
      throw error instanceof SieveError ? error : diskError(this.folder, error)
    }
    if (next) {
      this.#log?.close()
      this.#log = next
      removeQuietly(join(this.folder, logName(before.log)))
    }
    for (const number of before.runs) {
      if (!numbers.includes(number)) removeQuietly(join(this.folder, runName(number)))
    }
  }

  /** Puts all that was confirmed on the disk, now. */
  sync(): void {
    this.#throwTrouble()
    this.delivered?.sync()
    this.#log?.sync()
    this.#counts?.sync(0, this.seen, this.invalid)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    try {
      if (!this.isReadOnly) this.sync()
    } finally {
      this.#log?.close()
      this.#counts?.close()
      if (this.#logFd !== null) closeSync(this.#logFd)
      this.#release()
    }
  }

  #throwTrouble(): void {
    const trouble = this.#trouble
    this.#trouble = null
    if (trouble) throw trouble
  }

  #syncLater(): void {
    this.#counts?.syncLater()
    const onError = (error: Error) => {
      this.#trouble = error
    }
    if (!this.delivered) {
      this.#log?.syncLater(onError)
      return
    }
    this.#delivering ??= this.delivered
      .syncLater()
      .then(() => {
        if (this.#isClosed) return
        this.delivered?.sync()
        this.#log?.sync()
      })
      .catch(onError)
      .finally(() => {
        this.#delivering = null
      })
  }
}

function openLog(folder: string, log: number): number {
  const file = logName(log)
  if (!existsSync(join(folder, file))) throw missingError(folder, { file, why: 'the manifest names it' })
  return openFile(join(folder, file))
}

/** The hashes of a record, 8 bytes each. */
export function hashesIn(payload: Uint8Array): BigUint64Array {
  return new BigUint64Array(Uint8Array.from(payload).buffer)
}

function checkFolder(folder: string, readOnly: boolean): void {
  const isThere = existsSync(folder)
  if (isThere && !statSync(folder).isDirectory()) {
    throw new SieveError('option', `${folder} is a file: expected a folder`)
  }
  if (isThere && !isDiskStore(folder)) {
    const isOther = listStore(folder).snapshots.length > 0 || existsSync(join(folder, 'keys'))
    if (isOther) {
      throw new SieveError('option', `${folder} holds a sieve of another filter: use another folder`)
    }
  }
  if (readOnly) {
    if (isThere && isDiskStore(folder)) return
    throw new SieveError('option', `${folder} is not the folder of a disk sieve`)
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw diskError(folder, error)
  }
}

// The log first: what the manifest names is there.
function create(folder: string, choice: ProfileChoice | undefined): void {
  const profile = resolveProfile(choice ?? 'web')
  checkSavable(profile)
  new Log(join(folder, logName(1))).close()
  writeManifest(folder, {
    profile: { name: profile.name, rules: profile.rules.map((rule) => rule.name) },
    key: Buffer.from(chooseHash().key).toString('hex'),
    set: randomBytes(8).toString('hex'),
    runs: [],
    log: 1,
  })
}

function checkProfileOf(folder: string, { profile }: Manifest, choice: ProfileChoice | undefined): void {
  if (choice === undefined || isStoredAs(choice, profile)) return
  const got = resolveProfile(choice).name
  throw new SieveError(
    'option',
    wording`${folder} has ${option('profile')} '${profile.name}', not '${got}': leave the option out, or use another folder`,
    { option: 'profile', got, expected: profile.name },
  )
}

// Runs and logs of a session that was cut short.
function removeLeftovers(folder: string, { runs, log }: Manifest): void {
  for (const name of readdirSync(folder)) {
    const run = /^run-(\d{8})$/.exec(name)
    const isOldLog = /^log-\d{8}$/.test(name) && name !== logName(log)
    const isOldRun = run !== null && !runs.includes(Number(run[1]))
    if (isOldLog || isOldRun || name.startsWith('manifest.draft-')) removeQuietly(join(folder, name))
  }
}
