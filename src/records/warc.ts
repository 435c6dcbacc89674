// WARC files: the target of every response, resource and revisit record. Bodies are skipped without being kept.
import { SieveError } from '../errors.ts'
import type { RecordBatch, RecordReader } from './format.ts'
import { batchOf } from './url-reader.ts'

const HEADER_END = Buffer.from('\r\n\r\n')
/** More is no header of a WARC record. */
const MOST_HEADER_BYTES = 64 * 1024
const COUNTED = new Set(['response', 'resource', 'revisit'])

export class WarcReader implements RecordReader {
  readonly #name: string
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of the body, and the four that end the record, still to be skipped. */
  #skip = 0
  #failure: unknown = null

  /** `digest`: instead of the targets, the digests of their contents; an empty line where there is none. */
  constructor(part: 'target' | 'digest' = 'target') {
    this.#name = part === 'target' ? 'warc-target-uri' : 'warc-payload-digest'
  }

  push(chunk: Uint8Array): RecordBatch {
    if (this.#failure) throw this.#failure
    const urls: string[] = []
    try {
      this.#rest = this.#take(Buffer.concat([this.#rest, chunk]), urls)
    } catch (error) {
      // The records before it are passed on first.
      if (urls.length === 0) throw error
      this.#failure = error
    }
    return batchOf(urls)
  }

  // Adds the targets to `urls` and returns what is left.
  #take(chunk: Buffer, urls: string[]): Buffer {
    let bytes = chunk
    for (;;) {
      const skipped = Math.min(this.#skip, bytes.length)
      this.#skip -= skipped
      bytes = bytes.subarray(skipped)
      const end = bytes.indexOf(HEADER_END)
      if (this.#skip > 0 || end < 0) break
      const { url, length } = this.#header(bytes.toString('utf8', 0, end))
      if (url !== null) urls.push(url)
      bytes = bytes.subarray(end + HEADER_END.length)
      this.#skip = length + HEADER_END.length
    }
    if (bytes.length > MOST_HEADER_BYTES) throw damaged(`a header of more than ${MOST_HEADER_BYTES} bytes`)
    return Buffer.from(bytes)
  }

  end(): RecordBatch {
    if (this.#failure) throw this.#failure
    if (this.#skip > HEADER_END.length) throw damaged('the last record is cut')
    if (this.#rest.toString().trim() !== '') throw damaged('the last header is cut')
    return batchOf([])
  }

  #header(text: string): { url: string | null; length: number } {
    const [version, ...lines] = text.replace(/^\s+/, '').split('\r\n')
    if (!/^WARC\/\d/.test(version ?? ''))
      throw damaged(`got ${JSON.stringify(text.slice(0, 40))}, expected WARC/1.0`)
    const fields = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(fields.get('content-length') ?? Number.NaN)
    if (!Number.isSafeInteger(length) || length < 0) throw damaged('a record without its Content-Length')
    if (!COUNTED.has(fields.get('warc-type')?.toLowerCase() ?? '')) return { url: null, length }
    // Older writers put the URL in angle brackets.
    const url = fields
      .get(this.#name)
      ?.replace(/^<(.*)>$/, '$1')
      .replaceAll(/[\n\r]/g, '')
    if (!fields.get('warc-target-uri')) return { url: null, length }
    return { url: url ?? '', length }
  }
}

const damaged = (what: string) => new SieveError('corrupt', `not a WARC file: ${what}`, { operation: 'read' })
