// The .sieve file (docs/format.md): header, chunks of payload, end. Little-endian; everything under a CRC-32; readable
// in one pass. This file knows bytes only: what a chunk means is the filter's to say.
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'

export const MAGIC = 'URLSIEVE'
export const VERSION = 1
/** Of a file in which runs of zeros are left out: a reader of version 1 would take it for a damaged one. */
export const SPARSE_VERSION = 2
/** Of a file with a fingerprint table of remainders: earlier readers know tables of whole hashes only. */
export const LAST_VERSION = 3
/** Bytes before the header's JSON: magic, version, length of the JSON. */
export const PREFIX_BYTES = 16
/** Tag, shard, array, zero, offset, length, CRC of these 32 bytes, CRC of the payload. */
export const CHUNK_HEADER_BYTES = 40
const PIECE = tag('PIEC')
const ZEROS = tag('ZERO')
const END = tag('END.')
/** More JSON than any header or end has: a damaged length must not ask for gigabytes. */
const MOST_JSON_BYTES = 16 * 1024 * 1024

function tag(text: string): number {
  return Buffer.from(text, 'latin1').readUInt32LE(0)
}

/** Says which file is damaged, where and how. */
export function damaged(path: string, at: number, what: string): SieveError {
  return new SieveError('corrupt', `${path} is damaged at byte ${at}: ${what}; see \`urlsieve verify\``)
}

/** Of a log that another goes on from. */
export const TORN = 'its end is missing, and another log goes on from it'

/** Says which file is not there, and how that is known. */
export function missingError(folder: string, { file, why }: { file: string; why: string }): SieveError {
  return new SieveError('corrupt', `${folder}/${file} is missing: ${why}; see \`urlsieve verify\``)
}

export interface Chunk {
  readonly shard: number
  readonly array: number
  readonly offset: number
  /** Bytes of the payload. */
  readonly length: number
  /** Bytes of a piece that is all zero and has no payload; else 0. */
  readonly zeros: number
  readonly crc: number
  /** The end of the file: its payload is JSON with the counts. */
  readonly isEnd: boolean
}

/** The first bytes of a file: `header` as JSON. As long in each version. */
export function encodeHeader(header: unknown, version = VERSION): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const bytes = Buffer.alloc(PREFIX_BYTES + json.length + 4)
  bytes.write(MAGIC, 0, 'latin1')
  bytes.writeUInt32LE(version, 8)
  bytes.writeUInt32LE(json.length, 12)
  json.copy(bytes, PREFIX_BYTES)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
  return bytes
}

/** How many bytes the whole header has, from its first 16. Refuses what is no sieve, or of a later version. */
export function headerBytes(path: string, prefix: Buffer): number {
  if (prefix.length < PREFIX_BYTES || prefix.toString('latin1', 0, 8) !== MAGIC) {
    const got = JSON.stringify(prefix.toString('latin1', 0, Math.min(8, prefix.length)))
    throw new SieveError('corrupt', `${path} is no sieve: it begins with ${got}, expected "${MAGIC}"`)
  }
  const version = prefix.readUInt32LE(8)
  if (version < VERSION || version > LAST_VERSION) {
    throw new SieveError(
      'version',
      `${path} has format version ${version}: this urlsieve reads versions ${VERSION} to ${LAST_VERSION}`,
    )
  }
  const length = prefix.readUInt32LE(12)
  if (length > MOST_JSON_BYTES) throw damaged(path, 12, `a header of ${length} bytes`)
  return PREFIX_BYTES + length + 4
}

/** The header's JSON, as text. */
export function decodeHeader(path: string, bytes: Buffer): string {
  const end = bytes.length - 4
  if (bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end))) {
    throw damaged(path, end, 'the header does not match its checksum')
  }
  return bytes.toString('utf8', PREFIX_BYTES, end)
}

function encodeChunkHeader(
  kind: number,
  shard: number,
  array: number,
  offset: number,
  payload: Uint8Array,
  length = payload.length,
): Buffer {
  const bytes = Buffer.alloc(CHUNK_HEADER_BYTES)
  bytes.writeUInt32LE(kind, 0)
  bytes.writeUInt32LE(shard, 4)
  bytes.writeUInt32LE(array, 8)
  bytes.writeBigUInt64LE(BigInt(offset), 16)
  bytes.writeBigUInt64LE(BigInt(length), 24)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 32)), 32)
  bytes.writeUInt32LE(crc32(payload), 36)
  return bytes
}

/** The header of a chunk that holds a piece of the filter; the payload follows it. */
export function encodePiece(shard: number, array: number, offset: number, payload: Uint8Array): Buffer {
  return encodeChunkHeader(PIECE, shard, array, offset, payload)
}

/** The chunk of a piece that is all zero: no payload follows it. */
export function encodeZeros(shard: number, array: number, offset: number, bytes: number): Buffer {
  return encodeChunkHeader(ZEROS, shard, array, offset, new Uint8Array(0), bytes)
}

/** The last chunk, with its payload. */
export function encodeEnd(counts: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(counts))
  return Buffer.concat([encodeChunkHeader(END, 0, 0, 0, json), json])
}

/** A chunk's header, from its 40 bytes at position `at` of a file of `fileBytes` bytes, which has all of the payload. */
export function decodeChunk(path: string, bytes: Buffer, at: number, fileBytes: number): Chunk {
  if (bytes.length < CHUNK_HEADER_BYTES)
    throw damaged(path, at, 'the file ends in the middle: its end is missing')
  if (bytes.readUInt32LE(32) !== crc32(bytes.subarray(0, 32))) {
    throw damaged(path, at, 'a chunk header does not match its checksum')
  }
  const kind = bytes.readUInt32LE(0)
  if (kind !== PIECE && kind !== END && kind !== ZEROS)
    throw damaged(path, at, `a chunk of unknown kind ${kind}`)
  const length = Number(bytes.readBigUInt64LE(24))
  const isZeros = kind === ZEROS
  if (isZeros && (length === 0 || bytes.readUInt32LE(36) !== 0)) {
    throw damaged(path, at, 'zeros that have no length, or a payload')
  }
  if (!isZeros && at + CHUNK_HEADER_BYTES + length > fileBytes) {
    throw damaged(path, at, 'the file ends in the middle of a chunk')
  }
  if (kind === END && length > MOST_JSON_BYTES) throw damaged(path, at, `an end of ${length} bytes`)
  const offset = Number(bytes.readBigUInt64LE(16))
  if (!Number.isSafeInteger(offset)) throw damaged(path, at, `a chunk at ${offset}`)
  return {
    shard: bytes.readUInt32LE(4),
    array: bytes.readUInt32LE(8),
    offset,
    length: isZeros ? 0 : length,
    zeros: isZeros ? length : 0,
    crc: bytes.readUInt32LE(36),
    isEnd: kind === END,
  }
}

/** Throws unless a chunk's payload is what was written. */
export function checkPayload(path: string, chunk: Chunk, payload: Uint8Array, at: number): void {
  if (payload.length < chunk.length) throw damaged(path, at, 'the file ends in the middle of a chunk')
  if (crc32(payload) !== chunk.crc) throw damaged(path, at, 'a chunk does not match its checksum')
}
