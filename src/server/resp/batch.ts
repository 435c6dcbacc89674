// Items of consecutive commands on one sieve, gathered so that they go to the kernel in one call, and how many belong to
// each command: their replies come in the order of the commands.
import type { Items } from '../../index.ts'
import type { Hosted } from '../house.ts'

const FIRST_ITEMS = 512
/** A batch this long is handed on before more is gathered. */
export const FULL_ITEMS = 8192
/** Of a command that answers with one verdict and no array. */
export const ONE = -1

export class Batch {
  hosted: Hosted | null = null
  act: 'add' | 'has' = 'add'
  bytes: Uint8Array = new Uint8Array(0)
  /** Items, and commands, so far. */
  count = 0
  commands = 0
  starts = new Uint32Array(FIRST_ITEMS)
  ends = new Uint32Array(FIRST_ITEMS)
  /** Items of each command; ONE where it answers with one verdict. */
  sizes = new Int32Array(FIRST_ITEMS)

  /** Room for so many more items, and one more command. */
  room(items: number): void {
    if (this.count + items > this.starts.length) {
      const size = Math.max(this.count + items, this.starts.length * 2)
      this.starts = wider(this.starts, new Uint32Array(size))
      this.ends = wider(this.ends, new Uint32Array(size))
    }
    if (this.commands === this.sizes.length) {
      this.sizes = wider(this.sizes, new Int32Array(this.sizes.length * 2))
    }
  }

  /** Items from `first` on. */
  items(first: number): Items {
    const { bytes, count } = this
    return { bytes, starts: this.starts.subarray(first, count), ends: this.ends.subarray(first, count) }
  }

  clear(): void {
    this.hosted = null
    this.count = 0
    this.commands = 0
    if (this.starts.length <= 2 * FULL_ITEMS) return
    this.starts = new Uint32Array(FIRST_ITEMS)
    this.ends = new Uint32Array(FIRST_ITEMS)
  }
}

function wider<T extends Uint32Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
