// How much memory the process may use, and what of it is for the table of hashes.
import { invalidOption } from '../errors.ts'
import { collectGarbage, keepHeapSmall } from './garbage.ts'
import { BYTES_PER_HASH, LEAST_TABLE_BYTES } from './pending-table.ts'

/** Kept free for buffers, compiled code, and what Node collects later. */
const RESERVE_BYTES = 49 * 1024 ** 2
/** The same for the log of a store, and what its files take. */
const STORE_BYTES = 14 * 1024 ** 2
/** Memory of the kernel besides the table: the batch at hand, runs, and a long line. A large table leaves more. */
const LEAST_KERNEL_BYTES = 56 * 1024 ** 2
const MOST_KERNEL_BYTES = 256 * 1024 ** 2
const KERNEL_SHARE = 1 / 32
/** Of that memory, for a line: it is there as it came, while its buffer grows, as a key, and on its way out. */
const LINE_SHARE = 1 / 7

export interface MemoryShare {
  /** Hashes that the table takes. */
  readonly capacity: number
  /** The most that the kernel's instance may use, table included. */
  readonly kernelBytes: number
  /** The longest line. */
  readonly mostLineBytes: number
}

/** How a limit for the whole process is used, with a store or without. Throws where it is too small. */
export function shareOf(limitBytes: number, hasStore: boolean): MemoryShare {
  keepHeapSmall()
  const used = process.memoryUsage.rss() + RESERVE_BYTES + (hasStore ? STORE_BYTES : 0)
  const tableBytes = limitBytes - used
  if (tableBytes < LEAST_TABLE_BYTES) {
    const least = `at least ${Math.ceil((used + LEAST_TABLE_BYTES) / 1024 ** 2)}M`
    throw invalidOption('maxMemory', `${Math.floor(limitBytes / 1024 ** 2)}M`, least)
  }
  return shareOfTable(tableBytes)
}

/** The same in the middle of a run, which goes on with a small table where little is left. */
export async function shareLeft(limitBytes: number): Promise<MemoryShare> {
  keepHeapSmall()
  await collectGarbage()
  const tableBytes = limitBytes - process.memoryUsage.rss() - RESERVE_BYTES
  return shareOfTable(Math.max(tableBytes, LEAST_TABLE_BYTES))
}

function shareOfTable(tableBytes: number): MemoryShare {
  const others = Math.max(LEAST_KERNEL_BYTES, Math.min(MOST_KERNEL_BYTES, tableBytes * KERNEL_SHARE))
  const left = tableBytes - (others - LEAST_KERNEL_BYTES)
  return {
    capacity: Math.floor(left / BYTES_PER_HASH),
    kernelBytes: left + others,
    mostLineBytes: others * LINE_SHARE,
  }
}
