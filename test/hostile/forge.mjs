// Takes the files of urlsieve apart, changes something, and puts them together with right checksums: what a forger does,
// and what no checksum finds. Everything follows from a seeded random generator.
import { crc32 } from 'node:zlib'

export const below = (random, n) => Math.floor(random() * n)
export const pick = (random, list) => list[below(random, list.length)]

/** Values that no field should believe; text is put into the JSON as it is. */
const hostileJson = [
  '0',
  '-1',
  '1',
  '2',
  '64',
  '65',
  '255',
  '4095',
  '4097',
  '2147483648',
  '4294967295',
  '4294967296',
  '34359738368',
  '9007199254740992',
  '1e308',
  '-1e308',
  '1e999',
  '0.5',
  '1e-300',
  'null',
  'true',
  'false',
  '""',
  '"x"',
  '"fingerprint"',
  '"constructor"',
  '"__proto__"',
  '"\\u001b[31m"',
  '[]',
  '[0]',
  '[0,0]',
  '[0,1,2,3]',
  '[1,0]',
  '[null]',
  '{}',
  '{"__proto__":{"bits":8}}',
  '{"toString":1,"length":-1}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'NaN',
  '',
]
const hostileWords = [0, 1, 2, 3, 7, 8, 63, 64, 255, 256, 2047, 2048, 65535, 65536, 2 ** 31, 2 ** 32 - 1]

/** The places in a JSON value that can be changed: [parent, key]. */
function placesIn(value, places = []) {
  if (typeof value !== 'object' || value === null) return places
  for (const key of Object.keys(value)) {
    places.push([value, key])
    placesIn(value[key], places)
  }
  return places
}

const MARK = '"<here>"'

/** JSON text in which one field has a hostile value, is gone, is there twice, or a number is near what it was. */
export function forgedJson(random, value) {
  const copy = structuredClone(value)
  const [parent, key] = pick(random, placesIn(copy))
  const old = parent[key]
  const how = random()
  if (how < 0.1 && !Array.isArray(parent)) {
    delete parent[key]
    return JSON.stringify(copy)
  }
  if (typeof old === 'number' && how < 0.4) {
    parent[key] = pick(random, [old + 1, old - 1, old * 2, old / 2, -old, old + 512, old * 8, old * 1e6])
    return JSON.stringify(copy)
  }
  parent[key] = JSON.parse(MARK)
  const text = JSON.stringify(copy)
  const hostile = pick(random, hostileJson)
  if (how > 0.95 && !Array.isArray(parent)) {
    return text.replace(MARK, `${JSON.stringify(old)},${JSON.stringify(key)}:${hostile}`)
  }
  return text.replace(MARK, hostile)
}

/** Some bytes changed: one flipped, a word set, a run filled, an end cut off or put on. */
export function forgedBytes(random, bytes) {
  const copy = Buffer.from(bytes)
  if (copy.length === 0) return Buffer.from([below(random, 256)])
  const at = below(random, copy.length)
  const near = random() < 0.5 ? below(random, Math.min(copy.length, 80)) : at
  switch (below(random, 6)) {
    case 0:
      copy[near] ^= 1 << below(random, 8)
      return copy
    case 1:
      if (near + 4 <= copy.length) copy.writeUInt32LE(pick(random, hostileWords), near & ~3 || 0)
      return copy
    case 2:
      copy.fill(
        pick(random, [0, 255, below(random, 256)]),
        at,
        Math.min(copy.length, at + below(random, copy.length) + 1),
      )
      return copy
    case 3:
      return copy.subarray(0, at)
    case 4:
      return Buffer.concat([copy, Buffer.alloc(below(random, 64) + 1, 7)])
    default: {
      const from = below(random, copy.length)
      copy.copyWithin(at, from, from + below(random, 256) + 8)
      return copy
    }
  }
}

// ---- .sieve files ----

export function takeApart(file) {
  const length = file.readUInt32LE(12)
  const header = JSON.parse(file.toString('utf8', 16, 16 + length))
  const chunks = []
  for (let at = 20 + length; at < file.length; ) {
    const tag = file.toString('latin1', at, at + 4)
    const size = Number(file.readBigUInt64LE(at + 24))
    const bytes = tag === 'ZERO' ? 0 : size
    chunks.push({
      tag,
      shard: file.readUInt32LE(at + 4),
      array: file.readUInt32LE(at + 8),
      offset: file.readBigUInt64LE(at + 16),
      size: BigInt(size),
      payload: Buffer.from(file.subarray(at + 40, at + 40 + bytes)),
    })
    at += 40 + bytes
  }
  const end = chunks.pop()
  return { version: file.readUInt32LE(8), header, chunks, end: JSON.parse(end.payload.toString()) }
}

