// What an input looks like, by its first bytes and its name. It errs towards plain lines: a list of URLs is never taken for
// something else because commas, tabs or braces are in them.
import { DelimitedRows, fieldsOf, USUAL_NAMES } from './delimited.ts'
import { type FormatName, formatOfName } from './format.ts'

/** How much of an input is looked at. */
const MOST_BYTES = 64 * 1024
const MOST_ROWS = 40
/** The share of rows that have to fit. */
const NEARLY_ALL = 0.8

export interface Looks {
  readonly format: FormatName | 'lines'
  /** What people call it. */
  readonly name: string
  /** Where its URLs are, for --field. */
  readonly field?: string
  /** The names of its columns, where none is known to have the URLs. */
  readonly columns?: readonly string[]
}

const URL_START = /^\s*[a-z][a-z0-9+.-]*:\/\/[^\s/]/i
/** Behind what separates it from other text: not `=`, which stands before a URL within a URL. */
const URL_INSIDE = /[\s;|,"'<(]https?:\/\/[^\s/]/i
const MARKUP =
  /^\s*<(?:\?xml\b|!doctype\b|!--|html\b|head\b|body\b|rss\b|feed\b|urlset\b|sitemapindex\b|url>|loc>)/i
const SITEMAP = /<(?:urlset|sitemapindex)\b|<loc>/
const CDX_HEADER = /^([^\w])CDX\1[A-Za-z]\1/
const CDX_ROW = /^\S+ \d{4,14} [a-z][a-z0-9+.-]*:\S+ \S+ /i
const CDXJ_ROW = /^\S+ \d{4,14} \{.*\}\s*$/
/** A document of JSON over several lines: no plain URL begins so. */
const JSON_START = /^\s*(?:\{\s*"|\[\s*["{]|[[{]\s*\n)/

/** What an input looks like that begins with these bytes; null: nothing that is known. */
export function recognise(head: Uint8Array, path: string): Looks | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, MOST_BYTES))
  const text = bytes.toString().replace(/^\ufeff/, '')
  if (text.startsWith('PAR1')) return { format: 'parquet', name: 'Parquet' }
  if (/^\s*WARC\/\d/.test(text)) return { format: 'warc', name: 'WARC' }
  if (MARKUP.test(text)) {
    return SITEMAP.test(text)
      ? { format: 'sitemap', name: 'a sitemap' }
      : { format: 'text', name: 'HTML or XML' }
  }
  const rows = wholeRows(text)
  if (rows.length === 0) return null
  const share = (test: (row: string) => boolean) => rows.filter(test).length / rows.length
  if (CDX_HEADER.test(rows[0]!) || share((row) => CDX_ROW.test(row)) >= NEARLY_ALL)
    return { format: 'cdx', name: 'CDX' }
  if (share((row) => row.startsWith('!') || CDXJ_ROW.test(row)) >= NEARLY_ALL && text.includes(' {'))
    return { format: 'cdxj', name: 'CDXJ' }
  if (share((row) => isObject(row)) >= NEARLY_ALL) return jsonLines(rows)
  if (JSON_START.test(text) && text.includes('\n')) return { format: 'text', name: 'JSON' }
  const delimited = delimitedLooks(bytes, path)
  if (delimited) return delimited
  if (share((row) => URL_START.test(row)) >= NEARLY_ALL) return { format: 'lines', name: 'one URL per line' }
  const isAmongOthers = (row: string) => !URL_START.test(row) && URL_INSIDE.test(row)
  return share(isAmongOthers) >= NEARLY_ALL ? { format: 'text', name: 'text with URLs in it' } : null
}

/** The first rows, without the last where that may be cut. */
function wholeRows(text: string): string[] {
  const lines = text.split('\n', MOST_ROWS + 1)
  if (lines.length > 1) lines.pop()
  return lines.map((line) => line.replace(/\r$/, '')).filter((line) => line.trim() !== '')
}

function isObject(row: string): boolean {
  if (!row.trimStart().startsWith('{')) return false
  try {
    return typeof JSON.parse(row) === 'object'
  } catch {
    return false
  }
}

function jsonLines(rows: readonly string[]): Looks {
  const objects = rows.filter(isObject).map((row) => JSON.parse(row) as object)
  const field = objects.map((object) => pathOfUrl(object)).find((path) => path !== null)
  const columns = Object.keys(objects[0]!)
  return { format: 'jsonl', name: 'JSON lines', ...(field ? { field } : { columns }) }
}

/** Where the first URL in an object is; one whose name says so before the others. */
function pathOfUrl(object: object, before = '', depth = 0): string | null {
  const usual = (name: string) => Number(!USUAL_NAMES.includes(name.toLowerCase()))
  const entries = Object.entries(object).sort(([a], [b]) => usual(a) - usual(b))
  for (const [name, value] of entries) {
    if (!isPlainName(name) || name.includes('.')) continue
    const path = `${before}.${name}`
    if (typeof value === 'string' && URL_START.test(value)) return path
    const isInside = typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 4
    const inside = isInside ? pathOfUrl(value, path, depth + 1) : null
    if (inside !== null) return inside
  }
  return null
}

const QUOTE = 34
const COLUMN_NAME = /^[\p{L}_][\p{L}\p{N}_ .:-]{0,63}$/u

/** A name that can stand in a command line as it is. */
const isPlainName = (name: string) => /^[\p{L}\p{N}_.:-]{1,64}$/u.test(name) && !name.startsWith('-')

function delimitedLooks(bytes: Buffer, path: string): Looks | null {
  const named = formatOfName(path)
  for (const format of ['tsv', 'csv'] as const) {
    // A list of URLs may have a comma in each, but hardly a tab, and no quotes around it.
    const isSure = format === 'tsv' || named === format || bytes[0] === QUOTE
    const looks = columnsOf(rowsOf(bytes, format), format, isSure)
    if (looks) return looks
  }
  return null
}

function rowsOf(bytes: Buffer, format: 'csv' | 'tsv'): string[][] {
  const reader = new DelimitedRows(format, '1')
  const rows: string[][] = []
  for (let at = 0; rows.length < MOST_ROWS; ) {
    const end = reader.rowEnd(bytes, at)
    if (end < 0) break
    const row = bytes
      .subarray(at, end)
      .toString()
      .replace(/\r?\n$/, '')
    if (row.trim() !== '') rows.push(fieldsOf(Buffer.from(row), format).map((field) => field.trim()))
    at = end
  }
  return rows
}

function columnsOf(rows: readonly string[][], format: 'csv' | 'tsv', isSure: boolean): Looks | null {
  const [first] = rows
  if (!first || first.length < 2 || rows.length < 2) return null
  if (rows.filter(({ length }) => length === first.length).length < rows.length * NEARLY_ALL) return null
  const columns = first.map((name) => name.replace(/^\ufeff/, ''))
  const hasHeader =
    new Set(columns).size === columns.length && columns.every((name) => COLUMN_NAME.test(name))
  const others = hasHeader ? rows.slice(1) : rows
  const isOfUrls = (column: number) =>
    others.filter((row) => URL_START.test(row[column] ?? '')).length >= others.length / 2
  const usual = hasHeader ? columns.findIndex((name) => USUAL_NAMES.includes(name.toLowerCase())) : -1
  const found = usual >= 0 ? usual : columns.findIndex((_, column) => isOfUrls(column))
  const name = format.toUpperCase()
  if (!hasHeader)
    return found > 0 || (found === 0 && isSure) ? { format, name, field: String(found + 1) } : null
  if (found < 0 && !(isSure && format === 'csv')) return null
  return found >= 0 && isPlainName(columns[found]!)
    ? { format, name, field: columns[found]! }
    : { format, name, columns }
}
