// The append log of a store: what is new since its snapshot, one record per batch. A record is written immediately
// and whole; one that was cut short by a crash was never acknowledged and is dropped when the log is read. A record
// that is whole but does not match its checksum is damage, and is reported.
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'
import { closeQuietly, diskError, openFile, openOwn, readFully, readStored, syncFolder } from './file.ts'
import { damaged } from './format.ts'
import { Task } from './thread.ts'

const MAGIC = 0x524c5355 // "USLR"
/** Magic, operation, entries, payload length, time in milliseconds, CRC of these 24 bytes. */
export const RECORD_HEADER_BYTES = 28
const MOST_PAYLOAD_BYTES = 1024 ** 3
const BLOCK_BYTES = 512
const TELLING_BYTES = 16
const WINDOW_BYTES = 1024 * 1024

/** What a record does with its entries. Unlogged: the snapshot's filter may have them, but no log before had. */
export const OP = {
  addHashes: 1,
  addKeys: 2,
  deleteHashes: 3,
  deleteKeys: 4,
  unloggedHashes: 5,
  unloggedKeys: 6,
} as const
const LAST_OP = OP.unloggedKeys
export type Op = (typeof OP)[keyof typeof OP]

export interface LogRecord {
  readonly op: Op
  readonly entries: number
  /** Hashes: 8 bytes each. Keys: a u32 length each, then their bytes. */
  readonly payload: Buffer
  /** When it was written, in milliseconds since 1970. */
  readonly time: number
  /** Where it begins in the file. */
  readonly at: number
}

/** Milliseconds since 1970 that a date can have. */
const MOST_TIME = 8.64e15

// What is wrong with a record that is whole; null: nothing.
function misfit({ op, entries, payload, time }: Omit<LogRecord, 'at'>): string | null {
  if (time > MOST_TIME) return `a record of the time ${time}`
  const isHashes = op === OP.addHashes || op === OP.deleteHashes || op === OP.unloggedHashes
  const found = isHashes ? payload.length / 8 : keysIn(payload)
  return found === entries ? null : `a record of ${entries} entries does not have that many`
}

// How many keys a payload holds; NaN when their lengths do not fill it.
function keysIn(payload: Buffer): number {
  let count = 0
  let at = 0
  while (at + 4 <= payload.length) {
    at += 4 + payload.readUInt32LE(at)
    count++
  }
  return at === payload.length ? count : Number.NaN
}

export interface LogEnd {
  readonly records: number
  /** Bytes of whole records. */
  readonly bytes: number
  /** Bytes of a last record that was cut short: never acknowledged, left out. */
  readonly tornBytes: number
}

export function encodeRecord(op: Op, entries: number, payload: Uint8Array, time = Date.now()): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_HEADER_BYTES + payload.length + 4)
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(op, 4)
  bytes.writeUInt32LE(entries, 8)
  bytes.writeUInt32LE(payload.length, 12)
  bytes.writeBigUInt64LE(BigInt(time), 16)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 24)), 24)
  bytes.set(payload, RECORD_HEADER_BYTES)
  bytes.writeUInt32LE(crc32(payload), RECORD_HEADER_BYTES + payload.length)
  return bytes
}

/** What a record that was encoded holds. */
export function payloadOf(record: Buffer): Buffer {
  return record.subarray(RECORD_HEADER_BYTES, -4)
}

/** Reads a log from its start, passes each record to `take`, and returns where whole records end. */
export function readLog(path: string, take: (record: LogRecord) => void): LogEnd {
  const fd = openFile(path)
  try {
    return readLogFrom(fd, path, take)
  } finally {
    closeSync(fd)
  }
}

