// Inputs in which a URL is only a part of a row, and the formats that hold URLs in another way than one per line.

/** Rows and the URL of each: whole rows, and one line per row with its URL. */
export interface RecordBatch {
  /** The rows, as they were in the input. */
  readonly rows: Uint8Array
  /** Where each row ends in `rows`, behind its newline. */
  readonly ends: readonly number[]
  /** One line per row: its URL, or what stands for the whole row where it has none (whole-record.ts). */
  readonly urls: Uint8Array
  /** How many of the rows have no URL. */
  readonly without: number
}

/** Reads a stream in any cuts. */
export interface RecordReader {
  /** What precedes the rows, such as the names of columns; known when the first batch is. */
  readonly header?: Uint8Array
  /** Where no row so far had the field that was named: what was expected. */
  readonly lacks?: string | null
  push(chunk: Uint8Array): RecordBatch
  /** The rest; what is incomplete counts as a row if it can be read. */
  end(): RecordBatch
}

export const formatNames = [
  'csv',
  'tsv',
  'jsonl',
  'cdx',
  'cdxj',
  'warc',
  'parquet',
  'sitemap',
  'text',
] as const

export type FormatName = (typeof formatNames)[number]
/** Parquet begins with its end. */
export type StreamFormat = Exclude<FormatName, 'parquet'>

const EXTENSIONS: Readonly<Record<string, FormatName>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  cdx: 'cdx',
  cdxj: 'cdxj',
  warc: 'warc',
  parquet: 'parquet',
  parq: 'parquet',
}

/** The format that the name of a file says, under a packing's own extension; null: none. */
export function formatOfName(path: string): FormatName | null {
  const [extension] = /[^.]+$/.exec(path.toLowerCase().replace(/\.(gz|zst|bz2|xz)$/, '')) ?? ['']
  return EXTENSIONS[extension] ?? null
}

/** The extension of a file with rows of a format: URLs alone are text. */
export function extensionOf(format: FormatName | 'lines' | null): string {
  const isKept = format !== null && ['csv', 'tsv', 'jsonl', 'cdx', 'cdxj'].includes(format)
  return isKept ? format : 'txt'
}
