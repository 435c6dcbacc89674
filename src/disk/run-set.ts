// The runs of one set: compared with the hashes in memory in one sequential pass, joined by what is new among those, and merged
// level by level: `FAN_IN` runs of one level become one of the next.
import { randomBytes } from 'node:crypto'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { FAN_IN, RunMerge } from './merged-run.ts'
import { allocate, BLOCK_HASHES, type Run, RunBuffers, type RunFile, RunWriter, SOME_HASHES } from './run.ts'
import type { RunFilter } from './run-filter.ts'
import type { RunFilters } from './run-filters.ts'
import { BLOCK_BYTES } from './run-header.ts'
import { RunSource } from './run-source.ts'
import { IO_BYTES } from './sequential.ts'

/** Where the files of runs are. */
export interface RunFolder {
  create(): RunFile
}

/** Memory for reading all runs together: two buffers for each, of a block or more. */
const READING_BYTES = 4 * IO_BYTES

export class RunSet {
  /** Identifies the set in the files of its runs. */
  readonly id: bigint
  /** Oldest first. */
  readonly runs: Run[]
  readonly #folder: RunFolder
  readonly #kernel: Kernel
  /** Null: runs are only read in passes, and have no filters. */
  readonly #filters: RunFilters | null
  #buffers: RunBuffers | undefined
  #merge: RunMerge | undefined
  /** Addresses: where the blocks of each run are decoded, when all are read together. */
  readonly #decodedAt: number[] = []
  #reading = Buffer.alloc(0)
  /** Bytes written to files since the set was opened. */
  writtenBytes = 0

  constructor(
    kernel: Kernel,
    folder: RunFolder,
    id = randomBytes(8).readBigUInt64LE(0),
    runs: readonly Run[] = [],
    filters: RunFilters | null = null,
  ) {
    this.#filters = filters
    this.id = id
    this.runs = [...runs]
    this.#folder = folder
    this.#kernel = kernel
  }

  /** Allocated when first needed. */
  get buffers(): RunBuffers {
    this.#buffers ??= new RunBuffers(this.#kernel)
    return this.#buffers
  }

  get hashes(): number {
    return this.runs.reduce((sum, run) => sum + run.header.hashes, 0)
  }

  get bytes(): number {
    return this.runs.reduce((sum, run) => sum + run.bytes, 0)
  }

  /** Sorts the pending table and marks those of its hashes that are in a run. */
  async compare(): Promise<void> {
    this.#kernel.call.pendingSort()
    for (const run of this.runs) await run.scan(this.buffers, 'compare')
  }

