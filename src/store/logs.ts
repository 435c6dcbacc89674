// The logs since a snapshot: the one being written, and those before it that wait to be folded. A new log begins with the
// URLs that no log holds, since the snapshot of its number may have them in its filter. What is confirmed was delivered: where
// that is a file, it is on the disk before the log.
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Delivered, Durability } from '../journal.ts'
import type { SieveState } from '../state.ts'
import { logName } from './layout.ts'
import { encodeRecord, Log } from './log.ts'
import type { Unlogged } from './unlogged.ts'

export const SYNC_MS = 1000
/** Between two of these what was delivered begins to go to the disk: little is left when the log is synced. */
const AHEAD_MS = 100

export interface OpenedLogs {
  readonly durability: Durability
  /** Marked in the filter, and in no log. */
  readonly unlogged: Unlogged
  /** Of the log being written, with the bytes of those between the snapshot and it. */
  readonly logNumber: number
  readonly earlierBytes: number
  readonly log: Log
}

export class Logs {
  /** False: the logs no longer say what the sieve remembers, and a snapshot must be made before the next record. */
  isWhole = true
  delivered: Delivered | null = null
  readonly #durability: Durability
  #synced = performance.now()
  /** What was delivered is being put on the disk. */
  #delivering: Promise<void> | null = null
  #isClosed = false
  #ahead: Promise<void> | null = null
  #nextAhead = 0
  readonly #folder: string
  readonly #state: SieveState
  readonly #unlogged: Unlogged
  #number: number
  #log: Log
  #earlierBytes: number
  /** Of the log being written: bytes that say what no log holds. */
  #unloggedBytes = 0
  /** `changes` when those were last written to the log. */
  #loggedChanges = 0

  constructor(folder: string, state: SieveState, opened: OpenedLogs) {
    this.#folder = folder
    this.#durability = opened.durability
    this.#state = state
    this.#unlogged = opened.unlogged
    this.#number = opened.logNumber
    this.#earlierBytes = opened.earlierBytes
    this.#log = opened.log
  }

  /** Of the log being written. */
  get number(): number {
    return this.#number
  }

  /** Bytes of all logs since the snapshot. */
  get bytes(): number {
    return this.#earlierBytes + this.#log.bytes
  }

  /** Bytes that say what no log holds: the next log begins with about as many, after a snapshot too. */
  get unloggedBytes(): number {
    return this.#unloggedBytes
  }

  /** Nothing is in the log that was begun for a snapshot after `snapshot`: the next snapshot takes its number. */
  isFresh(snapshot: number): boolean {
    const log = this.#log
    return log.bytes === this.#unloggedBytes && this.#number > snapshot && !log.hasFailed
  }

  /** When it throws, nothing of the record counts. */
  append(record: Uint8Array): void {
    // The timer does not run while a caller keeps the processor: then the second is kept here.
    const now = this.#durability === 'interval' ? performance.now() : 0
    const isLate = now - this.#synced > SYNC_MS
    if (this.delivered && now > this.#nextAhead) this.#deliverAhead(this.delivered, now)
    const isSynced = this.#durability === 'always' || isLate
    if (isSynced) this.delivered?.sync()
    this.#log.append(record)
    if (!isSynced) return
    try {
      this.#syncLog()
    } catch (error) {
      this.#log.retract(record.length)
      throw error
    }
  }

  sync(): void {
    this.delivered?.sync()
    this.#syncLog()
  }

  /** The same without waiting; `onError` is called unless someone has waited for it. */
  syncLater(onError: (error: Error) => void): void {
    this.#synced = performance.now()
    if (!this.delivered) {
      this.#log.syncLater(onError)
      return
    }
    // Most is on the disk when this process waits for the rest, and for the log.
    this.#delivering ??= this.delivered
      .syncLater()
      .then(() => {
        if (!this.#isClosed && this.isWhole) this.sync()
      })
      .catch(onError)
      .finally(() => {
        this.#delivering = null
      })
  }

  /** Waits for a sync under way. */
  async settled(): Promise<void> {
    await this.#delivering
    await this.#ahead
    await this.#log.settled()
  }

  // What goes wrong is reported by the sync that counts.
  #deliverAhead(delivered: Delivered, now: number): void {
    this.#nextAhead = now + AHEAD_MS
    this.#ahead ??= delivered
      .syncLater()
      .catch(() => {})
      .finally(() => {
        this.#ahead = null
      })
  }

  #syncLog(): void {
    this.#synced = performance.now()
    try {
      this.#log.sync()
    } catch (error) {
      this.isWhole = false
      throw error
    }
  }

  /** Begins a new log; what was before it goes into the snapshot of its number, which is returned. */
  rotate(snapshot: number): number {
    if (this.isFresh(snapshot)) {
      // Nothing happened since it began: it serves this snapshot too.
      if (this.#loggedChanges !== this.#unlogged.changes)
        this.#unloggedBytes += this.#writeUnlogged(this.#log)
      return this.#number
    }
    // A log that could not be put on the disk is given up: the snapshot has all that it says.
    if (this.isWhole) this.sync()
    else this.delivered?.sync()
    const log = this.#begin(join(this.#folder, logName(this.#number + 1)))
    this.#earlierBytes += this.#log.bytes
    const before = this.#log
    this.#log = log
    before.close()
    return ++this.#number
  }

  /** The earlier logs are in a snapshot now. */
  dropEarlier(): void {
    this.#earlierBytes = 0
  }

  /**
   * Writes the URLs that no log holds, and came since this log began: they may be in a snapshot that is being written, and its log
   * must say so before it counts, and what it counts must be on the disk. False: the disk refuses that too.
   */
  tryWriteUnlogged(): boolean {
    try {
      this.delivered?.sync()
      if (this.#loggedChanges !== this.#unlogged.changes)
        this.#unloggedBytes += this.#writeUnlogged(this.#log)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.#isClosed = true
    this.#log.close()
  }

  // A log that cannot be begun leaves no file: a log with a higher number says that the one before it is whole.
  #begin(path: string): Log {
    let log: Log | undefined
    try {
      log = new Log(path)
      this.#unloggedBytes = this.#writeUnlogged(log)
      return log
    } catch (error) {
      log?.close()
      try {
        unlinkSync(path)
      } catch (left) {
        if ((left as NodeJS.ErrnoException).code !== 'ENOENT') this.isWhole = false
      }
      throw error
    }
  }

  // Returns how many bytes that took.
  #writeUnlogged(log: Log): number {
    const before = log.bytes
    if (this.#unlogged.size > 0) {
      const { op, entries, payload } = this.#unlogged.record(this.#state.takesHashes)
      log.append(encodeRecord(op, entries, payload))
      log.sync()
    }
    this.#loggedChanges = this.#unlogged.changes
    return log.bytes - before
  }
}
