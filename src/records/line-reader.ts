// Plain lines as records, each ended by a newline or by a NUL byte: a row is the line, and its URL is the whole row.
import type { RecordBatch, RecordReader } from './format.ts'
import { MOST_ROW_BYTES, rowTooLong } from './row-reader.ts'

const NEWLINE = 10
const NUL = 0

export class LineReader implements RecordReader {
  readonly without = 0
  readonly #separator: number
  #rest: Buffer = Buffer.alloc(0)
  #failure: Error | null = null

  constructor(separator: 'newline' | 'nul') {
    this.#separator = separator === 'nul' ? NUL : NEWLINE
  }

  push(chunk: Uint8Array): RecordBatch {
    if (this.#failure) throw this.#failure
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : Buffer.from(chunk)
    const end = bytes.lastIndexOf(this.#separator) + 1
    this.#rest = bytes.subarray(end)
    // The rows before it are passed on first.
    if (this.#rest.length > MOST_ROW_BYTES) this.#failure = rowTooLong('a newline, or NUL with --null')
    return this.#batch(bytes.subarray(0, end))
  }

  end(): RecordBatch {
    if (this.#failure) throw this.#failure
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    return this.#batch(rest.length > 0 ? Buffer.concat([rest, Buffer.of(this.#separator)]) : rest)
  }

  #batch(rows: Buffer): RecordBatch {
    const ends: number[] = []
    for (let at = rows.indexOf(this.#separator); at >= 0; at = rows.indexOf(this.#separator, at + 1)) {
      ends.push(at + 1)
    }
    return { rows, ends, urls: this.#separator === NUL ? exchangeSeparators(rows) : rows }
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
