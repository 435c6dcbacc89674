// Several runs merged into one: a block of each is in memory, and the kernel writes the hashes of all in their order.
import {
  allocate,
  BLOCK_HASHES,
  type Run,
  type RunBuffers,
  type RunFile,
  RunWriter,
  SOME_HASHES,
} from './run.ts'
import type { RunFilter } from './run-filter.ts'
import { RunSource } from './run-source.ts'
import { twoBuffers } from './sequential.ts'

/** Runs that are merged together: with more of one level, they are merged into one of the next. */
export const FAN_IN = 16
/** Bytes read of one run at a time: two buffers for each. */
const READ_BYTES = 128 * 1024

export class RunMerge {
  readonly #buffers: RunBuffers
  /** Addresses: start and end of what each source has in memory, and its hashes. */
  readonly #placesAt: number
  readonly #decodedAt: number

  constructor(buffers: RunBuffers) {
    this.#buffers = buffers
    this.#placesAt = allocate(buffers.kernel, FAN_IN * 8)
    this.#decodedAt = allocate(buffers.kernel, FAN_IN * BLOCK_HASHES * 8)
  }

  /** The hashes of all these runs, at most `FAN_IN`, as one of `level`, with this empty filter. The file is not synced. */
  async merge(
    runs: readonly Run[],
    file: RunFile,
    set: bigint,
    level: number,
    filter: RunFilter | null = null,
  ): Promise<Run> {
    const { kernel } = this.#buffers
    const expected = runs.reduce((sum, run) => sum + run.header.hashes, 0)
    const sources = runs.map(
      (run, i) => new RunSource(run, this.#decodedAt + i * BLOCK_HASHES * 8, twoBuffers(READ_BYTES)),
    )
    const writer = new RunWriter(this.#buffers, file, expected, filter)
    try {
      /** Sources that are not used up. */
      let live: readonly RunSource[] = sources
      let places = new Uint32Array(kernel.bytes.buffer, this.#placesAt, 2 * FAN_IN)
      places.fill(0)
      for (;;) {
        const left: RunSource[] = []
        for (const [i, source] of live.entries()) {
          source.start = places[2 * i]!
          if (source.start === places[2 * i + 1]! && !(await source.next(this.#buffers))) continue
          places[2 * left.length] = source.start
          places[2 * left.length + 1] = source.end
          left.push(source)
        }
        live = left
        if (live.length === 0) break
        const n = kernel.call.runMerge(this.#placesAt, live.length, this.#buffers.hashesAt, SOME_HASHES)
        await writer.append(n)
        places = new Uint32Array(kernel.bytes.buffer, this.#placesAt, 2 * FAN_IN)
      }
      return await writer.end(set, level)
    } catch (error) {
      await writer.abandon()
      throw error
    } finally {
      for (const source of sources) await source.close()
    }
  }
}
