// The index file of a search, little-endian: 8 bytes of magic, u32 version, u32 length of a JSON head, the head, then
// the arrays it names, each at a multiple of 8 bytes; at the end the SHA-256 of all bytes before it (docs/search.md).
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { endianness } from 'node:os'
import { checkField, savedObject, savedWhole } from '../filters/saved-plan.ts'
import { MOST_BUFFER_BYTES, readWhole } from '../store/whole-file.ts'
import type { Identity } from './bytes.ts'
import { Dataset, type DatasetCounts } from './dataset.ts'
import { Dictionary, type LayerReading, layerReadings } from './dictionary.ts'
import { InputError } from './input-error.ts'
import { type Band, RowFilters } from './row-filters.ts'
import { Signatures } from './signatures.ts'
import { WordHashes } from './word-hashes.ts'

/** The first byte is not text, and the last three are changed by a transfer as text. */
const MAGIC = Buffer.from('\x89USIX\r\n\x1a', 'latin1')
export const INDEX_VERSION = 1
const FIXED_BYTES = 16
const SUM_BYTES = 32

/** The content and the options that an index was built from. */
export interface Origin {
  /** All options that affect the index, as text to compare. */
  readonly settings: string
  /** In the order of the command; their names do not matter. */
  readonly files: readonly Identity[]
}

export interface Index {
  readonly origin: Origin
  readonly dataset: Dataset
  /** Of a table: its columns, and the offsets of its rows. */
  readonly columns: readonly string[]
  readonly places: Float64Array
}

interface SignatureHead {
  filters: number
  bits: number
  hashes: number
}

interface Head {
  origin: Origin
  counts: DatasetCounts
  columns: readonly string[]
  places: number
  dictionary: SignatureHead & { reading: LayerReading }
  bands: (SignatureHead & { rate: number })[]
}

const shapeOf = ({ filters, bits, hashes }: Signatures): SignatureHead => ({ filters, bits, hashes })
const padded = (bytes: number) => Math.ceil(bytes / 8) * 8

/** On a big-endian machine, the bytes of the other order; else the array's own. */
function littleEndian(array: Uint32Array | Float64Array): Buffer {
  const own = Buffer.from(array.buffer, array.byteOffset, array.byteLength)
  if (endianness() === 'LE') return own
  return array.BYTES_PER_ELEMENT === 4 ? Buffer.from(own).swap32() : Buffer.from(own).swap64()
}

