// Whether LevelDB's files are what was written. As built into classic-level it does not check tables when it reads
// them, and leaves out damaged parts of a log in silence: an exact sieve must not, so they are checked before it opens
// them. Formats: doc/log_format.md and doc/table_format.md of LevelDB.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SieveError } from '../errors.ts'
import { damaged } from '../store/format.ts'

const LOG_BLOCK_BYTES = 32 * 1024
/** CRC, length, kind. */
const LOG_HEADER_BYTES = 7
/** Sequence number, count. */
const BATCH_HEADER_BYTES = 12
const FOOTER_BYTES = 48
const TABLE_MAGIC = 0xdb4775248b80fb57n
/** Kind of compression, CRC: behind each block of a table. */
const TRAILER_BYTES = 5

const SLICES = 8
/** Table i is the CRC of a byte with i zero bytes behind it: eight bytes are taken at a time. */
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

// As LevelDB stores a CRC: turned and shifted, so that a CRC of CRCs is no trivial one.
function masked(crc: number): number {
  const c = ~crc >>> 0
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0
}

// CRC-32C.
function maskedCrc(bytes: Uint8Array, start: number, end: number): number {
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
  return masked(c)
}

// Whether the record at `at`, which says that it is longer than the file, is whole after all: then its length is wrong.
function isWholeSomewhere(bytes: Buffer, at: number): boolean {
  const crc = bytes.readUInt32LE(at)
  let c = -1
  for (let i = at + 6; i < bytes.length; i++) {
    c = tables[(c ^ bytes[i]!) & 255]! ^ (c >>> 8)
    if (masked(c) === crc) return true
  }
  return false
}

/** Throws when a log holds a damaged record. One that the file's end cuts short was never acknowledged: that is none. */
export function checkLog(path: string, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const left = LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES)
    if (left < LOG_HEADER_BYTES) {
      at += left
      continue
    }
    if (at + LOG_HEADER_BYTES > bytes.length) return
    const length = bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6]!
    const end = at + LOG_HEADER_BYTES + length
    // A file that grew but was not written before the power went is zero there.
    if (kind === 0 && length === 0 && isZero(bytes, at)) return
    if (kind < 1 || kind > 4 || LOG_HEADER_BYTES + length > left) {
      throw damaged(path, at, 'a record header that cannot be')
    }
    if (end > bytes.length) {
      if (isWholeSomewhere(bytes, at)) throw damaged(path, at, `a record of ${length} bytes that has fewer`)
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

// A number in LevelDB's variable length, and where it ends.
function varint(bytes: Uint8Array, at: number): [number, number] {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++]
    if (byte === undefined || scale > 2 ** 49) throw new RangeError('a number that does not end')
    value += (byte & 127) * scale
    if (byte < 128) return [value, at]
  }
}

/** A copy of 64 bytes takes 2 bytes at least. */
const MOST_RATIO = 64

// Whether a block of so many bytes can hold as many as it says: LevelDB asks for that much memory at once.
function checkUnsnapped(size: number, packedBytes: number): void {
  if (size > packedBytes * MOST_RATIO)
    throw new RangeError(`a block of ${packedBytes} bytes that says ${size}`)
}

// Snappy, as written down in format_description.txt of the library.
function unsnapped(bytes: Buffer): Buffer {
  let [size, at] = varint(bytes, 0)
  checkUnsnapped(size, bytes.length)
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
    if (back === 0 || back > done) throw new RangeError('a copy from before the beginning')
    for (let i = 0; i < length && done < size; i++, done++) out[done] = out[done - back]!
  }
  if (done !== size) throw new RangeError(`a block of ${done} bytes, expected ${size}`)
  return out
}

// The bytes of a table's block, checked.
function blockAt(path: string, bytes: Buffer, offset: number, size: number): Buffer {
  const end = offset + size
  if (end + TRAILER_BYTES > bytes.length) throw damaged(path, offset, 'a block past the end of the file')
  if (bytes.readUInt32LE(end + 1) !== maskedCrc(bytes, offset, end + 1)) {
    throw damaged(path, offset, 'a block does not match its checksum')
  }
  const block = bytes.subarray(offset, end)
  const kind = bytes[end]! // 0 as it is, 1 snappy
  if (kind > 1) throw damaged(path, offset, `a block of kind ${kind}`)
  if (kind === 1) checkUnsnapped(varint(block, 0)[0], size)
  return block
}

