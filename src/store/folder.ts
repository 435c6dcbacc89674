// The folder of a store: made, opened by its writer or read-only, and revived from its snapshot and logs.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isStoredAs, resolveProfile } from '../canonical/profiles.ts'
import { invalidOption, option, SieveError, unreadable, wording } from '../errors.ts'
import { checkNothingUnlogged, type Journal, type StoreOptions } from '../journal.ts'
import { makeSieve, type Sieve } from '../sieve.ts'
import type { AnySieveOptions } from '../sieve-options.ts'
import { type SieveState, STATE } from '../state.ts'
import { CountsFile, readCounts } from './counts.ts'
import { closeQuietly, openFile, readError, removeLater } from './file.ts'
import { damaged, missingError, TORN } from './format.ts'
import { type Listing, listStore, logName, missingFiles, snapshotName } from './layout.ts'
import { leftovers } from './leftovers.ts'
import { takeLock } from './lock.ts'
import { diskError, Log, readLogFrom } from './log.ts'
import { forgetUnlogged, replay, unfit } from './replay.ts'
import { headerOf, readSieve, writeSieve } from './snapshot.ts'
import { Store } from './store.ts'
import { Unlogged } from './unlogged.ts'

/** How often a reader tries again when a writer has just replaced what it reads. */
const MOST_READS = 50

// A stored sieve is what it is: options that say otherwise are a mistake, and named.
function checkSame(path: string, state: SieveState, options: AnySieveOptions & StoreOptions): void {
  const differ = (name: string, got: string, have: string): never => {
    throw new SieveError(
      'option',
      wording`${path} has ${option(name)} '${have}', not '${got}': leave the option out, or use another folder`,
      { option: name, got, expected: have },
    )
  }
  if (options.filter && options.filter !== state.kind.name) differ('filter', options.filter, state.kind.name)
  if (options.profile !== undefined) {
    const { name, rules } = state.profile
    if (!isStoredAs(options.profile, { name, rules: rules.map((rule) => rule.name) })) {
      differ('profile', resolveProfile(options.profile).name, name)
    }
  }
  const hash = options.hash === undefined ? [] : [options.hash].flat()
  if (hash.length > 0 && hash.join() !== state.hash.names.join())
    differ('hash', hash.join(), state.hash.names.join())
  if (options.key && Buffer.compare(options.key, state.hash.key) !== 0) {
    throw new SieveError(
      'option',
      wording`${path} has another secret ${option('key')}: leave the option out, or use another folder`,
      { option: 'key', expected: 'the secret key of this folder' },
    )
  }
  if (options.keepKeys && !state.keepsKeys) {
    throw new SieveError(
      'option',
      wording`${path} was made without ${option('keepKeys')}: its keys are not there any more`,
      { option: 'keepKeys', got: true, expected: 'false' },
    )
  }
}

/**
 * A sieve that lives in a folder: made there, or opened as it was. After `kill -9` nothing acknowledged is lost with
 * `always` or `interval`; after power loss at most the last second with `interval`; a half-written record never counts.
 */
export async function openStore(
  folder: string,
  options: AnySieveOptions & StoreOptions = {},
): Promise<Sieve> {
  const { durability = 'interval', readOnly = false, foldBytes } = options
  if (!['always', 'interval', 'never'].includes(durability)) {
    throw invalidOption('durability', durability, 'always, interval or never')
  }
  const isThere = existsSync(folder)
  if (isThere && !statSync(folder).isDirectory()) {
    throw new SieveError('option', `${folder} is a file: expected a folder; Sieve.load reads a .sieve file`)
  }
  if (existsSync(join(folder, 'keys', 'CURRENT'))) {
    throw new SieveError(
      'option',
      `${folder} is an exact sieve: open it with urlsieve/exact, or --filter exact`,
    )
  }
  if (existsSync(join(folder, 'manifest'))) {
    throw new SieveError('option', `${folder} is a disk sieve: open it with urlsieve/disk, or --max-memory`)
  }
  if (readOnly) return openReadOnly(folder, options)
  makeFolder(folder)
  const release = takeLock(join(folder, 'lock'))
  try {
    if (snapshotsIn(folder) === 0) {
      checkNoneMissing(folder, false)
      const fresh = await makeSieve(ofSieve(options))
      headerOf(fresh[STATE])
      new Log(join(folder, logName(1))).close()
      const kept = { keepKeys: options.keepKeys, hasLog: true }
      await writeSieve(join(folder, snapshotName(1)), fresh[STATE], kept)
    }
    const { sieve, number, logs, keepKeys, keysFrom, unlogged } = await revive(folder, options)
    const state = sieve[STATE]
    await removeLater(leftovers(folder, number, keepKeys, keysFrom))
    // There are several when a snapshot was not finished: the next one will have what all of them say.
    const last = logs.at(-1) ?? { number, bytes: 0 }
    const log = new Log(join(folder, logName(last.number)), last.bytes)
    const counts = new CountsFile(folder, state)
    state.journal = new Store(folder, state, {
      durability,
      keepKeys,
      foldBytes,
      keysFrom,
      unlogged,
      number,
      logNumber: last.number,
      earlierBytes: logs.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0),
      log,
      counts,
      release,
    })
    return sieve
  } catch (error) {
    release()
    throw error
  }
}

