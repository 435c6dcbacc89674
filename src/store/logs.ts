// The logs since a snapshot: the one being written, and those before it that wait to be folded. A new log begins with the
// URLs that the disk refused, since the snapshot of its number may have them in its filter.
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { SieveError } from '../errors.ts'
import type { SieveState } from '../state.ts'
import { logName } from './layout.ts'
import { encodeRecord, Log } from './log.ts'
import type { Unlogged } from './unlogged.ts'

export interface OpenedLogs {
  /** Marked in the filter but not in a log, since the disk refused: still new to whoever queries. */
  readonly unlogged: Unlogged
  /** Of the log being written, with the bytes of those between the snapshot and it. */
  readonly logNumber: number
  readonly earlierBytes: number
  readonly log: Log
}

export class Logs {
  /** False: the logs no longer say what the sieve remembers, and a snapshot must be made before the next record. */
  isWhole = true
  readonly #folder: string
  readonly #state: SieveState
  readonly #unlogged: Unlogged
  #number: number
  #log: Log
  #earlierBytes: number
  /** The length of the log when it began: of the record of refused URLs. */
  #freshBytes = 0
  /** `refusals` when the refused URLs were last written to the log. */
  #loggedRefusals = 0

  constructor(folder: string, state: SieveState, opened: OpenedLogs) {
    this.#folder = folder
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

  /** Nothing is in the log that was begun for a snapshot after `snapshot`: the next snapshot takes its number. */
  isFresh(snapshot: number): boolean {
    const log = this.#log
    return log.bytes === this.#freshBytes && this.#number > snapshot && !log.hasFailed
  }

  append(record: Uint8Array): void {
    this.#log.append(record)
  }

  /** Takes back the last record, of `bytes` bytes: it was not acknowledged. */
  retract(bytes: number): void {
    this.#log.retract(bytes)
  }

  sync(): void {
    try {
      this.#log.sync()
    } catch (error) {
      this.isWhole = false
      throw error
    }
  }

  syncLater(onError: (error: SieveError) => void): void {
    this.#log.syncLater(onError)
  }

  /** Waits for a sync under way. */
  settled(): Promise<void> {
    return this.#log.settled()
  }

  /** Begins a new log; what was before it goes into the snapshot of its number, which is returned. */
  rotate(snapshot: number): number {
    if (this.isFresh(snapshot)) {
      // Nothing happened since it began: it serves this snapshot too.
      if (this.#loggedRefusals !== this.#unlogged.refusals) this.#freshBytes = this.#writeUnlogged(this.#log)
      return this.#number
    }
    // A log that could not be put on the disk is given up: the snapshot has all that it says.
    if (this.isWhole) this.sync()
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
   * Writes the URLs that were refused since the log began: they may be in a snapshot that is being written, and its log must
   * say so before it counts. False: the disk refuses that too.
   */
  tryWriteUnlogged(): boolean {
    if (this.#loggedRefusals === this.#unlogged.refusals) return true
    try {
      this.#writeUnlogged(this.#log)
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.#log.close()
  }

  // A log that cannot be begun leaves no file: a log with a higher number says that the one before it is whole.
  #begin(path: string): Log {
    let log: Log | undefined
    try {
      log = new Log(path)
      this.#freshBytes = this.#writeUnlogged(log)
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

  #writeUnlogged(log: Log): number {
    if (this.#unlogged.size > 0) {
      const { op, entries, payload } = this.#unlogged.record(this.#state.takesHashes)
      log.append(encodeRecord(op, entries, payload))
      log.sync()
    }
    this.#loggedRefusals = this.#unlogged.refusals
    return log.bytes
  }
}
