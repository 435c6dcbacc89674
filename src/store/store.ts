// A store: a folder with a snapshot and an append log of what is new since. One writer at a time; readers may open it
// read-only. Files: `snapshot-N.sieve` holds what was before `log-N` began; `lock` names the writer.
import { existsSync, mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SieveError } from '../errors.ts'
import type { FilterName } from '../filters/registry.ts'
import { makeSieve, type Sieve, type SieveOf, type SieveOptions } from '../sieve.ts'
import {
  type Durability,
  type Journal,
  type SieveState,
  STATE,
  type StoreInfo,
  type StoreOptions,
} from '../state.ts'
import { damaged } from './format.ts'
import { keySegmentPath, listKeySegments, writeKeySegment } from './key-segments.ts'
import { listStore, logName, snapshotName } from './layout.ts'
import { takeLock } from './lock.ts'
import { diskError, encodeRecord, Log, type LogRecord, OP, readLog } from './log.ts'
import { Owed } from './owed.ts'
import { headerOf, readSieve, totalsOf, writeSieve, writeSieveLater } from './snapshot.ts'

const SYNC_MS = 1000
/** A log is not worth a snapshot before it is so long. */
const LEAST_FOLD_BYTES = 4 * 1024 * 1024
/** How often a reader tries again when a writer has just replaced what it reads. */
const MOST_READS = 50

/** Does to a sieve what a record says: entries into the kernel's batch, then add or delete. Idempotent. */
export function replay(state: SieveState, record: LogRecord, owed?: Owed): void {
  const { kernel } = state
  const { op, payload } = record
  if (op === OP.oweHashes || op === OP.oweKeys) {
    owed?.read(record)
    return
  }
  for (const { filter } of state.shards.all) filter.setClock?.(record.time)
  const isDelete = op === OP.deleteHashes || op === OP.deleteKeys
  const act = (n: number) => {
    owed?.drop(state, 0, n)
    if (isDelete) state.shards.delete(n)
    else state.shards.add(0, n)
    state.kernel.refresh()
  }
  if (op === OP.addHashes || op === OP.deleteHashes) {
    const copy = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length)
    const hashes = new BigUint64Array(copy as ArrayBuffer)
    for (let at = 0; at < hashes.length; at += kernel.batchLines) {
      const some = hashes.subarray(at, at + kernel.batchLines)
      kernel.hashes.set(some)
      act(some.length)
    }
  } else {
    for (let at = 0; at < payload.length; ) at = takeKeys(state, payload, at, act)
  }
  state.urls += isDelete ? -record.entries : record.entries
}

// Puts a batch of keys from `at` on into the kernel, acts on them, and returns where the next begin.
function takeKeys(state: SieveState, payload: Buffer, at: number, act: (n: number) => void): number {
  const { kernel } = state
  const text = kernel.call.reserveSpill(payload.length) >>> 0
  kernel.refresh()
  if (text === 0) throw new SieveError('room', `no memory left for ${payload.length} bytes of keys`)
  kernel.bytes.set(payload, text)
  let n = 0
  while (n < kernel.batchLines && at < payload.length) {
    const end = at + 4 + payload.readUInt32LE(at)
    kernel.keyStarts[n] = text + at + 4
    kernel.keyEnds[n] = text + end
    n++
    at = end
  }
  state.hashKeys(n)
  act(n)
  return at
}

interface Opened {
  readonly durability: Durability
  readonly keepKeys: boolean
  readonly foldBytes: number | undefined
  readonly keysFrom: number
  readonly owed: Owed
  /** Of the snapshot. */
  readonly number: number
  /** Of the log being written, with the bytes of those between the snapshot and it. */
  readonly logNumber: number
  readonly earlierBytes: number
  readonly log: Log
  readonly release: () => void
}

