// Several runs merged into one: a block of each is in memory, and the kernel writes the hashes of all in their order.
import { damaged } from '../store/format.ts'
import {
  allocate,
  BLOCK_HASHES,
  type Run,
  type RunBuffers,
  type RunFile,
  RunWriter,
  SOME_HASHES,
} from './run.ts'
import { BLOCK_BYTES, HEADER_BYTES } from './run-header.ts'
import { ReadAhead, twoBuffers } from './sequential.ts'

/** Runs that are merged together: with more of one level, they are merged into one of the next. */
export const FAN_IN = 16
/** Bytes read of one run at a time: two buffers for each. */
const READ_BYTES = 128 * 1024

/** One run on its way through a merge. */
class Source {
  readonly #run: Run
  readonly #reader: ReadAhead
  #blocks = 0
  #last = 0n

  constructor(run: Run) {
    this.#run = run
    const { fd, path } = run.file
    const end = HEADER_BYTES + run.header.blocks * BLOCK_BYTES
    this.#reader = new ReadAhead(fd, path, HEADER_BYTES, end, twoBuffers(READ_BYTES))
  }

  /** Decodes the next block to `to`. Returns the number of its hashes; 0 at the end. */
  async next({ kernel, blocksAt }: RunBuffers, to: number): Promise<number> {
    const { header, file } = this.#run
    if (this.#blocks === header.blocks) return 0
    const block = Buffer.allocUnsafe(BLOCK_BYTES)
    const got = await this.#reader.fill(block)
    kernel.bytes.set(block, blocksAt)
    const count = got === BLOCK_BYTES ? kernel.call.runDecode(blocksAt, to) : 0
    const hashes = new BigUint64Array(kernel.bytes.buffer, to, count)
    if (count === 0 || hashes[0]! <= this.#last) {
      throw damaged(
        file.path,
        HEADER_BYTES + this.#blocks * BLOCK_BYTES,
        'a block does not match its checksum',
      )
    }
    this.#last = hashes[count - 1]!
    this.#blocks++
    return count
  }

  end(): Promise<void> {
    return this.#reader.end()
  }
}

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

  /** The hashes of all these runs, at most `FAN_IN`, as one of `level`. The file is not synced. */
  async merge(runs: readonly Run[], file: RunFile, set: bigint, level: number): Promise<Run> {
    const { kernel } = this.#buffers
    const expected = runs.reduce((sum, run) => sum + run.header.hashes, 0)
    const sources = runs.map((run) => new Source(run))
    try {
      const writer = new RunWriter(this.#buffers, file, expected)
      /** Sources that are not used up, each with the place of its hashes. */
      let live = sources.map((source, i) => ({ source, at: this.#decodedAt + i * BLOCK_HASHES * 8 }))
      let places = new Uint32Array(kernel.bytes.buffer, this.#placesAt, 2 * FAN_IN)
      places.fill(0)
      for (;;) {
        const left: typeof live = []
        for (const [i, one] of live.entries()) {
          let start = places[2 * i]!
          let end = places[2 * i + 1]!
          if (start === end) {
            const count = await one.source.next(this.#buffers, one.at)
            if (count === 0) continue
            start = one.at
            end = one.at + count * 8
          }
          places[2 * left.length] = start
          places[2 * left.length + 1] = end
          left.push(one)
        }
        live = left
        if (live.length === 0) break
        const n = kernel.call.runMerge(this.#placesAt, live.length, this.#buffers.hashesAt, SOME_HASHES)
        await writer.append(n)
        places = new Uint32Array(kernel.bytes.buffer, this.#placesAt, 2 * FAN_IN)
      }
      return await writer.end(set, level)
    } finally {
      for (const source of sources) await source.end()
    }
  }
}
