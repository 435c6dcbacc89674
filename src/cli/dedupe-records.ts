// `dedupe` over records: the row of a CSV file or the line of JSON is kept when its URL is new.
import type { AnySieve } from '../any-sieve.ts'
import { type FormatName, formatOfName, type RecordBatch, type RecordReader } from '../records/format.ts'
import { readerOf } from '../records/reader.ts'
import type { Counts, DedupeTarget } from './dedupe-run.ts'
import { CommandError, EXIT } from './exit.ts'
import { readChunks } from './input.ts'

export interface RecordRequest {
  /** Absent: that of the file's name. */
  readonly format?: FormatName
  readonly field?: string
  readonly keep: 'new' | 'seen'
  readonly outlivesRun: boolean
}

export class RecordTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly #sieve: AnySieve
  readonly #request: RecordRequest
  readonly #invalidBefore: number
  readonly #counts = { lines: 0, new: 0, seen: 0, bytes: 0 }
  #hasHeader = false

  private constructor(sieve: AnySieve, request: RecordRequest, invalidBefore: number) {
    this.outlivesRun = request.outlivesRun
    this.#sieve = sieve
    this.#request = request
    this.#invalidBefore = invalidBefore
  }

  static async open(sieve: AnySieve, request: RecordRequest): Promise<RecordTarget> {
    return new RecordTarget(sieve, request, (await sieve.stats()).invalid)
  }

  async sift(path: string, write: (kept: Uint8Array) => void): Promise<void> {
    const reader = this.#readerFor(path)
    for await (const chunk of readChunks(path)) {
      this.#counts.bytes += chunk.length
      await this.#take(reader, reader.push(chunk), write)
    }
    await this.#take(reader, reader.end(), write)
  }

  counts(): Counts {
    return this.#counts
  }

  async end() {
    const { invalid, sizeBytes } = await this.#sieve.stats()
    await this.#sieve.close()
    return { invalid: invalid - this.#invalidBefore, sizeBytes: sizeBytes ?? null }
  }

  #readerFor(path: string): RecordReader {
    const format = this.#request.format ?? formatOfName(path)
    if (format !== null) return readerOf(format, this.#request.field)
    const name = path === '-' ? 'stdin' : path
    throw new CommandError(EXIT.usage, `--field for ${name}: expected --format csv, tsv or jsonl`)
  }

  async #take(reader: RecordReader, batch: RecordBatch, write: (kept: Uint8Array) => void): Promise<void> {
    // The names of the columns, once for all files.
    if (reader.header && !this.#hasHeader) {
      this.#hasHeader = true
      write(reader.header)
    }
    if (batch.ends.length === 0) return
    const verdicts = await this.#sieve.addLines(batch.urls)
    const counts = this.#counts
    counts.lines += verdicts.length
    for (const verdict of verdicts) {
      counts.new += Number(verdict === 1)
      counts.seen += Number(verdict === 0)
    }
    write(keepRows(batch, verdicts, this.#request.keep))
  }
}

/** The rows that are new, or those that are seen. */
function keepRows({ rows, ends }: RecordBatch, verdicts: Uint8Array, keep: 'new' | 'seen'): Uint8Array {
  const kept: Uint8Array[] = []
  let from = 0
  for (const [i, end] of ends.entries()) {
    if ((verdicts[i] !== 0) === (keep === 'new')) kept.push(rows.subarray(from, end))
    from = end
  }
  return Buffer.concat(kept)
}
