// `dedupe` over records: the row of a CSV file or the line of JSON is kept when its URL is new.
import type { AnySieve } from '../any-sieve.ts'
import type { RecordBatch } from '../records/format.ts'
import type { Counts, DedupeTarget } from './dedupe-run.ts'
import type { RecordInput } from './input-options.ts'
import { type Records, readRecords } from './record-input.ts'

export interface RecordRequest {
  readonly input: RecordInput
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
    for await (const batch of readRecords(path, this.#request.input)) {
      this.#counts.bytes += batch.bytes
      await this.#take(batch, write)
    }
  }

  counts(): Counts {
    return this.#counts
  }

  async end() {
    const { invalid, sizeBytes } = await this.#sieve.stats()
    await this.#sieve.close()
    return { invalid: invalid - this.#invalidBefore, sizeBytes: sizeBytes ?? null }
  }

  async #take(batch: Records, write: (kept: Uint8Array) => void): Promise<void> {
    // The names of the columns, once for all files.
    if (batch.header && !this.#hasHeader) {
      this.#hasHeader = true
      write(batch.header)
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

/** The rows that are new, or those that are seen. Runs of them are copied whole. */
function keepRows({ rows, ends }: RecordBatch, verdicts: Uint8Array, keep: 'new' | 'seen'): Uint8Array {
  const isNewKept = keep === 'new'
  const kept = new Uint8Array(rows.length)
  let size = 0
  /** Where the run of kept rows begins, and where the row begins. */
  let run = 0
  let from = 0
  const copy = (to: number) => {
    if (run < to) kept.set(rows.subarray(run, to), size)
    size += to - run
  }
  for (let i = 0; i < ends.length; i++) {
    const isKept = (verdicts[i] !== 0) === isNewKept
    if (!isKept) {
      copy(from)
      run = ends[i]!
    }
    from = ends[i]!
  }
  copy(from)
  return kept.subarray(0, size)
}
