// Parquet: the texts of one column, a page at a time. hyparquet reads the footer and the headers; the pages are ours, since forged
// ones keep its decoders busy for hours. Every size that the file states is checked before memory is reserved for it. A row cannot
// be passed through, so a row is the URL alone.
import { spawnSync } from 'node:child_process'
import * as zlib from 'node:zlib'
import type { ColumnMetaData, FileMetaData, RowGroup, SchemaTree } from 'hyparquet'
import { parquetMetadata, parquetSchema } from 'hyparquet'
import { type PageHeader, parquetHeader } from 'hyparquet/src/column.js'
import { SieveError } from '../errors.ts'
import { USUAL_NAMES } from './delimited.ts'
import { fieldError, listed } from './field-error.ts'
import type { RecordBatch } from './format.ts'
import { Input, plainTexts, textsOf } from './parquet-page.ts'
import { unpackSnappy } from './snappy.ts'
import { batchOf } from './url-reader.ts'

/** A file whose bytes can be read in any order. */
export interface ParquetFile {
  readonly byteLength: number
  /** That many bytes; throws where the file has fewer. */
  read(at: number, bytes: number): Uint8Array
}

const TAIL_BYTES = 8
const MOST_FOOTER_BYTES = 256 * 1024 ** 2
const MOST_HEADER_BYTES = 1024 ** 2
const MOST_PAGE_BYTES = 256 * 1024 ** 2
const MOST_PAGE_ROWS = 2 ** 24
/** URLs that are passed on together, and bytes of them from which on no more are. */
const BATCH_URLS = 16_384
const BATCH_BYTES = 4 * 1024 ** 2

const damaged = (what: string) =>
  new SieveError('corrupt', `not a Parquet file that can be read: ${what}`, { operation: 'read' })

/** The URLs of a column by its name, path or number, and the bytes read for them. Rows without a value are left out. */
export function* readParquet(
  file: ParquetFile,
  field?: string,
): Generator<RecordBatch & { readonly bytes: number }> {
  const metadata = checked(() => readFooter(file))
  const path = checked(() => columnOf(metadata, field))
  for (const group of metadata.row_groups) {
    for (const { texts, bytes } of pagesOf(file, group, path)) {
      let read = bytes
      for (let at = 0; at < texts.length; ) {
        const urls: string[] = []
        let size = 0
        while (at < texts.length && urls.length < BATCH_URLS && size < BATCH_BYTES) {
          const url = texts[at++]!.replaceAll(/[\n\r]/g, '')
          urls.push(url)
          size += url.length
        }
        yield { ...batchOf(urls), bytes: read }
        read = 0
      }
    }
  }
}

/** Errors of the decoder as one of ours. */
function checked<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw error instanceof SieveError ? error : damaged((error as Error).message.replace(/^parquet /, ''))
  }
}

function readFooter(file: ParquetFile): FileMetaData {
  if (file.byteLength < TAIL_BYTES + 4) throw damaged(`it has ${file.byteLength} bytes`)
  const tail = Buffer.from(file.read(file.byteLength - TAIL_BYTES, TAIL_BYTES))
  if (tail.toString('latin1', 4) !== 'PAR1') throw damaged('its end is missing: expected PAR1')
  const length = tail.readUInt32LE()
  if (length > Math.min(file.byteLength - TAIL_BYTES - 4, MOST_FOOTER_BYTES))
    throw damaged(`a footer of ${length} bytes`)
  // A copy: hyparquet reads from the beginning of a buffer.
  const footer = file.read(file.byteLength - TAIL_BYTES - length, length + TAIL_BYTES)
  return parquetMetadata(new Uint8Array(footer), { geoparquet: false })
}

/** The schema from the root to the column. */
function columnOf(metadata: FileMetaData, field: string | undefined): SchemaTree[] {
  const root = parquetSchema(metadata)
  const columns = [...leavesOf([root])]
  const nameOf = (path: readonly SchemaTree[]) => path.at(-1)!.path.join('.')
  const wanted = field === undefined ? USUAL_NAMES : [field.replace(/^\./, '').toLowerCase()]
  const found =
    field !== undefined && /^\d+$/.test(field)
      ? columns[Number(field) - 1]
      : columns.find((path) => wanted.includes(nameOf(path).toLowerCase()))
  if (!found) {
    const names = listed(columns.map(nameOf))
    throw fieldError('field', field, `one of its columns ${names}, or a number from 1 to ${columns.length}`)
  }
  const { type } = found.at(-1)!.element
  const isList = found.some(({ element }) => element.repetition_type === 'REPEATED')
  if (isList || type !== 'BYTE_ARRAY') {
    const what = isList ? 'lists' : type
    throw new SieveError('option', `--field ${nameOf(found)} holds ${what}: expected a column of texts`, {
      option: 'field',
      got: field,
      expected: 'a column of texts',
    })
  }
  return found
}

function* leavesOf(path: SchemaTree[]): Generator<SchemaTree[]> {
  const { children } = path.at(-1)!
  if (children.length === 0 && path.length > 1) yield path
  for (const child of children) yield* leavesOf([...path, child])
}

