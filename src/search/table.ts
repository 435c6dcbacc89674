// A table in CSV (RFC 4180) or another delimiter, by csv-parse: read once as a stream, and selected rows again by
// their offsets. UTF-8, with or without BOM; CRLF or LF; quoted fields may contain delimiters, quotes and newlines.
import { Readable } from 'node:stream'
import { type CsvError, type Options, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { formatCounted } from '../quantities.ts'
import { type Bytes, chunksOf } from './bytes.ts'
import { InputError } from './input-error.ts'

export interface TableOptions {
  readonly delimiter: string
  /** False: the first line is a row, and the columns are named 1, 2, …. */
  readonly header: boolean
  /** Rows may have fewer fields than the first (the others are empty) or more (which are ignored). */
  readonly ragged: boolean
}

/** The columns and row offsets of a table that was read. */
export interface TableShape {
  readonly columns: readonly string[]
  /** Row r is the bytes from places[r] to places[r + 1]. */
  readonly places: Float64Array
}

const UTF16 = new Set(['fffe', 'feff'])
/** Rows read again at a time. */
const READ_ROWS = 512
const CHECK_BYTES = 256 * 1024
/** A longer line is no names of columns. */
const MOST_HEADER_BYTES = 16 * 1024 ** 2

function parserOptions({ delimiter }: TableOptions): Options {
  return {
    delimiter,
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  }
}

export class Table {
  readonly name: string
  readonly #bytes: Bytes
  readonly #options: TableOptions

  /** `name` is used in errors. */
  constructor(name: string, bytes: Bytes, options: TableOptions) {
    this.name = name
    this.#bytes = bytes
    this.#options = options
  }

  /** Reads all rows. `onColumns` gets the names of the columns before the first row. */
  async scan(
    onColumns: (columns: readonly string[]) => void,
    onRow: (fields: readonly string[]) => void,
  ): Promise<TableShape> {
    if (UTF16.has(this.#bytes.read(0, Math.min(2, this.#bytes.sizeBytes)).toString('hex'))) {
      throw new InputError(`${this.name} is in UTF-16: expected UTF-8`)
    }
    const { header, ragged } = this.#options
    const places: number[] = []
    let columns: string[] | undefined
    let end = 0
    const parser = parse({ ...parserOptions(this.#options), info: true })
    const source = Readable.from(chunksOf(this.#bytes))
    source.on('error', (error) => parser.destroy(error))
    try {
      for await (const { record, info } of source.pipe(parser) as AsyncIterable<{
        record: string[]
        info: { bytes: number }
      }>) {
        const from = end
        end = info.bytes
        if (!columns) {
          columns = header ? record : record.map((_, i) => String(i + 1))
          onColumns(columns)
          if (header) continue
        }
        if (record.length !== columns.length && !ragged) {
          throw new InputError(
            `${this.name}, line ${this.#lineAt(from)}: ${fields(record.length)}, expected ${columns.length}` +
              ` as in the first line; --ragged accepts such rows`,
          )
        }
        places.push(from)
        onRow(record)
      }
    } catch (error) {
      if (!isCsvError(error)) throw error
      const why = error.message.replace(/ at line \d+/, '')
      throw new InputError(
        `${this.name}, in the row at line ${this.#lineAt(parser.info.bytes_records)}: ${why}`,
      )
    }
    if (!columns) throw new InputError(`${this.name} is empty: expected a table`)
    if (places.length === 0)
      throw new InputError(`${this.name} has no rows: expected some after the first line`)
    places.push(end)
    return { columns, places: Float64Array.from(places) }
  }

  /** The fields of some rows, in their order. */
  *read(
    { columns, places }: TableShape,
    rows: Iterable<number>,
  ): Generator<{ row: number; fields: string[] }> {
    this.#checkBounds(columns, places)
    let batch: number[] = []
    for (const row of rows) {
      batch.push(row)
      if (batch.length < READ_ROWS) continue
      yield* this.#readBatch(columns, places, batch)
      batch = []
    }
    if (batch.length > 0) yield* this.#readBatch(columns, places, batch)
  }

  // The places may come from a file: they have to be those of all rows of this table.
  #checkBounds(columns: readonly string[], places: Float64Array): void {
    const { sizeBytes } = this.#bytes
    const [first = 0] = places
    const end = places.at(-1) ?? 0
    const isWithin = first <= end && end <= sizeBytes
    const recordsOf = (from: number, to: number) =>
      parseAll(this.#bytes.read(from, to), parserOptions(this.#options)) as string[][]
    const isWhole = () => {
      const [header, ...others] = recordsOf(0, first)
      const isHeader = this.#options.header
        ? JSON.stringify(header) === JSON.stringify(columns) && others.length === 0
        : header === undefined
      for (let at = end; at < sizeBytes; at += CHECK_BYTES) {
        const rest = this.#bytes.read(at, Math.min(at + CHECK_BYTES, sizeBytes))
        if (/[^\r\n]/.test(rest.toString('latin1'))) return false
      }
      return isHeader
    }
    if (isWithin && first <= MOST_HEADER_BYTES && isWhole()) return
    throw new InputError(
      `the rows of the index are not those of ${this.name}: delete the index to rebuild it`,
    )
  }

  *#readBatch(columns: readonly string[], places: Float64Array, rows: readonly number[]) {
    // The last row of a table may lack its newline; an empty line between rows is skipped.
    const parts = rows.flatMap((row) => [this.#bytes.read(places[row]!, places[row + 1]!), Buffer.from('\n')])
    const records = parseAll(Buffer.concat(parts), parserOptions(this.#options)) as string[][]
    if (records.length !== rows.length) {
      throw new InputError(`${this.name} changed while it was read: run the search again`)
    }
    for (let i = 0; i < rows.length; i++) {
      const fields = columns.map((_, c) => records[i]![c] ?? '')
      yield { row: rows[i]!, fields }
    }
  }

  // The line of the first character of the row at `offset`; empty lines before it are skipped.
  #lineAt(offset: number): number {
    let line = 1
    for (let at = 0; at < this.#bytes.sizeBytes; at += 65536) {
      const chunk = this.#bytes.read(at, Math.min(at + 65536, this.#bytes.sizeBytes))
      for (let i = 0; i < chunk.length; i++) {
        const isBreak = chunk[i] === 0x0a
        if (at + i >= offset && !isBreak && chunk[i] !== 0x0d) return line
        if (isBreak) line++
      }
    }
    return line
  }
}

const fields = (count: number) => formatCounted(count, 'field')

function isCsvError(error: unknown): error is CsvError {
  return error instanceof Error && /^(CSV_|INVALID_)/.test((error as { code?: string }).code ?? '')
}

/** The columns with these names; all without names. */
export function chooseColumns(table: string, columns: readonly string[], names: readonly string[]): number[] {
  const indices = columns.map((_, i) => i)
  for (const name of names) {
    if (columns.includes(name)) continue
    throw new InputError(`no column '${name}' in ${table}: expected one of ${columns.join(', ')}`)
  }
  return names.length === 0 ? indices : indices.filter((i) => names.includes(columns[i]!))
}
