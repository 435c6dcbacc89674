// The hashes of one batch in memory, in the kernel's table (kernel/pending.ts): deduplicated there, compared with the runs,
// written as a run, and asked for again in the order of the input.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'

/** A table fuller than this is slow. */
const LOAD = 0.8
/** Memory of one hash: its slot of 8 bytes and its mark of one bit, at that load. */
export const BYTES_PER_HASH = (8 + 1 / 8) / LOAD
/** With less memory the runs would be read all the time, and waiting lines (waiting-hashes.ts) need about as much. */
export const LEAST_TABLE_BYTES = 7 * 1024 ** 2
/** The most slots that a kernel instance has memory for, besides its buffers. */
const MOST_SLOTS = 400_000_000
/** The most hashes of one table. */
export const MOST_HASHES = MOST_SLOTS * LOAD

export class PendingTable {
  /** It takes this many hashes. */
  readonly capacity: number
  readonly #kernel: Kernel
  readonly #slots: number

  constructor(kernel: Kernel, capacity: number) {
    const slots = Math.min(MOST_SLOTS, Math.ceil(capacity / LOAD))
    this.capacity = Math.min(capacity, Math.floor(slots * LOAD))
    this.#kernel = kernel
    this.#slots = slots
    const isThere = kernel.call.pendingCreate(slots)
    kernel.refresh()
    if (!isThere) throw new SieveError('memory', `no memory left for a table of ${slots * 8} bytes`)
  }

  get count(): number {
    return (this.#kernel.call.pendingCount.value as number) >>> 0
  }

  /** Test-and-set of entries [0, n) of the kernel's batch. The caller keeps the count within the capacity. */
  add(n: number): void {
    if (this.count + n > this.#slots || this.#kernel.call.pendingAdd(0, n) < n) {
      throw new SieveError('full', 'too many hashes lie close together: the hash is not evenly spread')
    }
  }

  /** Verdicts of entries [0, n) of the batch; changes nothing. */
  look(n: number): void {
    this.#kernel.call.pendingHas(0, n)
  }

  /** After a comparison: verdicts of entries [0, n), each new hash once. False: one of them is not in the table. */
  take(n: number): boolean {
    return this.#kernel.call.pendingTake(0, n) === n
  }

  /** After a comparison: verdicts of entries [0, n), which are in the table; changes nothing. */
  seen(n: number): void {
    this.#kernel.call.pendingSeen(0, n)
  }

  clear(): void {
    this.#kernel.call.pendingClear()
  }
}