// A chunk that is forged twice may have a number past the largest of its field: it wraps around.
function chunkBytes({ tag, shard, array, offset, size, payload }) {
  const head = Buffer.alloc(40)
  head.write(tag, 0, 'latin1')
  head.writeUInt32LE(shard >>> 0, 4)
  head.writeUInt32LE(array >>> 0, 8)
  head.writeBigUInt64LE(BigInt.asUintN(64, offset), 16)
  head.writeBigUInt64LE(size, 24)
  head.writeUInt32LE(crc32(head.subarray(0, 32)), 32)
  head.writeUInt32LE(tag === 'ZERO' ? 0 : crc32(payload), 36)
  return [head, payload]
}

/** Files that were taken apart before: nobody changes their chunks, and what these become in a file is known. */
const apart = new WeakMap()
const knownBytes = new WeakMap()

function takeApartOnce(file) {
  const known = apart.get(file) ?? takeApart(file)
  if (!apart.has(file)) {
    apart.set(file, known)
    for (const chunk of known.chunks) knownBytes.set(chunk, chunkBytes(chunk))
  }
  return { ...known, chunks: [...known.chunks] }
}

/** With all checksums right. `headerText` and `endText` are JSON. */
export function putTogether({ version, headerText, chunks, endText }) {
  const json = Buffer.from(headerText)
  const start = Buffer.alloc(16)
  start.write('URLSIEVE', 0, 'latin1')
  start.writeUInt32LE(version, 8)
  start.writeUInt32LE(json.length, 12)
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(json, crc32(start)))
  const end = Buffer.from(endText)
  const last = { tag: 'END.', shard: 0, array: 0, offset: 0n, size: BigInt(end.length), payload: end }
  return Buffer.concat([
    start,
    json,
    sum,
    ...[...chunks, last].flatMap((chunk) => knownBytes.get(chunk) ?? chunkBytes(chunk)),
  ])
}

const hostileOffsets = [0n, 1n, 8n, 64n, 2n ** 20n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 64n - 1n]

function forgeChunk(random, chunks) {
  const at = below(random, chunks.length)
  const chunk = { ...chunks[at] }
  const how = below(random, 9)
  if (how === 0) chunk.shard = pick(random, [1, 2, 4096, 2 ** 32 - 1])
  else if (how === 1) chunk.array = pick(random, [chunk.array + 1, chunk.array + 256, ...hostileWords])
  else if (how === 2) chunk.offset = pick(random, [chunk.offset + 1n, chunk.offset + 64n, ...hostileOffsets])
  else if (how === 3) chunks.splice(at, 1)
  else if (how === 4) chunks.splice(at, 0, chunk)
  else if (how === 5) chunks.push(...chunks.splice(at, 1))
  else if (how === 6) {
    Object.assign(chunk, {
      tag: 'ZERO',
      size: pick(random, [chunk.size, ...hostileOffsets]),
      payload: Buffer.alloc(0),
    })
  } else {
    chunk.payload = forgedBytes(random, chunk.payload)
    chunk.size = BigInt(chunk.payload.length)
    if (how === 8) chunk.size = pick(random, hostileOffsets) // longer or shorter than what follows
  }
  if (how !== 3 && how !== 5) chunks[at] = chunk
}

/** A table of whole hashes, as earlier versions had it, filled or moved about: the count says what is there. */
function forgeOldTable(random, payload) {
  const copy = Buffer.from(payload)
  const slots = Math.floor((copy.length - 64) / 8)
  if (slots < 8) return copy
  const how = below(random, 4)
  const hash = () => BigInt(below(random, 2 ** 32)) | (BigInt(below(random, 2 ** 28)) << 32n)
  if (how === 0) for (let i = 0; i < slots; i++) copy.writeBigUInt64LE(hash() | 1n, 64 + 8 * i)
  else if (how === 1) copy.fill(255, 64)
  else if (how === 2)
    for (let i = 0; i < 40; i++) copy.writeBigUInt64LE(hash() | 1n, 64 + 8 * below(random, slots))
  else {
    const from = 64 + 8 * below(random, slots)
    copy.copyWithin(64 + 8 * below(random, slots), from, from + 64)
  }
  let count = 0
  for (let i = 0; i < slots; i++) if (copy.readBigUInt64LE(64 + 8 * i) !== 0n) count++
  copy.writeUInt32LE(count, 0)
  return copy
}

