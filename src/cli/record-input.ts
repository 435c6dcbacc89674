// Inputs that are not one URL per line, read as batches of rows with the URL of each.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { withSchemes } from '../records/bare-hosts.ts'
import { fieldError } from '../records/field-error.ts'
import { formatOfName, type RecordBatch, type RecordReader, type StreamFormat } from '../records/format.ts'
import { LineReader } from '../records/line-reader.ts'
import { readerOf } from '../records/reader.ts'
import { CommandError, EXIT } from './exit.ts'
import { type Look, lookForLines, readChunks, START_BYTES } from './input.ts'
import type { RecordInput } from './input-options.ts'
import { inputError } from './input-size.ts'
import { refuseLooks } from './line-looks.ts'

/** A batch, and what was read for it. */
export interface Records extends RecordBatch {
  /** What precedes the rows of this input, such as the names of columns. */
  readonly header: Uint8Array | undefined
  /** Bytes of the input when unpacked. */
  readonly bytes: number
}

/** Rows that wait for the first one with the field that was named: without any, nothing is passed on. */
const MOST_HELD_ROWS = 1000
const MOST_HELD_BYTES = 1024 ** 2

/** Reads one input to its end. What is readable of a damaged one comes before its error. */
export async function* readRecords(path: string, input: RecordInput): AsyncGenerator<Records> {
  const { field, separator, bareHosts } = input
  const format = input.format ?? formatOfName(path)
  if (format === 'parquet') {
    for await (const batch of readColumn(path, field)) yield withHosts(batch, bareHosts)
  } else if (format === 'lines') {
    const look = separator === 'newline' ? lookForLines : null
    for await (const batch of readWith(path, new LineReader(separator), look))
      yield withHosts(batch, bareHosts)
  } else if (format !== null) {
    yield* readRows(path, format, field, bareHosts)
  } else {
    // Parquet is read from its end, which stdin does not have yet.
    const [name, formats] =
      path === '-' ? ['stdin', 'csv, tsv or jsonl'] : [path, 'csv, tsv, jsonl or parquet']
    throw new CommandError(EXIT.usage, `--field for ${name}: expected --format ${formats}`)
  }
}

const withHosts = (batch: Records, bareHosts: boolean): Records =>
  bareHosts ? { ...batch, urls: withSchemes(batch.urls) } : batch

async function* readRows(
  path: string,
  format: StreamFormat,
  field: string | undefined,
  bareHosts: boolean,
): AsyncGenerator<Records> {
  const newReader = () => readerOf(format, field, { bareHosts })
  const look: Look = async (_, head) => {
    if (format !== 'text' && !hasUrl(newReader(), head)) refuseLooks(path, head, format)
  }
  const reader = newReader()
  const held: Records[] = []
  let rows = 0
  let bytes = 0
  try {
    for await (const batch of readWith(path, reader, look)) {
      held.push(batch)
      rows += batch.ends.length
      bytes += batch.bytes
      if (reader.lacks && rows < MOST_HELD_ROWS && bytes < MOST_HELD_BYTES) continue
      yield* held.splice(0)
    }
  } catch (error) {
    yield* held
    throw error
  }
  if (reader.lacks) throw fieldError('field', field, reader.lacks)
}

function hasUrl(reader: RecordReader, head: Uint8Array): boolean {
  try {
    const { ends, without } = reader.push(head)
    return ends.length > without
  } catch {
    return false // its reader says why, unless it looks like another format
  }
}

async function* readWith(path: string, reader: RecordReader, look: Look | null): AsyncGenerator<Records> {
  for await (const chunk of readChunks(path, look)) {
    yield { ...reader.push(chunk), header: reader.header, bytes: chunk.length }
  }
  yield { ...reader.end(), header: reader.header, bytes: 0 }
}

// A column of a Parquet file, which is read from its end. Loaded only for this.
async function* readColumn(path: string, field: string | undefined): AsyncGenerator<Records> {
  if (path === '-')
    throw new CommandError(EXIT.usage, 'a Parquet file is not read from stdin: expected the name of a file')
  const { readParquet } = await import('../records/parquet.ts')
  const fd = openSync(path, 'r')
  try {
    const file = {
      byteLength: fstatSync(fd).size,
      read(at: number, length: number) {
        const bytes = Buffer.alloc(length)
        if (readSync(fd, bytes, 0, length, at) === length) return bytes
        throw inputError(path, new Error('it ends too early'))
      },
    }
    const start = file.read(0, Math.min(START_BYTES, file.byteLength))
    if (!start.toString('latin1').startsWith('PAR1')) refuseLooks(path, start, 'parquet')
    for (const batch of readParquet(file, field)) yield { ...batch, header: undefined }
  } finally {
    closeSync(fd)
  }
}
