// CRC-32C, eight bytes at a time, in the masked form that LevelDB stores (util/crc32c.h of LevelDB).

const SLICES = 8
/** Table i holds the CRC of a byte followed by i zero bytes. */
const tables = new Uint32Array(SLICES * 256)
for (let n = 0; n < 256; n++) {
  let c = n
  for (let i = 0; i < 8; i++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1
  tables[n] = c
}
for (let n = 256; n < tables.length; n++) {
  const before = tables[n - 256]!
  tables[n] = tables[before & 255]! ^ (before >>> 8)
}

// LevelDB rotates a CRC and adds a constant, because a CRC of data that contains CRCs is weak.
function mask(crc: number): number {
  const c = ~crc >>> 0
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0
}

/** The masked CRC-32C of bytes[start … end). */
export function maskedCrc(bytes: Uint8Array, start: number, end: number): number {
  const t = tables
  let c = -1
  let i = start
  for (; i + SLICES <= end; i += SLICES) {
    c ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    c =
      t[1792 + (c & 255)]! ^
      t[1536 + ((c >>> 8) & 255)]! ^
      t[1280 + ((c >>> 16) & 255)]! ^
      t[1024 + (c >>> 24)]! ^
      t[768 + bytes[i + 4]!]! ^
      t[512 + bytes[i + 5]!]! ^
      t[256 + bytes[i + 6]!]! ^
      t[bytes[i + 7]!]!
  }
  for (; i < end; i++) c = t[(c ^ bytes[i]!) & 255]! ^ (c >>> 8)
  return mask(c)
}

/** Whether some prefix of the bytes from `start` on has this masked CRC. */
export function somePrefixHasCrc(bytes: Uint8Array, start: number, crc: number): boolean {
  let c = -1
  for (let i = start; i < bytes.length; i++) {
    c = tables[(c ^ bytes[i]!) & 255]! ^ (c >>> 8)
    if (mask(c) === crc) return true
  }
  return false
}