/** The same of a log that is open: it may have lost its name since. */
export function readLogFrom(fd: number, path: string, take: (record: LogRecord) => void): LogEnd {
  const size = fstatSync(fd).size
  const bytesAt = windowOn(fd)
  let at = 0
  let records = 0
  while (at < size) {
    const header = bytesAt(at, Math.min(RECORD_HEADER_BYTES, size - at))
    // A file that grew but was not written before the power went is zero there.
    if (header.length < RECORD_HEADER_BYTES || (header.readUInt32LE(0) === 0 && isZeroToEnd(fd, at, size)))
      break
    if (header.readUInt32LE(0) !== MAGIC || header.readUInt32LE(24) !== crc32(header.subarray(0, 24))) {
      throw damaged(path, at, 'a record header does not match its checksum')
    }
    const length = header.readUInt32LE(12)
    if (length > MOST_PAYLOAD_BYTES) throw damaged(path, at, `a record of ${length} bytes`)
    const op = header.readUInt32LE(4)
    if (op < 1 || op > LAST_OP) {
      throw new SieveError(
        'version',
        `${path} has a record of kind ${op} at byte ${at}: from a later urlsieve`,
      )
    }
    const end = at + RECORD_HEADER_BYTES + length + 4
    if (end > size) break
    const entries = header.readUInt32LE(8)
    const time = Number(header.readBigUInt64LE(16))
    const body = bytesAt(at + RECORD_HEADER_BYTES, length + 4)
    if (body.length < length + 4) break // another process has just cut it off
    const payload = body.subarray(0, length)
    if (body.readUInt32LE(length) !== crc32(payload)) {
      if (end === size && endsUnwritten(fd, at, size)) break
      throw damaged(path, at, 'a record does not match its checksum')
    }
    const record = { op: op as Op, entries, payload, time, at }
    const wrong = misfit(record)
    if (wrong) throw damaged(path, at, wrong)
    take(record)
    records++
    at = end
  }
  return { records, bytes: at, tornBytes: size - at }
}

/** Reads what can still be read of a damaged log: bad records are passed over. */
export function salvageLog(path: string, take: (record: LogRecord) => void): LogEnd {
  const bytes = readStored(path)
  let records = 0
  let kept = 0
  for (let at = 0; at + RECORD_HEADER_BYTES <= bytes.length; ) {
    const header = bytes.subarray(at, at + RECORD_HEADER_BYTES)
    if (header.readUInt32LE(0) !== MAGIC || header.readUInt32LE(24) !== crc32(header.subarray(0, 24))) {
      at++
      continue
    }
    const end = at + RECORD_HEADER_BYTES + header.readUInt32LE(12) + 4
    const payload = bytes.subarray(at + RECORD_HEADER_BYTES, end - 4)
    const record = {
      op: header.readUInt32LE(4) as Op,
      entries: header.readUInt32LE(8),
      payload,
      time: Number(header.readBigUInt64LE(16)),
      at,
    }
    const isKnown = record.op >= 1 && record.op <= LAST_OP
    const isWhole = end <= bytes.length && bytes.readUInt32LE(end - 4) === crc32(payload)
    if (isKnown && isWhole && !misfit(record)) {
      take(record)
      records++
      kept += end - at
    }
    at = Math.min(end, bytes.length)
  }
  return { records, bytes: kept, tornBytes: bytes.length - kept }
}

// Reads a megabyte at a time, since records of single URLs are short. What it gave stays as it is.
function windowOn(fd: number): (at: number, length: number) => Buffer {
  let window = Buffer.alloc(0)
  let from = 0
  return (at, length) => {
    if (at + length > from + window.length) {
      const room = Buffer.allocUnsafe(Math.max(length, WINDOW_BYTES))
      from = at
      window = room.subarray(0, readFully(fd, room, at))
    }
    return window.subarray(at - from, at - from + length)
  }
}

function isZeroToEnd(fd: number, at: number, size: number): boolean {
  const block = Buffer.alloc(64 * 1024)
  for (let from = at; from < size; from += block.length) {
    const got = readFully(fd, block.subarray(0, Math.min(block.length, size - from)), from)
    for (let i = 0; i < got; i++) if (block[i] !== 0) return false
  }
  return true
}

