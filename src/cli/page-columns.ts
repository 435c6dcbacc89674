// Pages with digests in the formats where URL and digest are columns or headers: CSV, TSV, JSON lines and WARC. Two readers
// take the same bytes, one for each column, and their lines belong together.
import { SieveError } from '../errors.ts'
import type { PageRecord } from '../learn/page-records.ts'
import { fieldError } from '../records/field-error.ts'
import type { RecordBatch, RecordReader } from '../records/format.ts'
import { readerOf } from '../records/reader.ts'
import { WarcReader } from '../records/warc.ts'
import type { Look } from './input.ts'
import { refuseLooks } from './line-looks.ts'

export class PageColumns {
  readonly #urls: RecordReader
  readonly #digests: RecordReader
  readonly #named: readonly [field: string | undefined, digest: string]
  readonly #newLike: () => PageColumns
  readonly #format: 'csv' | 'tsv' | 'jsonl' | 'warc'

  /** The columns are `url` and `digest` unless named. */
  constructor(format: 'csv' | 'tsv' | 'jsonl' | 'warc', field?: string, digest = 'digest') {
    this.#format = format
    this.#named = [field, digest]
    this.#newLike = () => new PageColumns(format, field, digest)
    this.#urls = format === 'warc' ? new WarcReader() : readerOf(format, field)
    this.#digests =
      format === 'warc'
        ? new WarcReader('digest')
        : readerOf(format, digest, { option: 'digest', isAnyText: true })
  }

  /** Refuses an input of which the first rows are no pages, and that looks like another format. */
  readonly look: Look = async (path, head) => {
    let pages: (PageRecord | null)[] = []
    try {
      pages = this.#newLike().push(head)
    } catch {
      // The reader says why, unless it looks like another format.
    }
    if (!pages.some((page) => page !== null)) refuseLooks(path, head, this.#format)
  }

  /** A page per row; null: the row has no digest. */
  push(chunk: Uint8Array): (PageRecord | null)[] {
    return pagesOf(this.#urls.push(chunk), this.#digests.push(chunk))
  }

  end(): (PageRecord | null)[] {
    const pages = pagesOf(this.#urls.end(), this.#digests.end())
    const [field, digest] = this.#named
    if (this.#urls.lacks) throw fieldError('field', field, this.#urls.lacks)
    if (this.#digests.lacks) throw fieldError('digest', digest, this.#digests.lacks)
    return pages
  }
}

function pagesOf(urls: RecordBatch, digests: RecordBatch): (PageRecord | null)[] {
  const lines = (batch: RecordBatch) => Buffer.from(batch.urls).toString().split('\n', batch.ends.length)
  const digestOf = lines(digests)
  if (digestOf.length !== urls.ends.length)
    throw new SieveError('option', '--field and --digest: expected two names of columns, or two numbers')
  return lines(urls).map((url, i) => {
    const digest = digestOf[i]!
    if (digest === '' || !URL.canParse(url)) return null
    return { url, digest }
  })
}