/** A table of remainders, filled or moved about: only the places are wrong. */
function forgeTable(random, payload) {
  const copy = Buffer.from(payload)
  const buckets = Math.floor(copy.length / 64) - 1
  if (buckets < 8) return copy
  const state = (bucket) => 124 + 64 * bucket
  const how = below(random, 5)
  if (how === 0) {
    for (let at = 64; at < copy.length; at++) copy[at] = below(random, 256)
    for (let i = 0; i < buckets; i++) copy.writeUInt32LE(below(random, 2 ** 28), state(i))
  } else if (how === 1) copy.fill(255, 64)
  else if (how === 2) for (let i = 0; i < 40; i++) copy[64 + below(random, 64 * buckets)] = below(random, 256)
  else if (how === 3)
    for (let i = 0; i < 40; i++)
      copy[state(below(random, buckets)) + below(random, 4)] ^= 1 << below(random, 8)
  else {
    const from = 64 + 64 * below(random, buckets)
    copy.copyWithin(64 + 64 * below(random, buckets), from, from + 64)
  }
  let count = 0
  for (let i = 0; i < buckets; i++) {
    for (let used = copy.readUInt32LE(state(i)) & 0xfffff; used !== 0; used &= used - 1) count++
  }
  copy.writeUInt32LE(count, 0)
  return copy
}

/** A forged .sieve file, sealed or, once in eight, not: then `isSealed` is false and only a checksum can find it. */
export function forgedSieve(random, file) {
  if (random() < 0.125) return { bytes: forgedBytes(random, file), isSealed: false }
  const { version, header, chunks, end } = takeApartOnce(file)
  let headerText = JSON.stringify(header)
  let endText = JSON.stringify(end)
  const times = 1 + below(random, 2)
  for (let i = 0; i < times; i++) {
    const what = random()
    if (what < 0.35) headerText = forgedJson(random, header)
    else if (what < 0.5) endText = forgedJson(random, end)
    else if (what < 0.6 && header.filter === 'fingerprint' && chunks.length > 0) {
      const at = below(random, chunks.length)
      const payload = (version < 3 ? forgeOldTable : forgeTable)(random, chunks[at].payload)
      chunks[at] = { ...chunks[at], payload }
    } else if (chunks.length > 0) {
      forgeChunk(random, chunks)
      if (random() < 0.8) endText = JSON.stringify({ ...end, chunks: chunks.length })
    }
  }
  return { bytes: putTogether({ version, headerText, chunks, endText }), isSealed: true }
}

// ---- logs, of a store and of a frontier ----

export function recordsOf(log) {
  const records = []
  for (let at = 0; at < log.length; ) {
    const length = log.readUInt32LE(at + 12)
    records.push({
      op: log.readUInt32LE(at + 4),
      entries: log.readUInt32LE(at + 8),
      length,
      time: log.readBigUInt64LE(at + 16),
      payload: Buffer.from(log.subarray(at + 28, at + 28 + length)),
    })
    at += 32 + length
  }
  return records
}

function recordBytes({ op, entries, length, time, payload }) {
  const head = Buffer.alloc(28)
  head.write('USLR', 0, 'latin1')
  head.writeUInt32LE(op, 4)
  head.writeUInt32LE(entries, 8)
  head.writeUInt32LE(length, 12)
  head.writeBigUInt64LE(time, 16)
  head.writeUInt32LE(crc32(head.subarray(0, 24)), 24)
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(crc32(payload))
  return Buffer.concat([head, payload, sum])
}

export function forgedLog(random, log) {
  if (random() < 0.125) return { bytes: forgedBytes(random, log), isSealed: false }
  const records = recordsOf(log)
  const at = below(random, records.length)
  const record = { ...records[at] }
  const how = below(random, 8)
  if (how === 0) record.op = pick(random, [0, 1, 2, 3, 4, 5, 6, 7, 2 ** 32 - 1])
  else if (how === 1) record.entries = pick(random, [record.entries + 1, ...hostileWords])
  else if (how === 2) record.length = pick(random, [record.length + 1, ...hostileWords])
  else if (how === 3) record.time = pick(random, hostileOffsets)
  else if (how === 4) records.splice(below(random, records.length), 0, record)
  else if (how === 5) records.splice(at, 1)
  else {
    record.payload = forgedBytes(random, record.payload)
    record.length = record.payload.length
  }
  if (how < 4 || how > 5) records[at] = record
  return { bytes: Buffer.concat(records.map(recordBytes)), isSealed: true }
}
