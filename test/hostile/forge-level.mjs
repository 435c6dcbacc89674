// Forged files of LevelDB, with right checksums: records of its logs and manifests, blocks of its tables.
import { below, forgedBytes, pick } from './forge.mjs'

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let i = 0; i < 8; i++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1
  return c >>> 0
})

/** CRC-32C, masked as LevelDB stores it. */
function maskedCrc(...parts) {
  let c = 0xffffffff
  for (const part of parts) for (const byte of part) c = (table[(c ^ byte) & 255] ^ (c >>> 8)) >>> 0
  c = ~c >>> 0
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0
}

function varint(bytes, at) {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++] ?? 0
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

// One record of a log, changed and sealed again; its length stays, so that the others stay where they are.
function forgedLog(random, bytes) {
  const copy = Buffer.from(bytes)
  const starts = []
  for (let at = 0; at + 7 <= copy.length; at += 7 + copy.readUInt16LE(at + 4)) starts.push(at)
  if (starts.length === 0) return copy
  const at = pick(random, starts)
  const end = at + 7 + copy.readUInt16LE(at + 4)
  const changed = forgedBytes(random, copy.subarray(at + 7, end))
  changed.copy(copy, at + 7, 0, end - at - 7)
  if (random() < 0.2) copy[at + 6] = below(random, 6)
  copy.writeUInt32LE(maskedCrc(copy.subarray(at + 6, end)), at)
  return copy
}

// One block of a table, changed and sealed again.
function forgedTable(random, bytes) {
  const copy = Buffer.from(bytes)
  const footer = copy.length - 48
  let at = footer
  const handles = []
  for (let i = 0; i < 2; i++) {
    const [offset, next] = varint(copy, at)
    const [size, after] = varint(copy, next)
    handles.push([offset, size])
    at = after
  }
  const [index, size] = handles[1]
  // The blocks lie side by side: those before the index are found by their sums.
  const blocks = [...handles]
  if (copy[index + size] === 0) {
    const [, a] = varint(copy, index)
    const [unshared, b] = varint(copy, a)
    const [, c] = varint(copy, b)
    const [offset, d] = varint(copy, c + unshared)
    blocks.push([offset, varint(copy, d)[0]])
  }
  const [start, length] = pick(random, blocks)
  const changed = forgedBytes(random, copy.subarray(start, start + length))
  changed.copy(copy, start, 0, length)
  if (random() < 0.1) copy[start + length] = below(random, 4)
  copy.writeUInt32LE(maskedCrc(copy.subarray(start, start + length + 1)), start + length + 1)
  return copy
}

export function forgedLevel(random, name, bytes) {
  if (random() < 0.2) return forgedBytes(random, bytes)
  if (/\.log$|^MANIFEST-/.test(name)) return forgedLog(random, bytes)
  if (/\.ldb$/.test(name)) return forgedTable(random, bytes)
  return forgedBytes(random, bytes)
}