/** Throws when a table is not what was written. */
export function checkTable(path: string, bytes: Buffer): void {
  const footer = bytes.length - FOOTER_BYTES
  if (footer < 0 || bytes.readBigUInt64LE(bytes.length - 8) !== TABLE_MAGIC) {
    throw damaged(path, Math.max(0, footer), 'no end of a table')
  }
  let covered = 0
  const read = (offset: number, size: number): Buffer => {
    const block = blockAt(path, bytes, offset, size)
    covered += size + TRAILER_BYTES
    return bytes[offset + size] === 1 ? unsnapped(block) : block
  }
  try {
    const metaOffset = varint(bytes, footer)
    const metaSize = varint(bytes, metaOffset[1])
    const indexOffset = varint(bytes, metaSize[1])
    const indexSize = varint(bytes, indexOffset[1])
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

// The values of an index block: where other blocks lie.
function* handlesOf(block: Buffer): Generator<{ offset: number; size: number }> {
  const end = block.length - 4 - 4 * block.readUInt32LE(block.length - 4)
  for (let at = 0; at < end; ) {
    let unshared: number
    let valueBytes: number
    ;[, at] = varint(block, at)
    ;[unshared, at] = varint(block, at)
    ;[valueBytes, at] = varint(block, at)
    at += unshared
    if (at + valueBytes > end) throw new RangeError('an entry of an index that is longer than it')
    const [offset, next] = varint(block, at)
    const [size] = varint(block, next)
    yield { offset, size }
    at += valueBytes
  }
}

interface LevelRecord {
  /** Where its first part begins. */
  readonly at: number
  readonly payload: Buffer
}

// What the records of a log hold, put together again where they were cut at the end of a block.
function* recordsOf(bytes: Buffer): Generator<LevelRecord> {
  let parts: Buffer[] = []
  let from = 0
  for (let at = 0; at + LOG_HEADER_BYTES <= bytes.length; ) {
    const left = LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES)
    if (left < LOG_HEADER_BYTES) {
      at += left
      continue
    }
    const end = at + LOG_HEADER_BYTES + bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6]! // 1 whole, 2 first part, 3 another, 4 the last
    if (kind === 0 || end > bytes.length) return
    if (kind <= 2) {
      parts = []
      from = at
    }
    parts.push(bytes.subarray(at + LOG_HEADER_BYTES, end))
    if (kind === 1 || kind === 4) yield { at: from, payload: Buffer.concat(parts) }
    at = end
  }
}

// Throws unless a record of a log is what LevelDB writes there: a sequence number, a count, and as many puts and deletes.
// LevelDB would leave out the rest of a record that is not, in silence.
function checkBatch(record: Buffer): void {
  if (record.length < BATCH_HEADER_BYTES) throw new RangeError(`a batch of ${record.length} bytes`)
  let at = BATCH_HEADER_BYTES
  const skip = () => {
    const [size, from] = varint(record, at)
    at = from + size
  }
  let count = 0
  for (; at < record.length; count++) {
    const kind = record[at++]! // 0 a delete, 1 a put
    if (kind > 1) throw new RangeError(`a batch with an operation of kind ${kind}`)
    skip()
    if (kind === 1) skip()
  }
  const said = record.readUInt32LE(8)
  if (at !== record.length || count !== said)
    throw new RangeError(`a batch of ${said} operations that has not so many`)
}

/** The last whole record of a log; undefined when there is none. */
export function lastRecord(bytes: Buffer): LevelRecord | undefined {
  let last: LevelRecord | undefined
  for (const record of recordsOf(bytes)) last = record
  return last
}

// A change of the set of tables, as VersionEdit of LevelDB writes it: takes in and out of `tables`.
function applyEdit(edit: Buffer, named: Named): void {
  let at = 0
  const next = () => {
    let value: number
    ;[value, at] = varint(edit, at)
    return value
  }
  const skipText = () => {
    const size = next()
    at += size
  }
  while (at < edit.length) {
    const tag = next()
    if (tag === 1) {
      skipText() // the comparator
    } else if (tag === 2) {
      named.log = next()
    } else if (tag === 3 || tag === 4 || tag === 9) {
      next() // numbers of the next file, the last write and an older log
    } else if (tag === 5) {
      next()
      skipText() // where to compact next
    } else if (tag === 6) {
      next()
      named.tables.delete(next())
    } else if (tag === 7) {
      next()
      named.tables.add(next())
      next()
      skipText()
      skipText()
    } else {
      throw new RangeError(`an edit of kind ${tag}`)
    }
  }
}