class Store implements Journal {
  readonly #folder: string
  readonly #state: SieveState
  readonly #durability: Durability
  readonly #keepKeys: boolean
  readonly #foldBytes: number | undefined
  readonly #release: () => void
  /** Marked in the filter but not in the log, since the disk refused: still new to whoever asks. */
  readonly #owed: Owed
  /** Of the snapshot. Its logs go from this number to that of the log being written. */
  #number: number
  #logNumber: number
  #log: Log
  /** Bytes of the logs between the snapshot and the one being written. */
  #earlierBytes: number
  /** How long the log was when it began: what is owed. */
  #freshBytes = 0
  #keysFrom: number
  #snapshotBytes: number
  #snapshotting: Promise<void> | null = null
  /** Counts the snapshots begun: one in the background is given up when another was begun since. */
  #begun = 0
  /** After a snapshot that failed, the logs may grow to this length before the next try. */
  #patienceBytes = 0
  #timer: NodeJS.Timeout | undefined
  #synced = performance.now()
  #trouble: SieveError | null = null
  /** The logs no longer say what the sieve remembers: a snapshot must be made before the next record. */
  #mustSnapshot = false
  #closed = false

  constructor(folder: string, state: SieveState, opened: Opened) {
    this.#folder = folder
    this.#state = state
    this.#durability = opened.durability
    this.#keepKeys = opened.keepKeys
    this.#foldBytes = opened.foldBytes
    this.#keysFrom = opened.keysFrom
    this.#owed = opened.owed
    this.#release = opened.release
    this.#number = opened.number
    this.#logNumber = opened.logNumber
    this.#earlierBytes = opened.earlierBytes
    this.#log = opened.log
    this.#snapshotBytes = statSync(join(folder, snapshotName(this.#number))).size
    if (this.#durability === 'interval') {
      this.#timer = setInterval(() => {
        this.#synced = performance.now()
        this.#log.syncLater((error) => this.#distrust(error))
      }, SYNC_MS)
      this.#timer.unref()
    }
  }

  get #logBytes(): number {
    return this.#earlierBytes + this.#log.bytes
  }

  get #logsKeys(): boolean {
    return this.#keepKeys || !this.#state.takesHashes
  }

  added(from: number, n: number): void {
    try {
      this.#open()
      this.#write(this.#record(from, n, 1, this.#logsKeys ? OP.addKeys : OP.addHashes))
    } catch (error) {
      this.#owed.add(this.#state, from, n, 1)
      throw error
    }
    this.#owed.drop(this.#state, from, n, 1)
    this.#foldWhenLong()
  }

  /** What the disk refused before is new again when it comes again, once a batch. */
  amend(from: number, n: number): void {
    this.#owed.amend(this.#state, from, n)
  }

  /** When the disk refuses, what was deleted is put back. */
  deleted(n: number): void {
    try {
      this.#open()
      this.#write(this.#record(0, n, 0, this.#logsKeys ? OP.deleteKeys : OP.deleteHashes))
    } catch (error) {
      this.#putBack(n)
      throw error
    }
    this.#owed.drop(this.#state, 0, n, 0)
    this.#foldWhenLong()
  }

  cleared(): void {
    this.#owed.clear()
    this.#mustSnapshot = true
    this.#keysFrom = this.#logNumber + 1
    this.#open()
    this.#snapshot()
  }

  sync(): void {
    this.#open()
    this.#log.sync()
  }

  /** Folds the log into a new snapshot, now. */
  async save(): Promise<void> {
    while (this.#snapshotting) await this.#snapshotting
    this.#open()
    this.#snapshot()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    while (this.#snapshotting) await this.#snapshotting
    clearInterval(this.#timer)
    try {
      if (this.#mustSnapshot) this.#snapshot()
      this.#log.sync()
    } finally {
      this.#closed = true
      this.#log.close()
      this.#release()
    }
  }

  info(): StoreInfo {
    return {
      path: this.#folder,
      durability: this.#durability,
      logBytes: this.#logBytes,
      snapshotBytes: this.#snapshotBytes,
      snapshotting: this.#snapshotting !== null,
      keepKeys: this.#keepKeys,
    }
  }

  #open(): void {
    if (this.#closed) throw new SieveError('disk', `${this.#folder} is closed: open it again`)
    if (!this.#trouble) return
    const trouble = this.#trouble
    this.#trouble = null
    throw trouble
  }

  // The system could not put a log on the disk, and may have dropped what it had of it: the next record waits for a
  // snapshot, and the next call says why.
  #distrust(error: SieveError): void {
    this.#trouble = error
    this.#mustSnapshot = true
  }

  #write({ bytes, change }: { bytes: Uint8Array; change: number }): void {
    if (change === 0) return
    if (this.#mustSnapshot) {
      this.#state.urls -= change // the log will count them
      try {
        this.#snapshot()
      } finally {
        this.#state.urls += change
      }
    }
    this.#append(bytes)
  }

  #append(record: Uint8Array): void {
    this.#log.append(record)
    // The timer does not run while a caller keeps the processor: then the second is kept here.
    const isLate = this.#durability === 'interval' && performance.now() - this.#synced > SYNC_MS
    if (this.#durability !== 'always' && !isLate) return
    this.#synced = performance.now()
    try {
      this.#log.sync()
    } catch (error) {
      this.#log.retract(record.length)
      this.#mustSnapshot = true
      throw error
    }
  }

  #putBack(n: number): void {
    const { kernel, shards } = this.#state
    const { hashes, keyStarts, keyEnds, verdicts } = kernel
    let count = 0
    for (let i = 0; i < n; i++) {
      if (verdicts[i] !== 0) continue
      hashes[count] = hashes[i]!
      keyStarts[count] = keyStarts[i]!
      keyEnds[count] = keyEnds[i]!
      count++
    }
    shards.add(0, count)
    kernel.refresh()
    this.#state.urls += count
  }

  // A record of the entries with that verdict, and by how much it changes the number of URLs.
  #record(from: number, n: number, wanted: number, op: LogRecord['op']): { bytes: Buffer; change: number } {
    const { kernel } = this.#state
    const { call } = kernel
    const isKeys = op === OP.addKeys || op === OP.deleteKeys
    const room = isKeys ? call.writtenKeyBytes(from, n, wanted) >>> 0 : (n - from + 1) * 8
    const to = call.reserveOutput(room) >>> 0
    kernel.refresh()
    if (to === 0 && room > 0) throw new SieveError('room', `no memory left for ${room} bytes of log`)
    const entries = isKeys ? call.writtenKeys(from, n, wanted, to) : call.writtenHashes(from, n, wanted, to)
    const bytes = encodeRecord(op, entries, kernel.bytes.subarray(to, to + (isKeys ? room : entries * 8)))
    return { bytes, change: wanted === 1 ? entries : -entries }
  }

  // A new log begins, with what is owed; what was before it goes into the snapshot of its number.
  #rotate(): number {
    this.#begun++
    if (this.#log.bytes === this.#freshBytes && this.#logNumber > this.#number) {
      this.#log.retract(this.#log.bytes) // nothing happened since it began: it begins anew
      this.#freshBytes = this.#oweIn(this.#log)
      return this.#logNumber
    }
    this.#log.sync()
    const log = new Log(join(this.#folder, logName(this.#logNumber + 1)))
    try {
      this.#freshBytes = this.#oweIn(log)
    } catch (error) {
      log.close()
      unlinkSync(log.path)
      throw error
    }
    this.#earlierBytes += this.#log.bytes
    this.#log.close()
    this.#log = log
    return ++this.#logNumber
  }

  #oweIn(log: Log): number {
    if (this.#owed.size > 0) {
      const { op, entries, payload } = this.#owed.record(this.#state.takesHashes)
      log.append(encodeRecord(op, entries, payload))
      log.sync()
    }
    return log.bytes
  }

  // The snapshot with that number is in place: what came before is not needed any more.
  #settle(next: number): void {
    this.#number = next
    this.#snapshotBytes = statSync(join(this.#folder, snapshotName(next))).size
    this.#earlierBytes = 0
    this.#patienceBytes = 0
    sweep(this.#folder, next, this.#keepKeys, this.#keysFrom)
  }

  #snapshot(): void {
    // A log that could not be put on the disk is given up: the snapshot has all that it says.
    if (this.#mustSnapshot) this.#log.forget()
    const next = this.#rotate()
    writeSieve(join(this.#folder, snapshotName(next)), this.#state, this.#keepKeys, this.#keysFrom)
    this.#mustSnapshot = false
    this.#settle(next)
  }

  // In the background, when the log has outgrown the snapshot. When it fails nothing is lost, the log goes on.
  #foldWhenLong(): void {
    const enough = this.#foldBytes ?? Math.max(LEAST_FOLD_BYTES, this.#snapshotBytes)
    if (this.#snapshotting || this.#logBytes < Math.max(enough, this.#patienceBytes)) return
    this.#snapshotting = this.#fold()
      .catch(() => {
        this.#patienceBytes = 2 * this.#logBytes
      })
      .finally(() => {
        this.#snapshotting = null
      })
  }

  async #fold(): Promise<void> {
    const next = this.#rotate()
    const begun = this.#begun
    const totals = totalsOf(this.#state)
    const path = join(this.#folder, snapshotName(next))
    const isWanted = () => !this.#closed && this.#begun === begun
    while (isWanted()) {
      const isMade = await writeSieveLater(
        path,
        this.#state,
        this.#keepKeys,
        this.#keysFrom,
        totals,
        isWanted,
      )
      if (!isMade) continue
      this.#settle(next)
      return
    }
  }
}

// A stored sieve is what it is: options that say otherwise are a mistake, and named.
function checkSame(path: string, state: SieveState, options: SieveOptions & StoreOptions): void {
  const differ = (name: string, got: string, have: string): never => {
    throw new SieveError(
      'option',
      `${path} has ${name} '${have}', not '${got}': leave the option out, or use another folder`,
    )
  }
  if (options.filter && options.filter !== state.kind.name) differ('filter', options.filter, state.kind.name)
  if (typeof options.profile === 'string' && options.profile !== state.profile.name) {
    differ('profile', options.profile, state.profile.name)
  }
  const hash = options.hash === undefined ? [] : [options.hash].flat()
  if (hash.length > 0 && hash.join() !== state.hash.names.join())
    differ('hash', hash.join(), state.hash.names.join())
  if (options.key && Buffer.compare(options.key, state.hash.key) !== 0) {
    throw new SieveError(
      'option',
      `${path} has another secret key: leave the option out, or use another folder`,
    )
  }
  if (options.keepKeys && !state.keepsKeys) {
    throw new SieveError('option', `${path} was made without keepKeys: its keys are not there any more`)
  }
}

/**
 * A sieve that lives in a folder: made there, or opened as it was. After `kill -9` nothing acknowledged is lost with
 * `always` or `interval`; after power loss at most the last second with `interval`; a half-written record never counts.
 */
export async function openStore<F extends FilterName = 'fingerprint'>(
  folder: string,
  options: SieveOptions<F> & StoreOptions = {},
): Promise<SieveOf<F>> {
  const { durability = 'interval', readOnly = false, foldBytes } = options
  if (!['always', 'interval', 'never'].includes(durability)) {
    throw new SieveError('option', `durability '${durability}': expected always, interval or never`)
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
  if (readOnly) return (await openToAsk(folder, options)) as SieveOf<F>
  makeFolder(folder)
  const release = takeLock(join(folder, 'lock'))
  try {
    if (snapshotsIn(folder) === 0) {
      const fresh = await makeSieve(options)
      writeSieve(join(folder, snapshotName(1)), fresh[STATE], options.keepKeys ?? false)
    }
    const { sieve, number, logs, keepKeys, keysFrom, owed } = await revive(folder, options)
    const state = sieve[STATE]
    headerOf(state)
    sweep(folder, number, keepKeys, keysFrom)
    // There are several when a snapshot was not finished: the next one will have what all of them say.
    const last = logs.at(-1) ?? { number, bytes: 0 }
    const log = new Log(join(folder, logName(last.number)), last.bytes)
    state.journal = new Store(folder, state, {
      durability,
      keepKeys,
      foldBytes,
      keysFrom,
      owed,
      number,
      logNumber: last.number,
      earlierBytes: logs.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0),
      log,
      release,
    })
    return sieve as SieveOf<F>
  } catch (error) {
    release()
    throw error
  }
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

function snapshotsIn(folder: string): number {
  try {
    return listStore(folder).snapshots.length
  } catch (error) {
    throw new SieveError('disk', `cannot read ${folder}: ${(error as Error).message}`)
  }
}

// Without a lock: a writer may fold its log while its files are read. Then they are read again.
async function openToAsk(folder: string, options: SieveOptions & StoreOptions): Promise<Sieve> {
  if (!existsSync(folder) || snapshotsIn(folder) === 0) {
    throw new SieveError('disk', `cannot read ${folder}: there is no sieve`)
  }
  for (let attempt = 1; ; attempt++) {
    const before = JSON.stringify(listStore(folder))
    try {
      const { sieve, owed } = await revive(folder, options)
      if (owed.size > 0) sieve[STATE].journal = new Asked(sieve[STATE], owed)
      return sieve
    } catch (error) {
      if (attempt === MOST_READS || JSON.stringify(listStore(folder)) === before) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, attempt))
  }
}

/** The journal of a sieve that was opened to ask: it only knows what is owed. */
class Asked implements Journal {
  readonly #state: SieveState
  readonly #owed: Owed

  constructor(state: SieveState, owed: Owed) {
    this.#state = state
    this.#owed = owed
  }

  amend(from: number, n: number): void {
    this.#owed.amend(this.#state, from, n)
  }

  added(from: number, n: number): void {
    this.#owed.drop(this.#state, from, n, 1)
  }

  deleted(): void {}
  sync(): void {}
  async close(): Promise<void> {}
  async save(): Promise<void> {}

  cleared(): void {
    this.#owed.clear()
  }

  info(): undefined {}
}

// What a crash left behind: drafts, and logs and snapshots older than the one that counts. Keys are kept first, those
// of before a clear are not.
function sweep(folder: string, number: number, keepKeys: boolean, keysFrom: number): void {
  const { snapshots, logs } = listStore(folder)
  for (const n of snapshots) if (n < number) unlinkSync(join(folder, snapshotName(n)))
  for (const n of logs) {
    if (n >= number) continue
    const path = join(folder, logName(n))
    if (keepKeys && n >= keysFrom) writeKeySegment(keySegmentPath(folder, n), path)
    unlinkSync(path)
  }
  if (keysFrom > 0)
    for (const path of listKeySegments(folder)) if (path < keySegmentPath(folder, keysFrom)) unlinkSync(path)
  for (const name of readdirSync(folder)) {
    if (/^(snapshot|keys)-.*\.draft-/.test(name)) unlinkSync(join(folder, name))
  }
}

interface Revived {
  readonly sieve: Sieve
  /** Of the snapshot. */
  readonly number: number
  readonly keepKeys: boolean
  readonly keysFrom: number
  readonly owed: Owed
  /** The logs from there on, with the bytes of their whole records. */
  readonly logs: readonly { number: number; path: string; bytes: number }[]
}

// The newest snapshot, and every log from there on.
async function revive(folder: string, options: SieveOptions & StoreOptions): Promise<Revived> {
  const { snapshots, logs } = listStore(folder)
  const number = snapshots.at(-1)!
  const { sieve, file } = await readSieve(join(folder, snapshotName(number)), {
    ...(options.instanceBytes && { instanceBytes: options.instanceBytes }),
  })
  const { keepKeys = false, keysFrom = 0 } = file.header
  const state = sieve[STATE]
  state.keepsKeys = keepKeys
  checkSame(folder, state, options)
  const owed = new Owed()
  const replayed: Revived['logs'][number][] = []
  for (const n of logs) {
    if (n < number) continue
    const path = join(folder, logName(n))
    const before = replayed.at(-1)
    if (n !== (before ? before.number + 1 : number)) {
      const missing = join(folder, logName(before ? before.number + 1 : number))
      throw new SieveError(
        'corrupt',
        `${missing} is missing: ${path} goes on from it; see \`urlsieve verify\``,
      )
    }
    const { bytes, tornBytes } = readLog(path, (record) => replay(state, record, owed))
    if (tornBytes > 0 && n !== logs.at(-1)) {
      throw damaged(path, bytes, 'its end is missing, and another log goes on from it')
    }
    replayed.push({ number: n, path, bytes })
  }
  for (const { filter } of state.shards.all) filter.setClock?.(null)
  return { sieve, number, keepKeys, keysFrom, owed, logs: replayed }
}
