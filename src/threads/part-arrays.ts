// The arrays of one kernel instance in which a batch's hashes lie part by part (kernel/parts.ts).
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'

/** The most parts, and the entries of all: numbers of kernel/parts.ts. */
export const MOST_PARTS = 64
export const BATCH_LINES = 2048
export const PART_ENTRIES = BATCH_LINES + 8 * MOST_PARTS

export class PartArrays {
  /** The hashes, part by part. */
  hashes!: BigUint64Array
  verdicts!: Uint8Array
  /** Where each part begins and ends. */
  starts!: Uint32Array
  ends!: Uint32Array
  /** The entry of each of the batch's hashes. */
  entries!: Uint16Array
  readonly #kernel: Kernel
  readonly #at: number
  readonly #parts: number

  constructor(kernel: Kernel, parts: number) {
    this.#kernel = kernel
    this.#parts = parts
    this.#at = kernel.call.reserveParts() >>> 0
    kernel.refresh()
    if (this.#at === 0) throw new SieveError('memory', 'no memory left for the parts of a batch')
    this.refresh()
  }

  /** Call after anything that may have grown the memory. */
  refresh(): void {
    const { buffer } = this.#kernel.bytes
    if (this.hashes?.buffer === buffer) return
    let at = this.#at
    const take = (bytes: number) => {
      at += bytes
      return at - bytes
    }
    this.hashes = new BigUint64Array(buffer, take(8 * PART_ENTRIES), PART_ENTRIES)
    this.verdicts = new Uint8Array(buffer, take(PART_ENTRIES), PART_ENTRIES)
    this.starts = new Uint32Array(buffer, take(4 * MOST_PARTS), this.#parts)
    this.ends = new Uint32Array(buffer, take(4 * MOST_PARTS), this.#parts)
    this.entries = new Uint16Array(buffer, take(2 * BATCH_LINES), BATCH_LINES)
  }
}