/** The texts of each page of a column in a row group. */
function* pagesOf(
  file: ParquetFile,
  group: RowGroup,
  schemaPath: SchemaTree[],
): Generator<{ texts: string[]; bytes: number }> {
  const name = schemaPath.at(-1)!.path.join('\0')
  const chunk = group.columns.find(({ meta_data }) => meta_data?.path_in_schema.join('\0') === name)
  if (!chunk?.meta_data || chunk.file_path) throw damaged('a row group without the column')
  const { codec } = chunk.meta_data
  const level = schemaPath.filter(({ element }) => element.repetition_type === 'OPTIONAL').length
  let { at, end } = rangeOf(file, chunk.meta_data)
  let rows = Number(group.num_rows)
  let dictionary: string[] | null = null
  while (rows > 0 && at < end) {
    const { header, from } = checked(() => readHeader(file, at, end))
    const next = from + header.compressed_page_size
    checkSizes(header, rows, end - from)
    const page = file.read(from, header.compressed_page_size)
    const bytes = next - at
    at = next
    const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: entries } = header
    if (header.type === 'DICTIONARY_PAGE' && entries) {
      dictionary = checked(() => plainTexts(new Input(unpack(codec, page, header)), entries.num_values))
    } else if (header.type === 'DATA_PAGE' && first) {
      const texts = checked(() =>
        textsOf(
          {
            encoding: first.encoding,
            count: first.num_values,
            level,
            levels: null,
            bytes: unpack(codec, page, header),
          },
          dictionary,
        ),
      )
      rows -= first.num_values
      yield { texts, bytes }
    } else if (header.type === 'DATA_PAGE_V2' && second) {
      const levelBytes = second.definition_levels_byte_length
      const texts = checked(() => {
        if (second.repetition_levels_byte_length || !(levelBytes >= 0 && levelBytes <= page.length))
          throw new Error(`levels of ${levelBytes} bytes`)
        const packed = page.subarray(levelBytes)
        return textsOf(
          {
            encoding: second.encoding,
            count: second.num_values,
            level,
            levels: page.subarray(0, levelBytes),
            bytes: second.is_compressed ? unpack(codec, packed, header, levelBytes) : packed,
          },
          dictionary,
        )
      })
      rows -= second.num_values
      yield { texts, bytes }
    }
  }
  if (rows > 0) throw damaged(`${rows} rows of a row group are missing`)
}

function checkSizes(header: PageHeader, rows: number, most: number): void {
  const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header
  const count = header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0
  if (!(packed >= 0 && packed <= most)) throw damaged('a page longer than its column')
  if (!(unpacked >= 0 && unpacked <= MOST_PAGE_BYTES)) throw damaged(`a page of ${unpacked} bytes`)
  if (!(count >= 0 && count <= Math.min(rows, MOST_PAGE_ROWS))) throw damaged(`a page of ${count} rows`)
  // Each text has its length before it.
  const entries = header.dictionary_page_header?.num_values ?? 0
  if (!(entries >= 0 && entries * 4 <= unpacked)) throw damaged(`a dictionary of ${entries} texts`)
}

/** The bytes of a page without the `before` bytes of levels that are not packed with it. */
function unpack(codec: string, page: Uint8Array, header: PageHeader, before = 0): Uint8Array {
  const length = header.uncompressed_page_size - before
  if (codec === 'UNCOMPRESSED') return page
  const decompress = (compressors as Partial<Record<string, typeof unpackSnappy>>)[codec]
  if (!decompress) {
    throw new Error(`pages packed with ${codec}: expected ${Object.keys(compressors).join(', ')} or none`)
  }
  if (length < 0) throw new Error(`a page of ${length} bytes`)
  return length === 0 ? new Uint8Array(0) : decompress(page, length)
}

function rangeOf(file: ParquetFile, meta: ColumnMetaData): { at: number; end: number } {
  const { dictionary_page_offset: dictionary, data_page_offset: data } = meta
  const at = Number(dictionary && dictionary < data ? dictionary : data)
  const end = at + Number(meta.total_compressed_size)
  if (at >= 4 && end > at && end <= file.byteLength - TAIL_BYTES) return { at, end }
  throw damaged(`a column from byte ${at} to ${end} of ${file.byteLength}`)
}

function readHeader(file: ParquetFile, at: number, end: number) {
  const bytes = new Uint8Array(file.read(at, Math.min(MOST_HEADER_BYTES, end - at)))
  const reader = { view: new DataView(bytes.buffer), offset: 0 }
  const header = parquetHeader(reader)
  return { header, from: at + reader.offset }
}

/** By Node's own decoders. The length is that of the page's header, which is bounded. */
const compressors = {
  SNAPPY: unpackSnappy,
  GZIP: (bytes: Uint8Array, length: number) =>
    zlib.gunzipSync(bytes, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (bytes: Uint8Array, length: number) =>
    zlib.brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) }),
  ZSTD: unpackZstd,
}

// Node has a decoder since 22.15; before, the system's program.
function unpackZstd(bytes: Uint8Array, length: number): Uint8Array {
  const { zstdDecompressSync } = zlib as unknown as {
    zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer
  }
  if (zstdDecompressSync) return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })
  const { stdout, error, status } = spawnSync('zstd', ['-dcq'], { input: bytes, maxBuffer: length + 1 })
  if (error || status !== 0)
    throw new Error('its pages are packed with zstd: expected Node 22.15 or later, or a zstd program')
  return stdout
}
