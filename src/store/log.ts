// The append log of a store: what is new since its snapshot, one record a batch. A record is written at once and
// whole; one that was cut short by a crash was never acknowledged and is dropped when the log is read. A record
// that is whole but does not match its checksum is damage, and is said.
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'
import { damaged } from './format.ts'

const MAGIC = 0x524c5355 // "USLR"
/** Magic, operation, entries, payload length, time in milliseconds, CRC of these 24 bytes. */
export const RECORD_HEADER_BYTES = 28
const MOST_PAYLOAD_BYTES = 1024 ** 3

/** What a record says of its entries. */
export const OP = { addHashes: 1, addKeys: 2, deleteHashes: 3, deleteKeys: 4 } as const
export type Op = (typeof OP)[keyof typeof OP]

export interface LogRecord {
  readonly op: Op
  readonly entries: number
  /** Hashes: 8 bytes each. Keys: a u32 length each, then their bytes. */
  readonly payload: Buffer
  /** When it was written, in milliseconds since 1970. */
  readonly time: number
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

/** Reads a log from its start, gives each record to `take`, and says where whole records end. */
export function readLog(path: string, take: (record: LogRecord) => void): LogEnd {
  const fd = openSync(path, 'r')
  try {
    const size = fstatSync(fd).size
    const header = Buffer.alloc(RECORD_HEADER_BYTES)
    let at = 0
    let records = 0
    while (at < size) {
      const got = readFully(fd, header, at)
      // A file that grew but was not written before the power went is zero there.
      if (got < RECORD_HEADER_BYTES || (header.readUInt32LE(0) === 0 && isZeroToEnd(fd, at, size))) break
      if (header.readUInt32LE(0) !== MAGIC || header.readUInt32LE(24) !== crc32(header.subarray(0, 24))) {
        throw damaged(path, at, 'a record header does not match its checksum')
      }
      const length = header.readUInt32LE(12)
      if (length > MOST_PAYLOAD_BYTES) throw damaged(path, at, `a record of ${length} bytes`)
      const end = at + RECORD_HEADER_BYTES + length + 4
      if (end > size) break
      const body = Buffer.allocUnsafe(length + 4)
      readFully(fd, body, at + RECORD_HEADER_BYTES)
      const payload = body.subarray(0, length)
      if (body.readUInt32LE(length) !== crc32(payload)) {
        if (end === size && isZeroToEnd(fd, end - 4, size)) break
        throw damaged(path, at, 'a record does not match its checksum')
      }
      const time = Number(header.readBigUInt64LE(16))
      take({ op: header.readUInt32LE(4) as Op, entries: header.readUInt32LE(8), payload, time })
      records++
      at = end
    }
    return { records, bytes: at, tornBytes: size - at }
  } finally {
    closeSync(fd)
  }
}

/** Reads what can still be read of a damaged log: bad records are passed over. */
export function salvageLog(path: string, take: (record: LogRecord) => void): LogEnd {
  const bytes = readFileSync(path)
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
    if (end <= bytes.length && bytes.readUInt32LE(end - 4) === crc32(payload)) {
      take({
        op: header.readUInt32LE(4) as Op,
        entries: header.readUInt32LE(8),
        payload,
        time: Number(header.readBigUInt64LE(16)),
      })
      records++
      kept += end - at
    }
    at = Math.min(end, bytes.length)
  }
  return { records, bytes: kept, tornBytes: bytes.length - kept }
}

function readFully(fd: number, target: Buffer, at: number): number {
  let got = 0
  while (got < target.length) {
    const n = readSync(fd, target, got, target.length - got, at + got)
    if (n === 0) break
    got += n
  }
  return got
}

function isZeroToEnd(fd: number, at: number, size: number): boolean {
  const block = Buffer.alloc(64 * 1024)
  for (let from = at; from < size; from += block.length) {
    const got = readFully(fd, block.subarray(0, Math.min(block.length, size - from)), from)
    for (let i = 0; i < got; i++) if (block[i] !== 0) return false
  }
  return true
}

export class Log {
  readonly path: string
  /** Bytes of whole records. */
  bytes: number
  readonly #fd: number
  #dirty = false
  #syncing = false

  /** Opens a log for writing, from the end of its whole records on. */
  constructor(path: string, bytes = 0) {
    this.path = path
    this.bytes = bytes
    this.#fd = openSync(path, bytes === 0 ? 'w' : 'r+')
    ftruncateSync(this.#fd, bytes)
  }

  /** Hands a record to the system. When that fails nothing of it stays, and the next append starts clean. */
  append(record: Uint8Array): void {
    let done = 0
    try {
      while (done < record.length) {
        done += writeSync(this.#fd, record, done, record.length - done, this.bytes + done)
      }
    } catch (error) {
      if (done > 0) ftruncateSync(this.#fd, this.bytes)
      throw diskError(this.path, error)
    }
    this.bytes += record.length
    this.#dirty = true
  }

  /** Makes the system put it on the disk, now. */
  sync(): void {
    if (!this.#dirty) return
    try {
      fdatasyncSync(this.#fd)
    } catch (error) {
      throw diskError(this.path, error)
    }
    this.#dirty = false
  }

  /** The same, without waiting. */
  syncLater(onError: (error: SieveError) => void): void {
    if (!this.#dirty || this.#syncing) return
    this.#dirty = false
    this.#syncing = true
    fdatasync(this.#fd, (error) => {
      this.#syncing = false
      if (!error || error.code === 'EBADF') return
      this.#dirty = true
      onError(diskError(this.path, error))
    })
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** One line for a disk that is full, read-only or broken. */
export function diskError(path: string, error: unknown): SieveError {
  const { code, message } = error as NodeJS.ErrnoException
  const reasons: Record<string, string> = {
    ENOSPC: 'no space left on the device; free some and go on, nothing acknowledged is lost',
    EDQUOT: 'disk quota exceeded; nothing acknowledged is lost',
    EFBIG: 'the file may not grow further on this system; nothing acknowledged is lost',
    EROFS: 'the file system is read-only',
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    ENOENT: 'no such file or folder',
    ENOTDIR: 'a part of the path is no folder',
  }
  return new SieveError('disk', `cannot write ${path}: ${(code && reasons[code]) ?? message}`)
}
