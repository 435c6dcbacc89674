// LevelDB's log format (doc/log_format.md of LevelDB), which its manifests share: records cut into 32 KiB blocks. In a
// log each record is a write batch.
import { damaged } from '../../store/format.ts'
import { maskedCrc, somePrefixHasCrc } from './crc32c.ts'
import { readVarint } from './varint.ts'

const BLOCK_BYTES = 32 * 1024
/** CRC, length, kind. */
const HEADER_BYTES = 7
/** Sequence number, count. */
const BATCH_HEADER_BYTES = 12
/** LevelDB asserts that sequence numbers have 56 bits: below this, no number of further writes comes near. */
const MOST_SEQUENCE = Number.MAX_SAFE_INTEGER

/** Throws when a log has a damaged record. One cut short by the end of the file was never acknowledged: no damage. */
export function checkLog(path: string, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES)
    if (left < HEADER_BYTES) {
      at += left
      continue
    }
    if (at + HEADER_BYTES > bytes.length) return
    const length = bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6]!
    const end = at + HEADER_BYTES + length
    // After a power failure a file may have grown without its data: that part is zero.
    if (kind === 0 && length === 0 && isZero(bytes, at)) return
    if (kind < 1 || kind > 4 || HEADER_BYTES + length > left) {
      throw damaged(path, at, 'an invalid record header')
    }
    if (end > bytes.length) {
      // The record is complete at another length: the stored length is wrong.
      if (somePrefixHasCrc(bytes, at + 6, bytes.readUInt32LE(at)))
        throw damaged(path, at, `a record shorter than its length of ${length} bytes`)
      return
    }
    if (bytes.readUInt32LE(at) !== maskedCrc(bytes, at + 6, end)) {
      throw damaged(path, at, 'a record does not match its checksum')
    }
    at = end
  }
}

function isZero(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < bytes.length; i++) if (bytes[i] !== 0) return false
  return true
}

export interface LogRecord {
  /** Offset of its first part. */
  readonly at: number
  readonly payload: Buffer
}

/** The complete records of a log; the parts of one that spans blocks are joined. */
export function* recordsOf(bytes: Buffer): Generator<LogRecord> {
  let parts: Buffer[] = []
  let from = 0
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES)
    if (left < HEADER_BYTES) {
      at += left
      continue
    }
    const end = at + HEADER_BYTES + bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6]! // 1 complete, 2 first part, 3 middle part, 4 last part
    if (kind === 0 || end > bytes.length) return
    if (kind <= 2) {
      parts = []
      from = at
    }
    parts.push(bytes.subarray(at + HEADER_BYTES, end))
    if (kind === 1 || kind === 4) yield { at: from, payload: Buffer.concat(parts) }
    at = end
  }
}

/** The last complete record of a log; undefined when there is none. */
export function lastRecord(bytes: Buffer): LogRecord | undefined {
  let last: LogRecord | undefined
  for (const record of recordsOf(bytes)) last = record
  return last
}

/** Throws a RangeError for a sequence number that LevelDB cannot go on from. */
export function checkSequence(sequence: number): void {
  if (sequence > MOST_SEQUENCE) throw new RangeError(`a sequence number of ${sequence}`)
}

/**
 * Throws a RangeError unless a record is a write batch: a sequence number, a count, and that many puts and deletes.
 * LevelDB silently ignores the rest of a record that is not, and asserts that no operation has the number of an earlier
 * one. `least`: the sequence number behind the batch before. Returns the one behind this.
 */
export function checkBatch(record: Buffer, least: number): number {
  if (record.length < BATCH_HEADER_BYTES) throw new RangeError(`a batch of ${record.length} bytes`)
  const sequence = Number(record.readBigUInt64LE(0))
  checkSequence(sequence)
  if (sequence < least) throw new RangeError(`a batch with sequence number ${sequence} behind ${least - 1}`)
  let at = BATCH_HEADER_BYTES
  const skip = () => {
    const [size, from] = readVarint(record, at)
    at = from + size
  }
  let count = 0
  for (; at < record.length; count++) {
    const kind = record[at++]! // 0 a delete, 1 a put
    if (kind > 1) throw new RangeError(`a batch with an operation of kind ${kind}`)
    skip()
    if (kind === 1) skip()
  }
  const declared = record.readUInt32LE(8)
  if (at !== record.length || count !== declared)
    throw new RangeError(`a batch that declares ${declared} operations and has ${count}`)
  return sequence + count
}
