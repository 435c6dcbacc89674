// The hashes of the lines that wait for their verdicts, in the kernel's buckets (kernel/waiting.ts): gathered, compared with the
// runs bucket by bucket, and asked for in the order of the input.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { BYTES_PER_HASH } from './pending-table.ts'

/** Memory of one hash: 8 bytes in its bucket, 1.5 for its line and a half, and its part of one bucket that is being sorted. */
const BYTES_PER_WAITING = 9.7
/** Memory whatever the number of hashes. */
const FIXED_BYTES = 5 * 1024 ** 2
/** A chunk of 256 KiB has at most this many lines, and this many that are not the same as one shortly before. */
const CHUNK_LINES = 262_145
const CHUNK_DIFFERENT = 174_764

export class WaitingHashes {
  readonly #kernel: Kernel
  readonly #most: number

  /** In place of a pending table of that capacity, whose memory is used for it. */
  constructor(kernel: Kernel, capacity: number) {
    this.#kernel = kernel
    this.#most = capacity - Math.min(CHUNK_DIFFERENT, capacity >> 1)
    const fitting = Math.floor((capacity * BYTES_PER_HASH - FIXED_BYTES) / BYTES_PER_WAITING)
    const isThere = kernel.call.waitingCreate(Math.max(fitting, 2 * CHUNK_DIFFERENT), CHUNK_DIFFERENT)
    kernel.refresh()
    if (!isThere) throw new SieveError('memory', 'no memory left for the hashes of waiting lines')
  }

  get count(): number {
    return (this.#kernel.call.waitingCount.value as number) >>> 0
  }

  /** There may be too little memory for another chunk. */
  get isFull(): boolean {
    return this.count >= this.#most || !this.#kernel.call.waitingFits(CHUNK_LINES, CHUNK_DIFFERENT)
  }

  /** Adds entries [0, n) of the kernel's batch: verdict 0 where one was there shortly before. `isWhole`: all are asked for. */
  add(n: number, isWhole: boolean): void {
    if (!this.#kernel.call.waitingFits(n, n)) {
      throw new SieveError('memory', `no memory left for the hashes of ${n} waiting lines`)
    }
    this.#kernel.call.waitingAdd(n, isWhole ? 1 : 0)
  }

  /** After the comparison: verdicts of the next n lines. False: fewer are waiting. */
  take(n: number): boolean {
    return this.#kernel.call.waitingTake(n) === 1
  }

  clear(): void {
    this.#kernel.call.waitingClear()
  }
}
