// Pages with digests in the formats where URL and digest are columns or headers: CSV, TSV, JSON lines and WARC. Two readers
// take the same bytes, one for each column, and their lines belong together.
import { SieveError } from '../errors.ts'
import type { PageRecord } from '../learn/page-records.ts'
import type { RecordBatch } from '../records/format.ts'
import { readerOf } from '../records/reader.ts'
import { WarcReader } from '../records/warc.ts'

export class PageColumns {
  readonly #urls
  readonly #digests

  /** The columns are `url` and `digest` unless named. */
  constructor(format: 'csv' | 'tsv' | 'jsonl' | 'warc', field?: string, digest = 'digest') {
    this.#urls = format === 'warc' ? new WarcReader() : readerOf(format, field)
    this.#digests = format === 'warc' ? new WarcReader('digest') : readerOf(format, digest, 'digest')
  }

  /** A page per row; null: the row has no digest. */
  push(chunk: Uint8Array): (PageRecord | null)[] {
    return pagesOf(this.#urls.push(chunk), this.#digests.push(chunk))
  }

  end(): (PageRecord | null)[] {
    return pagesOf(this.#urls.end(), this.#digests.end())
  }
}

function pagesOf(urls: RecordBatch, digests: RecordBatch): (PageRecord | null)[] {
  const lines = (batch: RecordBatch) => Buffer.from(batch.urls).toString().split('\n', batch.ends.length)
  const digestOf = lines(digests)
  const rowOf = (i: number) =>
    Buffer.from(urls.rows.subarray(urls.ends[i - 1] ?? 0, urls.ends[i]))
      .toString()
      .replaceAll(/[\n\r]/g, '')
  if (digestOf.length !== urls.ends.length)
    throw new SieveError('option', '--field and --digest: expected two names of columns, or two numbers')
  return lines(urls).map((url, i) => {
    const digest = digestOf[i]!
    // Where there is no such field, the line is the row itself.
    if (digest === '' || !URL.canParse(url) || digest === rowOf(i)) return null
    return { url, digest }
  })
}
