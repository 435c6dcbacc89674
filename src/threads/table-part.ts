// The part of the table that one thread owns: its share of all hashes, in kernel instances of its own. Only this thread
// touches it, chunk by chunk in input order.
import type { Measure, Plan } from '../filters/filter.ts'
import { type FilterName, filterKind } from '../filters/registry.ts'
import { Shards } from '../filters/shards.ts'
import { type HashChoice, isWideHash } from '../hashes.ts'
import { PartArrays } from './part-arrays.ts'
import type { PartBatch } from './shared-run.ts'

export class TablePart {
  readonly #part: number
  readonly #parts: number
  readonly #shards: Shards

  /** Part `part` of `parts`. The filter takes hashes and grows; it may have hashes of other parts, which nobody asks for. */
  constructor(shards: Shards, part: number, parts: number) {
    this.#shards = shards
    this.#part = part
    this.#parts = parts
  }

  /** An empty part of a filter of that plan. */
  static create(
    module: WebAssembly.Module,
    plan: Plan,
    hash: HashChoice,
    part: number,
    parts: number,
  ): TablePart {
    const share = { ...plan, sizeBytes: Math.ceil(plan.sizeBytes / parts) }
    const kind = filterKind(plan.filter as FilterName)
    return new TablePart(new Shards(module, kind, share, hash.names.every(isWideHash)), part, parts)
  }

  /** Adds the own part of each batch and writes the verdicts there. */
  add(batches: readonly PartBatch[], count: number): void {
    const { batchKernel } = this.#shards
    for (let i = 0; i < count; i++) {
      const { starts, ends, hashes, verdicts } = batches[i]!
      const start = starts[this.#part]!
      const end = ends[this.#part]!
      if (start === end) continue
      batchKernel.hashes.set(hashes.subarray(start, end))
      this.#shards.addAll(end - start)
      verdicts.set(batchKernel.verdicts.subarray(0, end - start), start)
    }
  }

  /** Adds those of the hashes that belong to the part. */
  fill(hashes: BigUint64Array): void {
    const { batchKernel } = this.#shards
    const { call, batchLines } = batchKernel
    const arrays = new PartArrays(batchKernel, this.#parts)
    for (let at = 0; at < hashes.length; at += batchLines) {
      const some = hashes.subarray(at, at + batchLines)
      batchKernel.hashes.set(some)
      arrays.refresh()
      call.divideHashes(some.length, this.#parts)
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
