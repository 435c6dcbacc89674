// Inputs that are not one URL per line, read as batches of rows with the URL of each.
import { withSchemes } from '../records/bare-hosts.ts'
import { formatOfName, type RecordBatch, type RecordReader } from '../records/format.ts'
import { LineReader } from '../records/line-reader.ts'
import { readerOf } from '../records/reader.ts'
import { CommandError, EXIT } from './exit.ts'
import { readChunks } from './input.ts'
import type { RecordInput } from './input-options.ts'

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
  const reader = readerFor(path, input)
  for await (const chunk of readChunks(path)) {
    yield { ...reader.push(chunk), header: reader.header, bytes: chunk.length }
  }
  yield { ...reader.end(), header: reader.header, bytes: 0 }
}

function readerFor(path: string, { format, field, separator }: RecordInput): RecordReader {
  if (format === 'lines') return new LineReader(separator)
  const known = format ?? formatOfName(path)
  if (known !== null) return readerOf(known, field)
  const name = path === '-' ? 'stdin' : path
  throw new CommandError(EXIT.usage, `--field for ${name}: expected --format csv, tsv or jsonl`)
}
