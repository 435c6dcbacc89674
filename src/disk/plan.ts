// What a set of hashes on disk needs: bytes, batches and passes for a number of URLs and a memory limit.
import { BYTES_PER_HASH, LEAST_TABLE_BYTES, MOST_HASHES } from './pending-table.ts'

/** Of the limit, what is not for the table: Node, the kernel and buffers. */
const OTHER_BYTES = 120 * 1024 ** 2
/** Sizes that are easily said. */
const STEP_BYTES = 256 * 1024 ** 2
const USUAL_BYTES = 1024 ** 3
/** A block of 4096 bytes has 4072 of codes. */
const BLOCK_SHARE = 4072 / 4096

export interface DiskPlan {
  readonly memoryBytes: number
  /** Of the runs, once they are merged into one. */
  readonly bytesPerUrl: number
  readonly diskBytes: number
  /** The table is filled, and compared with all runs, this many times. */
  readonly batches: number
  /** Read in all these passes together. */
  readonly readBytes: number
}

/** Bits of a Rice-coded difference of `urls` evenly spread hashes, with the best parameter. */
function bitsPerHash(urls: number): number {
  const mean = 2 ** 64 / urls
  const k = Math.min(56, Math.max(8, Math.floor(63.945 - Math.log2(urls))))
  return k + 1 + 1 / Math.expm1(2 ** k / mean)
}

/** Of the memory there is, what is of use for so many URLs: one pass needs no more, and the table takes no more. */
export function usefulMemory(urls: number, thereIsBytes: number): number {
  const useful = Math.min(MOST_HASHES, urls) * BYTES_PER_HASH + OTHER_BYTES
  const whole = Math.ceil(useful / STEP_BYTES) * STEP_BYTES
  return Math.min(Math.max(whole, USUAL_BYTES), Math.floor(thereIsBytes / STEP_BYTES) * STEP_BYTES)
}

/** For `urls` distinct URLs, with `memoryBytes` for the whole process. */
export function diskPlan(urls: number, memoryBytes: number): DiskPlan {
  const tableBytes = Math.max(LEAST_TABLE_BYTES, memoryBytes - OTHER_BYTES)
  const inMemory = Math.min(MOST_HASHES, tableBytes / BYTES_PER_HASH)
  const batches = Math.ceil(urls / inMemory)
  const bytesPerUrl = bitsPerHash(urls) / 8 / BLOCK_SHARE
  const runBytes = (bitsPerHash(Math.min(urls, inMemory)) / 8 / BLOCK_SHARE) * inMemory
  return {
    memoryBytes,
    bytesPerUrl,
    diskBytes: urls * bytesPerUrl,
    batches,
    readBytes: batches > 1 ? ((batches * (batches - 1)) / 2) * runBytes : 0,
  }
}