export function encodeIndex({ origin, dataset, columns, places }: Index): Buffer {
  const { dictionary, rowFilters } = dataset
  const head: Head = {
    origin,
    counts: dataset.counts,
    columns,
    places: places.length,
    dictionary: { reading: dictionary.reading, ...shapeOf(dictionary.signatures) },
    bands: rowFilters.bands.map(({ signatures, rate }) => ({ ...shapeOf(signatures), rate })),
  }
  const json = Buffer.from(JSON.stringify(head))
  const fixed = Buffer.alloc(FIXED_BYTES)
  MAGIC.copy(fixed)
  fixed.writeUInt32LE(INDEX_VERSION, 8)
  fixed.writeUInt32LE(json.length, 12)
  const arrays = [
    places,
    dictionary.signatures.columns,
    ...rowFilters.bands.flatMap(({ rows, signatures }) => [rows, signatures.columns]),
  ]
  const parts = [fixed, json, ...arrays.map(littleEndian)].flatMap((part) => [
    part,
    Buffer.alloc(padded(part.length) - part.length),
  ])
  const body = Buffer.concat(parts)
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

/** Throws an InputError, one line, for a file that is not an index, has another version, or is damaged. */
export async function decodeIndex(name: string, file: Buffer): Promise<Index> {
  checkStart(name, file)
  const damaged = (what: string) =>
    new InputError(`index ${name} is damaged: ${what}; delete it to rebuild it`)
  if (file.length < FIXED_BYTES + SUM_BYTES) throw damaged(`${file.length} bytes is too short`)
  const body = file.subarray(0, file.length - SUM_BYTES)
  if (!createHash('sha256').update(body).digest().equals(file.subarray(body.length))) {
    throw damaged('its checksum does not match its content')
  }
  const headBytes = body.readUInt32LE(12)
  let head: Head
  try {
    head = JSON.parse(body.toString('utf8', FIXED_BYTES, FIXED_BYTES + headBytes)) as Head
    checkHead(head)
  } catch (error) {
    throw damaged(error instanceof RangeError ? error.message : 'its head is no JSON')
  }
  let at = FIXED_BYTES + padded(headBytes)
  const take = (bytes: number) => {
    // A copy: aligned, and free of the file's buffer.
    if (bytes > body.length - at) throw damaged('it ends inside its arrays')
    const part = Uint8Array.prototype.slice.call(body, at, at + bytes)
    at += padded(bytes)
    return part
  }
  const words = (length: number) => {
    const part = take(length * 4)
    if (endianness() === 'BE') Buffer.from(part.buffer).swap32()
    return new Uint32Array(part.buffer)
  }
  const placesPart = take(head.places * 8)
  if (endianness() === 'BE') Buffer.from(placesPart.buffer).swap64()
  const places = new Float64Array(placesPart.buffer)
  const signatures = (shape: SignatureHead) =>
    new Signatures(shape, words(Math.ceil(shape.filters / 32) * shape.bits))
  const dictionary = new Dictionary(head.dictionary.reading, signatures(head.dictionary))
  const bands = head.bands.map((band) => ({
    rows: words(band.filters),
    signatures: signatures(band),
    rate: band.rate,
  }))
  if (at !== body.length) throw damaged('it has bytes after its arrays')
  try {
    checkArrays(head, places, dictionary, bands)
  } catch (error) {
    throw damaged((error as Error).message)
  }
  const dataset = new Dataset(head.counts, dictionary, new RowFilters(bands), await WordHashes.create())
  return { origin: head.origin, dataset, columns: head.columns, places }
}

const MOST_HASHES = 64

function checkShape(name: string, shape: SignatureHead): void {
  savedWhole(`${name}.filters`, shape.filters, 1, 2 ** 32)
  savedWhole(`${name}.bits`, shape.bits, 1, 2 ** 32)
  savedWhole(`${name}.hashes`, shape.hashes, 1, MOST_HASHES)
}

// Throws a RangeError for an invalid head: its sizes are allocated, its names are printed.
function checkHead(head: Head): void {
  const { origin, counts, columns, places, dictionary, bands } = savedObject('its head', head)
  const { settings, files } = savedObject('origin', origin)
  checkField('origin.settings', settings, typeof settings === 'string', 'text')
  checkField('origin.files', files, Array.isArray(files), 'a list')
  for (const file of files as unknown[]) {
    const { sizeBytes, modifiedMs, sha256 } = savedObject('a file', file)
    savedWhole('sizeBytes', sizeBytes, 0, Number.MAX_SAFE_INTEGER)
    checkField('modifiedMs', modifiedMs, typeof modifiedMs === 'number', 'a time')
    checkField('sha256', sha256, typeof sha256 === 'string', 'text')
  }
  const { rows, words, rawBytes } = savedObject('counts', counts)
  for (const count of [rows, words, rawBytes]) savedWhole('a count', count, 0, Number.MAX_SAFE_INTEGER)
  const isNames = Array.isArray(columns) && columns.every((name) => typeof name === 'string')
  checkField('columns', columns, isNames, 'a list of names')
  savedWhole('places', places, 0, 2 ** 32)
  const { reading } = savedObject('dictionary', dictionary)
  checkField(
    'dictionary.reading',
    reading,
    layerReadings.some((one) => one === reading),
    layerReadings.join(', '),
  )
  checkShape('dictionary', head.dictionary)
  checkField('bands', bands, Array.isArray(bands), 'a list')
  for (const band of bands as unknown[]) {
    const { rate } = savedObject('a band', band)
    checkField('rate', rate, typeof rate === 'number' && rate >= 0 && rate <= 1, 'a rate')
    checkShape('a band', band as SignatureHead)
  }
}

// Throws a RangeError when the arrays do not match the counts: rows that do not exist, bits of filters that do not.
function checkArrays(
  { origin, counts }: Head,
  places: Float64Array,
  { signatures }: Dictionary,
  bands: readonly Band[],
): void {
  const isPlaces = places.length === 0 || places.length === counts.rows + 1
  checkField('places', places.length, isPlaces, `${counts.rows + 1}, for ${counts.rows} rows`)
  places.forEach((place, i) => {
    savedWhole('a place', place, i === 0 ? 0 : places[i - 1]! + 1, Number.MAX_SAFE_INTEGER)
  })
  if (places.length === 0)
    checkField('rows', counts.rows, counts.rows === origin.files.length, 'one per file')
  const banded = new Set<number>()
  for (const { rows, signatures } of bands) {
    rows.forEach((row, i) => {
      savedWhole('a row', row, i === 0 ? 0 : rows[i - 1]! + 1, counts.rows - 1)
      if (banded.size === banded.add(row).size) throw new RangeError(`row ${row} is in two bands`)
    })
    if (!signatures.areFilled()) throw new RangeError('a filter of a row has no word')
  }
  for (const each of [signatures, ...bands.map((band) => band.signatures)]) {
    if (!each.isWithin()) throw new RangeError('bits are set past the last filter')
  }
}

/** The index at `path`; null when there is none. */
export async function readIndex(path: string): Promise<Index | null> {
  let start: Buffer
  try {
    const fd = openSync(path, 'r')
    try {
      start = Buffer.alloc(FIXED_BYTES)
      start = start.subarray(0, readSync(fd, start, 0, FIXED_BYTES, 0))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  checkStart(path, start)
  return decodeIndex(path, readWhole(path, MOST_BUFFER_BYTES))
}

/** Writes a temporary file and renames it: a reader sees the old index or the new one. */
export function writeIndex(path: string, index: Index): void {
  const beside = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(beside, encodeIndex(index))
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}

// A file that is not an index is neither read nor replaced.
function checkStart(name: string, file: Buffer): void {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new InputError(
      `${name} is not a search index: expected it to begin with ${MAGIC.toString('hex')}, got ` +
        `${file.subarray(0, MAGIC.length).toString('hex') || 'nothing'}; it is not changed`,
    )
  }
  const version = file.length >= 12 ? file.readUInt32LE(8) : Number.NaN
  if (version !== INDEX_VERSION) {
    throw new InputError(
      `index ${name} has version ${version}: this urlsieve reads version ${INDEX_VERSION}; delete it to rebuild it`,
    )
  }
}
