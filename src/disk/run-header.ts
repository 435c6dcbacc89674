// The header of a run's file: 4096 bytes, of which the first 64 are used, little-endian. magic `URLSRUN1` · version u32 ·
// bytes per block u32 · hashes u64 · blocks u64 · blocks per index entry u32 · checksum of the index u32 · set id u64 (which
// store it belongs to) · level u32 · blocks of the filter u32 · checksum of the filter u32 · checksum of bytes 0 to 59 u32. Then the
// blocks, then the index: u64 each, the first hash of every 64th block; then the filter, 64 bytes per block. A run without a
// filter has version 1 and zeros there.
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'
import { damaged } from '../store/format.ts'
import { FILTER_BLOCK_BYTES } from './run-filter.ts'

const MAGIC = Buffer.from('URLSRUN1')
const VERSION = 2
const VERSION_WITHOUT_FILTER = 1

export const BLOCK_BYTES = 4096
export const HEADER_BYTES = 4096
/** Blocks per entry of the index. */
export const INDEX_BLOCKS = 64
const USED_BYTES = 64

export interface RunHeader {
  readonly hashes: number
  readonly blocks: number
  readonly indexChecksum: number
  /** Random: the runs of one store have the same. */
  readonly set: bigint
  readonly level: number
  /** Of the filter; 0: there is none. */
  readonly filterBlocks: number
  readonly filterChecksum: number
}

export function encodeRunHeader(header: RunHeader): Buffer {
  const { hashes, blocks, indexChecksum, set, level, filterBlocks, filterChecksum } = header
  const bytes = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(filterBlocks > 0 ? VERSION : VERSION_WITHOUT_FILTER, 8)
  bytes.writeUInt32LE(BLOCK_BYTES, 12)
  bytes.writeBigUInt64LE(BigInt(hashes), 16)
  bytes.writeBigUInt64LE(BigInt(blocks), 24)
  bytes.writeUInt32LE(INDEX_BLOCKS, 32)
  bytes.writeUInt32LE(indexChecksum, 36)
  bytes.writeBigUInt64LE(set, 40)
  bytes.writeUInt32LE(level, 48)
  bytes.writeUInt32LE(filterBlocks, 52)
  bytes.writeUInt32LE(filterChecksum, 56)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, USED_BYTES - 4)), USED_BYTES - 4)
  return bytes
}

/** Checks every value against the others and the file's size. */
export function decodeRunHeader(path: string, bytes: Buffer, fileBytes: number): RunHeader {
  const isWhole = bytes.length >= USED_BYTES
  if (!isWhole || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new SieveError('corrupt', `${path} is not a run of hashes: expected it to begin with ${MAGIC}`)
  }
  const version = bytes.readUInt32LE(8)
  if (version !== VERSION && version !== VERSION_WITHOUT_FILTER) {
    throw new SieveError('version', `${path} has version ${version}: this urlsieve reads versions 1 and 2`)
  }
  if (bytes.readUInt32LE(USED_BYTES - 4) !== crc32(bytes.subarray(0, USED_BYTES - 4))) {
    throw damaged(path, 0, 'its header does not match its checksum')
  }
  const header = {
    hashes: Number(bytes.readBigUInt64LE(16)),
    blocks: Number(bytes.readBigUInt64LE(24)),
    indexChecksum: bytes.readUInt32LE(36),
    set: bytes.readBigUInt64LE(40),
    level: bytes.readUInt32LE(48),
    filterBlocks: version === VERSION ? bytes.readUInt32LE(52) : 0,
    filterChecksum: bytes.readUInt32LE(56),
  }
  const { hashes, blocks, level, filterBlocks } = header
  if (bytes.readUInt32LE(12) !== BLOCK_BYTES || bytes.readUInt32LE(32) !== INDEX_BLOCKS) {
    throw damaged(path, 12, `its blocks are not of ${BLOCK_BYTES} bytes with an entry per ${INDEX_BLOCKS}`)
  }
  const most = blocks * BLOCK_BYTES * 8
  if (!Number.isSafeInteger(blocks) || hashes < blocks || hashes > most || level > 64) {
    throw damaged(path, 16, `${hashes} hashes in ${blocks} blocks on level ${level}`)
  }
  if (filterBlocks > hashes) {
    throw damaged(path, 52, `${filterBlocks} blocks of the filter for ${hashes} hashes`)
  }
  const expected = runBytes(header)
  if (fileBytes !== expected) {
    throw damaged(path, fileBytes, `${fileBytes} bytes, expected ${expected} for ${blocks} blocks`)
  }
  return header
}

/** Where the filter begins. */
export const filterAt = ({ blocks }: RunHeader) =>
  HEADER_BYTES + blocks * BLOCK_BYTES + indexEntries(blocks) * 8

/** The whole file. */
export const runBytes = (header: RunHeader) => filterAt(header) + header.filterBlocks * FILTER_BLOCK_BYTES

export const indexEntries = (blocks: number) => Math.ceil(blocks / INDEX_BLOCKS)