  /** Writes the unmarked hashes of the sorted table to a run of level 0, which is not yet one of the set; null: there are none. */
  async write(): Promise<Run | null> {
    const { call } = this.#kernel
    const expected = ((call.pendingCount.value as number) >>> 0) - (call.pendingMarked() >>> 0)
    if (expected === 0) return null
    const filter = this.#filters?.make(expected, this.runs) ?? null
    const writer = new RunWriter(this.buffers, this.#newFile(filter), expected, filter)
    try {
      call.pendingRewind()
      for (;;) {
        const n = call.pendingNext(this.buffers.hashesAt, SOME_HASHES) >>> 0
        if (n === 0) break
        await writer.append(n)
      }
      return this.#written(await writer.end(this.id, 0))
    } catch (error) {
      await writer.abandon()
      throw error
    }
  }

  /**
   * Compares the waiting hashes with all runs, bucket by bucket, which gives them their verdicts. `isKept`: those that are new become a
   * run of level 0, which is not yet one of the set. Null: there is none.
   */
  async settle(isKept: boolean): Promise<Run | null> {
    const { call } = this.#kernel
    const buckets = (call.WAITING_BUCKETS.value as number) >>> 0
    const sources = this.#sources()
    let writer = null as RunWriter | null
    let fresh = 0
    try {
      for (let bucket = 0; bucket < buckets; bucket++) {
        if (!call.waitingOpen(bucket)) {
          throw new SieveError('full', 'too many hashes lie close together: the hash is not evenly spread')
        }
        for (const source of sources) {
          const wait = this.#mark(source)
          if (wait) await wait
        }
        for (let n = isKept ? this.#next() : 0; n > 0; n = this.#next()) {
          writer ??= new RunWriter(this.buffers, this.#folder.create(), call.waitingCount.value as number)
          const wait = writer.append(n)
          if (wait) await wait
          fresh += n
        }
        writer?.expect((fresh * buckets) / (bucket + 1))
        call.waitingSettle()
      }
      return writer && this.#written(await writer.end(this.id, 0))
    } catch (error) {
      await writer?.abandon()
      throw error
    } finally {
      for (const source of sources) await source.close()
    }
  }

  // New hashes of the open bucket, to the buffer that a writer takes them from. Returns how many.
  #next(): number {
    return this.#kernel.call.waitingNext(this.buffers.hashesAt, SOME_HASHES) >>> 0
  }

  #sources(): RunSource[] {
    const { runs } = this
    while (this.#decodedAt.length < runs.length) {
      this.#decodedAt.push(allocate(this.#kernel, BLOCK_HASHES * 8))
    }
    const size = Math.max(1, Math.floor(READING_BYTES / 2 / BLOCK_BYTES / runs.length)) * BLOCK_BYTES
    if (this.#reading.length < 2 * size * runs.length) {
      this.#reading = Buffer.allocUnsafeSlow(Math.max(READING_BYTES, 2 * size * runs.length))
    }
    const buffer = (i: number) => this.#reading.subarray(i * size, (i + 1) * size)
    return runs.map((run, i) => new RunSource(run, this.#decodedAt[i]!, [buffer(2 * i), buffer(2 * i + 1)]))
  }

  // Marks those hashes of the open bucket that the run has.
  #mark(source: RunSource): Promise<void> | undefined {
    for (;;) {
      source.start = this.#kernel.call.waitingMark(source.start, source.end) >>> 0
      if (source.start < source.end) return undefined
      const isMore = source.next(this.buffers)
      if (isMore === false) return undefined
      if (isMore !== true) return isMore.then(() => this.#mark(source))
    }
  }

  /** The runs to be merged next; null: there is nothing to merge. */
  get mergeable(): readonly Run[] | null {
    const levels = new Map<number, Run[]>()
    for (const run of this.runs) {
      const same = levels.get(run.header.level) ?? []
      levels.set(run.header.level, same)
      same.push(run)
      if (same.length === FAN_IN) return same
    }
    return null
  }

  /** Merges runs of the set, at most `FAN_IN`, into one that is not yet one of the set. */
  async merge(runs: readonly Run[]): Promise<Run> {
    this.#merge ??= new RunMerge(this.buffers)
    const level = Math.max(...runs.map((run) => run.header.level)) + 1
    const hashes = runs.reduce((sum, run) => sum + run.header.hashes, 0)
    // The filter of the result takes as much memory as all of theirs.
    for (const run of runs) run.dropFilter()
    try {
      const filter = this.#filters?.make(hashes, this.runs) ?? null
      const file = this.#newFile(filter)
      return this.#written(await this.#merge.merge(runs, file, this.id, level, filter))
    } catch (error) {
      this.#filters?.read(this.runs)
      throw error
    }
  }

  // For a run with that filter, which is released when there is no file for it.
  #newFile(filter: RunFilter | null): RunFile {
    try {
      return this.#folder.create()
    } catch (error) {
      filter?.release()
      throw error
    }
  }

  /** Puts `run` in the place of others, which are closed. */
  replace(runs: readonly Run[], run: Run): void {
    const at = Math.max(this.runs.indexOf(runs[0]!), 0)
    const others = this.runs.filter((one) => !runs.includes(one))
    this.runs.splice(0, this.runs.length, ...others.slice(0, at), run, ...others.slice(at))
    for (const one of runs) one.close()
  }

  close(): void {
    for (const run of this.runs) run.close()
    this.runs.length = 0
  }

  #written(run: Run): Run {
    this.writtenBytes += run.bytes
    return run
  }
}
