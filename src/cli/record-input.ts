// Inputs that are not one URL per line, read as batches of rows with the URL of each.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { withSchemes } from '../records/bare-hosts.ts'
import { formatOfName, type RecordBatch, type RecordReader, type StreamFormat } from '../records/format.ts'
import { LineReader } from '../records/line-reader.ts'
import { readerOf } from '../records/reader.ts'
import { CommandError, EXIT } from './exit.ts'
import { readChunks } from './input.ts'
import type { RecordInput } from './input-options.ts'
import { inputError } from './input-size.ts'

/** A batch, and what was read for it. */
export interface Records extends RecordBatch {
  /** What precedes the rows of this input, such as the names of columns. */
  readonly header: Uint8Array | undefined
  /** Bytes of the input when unpacked. */
  readonly bytes: number
}

/** Reads one input to its end. What is readable of a damaged one comes before its error. */
export async function* readRecords(path: string, input: RecordInput): AsyncGenerator<Records> {
  for await (const batch of readRows(path, input)) {
    yield input.bareHosts ? { ...batch, urls: withSchemes(batch.urls) } : batch
  }
}

async function* readRows(path: string, input: RecordInput): AsyncGenerator<Records> {
  const { field, separator } = input
  const format = input.format ?? formatOfName(path)
  if (format === 'parquet') {
    yield* readColumn(path, field)
    return
  }
  const reader: RecordReader = format === 'lines' ? new LineReader(separator) : readerFor(path, format, field)
  for await (const chunk of readChunks(path)) {
    yield { ...reader.push(chunk), header: reader.header, bytes: chunk.length }
  }
  yield { ...reader.end(), header: reader.header, bytes: 0 }
}

function readerFor(path: string, format: StreamFormat | null, field: string | undefined): RecordReader {
  if (format !== null) return readerOf(format, field)
  // Parquet is read from its end, which stdin does not have yet.
  const [name, formats] = path === '-' ? ['stdin', 'csv, tsv or jsonl'] : [path, 'csv, tsv, jsonl or parquet']
  throw new CommandError(EXIT.usage, `--field for ${name}: expected --format ${formats}`)
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
    for (const batch of readParquet(file, field)) yield { ...batch, header: undefined }
  } finally {
    closeSync(fd)
  }
}
