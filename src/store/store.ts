// A store: a folder with a snapshot and an append log of what is new since. One writer at a time; readers may open it
// read-only. Files: `snapshot-N.sieve` holds what was before `log-N` began; `lock` names the writer.
import { statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import type { Delivered, Durability, Journal, StoreInfo } from '../journal.ts'
import type { SieveState } from '../state.ts'
import { putBack, recordOf } from './batch.ts'
import type { CountsFile } from './counts.ts'
import { removeLater, removeQuietly } from './file.ts'
import { snapshotName } from './layout.ts'
import { leftovers } from './leftovers.ts'
import { encodeRecord, type LogRecord, OP, payloadOf } from './log.ts'
import { Logs, type OpenedLogs, SYNC_MS } from './logs.ts'
import { type Totals, totalsOf, writeSieve, writeSieveNow } from './snapshot.ts'
import type { Unlogged } from './unlogged.ts'

/** A shorter log is not worth a snapshot. */
const LEAST_FOLD_BYTES = 4 * 1024 * 1024
/** For tests of the command: a store folds whenever its log has this length. */
const FOLD_BYTES = Number(process.env.URLSIEVE_FOLD_BYTES) || undefined

export interface Opened extends OpenedLogs {
  readonly durability: Durability
  readonly keepKeys: boolean
  readonly foldBytes: number | undefined
  readonly keysFrom: number
  /** Of the snapshot. */
  readonly number: number
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
  readonly #unlogged: Unlogged
  readonly #logs: Logs
  /** Of the snapshot. Its logs go from this number to that of the log being written. */
  #number: number
  #keysFrom: number
  #snapshotBytes: number
  #snapshotting: Promise<void> | null = null
  /** Counts the snapshots begun: one in the background is given up when another was begun since. */
  #begun = 0
  /** After a snapshot that failed, the logs may grow to this length before the next try. */
  #patienceBytes = 0
  #timer: NodeJS.Timeout | undefined
  #trouble: Error | null = null
  #closed = false
  holds = false

  constructor(folder: string, state: SieveState, opened: Opened) {
    this.#folder = folder
    this.#state = state
    this.#durability = opened.durability
    this.#keepKeys = opened.keepKeys
    this.#foldBytes = opened.foldBytes ?? FOLD_BYTES
    this.#keysFrom = opened.keysFrom
    this.#unlogged = opened.unlogged
    this.#counts = opened.counts
    this.#release = opened.release
    this.#number = opened.number
    this.#logs = new Logs(folder, state, opened)
    this.#snapshotBytes = statSync(join(folder, snapshotName(this.#number))).size
    if (this.#durability === 'interval') {
      this.#timer = setInterval(() => {
        this.#logs.syncLater((error) => this.#distrust(error))
        this.#counts.syncLater()
      }, SYNC_MS)
      this.#timer.unref()
    }
  }

  /** With durability `never` nothing is promised at power loss. */
  set delivered(delivered: Delivered | null) {
    this.#logs.delivered = this.#durability === 'never' ? null : delivered
  }

  get #logsKeys(): boolean {
    return this.#keepKeys || !this.#state.takesHashes
  }

  added(from: number, n: number): void {
    const state = this.#state
    try {
      this.#open()
      // Of a single URL it is known without a call.
      if (n - from === 1 && state.kernel.verdicts[from] !== 1) return
      if (!this.#hold(from, n)) return
    } catch (error) {
      this.#unlogged.add(state, from, n, 1)
      throw error
    }
    this.#unlogged.drop(state, from, n, 1)
    if (!this.holds) this.#confirmLast()
  }

  confirm(batches?: number): void {
    const held = this.#unlogged.batches.slice(0, batches)
    const parts = held.map(({ record }) => record)
    if (batches === undefined) {
      const op = this.#addOp
      const { entries, payload } = this.#unlogged.singles(op === OP.addHashes)
      if (entries > 0) parts.push(encodeRecord(op, entries, payload))
    }
    if (parts.length === 0) return
    this.#open()
    this.#writeDown(parts)
    this.#unlogged.release(batches === undefined ? undefined : held.length)
    this.#foldWhenLong()
  }

  /** The held ones of the kernel's n entries. */
  confirmSome(n: number): void {
    if (this.#unlogged.held === 0) return
    const state = this.#state
    if (this.#unlogged.find(state, n, this.#addOp === OP.addHashes) === 0) return
    this.#open()
    this.#writeDown([recordOf(this.#state, 0, n, 1, this.#addOp).bytes])
    this.#unlogged.releaseFound(state, n)
    this.#foldWhenLong()
  }

  unconfirmed(): number {
    return this.#unlogged.held
  }

  held(): number {
    return this.#unlogged.batches.length
  }

  /** What the disk refused before is new again when it comes again, once a batch. */
  amend(from: number, n: number): void {
    this.#unlogged.amend(this.#state, from, n)
  }

  counted(): void {
    this.#counts.write(this.#logs.number, this.#state.seen, this.#state.invalid)
  }

  /** When the disk refuses, what was deleted is put back. */
  deleted(n: number): void {
    let isBack = false
    try {
      this.#open()
      this.#confirmDeleted(n)
      const { bytes, entries } = recordOf(
        this.#state,
        0,
        n,
        0,
        this.#logsKeys ? OP.deleteKeys : OP.deleteHashes,
      )
      if (!this.#logs.isWhole) {
        // The snapshot has them, and its log deletes them.
        putBack(this.#state, n)
        isBack = true
        this.#snapshot()
        this.#state.shards.delete(entries)
        this.#state.urls -= entries
        isBack = false
      }
      this.#logs.append(bytes)
    } catch (error) {
      if (!isBack) putBack(this.#state, n)
      throw error
    }
    this.#unlogged.drop(this.#state, 0, n, 0)
    this.#foldWhenLong()
  }

  /** When the disk refuses, the store is as it was. */
  cleared(): void {
    this.#open()
    const keysFrom = this.#keysFrom
    const { isWhole, number } = this.#logs
    const undo = this.#unlogged.clear()
    this.#keysFrom = this.#logs.isFresh(this.#number) ? number : number + 1
    try {
      this.#snapshot()
    } catch (error) {
      this.#keysFrom = keysFrom
      this.#logs.isWhole = isWhole
      undo()
      throw error
    }
    this.counted()
  }

  unlogged(): number {
    return this.#unlogged.size
  }

  /** After a sync that failed, what the log says is written again, into a snapshot: until then nothing of it is safe. */
  sync(): void {
    this.#open()
    if (!this.#logs.isWhole) this.#snapshot()
    else this.#logs.sync()
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

  /** Rejects with what went wrong in the background since the last call; what the log says is then written again. */
  async close(): Promise<void> {
    if (this.#closed) return
    clearInterval(this.#timer)
    await this.#logs.settled()
    while (this.#snapshotting) await this.#snapshotting
    let trouble = this.#trouble
    try {
      if (this.#logs.isWhole) {
        try {
          this.#logs.sync()
        } catch (error) {
          trouble = error as Error
        }
      }
      if (!this.#logs.isWhole) {
        await this.#inBackground(this.#fold())
        this.#logs.sync()
      }
      this.#syncCounts()
      if (trouble) throw trouble
    } finally {
      this.#closed = true
      this.#logs.close()
      this.#counts.close()
      this.#release()
    }
  }

  info(): StoreInfo {
    return {
      path: this.#folder,
      durability: this.#durability,
      logBytes: this.#logs.bytes,
      snapshotBytes: this.#snapshotBytes,
      snapshotting: this.#snapshotting !== null,
      keepKeys: this.#keepKeys,
      unconfirmed: this.#unlogged.held,
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
  #distrust(error: Error): void {
    this.#trouble = error
    this.#logs.isWhole = false
  }

  get #addOp(): LogRecord['op'] {
    return this.#logsKeys ? OP.addKeys : OP.addHashes
  }

  // Entries [from, n) of the batch that are new wait for their confirmation. False: there are none.
  #hold(from: number, n: number): boolean {
    const { bytes, entries } = recordOf(this.#state, from, n, 1, this.#addOp)
    if (entries === 0) return false
    const logged = payloadOf(bytes)
    const isNamed = this.#logsKeys !== this.#state.takesHashes
    const names = isNamed ? logged : payloadOf(recordOf(this.#state, from, n, 1, OP.addHashes).bytes)
    this.#unlogged.hold({ entries, record: bytes, names, logged })
    return true
  }

  // The last batch counts when the log has it. When the disk refuses, its URLs are new again.
  #confirmLast(): void {
    try {
      this.#writeDown([this.#unlogged.batches.at(-1)!.record])
    } catch (error) {
      this.#unlogged.refuseLast(this.#state.takesHashes)
      throw error
    }
    this.#unlogged.releaseLast()
    this.#foldWhenLong()
  }

  // Records of what is held: until the log has them, a snapshot does not count them, and its log names them.
  #writeDown(records: readonly Uint8Array[]): void {
    if (!this.#logs.isWhole) this.#snapshot()
    this.#logs.append(records.length === 1 ? records[0]! : Buffer.concat(records))
  }

  // What is deleted before it was confirmed is first written down: a log deletes only what it has. Keeps the verdicts.
  #confirmDeleted(n: number): void {
    if (this.#unlogged.held === 0) return
    const { kernel } = this.#state
    const verdicts = kernel.verdicts.slice(0, n)
    this.confirmSome(n)
    kernel.verdicts.set(verdicts)
  }

  // What is counted in the sieve, but for what the log will count.
  #totals(): Totals {
    const totals = totalsOf(this.#state)
    return { ...totals, urls: totals.urls - this.#unlogged.held }
  }

  #syncCounts(): void {
    this.#counts.sync(this.#logs.number, this.#state.seen, this.#state.invalid)
  }

  #rotate(): number {
    this.#begun++
    return this.#logs.rotate(this.#number)
  }

  // The snapshot with that number is in place: what came before is not needed any more.
  // Returns the files of before.
  #settle(next: number): string[] {
    this.#number = next
    this.#snapshotBytes = statSync(join(this.#folder, snapshotName(next))).size
    this.#logs.dropEarlier()
    this.#patienceBytes = 0
    return leftovers(this.#folder, next, this.#keepKeys, this.#keysFrom)
  }

  #snapshot(): void {
    const next = this.#rotate()
    const kept = { keepKeys: this.#keepKeys, keysFrom: this.#keysFrom, hasLog: true, totals: this.#totals() }
    const path = join(this.#folder, snapshotName(next))
    try {
      writeSieveNow(path, this.#state, kept)
    } catch (error) {
      removeQuietly(path) // it may be in place, and does not count
      throw error
    }
    this.#logs.isWhole = true
    for (const path of this.#settle(next)) unlinkSync(path)
  }

  // In the background, when the log has outgrown what a fold writes: the snapshot, and what no log holds. When it fails nothing is lost, the log goes on.
  #foldWhenLong(): void {
    const { bytes, unloggedBytes } = this.#logs
    const enough = this.#foldBytes ?? Math.max(LEAST_FOLD_BYTES, this.#snapshotBytes, unloggedBytes)
    if (this.#snapshotting || bytes - unloggedBytes < Math.max(enough, this.#patienceBytes)) return
    this.#inBackground(this.#fold()).catch(() => {
      this.#patienceBytes = 2 * this.#logs.bytes
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
    const { delivered } = this.#logs
    if (delivered) await delivered.syncLater()
    if (this.#closed) return
    const isAll = !this.#logs.isWhole
    const next = this.#rotate()
    const begun = this.#begun
    const totals = this.#totals()
    const kept = { keepKeys: this.#keepKeys, keysFrom: this.#keysFrom, hasLog: true, totals }
    const path = join(this.#folder, snapshotName(next))
    const isNewest = () => !this.#closed && this.#begun === begun
    const isReady = () => isNewest() && this.#logs.tryWriteUnlogged()
    const isMade = await writeSieve(path, this.#state, kept, isNewest, isReady).catch((error: unknown) => {
      if (isNewest()) removeQuietly(path)
      throw error
    })
    if (!isNewest()) return
    if (!isMade) throw new SieveError('disk', `cannot write ${path}: the disk refuses URLs meanwhile`)
    if (isAll) this.#logs.isWhole = true
    await removeLater(this.#settle(next))
  }
}
