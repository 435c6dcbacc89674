// The runs of one set: compared with the pending table in one sequential pass, joined by what is new in it, and merged level
// by level: `FAN_IN` runs of one level become one of the next.
import { randomBytes } from 'node:crypto'
import type { Kernel } from '../kernel.ts'
import { FAN_IN, RunMerge } from './merged-run.ts'
import { type Run, RunBuffers, type RunFile, RunWriter, SOME_HASHES } from './run.ts'

/** Where the files of runs are. */
export interface RunFolder {
  create(): RunFile
}

export class RunSet {
  /** Identifies the set in the files of its runs. */
  readonly id: bigint
  /** Oldest first. */
  readonly runs: Run[]
  readonly #folder: RunFolder
  readonly #kernel: Kernel
  #buffers: RunBuffers | undefined
  #merge: RunMerge | undefined
  /** Bytes written to files since the set was opened. */
  writtenBytes = 0

  constructor(
    kernel: Kernel,
    folder: RunFolder,
    id = randomBytes(8).readBigUInt64LE(0),
    runs: readonly Run[] = [],
  ) {
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
    const writer = new RunWriter(this.buffers, this.#folder.create(), expected)
    call.pendingRewind()
    for (;;) {
      const n = call.pendingNext(this.buffers.hashesAt, SOME_HASHES) >>> 0
      if (n === 0) break
      await writer.append(n)
    }
    return this.#written(await writer.end(this.id, 0))
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
    return this.#written(await this.#merge.merge(runs, this.#folder.create(), this.id, level))
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