// The options of the sieve itself.
function ofSieve({ durability, readOnly, keepKeys, foldBytes, ...own }: AnySieveOptions & StoreOptions) {
  return own
}

// Step by step, since making all of a path at once says "no such file" of a file system that is read-only.
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw diskError(folder, error)
  }
}

// A store that cannot be whole is refused: going on with the rest would forget URLs without a word.
function checkNoneMissing(folder: string, hasLog: boolean, listing?: Listing): void {
  const [missing] = missingFiles(folder, hasLog, listing)
  if (missing) throw missingError(folder, missing)
}

function snapshotsIn(folder: string): number {
  try {
    return listStore(folder).snapshots.length
  } catch (error) {
    throw readError(folder, error)
  }
}

async function openReadOnly(folder: string, options: AnySieveOptions & StoreOptions): Promise<Sieve> {
  const sieve = await reviveUnlocked(folder, options)
  sieve[STATE].makeReadOnly(folder)
  return sieve
}

/** A sieve in memory that has what a store has now. The store stays as it is. */
export async function copyStore(folder: string): Promise<Sieve> {
  const sieve = await reviveUnlocked(folder, {})
  const state = sieve[STATE]
  checkNothingUnlogged(state.journal, `copy ${folder}`)
  state.journal = null
  return sieve
}

// Without a lock: a writer may fold its log while its files are read. Then they are read again.
async function reviveUnlocked(folder: string, options: AnySieveOptions & StoreOptions): Promise<Sieve> {
  if (!existsSync(folder) || snapshotsIn(folder) === 0) {
    if (existsSync(folder)) checkNoneMissing(folder, false)
    throw unreadable(folder, 'there is no sieve')
  }
  for (let attempt = 1; ; attempt++) {
    const before = JSON.stringify(listStore(folder))
    try {
      const { sieve, unlogged } = await revive(folder, options)
      const state = sieve[STATE]
      if (unlogged.size > 0) state.journal = new ReadOnlyJournal(state, unlogged)
      return sieve
    } catch (error) {
      if (attempt === MOST_READS || JSON.stringify(listStore(folder)) === before) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, attempt))
  }
}

/** The journal of a sieve that was opened read-only: it only knows which URLs the disk refused. */
class ReadOnlyJournal implements Journal {
  readonly #state: SieveState
  readonly #unlogged: Unlogged

  constructor(state: SieveState, unlogged: Unlogged) {
    this.#state = state
    this.#unlogged = unlogged
  }

  amend(from: number, n: number): void {
    this.#unlogged.amend(this.#state, from, n)
  }

  added(): void {}
  deleted(): void {}
  sync(): void {}
  async close(): Promise<void> {}
  async save(): Promise<void> {}
  cleared(): void {}
  info(): undefined {}

  unlogged(): number {
    return this.#unlogged.size
  }
}

interface Revived {
  readonly sieve: Sieve
  /** Of the snapshot. */
  readonly number: number
  readonly keepKeys: boolean
  readonly keysFrom: number
  readonly unlogged: Unlogged
  /** The logs from there on, with the bytes of their whole records. */
  readonly logs: readonly { number: number; path: string; bytes: number }[]
}

// The newest snapshot, and every log from there on. All are opened at once: a writer may replace them meanwhile.
async function revive(folder: string, options: AnySieveOptions & StoreOptions): Promise<Revived> {
  const listing = listStore(folder)
  const number = listing.snapshots.at(-1)!
  const logs: OpenLog[] = []
  try {
    for (const n of listing.logs.filter((n) => n >= number)) {
      const path = join(folder, logName(n))
      logs.push({ number: n, path, fd: openFile(path) })
    }
    return await reviveFrom(folder, options, listing, logs)
  } finally {
    for (const { fd } of logs) closeQuietly(fd)
  }
}

interface OpenLog {
  readonly number: number
  readonly path: string
  readonly fd: number
}

async function reviveFrom(
  folder: string,
  options: AnySieveOptions & StoreOptions,
  listing: Listing,
  logs: readonly OpenLog[],
): Promise<Revived> {
  const number = listing.snapshots.at(-1)!
  const { sieve, file } = await readSieve(join(folder, snapshotName(number)), {
    ...(options.instanceBytes && { instanceBytes: options.instanceBytes }),
  })
  const { keepKeys = false, keysFrom = 0, hasLog = false } = file.header
  checkNoneMissing(folder, hasLog, listing)
  const state = sieve[STATE]
  state.keepsKeys = keepKeys
  checkSame(folder, state, options)
  const unlogged = new Unlogged()
  const replayed: Revived['logs'][number][] = []
  for (const log of logs) {
    const { path } = log
    const { bytes, tornBytes } = readLogFrom(log.fd, path, (record) => {
      const wrong = unfit(state, record)
      if (wrong) throw damaged(path, record.at, wrong)
      replay(state, record, unlogged)
    })
    if (tornBytes > 0 && log !== logs.at(-1)) throw damaged(path, bytes, TORN)
    replayed.push({ number: log.number, path, bytes })
  }
  forgetUnlogged(state, unlogged)
  const counts = readCounts(folder)
  if (counts && counts.log >= number) {
    state.seen = counts.seen
    state.invalid = counts.invalid
  }
  for (const { filter } of state.shards.all) filter.setClock?.(null)
  return { sieve, number, keepKeys, keysFrom, unlogged, logs: replayed }
}
