// The whole table, which the main thread owns: for a store, whose log it writes, and for filters that are not divided. Few
// chunks are added before they are written; what is added of a chunk is confirmed when it was written.
import type { SieveState } from '../state.ts'
import { type PartBatch, type SharedRun, WRITTEN } from './shared-run.ts'
import type { OwnTable } from './table-part.ts'

/** Chunks that have their verdicts and are not written: as many lines may be in the output and not yet in the log. */
const MOST_UNWRITTEN = 2

export class MainTable implements OwnTable {
  readonly #state: SieveState
  readonly #run: SharedRun
  /** The first chunk that is not confirmed. */
  #unconfirmed = 0
  /** Of each chunk from there on that was added: how many batches the journal holds, those of the chunks before too. */
  #held: number[] = []
  /** Batches of the next chunk that were added. */
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
    this.#held.push(this.#state.journal?.held?.() ?? 0)
    return true
  }

  /** Confirms the chunks that were written. */
  confirm(): void {
    const written = (this.#run.load(WRITTEN) - this.#unconfirmed) | 0
    if (written <= 0) return
    this.#unconfirmed = (this.#unconfirmed + written) | 0
    const done = this.#held.splice(0, written).at(-1)!
    if (done > 0) this.#state.journal?.confirm?.(done)
    this.#held = this.#held.map((held) => held - done)
  }

  // When it throws, verdict 1 stands for what is marked.
  #addBatch({ ends, hashes, verdicts }: PartBatch): void {
    const state = this.#state
    const n = ends[0]!
    let done = 0
    state.keyer.takeHashes(hashes.subarray(0, n))
    try {
      while (done < n) done = state.holding(() => state.add(done, n))
    } finally {
      verdicts.set(state.kernel.verdicts.subarray(0, done))
      verdicts.fill(0, done, n)
      this.#batch++
    }
  }
}
