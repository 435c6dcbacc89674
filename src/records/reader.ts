// The reader of a format by its name.
import { SieveError } from '../errors.ts'
import { DelimitedRows } from './delimited.ts'
import type { RecordReader, StreamFormat } from './format.ts'
import { CdxjRows, CdxRows, JsonRows } from './json-lines.ts'
import { type RowOptions, RowReader } from './row-reader.ts'
import { SitemapReader, TextReader } from './url-reader.ts'
import { WarcReader } from './warc.ts'

/** The formats of which --field chooses a part. */
const WITH_FIELD: readonly StreamFormat[] = ['csv', 'tsv', 'jsonl']

export interface ReaderOptions extends RowOptions {
  /** What messages call the choice of the field. */
  readonly option?: string
}

/** Of a format that is read from its beginning to its end. */
export function readerOf(
  format: StreamFormat,
  field?: string,
  { option = 'field', ...options }: ReaderOptions = {},
): RecordReader {
  if (field !== undefined && !WITH_FIELD.includes(format)) {
    throw new SieveError(
      'option',
      `--field with --format ${format}: expected one of ${WITH_FIELD.join(', ')}`,
      {
        option: 'field',
        got: field,
        expected: `format ${WITH_FIELD.join(', ')}`,
      },
    )
  }
  switch (format) {
    case 'csv':
    case 'tsv':
      return new RowReader(new DelimitedRows(format, field, option), options)
    case 'jsonl':
      return new RowReader(new JsonRows(field), options)
    case 'cdx':
      return new RowReader(new CdxRows(), options)
    case 'cdxj':
      return new RowReader(new CdxjRows(), options)
    case 'warc':
      return new WarcReader()
    case 'sitemap':
      return new SitemapReader()
    case 'text':
      return new TextReader()
  }
}
