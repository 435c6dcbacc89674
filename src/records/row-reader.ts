// Formats of one record per row: delimited text, JSON lines, CDX. A row is cut where the format says, and its URL taken out.
import { SieveError } from '../errors.ts'
import type { RecordBatch, RecordReader } from './format.ts'

const NEWLINE = 10
const RETURN = 13
/** Memory and time are bounded: a row is looked at again with each chunk until it is whole. */
const MOST_ROW_BYTES = 16 * 1024 * 1024

export interface RowFormat {
  /** The end of the row that begins at `from`, behind its newline; -1 when it is not whole. */
  rowEnd(bytes: Uint8Array, from: number): number
  /** Takes the row as a header; false: it is a row like the others. Called once, with the first row. */
  isHeader?(row: Buffer): boolean
  /** The URL of a row without its newline; null: it has none. */
  urlOf(row: Buffer): string | null
}

/** The end of a row at the next newline. */
export function lineEnd(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(NEWLINE, from)
  return at < 0 ? -1 : at + 1
}

export class RowReader implements RecordReader {
  header?: Uint8Array
  without = 0
  readonly #format: RowFormat
  #rest: Buffer = Buffer.alloc(0)
  #isFirst = true
  #failure: SieveError | null = null

  constructor(format: RowFormat) {
    this.#format = format
  }

  push(chunk: Uint8Array): RecordBatch {
    if (this.#failure) throw this.#failure
    const bytes = Buffer.concat([this.#rest, chunk])
    return this.#take(bytes, (from) => this.#format.rowEnd(bytes, from))
  }

  end(): RecordBatch {
    if (this.#failure) throw this.#failure
    const bytes = this.#rest
    const batch = this.#take(bytes, (from) => {
      const end = this.#format.rowEnd(bytes, from)
      return end < 0 ? bytes.length : end
    })
    this.#rest = Buffer.alloc(0)
    return batch
  }

  #take(bytes: Buffer, endOf: (from: number) => number): RecordBatch {
    const rows: Uint8Array[] = []
    const urls: string[] = []
    const ends: number[] = []
    let size = 0
    let from = 0
    for (;;) {
      const end = from < bytes.length ? endOf(from) : -1
      if (end < 0) break
      const row = bytes.subarray(from, end)
      from = end
      const url = this.#urlOf(row)
      if (url === null) continue
      rows.push(row)
      size += row.length
      if (row.at(-1) !== NEWLINE) {
        rows.push(Uint8Array.of(NEWLINE))
        size++
      }
      ends.push(size)
      urls.push(url)
    }
    this.#rest = Buffer.from(bytes.subarray(from))
    // The rows before it are passed on first.
    if (this.#rest.length > MOST_ROW_BYTES) {
      const message = 'a row of more than 16 MiB: expected a newline, or the end of a quoted field'
      this.#failure = new SieveError('corrupt', message, { operation: 'read' })
    }
    const lines = urls.length > 0 ? `${urls.join('\n')}\n` : ''
    return { rows: Buffer.concat(rows), ends, urls: Buffer.from(lines) }
  }

  #urlOf(row: Buffer): string | null {
    const text = withoutNewline(row)
    if (this.#isFirst) {
      this.#isFirst = false
      if (this.#format.isHeader?.(text)) {
        this.header = Buffer.concat([row])
        return null
      }
    }
    if (text.length === 0) return null
    const url = this.#format.urlOf(text)?.trim()
    if (!url) this.without++
    // A URL is one line; newlines inside it are removed, as a browser does. A row without a URL is compared as it stands.
    return (url || text.toString()).replaceAll(/[\n\r]/g, '')
  }
}

function withoutNewline(row: Buffer): Buffer {
  let end = row.length
  if (end > 0 && row[end - 1] === NEWLINE) end--
  if (end > 0 && row[end - 1] === RETURN) end--
  return row.subarray(0, end)
}
