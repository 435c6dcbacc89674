// Formats of one record per row: delimited text, JSON lines, CDX. A row is cut where the format says, and its URL taken out.

import { withScheme } from '../canonical/bare-hosts.ts'
import { SieveError } from '../errors.ts'
import type { RecordBatch, RecordReader } from './format.ts'
import { isUrl, wholeRecord } from './whole-record.ts'

const NEWLINE = 10
const RETURN = 13
const QUOTE = 34
/** Memory and time are bounded: a row is looked at again with each chunk until it is whole. */
const MOST_ROW_BYTES = 16 * 1024 * 1024

export interface RowFormat {
  /** The end of the row that begins at `from`, behind its newline; -1 when it is not whole. */
  rowEnd(bytes: Uint8Array, from: number): number
  /** Takes the row as a header; false: it is a row like the others. Called once, with the first row. */
  isHeader?(row: Buffer): boolean
  /** The field of a row without its newline; null: it holds no text; undefined: the row has no such field. */
  fieldOf(row: Buffer): string | null | undefined
  /** What a field that no row has was expected to be, from one of the rows. */
  expected?(row: Buffer): string
}

export interface RowOptions {
  /** `example.com/a` stands for https://example.com/a. */
  readonly bareHosts?: boolean
  /** Any text of the field, not only URLs: then a row without it has an empty line. */
  readonly isAnyText?: boolean
}

/** The end of a row at the next newline. */
export function lineEnd(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(NEWLINE, from)
  return at < 0 ? -1 : at + 1
}

export class RowReader implements RecordReader {
  header?: Uint8Array
  readonly #format: RowFormat
  readonly #options: RowOptions
  #rest: Buffer = Buffer.alloc(0)
  #isFirst = true
  #failure: SieveError | null = null

  /** A row, while none had the field. */
  #lacking: Buffer | null = null
  #hasField = false

  constructor(format: RowFormat, options: RowOptions = {}) {
    this.#format = format
    this.#options = options
  }

  get lacks(): string | null {
    return this.#hasField || this.#lacking === null ? null : (this.#format.expected?.(this.#lacking) ?? null)
  }

  push(chunk: Uint8Array): RecordBatch {
    if (this.#failure) throw this.#failure
    const bytes = Buffer.concat([this.#rest, chunk])
    return this.#take(bytes, (from) => this.#format.rowEnd(bytes, from))
  }

  end(): RecordBatch {
    if (this.#failure) throw this.#failure
    const bytes = this.#rest.length > 0 ? this.#completed(this.#rest) : this.#rest
    return this.#take(bytes, () => bytes.length)
  }

  // The last row may lack its newline, and the quote that ends its field: without that, rows behind it would be part of it.
  #completed(row: Buffer): Buffer {
    const ended = Buffer.concat([row, Buffer.of(NEWLINE)])
    return this.#format.rowEnd(ended, 0) < 0 ? Buffer.concat([row, Buffer.of(QUOTE, NEWLINE)]) : ended
  }

  #take(bytes: Buffer, endOf: (from: number) => number): RecordBatch {
    const rows: Uint8Array[] = []
    const urls: string[] = []
    const ends: number[] = []
    let without = 0
    let size = 0
    let from = 0
    for (;;) {
      const end = from < bytes.length ? endOf(from) : -1
      if (end < 0) break
      const row = bytes.subarray(from, end)
      from = end
      const text = withoutNewline(row)
      if (this.#isHeader(text, row) || text.length === 0) continue
      const url = this.#urlOf(text)
      if (url === null) without++
      rows.push(row)
      size += row.length
      ends.push(size)
      urls.push(url ?? (this.#options.isAnyText ? '' : wholeRecord(text)))
    }
    this.#rest = Buffer.from(bytes.subarray(from))
    // The rows before it are passed on first.
    if (this.#rest.length > MOST_ROW_BYTES) {
      const message = 'a row of more than 16 MiB: expected a newline, or the end of a quoted field'
      this.#failure = new SieveError('corrupt', message, { operation: 'read' })
    }
    const lines = urls.length > 0 ? `${urls.join('\n')}\n` : ''
    return { rows: Buffer.concat(rows), ends, urls: Buffer.from(lines, 'latin1'), without }
  }

  #isHeader(text: Buffer, row: Buffer): boolean {
    if (!this.#isFirst) return false
    this.#isFirst = false
    if (!this.#format.isHeader?.(text)) return false
    this.header = Buffer.concat([row])
    this.#hasField = true
    return true
  }

  // The bytes of the URL's UTF-8, one per character; null: the row has none.
  #urlOf(row: Buffer): string | null {
    const field = this.#format.fieldOf(row)
    if (field !== undefined) this.#hasField = true
    else if (!this.#hasField) this.#lacking ??= Buffer.from(row)
    const { bareHosts, isAnyText } = this.#options
    // A URL is one line; newlines inside it are removed, as a browser does.
    const text = field?.trim().replaceAll(/[\n\r]/g, '')
    if (!text) return null
    const url = bareHosts ? withScheme(text) : text
    return isAnyText || isUrl(url) ? latin1(url) : null
  }
}

const latin1 = (text: string) => (/[^\0-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text)

function withoutNewline(row: Buffer): Buffer {
  let end = row.length
  if (end > 0 && row[end - 1] === NEWLINE) end--
  if (end > 0 && row[end - 1] === RETURN) end--
  return row.subarray(0, end)
}
