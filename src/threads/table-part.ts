// The part of the table that one thread owns: its share of all hashes, in kernel instances of its own. Only this thread
// touches it, chunk by chunk in input order.
import type { Measure, Plan } from '../filters/filter.ts'
import { type FilterName, filterKind } from '../filters/registry.ts'
import { Shards } from '../filters/shards.ts'
import { type HashChoice, isWideHash } from '../hashes.ts'
import { PartArrays } from './part-arrays.ts'
import type { SharedRun } from './shared-run.ts'

/** What the owner of a part adds chunks to. */
export interface OwnTable {
  /** Gives the own part of the chunk at a place its verdicts. False: not yet. */
  add(chunk: number, place: number): boolean
  /** What was written since the last call is confirmed. */
  confirm?(): void
}

export class TablePart implements OwnTable {
  readonly #run: SharedRun
  readonly #part: number
  readonly #shards: Shards

  /** The filter takes hashes and grows; it may have hashes of other parts, which nobody asks it for. */
  constructor(run: SharedRun, part: number, shards: Shards) {
    this.#run = run
    this.#part = part
    this.#shards = shards
  }

  /** An empty part of a filter of that plan. */
  static create(
    run: SharedRun,
    part: number,
    module: WebAssembly.Module,
    plan: Plan,
    hash: HashChoice,
  ): TablePart {
    const share = { ...plan, sizeBytes: Math.ceil(plan.sizeBytes / run.shape.parts) }
    const kind = filterKind(plan.filter as FilterName)
    return new TablePart(run, part, new Shards(module, kind, share, hash.names.every(isWideHash)))
  }

  add(_: number, place: number): boolean {
    const { batchKernel } = this.#shards
    const count = this.#run.batchCount(place)
    for (let i = 0; i < count; i++) {
      const { starts, ends, hashes, verdicts } = this.#run.batch(place, i)
      const start = starts[this.#part]!
      const end = ends[this.#part]!
      if (start === end) continue
      // Whole, without views, as in a chunk.
      if (this.#run.shape.parts === 1) {
        batchKernel.hashes.set(hashes)
        this.#shards.addAll(end)
        verdicts.set(batchKernel.verdicts)
        continue
      }
      batchKernel.hashes.set(hashes.subarray(start, end))
      this.#shards.addAll(end - start)
      verdicts.set(batchKernel.verdicts.subarray(0, end - start), start)
    }
    return true
  }

  /** Adds those of the hashes that belong to the part. */
  fill(hashes: BigUint64Array): void {
    const { batchKernel } = this.#shards
    const { call, batchLines } = batchKernel
    const { parts } = this.#run.shape
    const arrays = new PartArrays(batchKernel, parts)
    for (let at = 0; at < hashes.length; at += batchLines) {
      const some = hashes.subarray(at, at + batchLines)
      batchKernel.hashes.set(some)
      arrays.refresh()
      call.divideHashes(some.length, parts)
      const start = arrays.starts[this.#part]!
      const end = arrays.ends[this.#part]!
      batchKernel.hashes.set(arrays.hashes.subarray(start, end))
      this.#shards.addAll(end - start)
    }
  }

  measure(): Measure {
    return this.#shards.measure()
  }
}
