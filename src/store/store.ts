// A store: a folder with a snapshot and an append log of what is new since. One writer at a time; readers may open it
// read-only. Files: `snapshot-N.sieve` holds what was before `log-N` began; `lock` names the writer.
import { statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import type { Durability, Journal, SieveState, StoreInfo } from '../state.ts'
import type { CountsFile } from './counts.ts'
import { removeLater, removeQuietly } from './file.ts'
import { logName, snapshotName } from './layout.ts'
import { leftovers } from './leftovers.ts'
import { encodeRecord, Log, type LogRecord, OP } from './log.ts'
import type { Owed } from './owed.ts'
import { totalsOf, writeSieve, writeSieveNow } from './snapshot.ts'

const SYNC_MS = 1000
/** A log is not worth a snapshot before it is so long. */
const LEAST_FOLD_BYTES = 4 * 1024 * 1024

export interface Opened {
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
  readonly counts: CountsFile
  readonly release: () => void
}

/** The journal of a stored sieve: writes down what changes, and folds the log into a snapshot when it is long. */
export class Store implements Journal {
  readonly #folder: string
  readonly #state: SieveState
  readonly #durability: Durability
  readonly #keepKeys: boolean
  readonly #foldBytes: number | undefined
  readonly #release: () => void
  readonly #counts: CountsFile
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
  /** `refusals` of what is owed, as the log says. */
  #oweRefusals = 0
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
    this.#counts = opened.counts
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
        this.#counts.syncLater()
      }, SYNC_MS)
      this.#timer.unref()
    }
  }

  get #logBytes(): number {
    return this.#earlierBytes + this.#log.bytes
  }

  /** Nothing is in the log that was begun for a snapshot: the next snapshot takes its number. */
  get #isFresh(): boolean {
    return this.#log.bytes === this.#freshBytes && this.#logNumber > this.#number && !this.#log.hasFailed
  }

  get #logsKeys(): boolean {
    return this.#keepKeys || !this.#state.takesHashes
  }

  added(from: number, n: number): void {
    const state = this.#state
    try {
      this.#open()
      // Of a single URL it is known without a call.
      if (n - from > 1 || state.kernel.verdicts[from] === 1) this.#logAdded(from, n)
    } catch (error) {
      this.#owed.add(state, from, n, 1)
      throw error
    }
    this.#owed.drop(state, from, n, 1)
    this.#foldWhenLong()
  }

  /** What the disk refused before is new again when it comes again, once a batch. */
  amend(from: number, n: number): void {
    this.#owed.amend(this.#state, from, n)
  }

  counted(): void {
    this.#counts.write(this.#logNumber, this.#state.seen, this.#state.invalid)
  }

  /** When the disk refuses, what was deleted is put back. */
  deleted(n: number): void {
    let isBack = false
    try {
      this.#open()
      const { bytes, entries } = this.#record(0, n, 0, this.#logsKeys ? OP.deleteKeys : OP.deleteHashes)
      if (this.#mustSnapshot) {
        // The snapshot has them, and its log deletes them.
        this.#putBack(n)
        isBack = true
        this.#snapshot()
        this.#state.shards.delete(entries)
        this.#state.urls -= entries
        isBack = false
      }
      this.#append(bytes)
    } catch (error) {
      if (!isBack) this.#putBack(n)
      throw error
    }
    this.#owed.drop(this.#state, 0, n, 0)
    this.#foldWhenLong()
  }

  /** When the disk refuses, the store is as it was. */
  cleared(): void {
    this.#open()
    const keysFrom = this.#keysFrom
    const mustSnapshot = this.#mustSnapshot
    this.#keysFrom = this.#isFresh ? this.#logNumber : this.#logNumber + 1
    try {
      this.#snapshot()
    } catch (error) {
      this.#keysFrom = keysFrom
      this.#mustSnapshot = mustSnapshot
      throw error
    }
    this.#owed.clear()
    this.counted()
  }

  owes(): number {
    return this.#owed.size
  }

  /** After a sync that failed, what the log says is written anew, into a snapshot: until then nothing of it is safe. */
  sync(): void {
    this.#open()
    if (this.#mustSnapshot) this.#snapshot()
    else this.#syncLog()
    this.#syncCounts()
  }

  /** Folds the log into a new snapshot, now, after `change`. */
  async save(change?: () => void): Promise<void> {
    while (this.#snapshotting) await this.#snapshotting
    this.#open()
    if (change) {
      // In one go: nothing may be added between the change and the snapshot that holds it.
      change()
      this.#snapshot()
    } else await this.#inBackground(this.#fold())
  }

  /** Rejects with what went wrong in the background since the last call; what the log says is then written anew. */
  async close(): Promise<void> {
    if (this.#closed) return
    clearInterval(this.#timer)
    await this.#log.settled()
    while (this.#snapshotting) await this.#snapshotting
    let trouble = this.#trouble
    try {
      if (!this.#mustSnapshot) {
        try {
          this.#syncLog()
        } catch (error) {
          trouble = error as SieveError
        }
      }
      if (this.#mustSnapshot) {
        await this.#inBackground(this.#fold())
        this.#syncLog()
      }
      this.#syncCounts()
      if (trouble) throw trouble
    } finally {
      this.#closed = true
      this.#log.close()
      this.#counts.close()
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

  #logAdded(from: number, n: number): void {
    const { bytes, entries } = this.#record(from, n, 1, this.#logsKeys ? OP.addKeys : OP.addHashes)
    if (entries === 0) return
    if (this.#mustSnapshot) {
      // The filter has marked them, the log not yet: until then the snapshot's log says that they are owed.
      this.#owed.add(this.#state, from, n, 1)
      this.#uncounted(entries, () => this.#snapshot())
    }
    this.#append(bytes)
  }

  // Does something while `urls` of the last batch are not counted: the log will count them.
  #uncounted(urls: number, act: () => void): void {
    this.#state.urls -= urls
    try {
      act()
    } finally {
      this.#state.urls += urls
    }
  }

  #syncLog(): void {
    try {
      this.#log.sync()
    } catch (error) {
      this.#mustSnapshot = true
      throw error
    }
  }

  #syncCounts(): void {
    this.#counts.sync(this.#logNumber, this.#state.seen, this.#state.invalid)
  }

  #append(record: Uint8Array): void {
    this.#log.append(record)
    // The timer does not run while a caller keeps the processor: then the second is kept here.
    const isLate = this.#durability === 'interval' && performance.now() - this.#synced > SYNC_MS
    if (this.#durability !== 'always' && !isLate) return
    this.#synced = performance.now()
    try {
      this.#syncLog()
    } catch (error) {
      this.#log.retract(record.length)
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
    shards.addAll(count)
    kernel.refresh()
    this.#state.urls += count
  }

  // A record of the entries with that verdict, and how many they are.
  #record(from: number, n: number, wanted: number, op: LogRecord['op']): { bytes: Buffer; entries: number } {
    const { kernel } = this.#state
    const { call } = kernel
    const isKeys = op === OP.addKeys || op === OP.deleteKeys
    const room = isKeys ? call.writtenKeyBytes(from, n, wanted) >>> 0 : (n - from + 1) * 8
    const to = call.reserveOutput(room) >>> 0
    kernel.refresh()
    if (to === 0 && room > 0) throw new SieveError('memory', `no memory left for ${room} bytes of log`)
    const entries = isKeys ? call.writtenKeys(from, n, wanted, to) : call.writtenHashes(from, n, wanted, to)
    const bytes = encodeRecord(op, entries, kernel.bytes.subarray(to, to + (isKeys ? room : entries * 8)))
    return { bytes, entries }
  }

  // A new log begins, with what is owed; what was before it goes into the snapshot of its number.
  #rotate(): number {
    this.#begun++
    if (this.#isFresh) {
      // Nothing happened since it began: it serves this snapshot too.
      if (this.#oweRefusals !== this.#owed.refusals) this.#freshBytes = this.#oweIn(this.#log)
      return this.#logNumber
    }
    // A log that could not be put on the disk is given up: the snapshot has all that it says.
    if (!this.#mustSnapshot) this.#syncLog()
    const log = this.#begin(join(this.#folder, logName(this.#logNumber + 1)))
    this.#earlierBytes += this.#log.bytes
    const before = this.#log
    this.#log = log
    before.close()
    return ++this.#logNumber
  }

  // A log that cannot be begun leaves no file: what is behind one in number says that it is whole.
  #begin(path: string): Log {
    let log: Log | undefined
    try {
      log = new Log(path)
      this.#freshBytes = this.#oweIn(log)
      return log
    } catch (error) {
      log?.close()
      try {
        unlinkSync(path)
      } catch (left) {
        if ((left as NodeJS.ErrnoException).code !== 'ENOENT') this.#mustSnapshot = true
      }
      throw error
    }
  }

  #oweIn(log: Log): number {
    if (this.#owed.size > 0) {
      const { op, entries, payload } = this.#owed.record(this.#state.takesHashes)
      log.append(encodeRecord(op, entries, payload))
      log.sync()
    }
    this.#oweRefusals = this.#owed.refusals
    return log.bytes
  }

  // What was refused while a snapshot is written may be in it: before that counts, its log says so. False: it cannot.
  #isOweWritten(): boolean {
    if (this.#oweRefusals === this.#owed.refusals) return true
    try {
      this.#oweIn(this.#log)
      return true
    } catch {
      return false
    }
  }

  // The snapshot with that number is in place: what came before is not needed any more.
  // Returns the files of before.
  #settle(next: number): string[] {
    this.#number = next
    this.#snapshotBytes = statSync(join(this.#folder, snapshotName(next))).size
    this.#earlierBytes = 0
    this.#patienceBytes = 0
    return leftovers(this.#folder, next, this.#keepKeys, this.#keysFrom)
  }

  #snapshot(): void {
    const next = this.#rotate()
    const kept = { keepKeys: this.#keepKeys, keysFrom: this.#keysFrom, hasLog: true }
    const path = join(this.#folder, snapshotName(next))
    try {
      writeSieveNow(path, this.#state, kept)
    } catch (error) {
      removeQuietly(path) // it may be in place, and does not count
      throw error
    }
    this.#mustSnapshot = false
    for (const path of this.#settle(next)) unlinkSync(path)
  }

  // In the background, when the log has outgrown the snapshot. When it fails nothing is lost, the log goes on.
  #foldWhenLong(): void {
    const enough = this.#foldBytes ?? Math.max(LEAST_FOLD_BYTES, this.#snapshotBytes)
    if (this.#snapshotting || this.#logBytes < Math.max(enough, this.#patienceBytes)) return
    this.#inBackground(this.#fold()).catch(() => {
      this.#patienceBytes = 2 * this.#logBytes
    })
  }

  // One snapshot at a time. What goes wrong is for the caller only.
  #inBackground(work: Promise<void>): Promise<void> {
    this.#snapshotting = work
      .catch(() => {})
      .finally(() => {
        this.#snapshotting = null
      })
    return work
  }

  // The log that begins here has all that is added while the snapshot is written; the counts are those of this moment.
  async #fold(): Promise<void> {
    const isAll = this.#mustSnapshot
    const next = this.#rotate()
    const begun = this.#begun
    const totals = totalsOf(this.#state)
    const kept = { keepKeys: this.#keepKeys, keysFrom: this.#keysFrom, hasLog: true, totals }
    const path = join(this.#folder, snapshotName(next))
    const isNewest = () => !this.#closed && this.#begun === begun
    const isWanted = () => isNewest() && this.#isOweWritten()
    const isMade = await writeSieve(path, this.#state, kept, isWanted).catch((error: unknown) => {
      if (isNewest()) removeQuietly(path)
      throw error
    })
    if (!isNewest()) return
    if (!isMade) throw new SieveError('disk', `cannot write ${path}: the disk refuses URLs meanwhile`)
    if (isAll) this.#mustSnapshot = false
    await removeLater(this.#settle(next))
  }
}
