// CSV and TSV: the column with the URL, by name or by number. In CSV a field in double quotes may hold commas, newlines
// and doubled quotes (RFC 4180). Not csv-parse, as in src/search: here rows pass through byte for byte, and only one column
// is read.
import { fieldError, listed } from './field-error.ts'
import { lineEnd, type RowFormat } from './row-reader.ts'

const NEWLINE = 10
const QUOTE = 34
const COMMA = 44
const TAB = 9
/** Names of a column that needs no --field. */
export const USUAL_NAMES = ['url', 'uri', 'link', 'href', 'address', 'loc']

/** A row of delimited text; `field` is a name of the header or a number from 1. */
export class DelimitedRows implements RowFormat {
  readonly #format: 'csv' | 'tsv'
  readonly #field: string | undefined
  readonly #option: string
  #column: number

  /** `option`: what messages call the choice of the column. */
  constructor(format: 'csv' | 'tsv', field: string | undefined, option = 'field') {
    this.#option = option
    this.#format = format
    this.#field = field
    this.#column = field !== undefined && /^\d+$/.test(field) ? Number(field) - 1 : -1
  }

  rowEnd(bytes: Uint8Array, from: number): number {
    if (this.#format === 'tsv') return lineEnd(bytes, from)
    let isQuoted = false
    for (let at = from; at < bytes.length; at++) {
      if (bytes[at] === QUOTE) isQuoted = !isQuoted
      else if (bytes[at] === NEWLINE && !isQuoted) return at + 1
    }
    return -1
  }

  isHeader(row: Buffer): boolean {
    if (this.#column >= 0) return false
    const names = fieldsOf(row, this.#format).map((name) => name.replace(/^\ufeff/, '').trim())
    const wanted = this.#field === undefined ? USUAL_NAMES : [this.#field.toLowerCase()]
    this.#column = names.findIndex((name) => wanted.includes(name.toLowerCase()))
    if (this.#column >= 0) return true
    throw fieldError(this.#option, this.#field, `one of its columns ${listed(names)}, or a number from 1`)
  }

  fieldOf(row: Buffer): string | null | undefined {
    return fieldsOf(row, this.#format, this.#column)[this.#column]
  }

  expected(row: Buffer): string {
    return `a number from 1 to ${fieldsOf(row, this.#format).length}`
  }
}

/** The fields of a row, up to and with a column. */
export function fieldsOf(row: Buffer, format: 'csv' | 'tsv', last = Number.POSITIVE_INFINITY): string[] {
  const isCsv = format === 'csv'
  const delimiter = isCsv ? COMMA : TAB
  const fields: string[] = []
  let at = 0
  while (at <= row.length && fields.length <= last) {
    if (isCsv && row[at] === QUOTE) {
      let end = at + 1
      for (;;) {
        end = row.indexOf(QUOTE, end)
        if (end < 0 || row[end + 1] !== QUOTE) break
        end += 2
      }
      if (end < 0) end = row.length
      fields.push(row.toString('utf8', at + 1, end).replaceAll('""', '"'))
      const next = row.indexOf(delimiter, end)
      at = next < 0 ? row.length + 1 : next + 1
    } else {
      const next = row.indexOf(delimiter, at)
      const end = next < 0 ? row.length : next
      fields.push(row.toString('utf8', at, end))
      at = end + 1
    }
  }
  return fields
}