/** The numbers of the files that a folder cannot be whole without. */
interface Named {
  readonly tables: Set<number>
  /** The first log that is not in a table; 0: none was begun. */
  log: number
}

const newNamed = (): Named => ({ tables: new Set(), log: 0 })

// The files that count, as the manifest says. Other tables were being written, or taken away, when the process was
// killed: LevelDB removes them. Null: that cannot be known, so all are to be whole.
function namedFiles(folder: string): Named | null {
  try {
    const manifest = readFileSync(join(folder, readFileSync(join(folder, 'CURRENT'), 'utf8').trim()))
    const named = newNamed()
    for (const { payload } of recordsOf(manifest)) applyEdit(payload, named)
    return named
  } catch {
    return null
  }
}

function checkRecords(path: string, bytes: Buffer, check: (record: Buffer) => void): void {
  for (const { payload } of recordsOf(bytes)) {
    try {
      check(payload)
    } catch (error) {
      throw damaged(path, 0, (error as Error).message)
    }
  }
}

const numberOf = (name: string) => Number.parseInt(name, 10)
const isTable = (name: string) => /\.(ldb|sst)$/.test(name)
const isLog = (name: string) => name.endsWith('.log')

// What LevelDB would go on without: it takes a folder without CURRENT for a new one, and removes all that is there.
function missingIn(folder: string, names: readonly string[], named: Named | null): string[] {
  const missing = (name: string, why: string) => `${join(folder, name)} is missing: ${why}`
  if (!names.includes('CURRENT')) {
    const kept = names.find((name) => isTable(name) || isLog(name))
    return kept === undefined ? [] : [missing('CURRENT', `${kept} is there, and holds keys`)]
  }
  const current = join(folder, 'CURRENT')
  if (!/^MANIFEST-\d+\n$/.test(readFileSync(current, 'latin1')))
    return [damaged(current, 0, 'it names no manifest').message]
  if (named === null) return []
  const have = (number: number, is: (name: string) => boolean) =>
    names.some((name) => is(name) && numberOf(name) === number)
  const padded = (number: number) => String(number).padStart(6, '0')
  const lost = [...named.tables].filter((number) => !have(number, isTable))
  const damages = lost.map((number) => missing(`${padded(number)}.ldb`, 'the manifest names it'))
  if (named.log > 0 && !have(named.log, isLog))
    damages.push(missing(`${padded(named.log)}.log`, 'the manifest names it'))
  return damages
}

export interface Verification {
  readonly files: number
  readonly bytes: number
  /** One line for each damaged file; empty when all is well. */
  readonly damages: readonly string[]
}

/** Checks the logs of a LevelDB folder and, with `tables`, all of its files. Reads them once, one at a time. */
export async function checkFiles(folder: string, tables: boolean): Promise<Verification> {
  let files = 0
  let bytes = 0
  const names = existsSync(folder) ? readdirSync(folder).sort() : []
  const named = namedFiles(folder)
  const damages = missingIn(folder, names, named)
  for (const name of names) {
    if (isTable(name) ? !tables : !isLog(name) && !name.startsWith('MANIFEST-')) continue
    if (isTable(name) && named && !named.tables.has(numberOf(name))) continue
    const path = join(folder, name)
    const content = await readFile(path)
    files++
    bytes += content.length
    try {
      if (isTable(name)) checkTable(path, content)
      else {
        checkLog(path, content)
        checkRecords(path, content, isLog(name) ? checkBatch : (edit) => applyEdit(edit, newNamed()))
      }
    } catch (error) {
      damages.push((error as Error).message)
    }
  }
  return { files, bytes, damages }
}

/** Checks every file of an exact sieve's folder. The sieve should not be open. */
export async function verifyExact(folder: string): Promise<Verification> {
  const found = await checkFiles(join(folder, 'keys'), true)
  const missing = missingKeys(folder)
  return missing === null || found.damages.length > 0
    ? found
    : { ...found, damages: [...found.damages, missing] }
}

/** A filter that was saved without the keys it was made of: what is wrong, or null. */
export function missingKeys(folder: string): string | null {
  if (existsSync(join(folder, 'keys', 'CURRENT')) || !existsSync(folder)) return null
  const filter = readdirSync(folder).find((name) => /^filter-.*\.sieve$/.test(name))
  if (filter === undefined) return null
  return `${join(folder, 'keys', 'CURRENT')} is missing: ${filter} is there, and was made of the keys`
}
