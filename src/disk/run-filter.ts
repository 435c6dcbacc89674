// What is asked before a run is read: a blocked Bloom filter of its hashes (Putze, Sanders, Singler 2007), about 8 bits per hash.
// Errs towards "in the run" for about 1 of 40 hashes that are not; never the other way.
import { isAllocationFailure } from '../errors.ts'

/** Of a block: 16 words of 32 bits, 64 bytes. */
const BLOCK_WORDS = 16
export const FILTER_BLOCK_BYTES = 4 * BLOCK_WORDS
/** Hashes of a block on average: 8 bits for each. */
const BLOCK_HASHES = 64
/** Blocks of a page, 64 KiB: filters take their memory in pages. */
const PAGE_BLOCKS = 1024

/** Memory for the filters of all runs, never more than a limit. A page that was given back is used again. */
export class FilterPages {
  readonly #free: Uint32Array[] = []
  /** Pages that may still be made. */
  #left: number

  constructor(limitBytes: number) {
    this.#left = Math.max(0, Math.floor(limitBytes / (PAGE_BLOCKS * FILTER_BLOCK_BYTES)))
  }

  /** Pages that `take` can give. */
  get available(): number {
    return this.#left + this.#free.length
  }

  /** A page of zeros, one of those that are available. */
  take(): Uint32Array {
    const used = this.#free.pop()
    if (used) return used.fill(0)
    const page = new Uint32Array(PAGE_BLOCKS * BLOCK_WORDS)
    this.#left--
    return page
  }

  give(page: Uint32Array): void {
    this.#free.push(page)
  }
}

/** Blocks of a filter for so many hashes. */
export const filterBlocks = (hashes: number) => Math.ceil(hashes / BLOCK_HASHES)

/** Pages of a filter of so many blocks. */
export const filterPages = (blocks: number) => Math.ceil(blocks / PAGE_BLOCKS)

export class RunFilter {
  readonly blocks: number
  readonly #pool: FilterPages
  #pages: Uint32Array[] = []

  private constructor(blocks: number, pool: FilterPages) {
    this.blocks = blocks
    this.#pool = pool
  }

  /** An empty one. Null: there are not enough pages. */
  static create(blocks: number, pool: FilterPages): RunFilter | null {
    const pages = filterPages(blocks)
    if (pages > pool.available) return null
    const filter = new RunFilter(blocks, pool)
    try {
      while (filter.#pages.length < pages) filter.#pages.push(pool.take())
      return filter
    } catch (error) {
      filter.release()
      if (isAllocationFailure(error)) return null
      throw error
    }
  }

  get pages(): number {
    return this.#pages.length
  }

  get sizeBytes(): number {
    return this.#pages.length * PAGE_BLOCKS * FILTER_BLOCK_BYTES
  }

  /** Adds hashes, each as its low and its high 32 bits. */
  add(words: Uint32Array): void {
    for (let i = 0; i < words.length; i += 2) this.#set(words[i]!, words[i + 1]!)
  }

  #set(low: number, high: number): void {
    const { page, at } = this.#place(high)
    const more = mix(low, high)
    for (let shift = 0; shift < 27; shift += 9) {
      const first = (low >>> shift) & 511
      const second = (more >>> shift) & 511
      page[at + (first >>> 5)]! |= 1 << (first & 31)
      page[at + (second >>> 5)]! |= 1 << (second & 31)
    }
  }

  /** False: the hash is not in the run. */
  mayHave(low: number, high: number): boolean {
    const { page, at } = this.#place(high)
    const more = mix(low, high)
    for (let shift = 0; shift < 27; shift += 9) {
      const first = (low >>> shift) & 511
      const second = (more >>> shift) & 511
      if (!((page[at + (first >>> 5)]! >>> (first & 31)) & 1)) return false
      if (!((page[at + (second >>> 5)]! >>> (second & 31)) & 1)) return false
    }
    return true
  }

  /** Whether it may have all hashes, each as its low and its high 32 bits. */
  mayHaveAll(words: Uint32Array): boolean {
    for (let i = 0; i < words.length; i += 2) if (!this.mayHave(words[i]!, words[i + 1]!)) return false
    return true
  }

  // The block by the share of the range, as in the run itself: a run that is written fills its filter from the beginning to the end.
  #place(high: number): { readonly page: Uint32Array; readonly at: number } {
    const block = Math.floor((high * this.blocks) / 2 ** 32)
    return { page: this.#pages[block >>> 10]!, at: (block & (PAGE_BLOCKS - 1)) * BLOCK_WORDS }
  }

  /** The bytes of all blocks, page by page: to be written, or to be read into. */
  *bytes(): Generator<Buffer> {
    let left = this.blocks * FILTER_BLOCK_BYTES
    for (const page of this.#pages) {
      const bytes = Math.min(left, page.byteLength)
      yield Buffer.from(page.buffer, 0, bytes)
      left -= bytes
    }
  }

  /** Gives its memory back; it is not used after that. */
  release(): void {
    for (const page of this.#pages) this.#pool.give(page)
    this.#pages = []
  }
}

// 27 bits of both halves, since the low one is used up.
function mix(low: number, high: number): number {
  return Math.imul(low ^ high, 0x9e3779b1) >>> 5
}