// Whether a last record's end was never written: its last block is zero where the file system had only made room. A
// block of which the record has but a few bytes says nothing: a flipped byte could have made them.
function endsUnwritten(fd: number, from: number, size: number): boolean {
  const block = Math.max(from, Math.floor((size - 1) / BLOCK_BYTES) * BLOCK_BYTES)
  return size - block >= TELLING_BYTES && isZeroToEnd(fd, block, size)
}

export class Log {
  readonly path: string
  /** Bytes of whole records. */
  bytes: number
  readonly #fd: number
  #dirty = false
  #syncing: Task | null = null
  /** Set when the system could not put it on the disk: it may have dropped what it had, and a later sync says nothing. */
  #failure: SieveError | null = null
  /** Something that was taken back may still stand behind the whole records. */
  #isUncut = false

  /** A sync has failed: it takes no more that is to last. */
  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** Opens a log for writing, from the end of its whole records on. */
  constructor(path: string, bytes = 0) {
    this.path = path
    this.bytes = bytes
    let fd: number | undefined
    try {
      fd = openOwn(path, bytes === 0 ? 'w' : 'r+')
      ftruncateSync(fd, bytes)
      if (bytes === 0) syncFolder(dirname(path))
      this.#fd = fd
    } catch (error) {
      if (fd !== undefined) closeQuietly(fd)
      throw diskError(path, error)
    }
  }

  /** Hands a record to the system. When that fails nothing of it stays, and the next append starts clean. */
  append(record: Uint8Array): void {
    if (this.#isUncut) this.#cut()
    let done = 0
    try {
      while (done < record.length) {
        done += writeSync(this.#fd, record, done, record.length - done, this.bytes + done)
      }
    } catch (error) {
      if (done > 0) this.#tryCut()
      throw diskError(this.path, error)
    }
    this.bytes += record.length
    this.#dirty = true
  }

  /** Takes back the last record, of `bytes` bytes: it was not acknowledged. */
  retract(bytes: number): void {
    this.bytes -= bytes
    this.#tryCut()
  }

  #cut(): void {
    try {
      ftruncateSync(this.#fd, this.bytes)
      this.#isUncut = false
    } catch (error) {
      throw diskError(this.path, error)
    }
  }

  #tryCut(): void {
    this.#isUncut = true
    try {
      this.#cut()
    } catch {
      // the next append tries again, and does nothing before that
    }
  }

  /** Makes the system put it on the disk, now. Waits for a sync under way. Once one has failed it fails for ever. */
  sync(): void {
    if (this.#syncing) this.#end(this.#syncing.wait())
    if (this.#failure) throw this.#failure
    if (!this.#dirty) return
    try {
      fdatasyncSync(this.#fd)
    } catch (error) {
      this.#failure = diskError(this.path, error)
      throw this.#failure
    }
    this.#dirty = false
  }

  /** The same, without waiting; `onError` is called unless someone has waited for it. */
  syncLater(onError: (error: SieveError) => void): void {
    if (!this.#dirty || this.#syncing || this.#failure) return
    this.#dirty = false
    const task = new Task('fdatasync', this.#fd)
    this.#syncing = task
    task.done.then((code) => {
      if (this.#syncing !== task) return
      this.#end(code)
      if (this.#failure) onError(this.#failure)
    })
  }

  /** Resolves when no sync is under way. */
  async settled(): Promise<void> {
    await this.#syncing?.done
  }

  #end(code: string | null): void {
    this.#syncing = null
    if (code !== null) this.#failure = diskError(this.path, { code, message: code })
  }

  /** Lets go of the file, when a sync under way has ended. What counts was synced before. */
  close(): void {
    if (this.#syncing) this.#end(this.#syncing.wait())
    closeQuietly(this.#fd)
  }
}

export { diskError } from './file.ts'
