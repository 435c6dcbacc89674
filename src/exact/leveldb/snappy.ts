// Snappy's block format, as in format_description.txt of the library. Only reading: LevelDB compresses its tables with it.
import { readVarint } from './varint.ts'

/** The longest copy, 64 bytes, takes at least 2 bytes of input; a literal does not expand. */
const MAX_EXPANSION = 64

/**
 * Throws a RangeError when a compressed block declares more bytes than its length can expand to: LevelDB allocates the
 * declared size before it uncompresses.
 */
export function checkDeclaredSize(compressed: Uint8Array): void {
  checkSize(readVarint(compressed, 0)[0], compressed.length)
}

function checkSize(size: number, compressedBytes: number): void {
  if (size > compressedBytes * MAX_EXPANSION)
    throw new RangeError(`a compressed block of ${compressedBytes} bytes declares ${size}`)
}

/** The uncompressed bytes of a block. Throws a RangeError when the block is not valid Snappy. */
export function uncompress(bytes: Buffer): Buffer {
  let [size, at] = readVarint(bytes, 0)
  checkSize(size, bytes.length)
  const out = Buffer.alloc(size)
  let done = 0
  while (at < bytes.length) {
    const tag = bytes[at++]!
    let length = (tag >>> 2) + 1
    if ((tag & 3) === 0) {
      if (length > 60) {
        const width = length - 60
        length = bytes.readUIntLE(at, width) + 1
        at += width
      }
      done += bytes.copy(out, done, at, at + length)
      at += length
      continue
    }
    let back: number
    if ((tag & 3) === 1) {
      length = ((tag >>> 2) & 7) + 4
      back = ((tag >>> 5) << 8) | bytes[at++]!
    } else {
      const width = (tag & 3) === 2 ? 2 : 4
      back = bytes.readUIntLE(at, width)
      at += width
    }
    if (back === 0 || back > done) throw new RangeError('a copy from before the start of the block')
    for (let i = 0; i < length && done < size; i++, done++) out[done] = out[done - back]!
  }
  if (done !== size) throw new RangeError(`a block uncompresses to ${done} bytes, expected ${size}`)
  return out
}
