// `dedupe` over records: the row of a CSV file or the line of JSON is kept when its URL is new.
import type { AnySieve } from '../any-sieve.ts'
import { Sieve } from '../index.ts'
import type { Delivered } from '../journal.ts'
import { keepRows } from '../records/keep-rows.ts'
import type { Outputs } from './dedupe-outputs.ts'
import type { Counts, DedupeTarget, WriteKept } from './dedupe-run.ts'
import { deliverTo, type LineSieve } from './dedupe-target.ts'
import type { RecordInput } from './input-options.ts'
import type { Output } from './output.ts'
import { type Records, readRecords } from './record-input.ts'

export interface RecordRequest {
  readonly input: RecordInput
  /** What is printed; none: the other outputs have it. */
  readonly keep: 'new' | 'seen' | 'none'
  readonly outlivesRun: boolean
  /** Files besides what is printed. */
  readonly outputs: Outputs | null
}

const NOTHING = new Uint8Array(0)

export class RecordTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly #sieve: AnySieve
  readonly #request: RecordRequest
  readonly #invalidBefore: number
  readonly #counts = { lines: 0, new: 0, seen: 0, bytes: 0 }
  #hasHeader = false
  #without = 0
  /** Of the batch at hand: what goes to the other outputs. */
  #besides: (() => Promise<void>) | null = null

  private constructor(sieve: AnySieve, request: RecordRequest, invalidBefore: number) {
    this.outlivesRun = request.outlivesRun
    this.#sieve = sieve
    this.#request = request
    this.#invalidBefore = invalidBefore
  }

  static async open(sieve: AnySieve, request: RecordRequest): Promise<RecordTarget> {
    return new RecordTarget(sieve, request, (await sieve.stats()).invalid)
  }

  async sift(path: string, write: WriteKept, output: Output): Promise<void> {
    for await (const batch of readRecords(path, this.#request.input)) {
      this.#counts.bytes += batch.bytes
      await this.#take(batch, write, output)
    }
  }

  async confirm(): Promise<void> {
    await this.#writeBesides()
    await this.#sieve.confirm?.()
  }

  get files(): readonly Delivered[] {
    return this.#request.outputs?.files ?? []
  }

  deliverTo(files: Delivered): void {
    if (this.#sieve instanceof Sieve) deliverTo(this.#sieve, files)
    else (this.#sieve as LineSieve).delivered = files
  }

  counts(): Counts {
    return this.#counts
  }

  async end() {
    const { invalid, sizeBytes } = await this.#sieve.stats()
    await this.#sieve.close()
    this.#request.outputs?.close()
    // The profile `raw` takes any line for a URL.
    return { invalid: Math.max(invalid - this.#invalidBefore, this.#without), sizeBytes: sizeBytes ?? null }
  }

  warn(): void {
    this.#request.outputs?.warn()
  }

  async #take(batch: Records, write: WriteKept, output: Output): Promise<void> {
    const { keep, outputs } = this.#request
    // The names of the columns, once for all files.
    if (batch.header && !this.#hasHeader) {
      this.#hasHeader = true
      await outputs?.begin(batch.header)
      if (keep !== 'none' && !output.isContinued) await write(batch.header)
    }
    if (batch.ends.length === 0) return
    this.#without += batch.without
    const verdicts = await this.#sieve.addLines(batch.urls, { confirm: false })
    const counts = this.#counts
    counts.lines += verdicts.length
    for (const verdict of verdicts) {
      counts.new += Number(verdict === 1)
      counts.seen += Number(verdict === 0)
    }
    const kinds = outputs ? outputs.kindsOf(batch, verdicts) : verdicts
    if (outputs) this.#besides = () => outputs.write(batch, kinds)
    await write(keep === 'none' ? NOTHING : keepRows(batch, kinds, keep === 'new' ? 1 : 0))
    await this.#writeBesides()
  }

  // Before the batch is confirmed, in the same turn: a signal ends the run before a batch or after it.
  async #writeBesides(): Promise<void> {
    const besides = this.#besides
    this.#besides = null
    await besides?.()
  }
}
