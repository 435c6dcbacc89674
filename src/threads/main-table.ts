// The whole table, which the main thread owns: for a store, whose log it writes, and for filters that are not divided. Few
// chunks are added before they are written.
import type { SieveState } from '../state.ts'
import { type PartBatch, type SharedRun, WRITTEN } from './shared-run.ts'
import type { OwnTable } from './table-part.ts'

/** Chunks that have their verdicts and are not written: as many lines may be marked in a store and not be in the output. */
const MOST_UNWRITTEN = 2

export class MainTable implements OwnTable {
  readonly #state: SieveState
  readonly #run: SharedRun
  /** The next chunk to be added, and how many of its batches are. */
  #next = 0
  #batch = 0

  constructor(state: SieveState, run: SharedRun) {
    this.#state = state
    this.#run = run
  }

  /** False: others have to be written first. */
  add(chunk: number, place: number): boolean {
    const run = this.#run
    if (((chunk - run.load(WRITTEN)) | 0) >= MOST_UNWRITTEN) return false
    this.#state.invalid += run.invalid(place)
    while (this.#batch < run.batchCount(place)) this.#addBatch(run.batch(place, this.#batch))
    this.#batch = 0
    this.#next = (chunk + 1) | 0
    return true
  }

  // When it throws, verdict 1 stands for what is marked.
  #addBatch({ ends, hashes, verdicts }: PartBatch): void {
    const state = this.#state
    const n = ends[0]!
    let done = 0
    state.keyer.takeHashes(hashes.subarray(0, n))
    try {
      while (done < n) done = state.add(done, n)
    } finally {
      verdicts.set(state.kernel.verdicts.subarray(0, done))
      verdicts.fill(0, done, n)
      this.#batch++
    }
  }

  /**
   * Forgets the new URLs of all chunks that were not written, but for the first `delivered` of them. Returns how many are left:
   * all, where the filter cannot delete. The threads have ended.
   */
  takeBack(delivered: number): number {
    let skip = delivered
    let left = 0
    for (const { ends, hashes, verdicts } of this.#unwritten()) {
      const n = ends[0]!
      const fresh = hashes.subarray(0, n).filter((_, i) => verdicts[i] === 1)
      const unwritten = fresh.subarray(skip)
      skip = Math.max(0, skip - fresh.length)
      left += unwritten.length
      if (!this.#state.kind.can.delete || unwritten.length === 0) continue
      this.#state.keyer.takeHashes(unwritten)
      const urls = this.#state.urls
      this.#state.delete(unwritten.length)
      left -= urls - this.#state.urls
    }
    return left
  }

  *#unwritten(): Generator<PartBatch> {
    const run = this.#run
    for (let chunk = run.load(WRITTEN); ((this.#next - chunk) | 0) >= 0; chunk = (chunk + 1) | 0) {
      const place = run.placeOf(chunk)
      if (place < 0) return
      const count = chunk === this.#next ? this.#batch : run.batchCount(place)
      for (let i = 0; i < count; i++) yield run.batch(place, i)
    }
  }
}
