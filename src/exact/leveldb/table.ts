// LevelDB's table format (doc/table_format.md of LevelDB): blocks with a checksum each, an index of them, a footer.
import { SieveError } from '../../errors.ts'
import { damaged } from '../../store/format.ts'
import { maskedCrc } from './crc32c.ts'
import { checkDeclaredSize, uncompress } from './snappy.ts'
import { readVarint } from './varint.ts'

const FOOTER_BYTES = 48
const MAGIC = 0xdb4775248b80fb57n
/** Compression, CRC: behind each block. */
const TRAILER_BYTES = 5

// The bytes of a block, still compressed, after its checksum was verified.
function blockAt(path: string, bytes: Buffer, offset: number, size: number): Buffer {
  const end = offset + size
  if (end + TRAILER_BYTES > bytes.length) throw damaged(path, offset, 'a block past the end of the file')
  if (bytes.readUInt32LE(end + 1) !== maskedCrc(bytes, offset, end + 1)) {
    throw damaged(path, offset, 'a block does not match its checksum')
  }
  const block = bytes.subarray(offset, end)
  const kind = bytes[end]! // 0 uncompressed, 1 Snappy
  if (kind > 1) throw damaged(path, offset, `a block of unknown compression ${kind}`)
  if (kind === 1) checkDeclaredSize(block)
  return block
}

/** Throws when a byte of a table is damaged. */
export function checkTable(path: string, bytes: Buffer): void {
  const footer = bytes.length - FOOTER_BYTES
  if (footer < 0 || bytes.readBigUInt64LE(bytes.length - 8) !== MAGIC) {
    throw damaged(path, Math.max(0, footer), 'the footer of a table is missing')
  }
  let covered = 0
  const read = (offset: number, size: number): Buffer => {
    const block = blockAt(path, bytes, offset, size)
    covered += size + TRAILER_BYTES
    return bytes[offset + size] === 1 ? uncompress(block) : block
  }
  try {
    const metaOffset = readVarint(bytes, footer)
    const metaSize = readVarint(bytes, metaOffset[1])
    const indexOffset = readVarint(bytes, metaSize[1])
    const indexSize = readVarint(bytes, indexOffset[1])
    for (let i = indexSize[1]; i < bytes.length - 8; i++) {
      if (bytes[i] !== 0) throw damaged(path, i, 'padding that is not zero')
    }
    for (const block of [read(indexOffset[0], indexSize[0]), read(metaOffset[0], metaSize[0])]) {
      for (const { offset, size } of handlesOf(block)) {
        blockAt(path, bytes, offset, size)
        covered += size + TRAILER_BYTES
      }
    }
  } catch (error) {
    if (error instanceof SieveError) throw error
    throw damaged(path, footer, (error as Error).message)
  }
  if (covered !== footer) throw damaged(path, footer, `blocks of ${covered} bytes, expected ${footer}`)
}

// The values of an index block: the offsets and sizes of other blocks.
function* handlesOf(block: Buffer): Generator<{ offset: number; size: number }> {
  const end = block.length - 4 - 4 * block.readUInt32LE(block.length - 4)
  for (let at = 0; at < end; ) {
    let unshared: number
    let valueBytes: number
    ;[, at] = readVarint(block, at)
    ;[unshared, at] = readVarint(block, at)
    ;[valueBytes, at] = readVarint(block, at)
    at += unshared
    if (at + valueBytes > end) throw new RangeError('an index entry past the end of its block')
    const [offset, next] = readVarint(block, at)
    const [size] = readVarint(block, next)
    yield { offset, size }
    at += valueBytes
  }
}
