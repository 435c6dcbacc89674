// Plain lines as records, each ended by a newline or by a NUL byte: a row is the line, and its URL is the whole row.
import { SieveError } from '../errors.ts'
import type { RecordBatch, RecordReader } from './format.ts'

const NEWLINE = 10
const NUL = 0
const NOTHING: Buffer = Buffer.alloc(0)

/** Memory is bounded: a longer line is an error. */
const MOST_LINE_BYTES = 256 * 1024 ** 2

export class LineReader implements RecordReader {
  readonly #separator: number
  /** Of the line that is not whole. */
  #parts: Uint8Array[] = []
  #partBytes = 0
  #failure: Error | null = null

  constructor(separator: 'newline' | 'nul') {
    this.#separator = separator === 'nul' ? NUL : NEWLINE
  }

  push(chunk: Uint8Array): RecordBatch {
    if (this.#failure) throw this.#failure
    const end = chunk.lastIndexOf(this.#separator) + 1
    const rows = end > 0 ? Buffer.concat([...this.#parts, chunk.subarray(0, end)]) : NOTHING
    const rest = chunk.slice(end)
    this.#parts = end > 0 ? [rest] : [...this.#parts, rest]
    this.#partBytes = end > 0 ? rest.length : this.#partBytes + rest.length
    if (this.#partBytes > MOST_LINE_BYTES) {
      // The lines before it are passed on first.
      this.#failure = new SieveError('corrupt', 'a line of more than 256 MiB: expected one URL per line', {
        operation: 'read',
      })
    }
    return this.#batch(rows)
  }

  end(): RecordBatch {
    if (this.#failure) throw this.#failure
    const rest = Buffer.concat(this.#parts)
    this.#parts = []
    return this.#batch(rest.length > 0 ? Buffer.concat([rest, Buffer.of(this.#separator)]) : rest)
  }

  #batch(rows: Buffer): RecordBatch {
    const ends: number[] = []
    for (let at = rows.indexOf(this.#separator); at >= 0; at = rows.indexOf(this.#separator, at + 1)) {
      ends.push(at + 1)
    }
    return { rows, ends, urls: this.#separator === NUL ? exchangeSeparators(rows) : rows, without: 0 }
  }
}

/** NUL bytes become newlines and the reverse: different rows stay different, and each is one line. */
function exchangeSeparators(rows: Uint8Array): Uint8Array {
  const urls = new Uint8Array(rows)
  for (let i = 0; i < urls.length; i++) {
    const byte = urls[i]!
    // Nearly all bytes are larger than both.
    if (byte > NEWLINE) continue
    if (byte === NUL) urls[i] = NEWLINE
    else if (byte === NEWLINE) urls[i] = NUL
  }
  return urls
}
