// How much memory the process may use, and what of it is for the table of hashes.
import { invalidOption } from '../errors.ts'
import { collectGarbage, keepHeapSmall } from './garbage.ts'
import { BYTES_PER_HASH, LEAST_TABLE_BYTES } from './pending-table.ts'

/** Kept free for buffers, compiled code, and what Node collects later. */
const RESERVE_BYTES = 49 * 1024 ** 2
/** The same for the log of a store, and what its files take. */
const STORE_BYTES = 14 * 1024 ** 2
/** Memory of the kernel besides the table: the batch at hand, runs, and a long line. */
const KERNEL_BYTES = 24 * 1024 ** 2

export interface MemoryShare {
  /** Hashes that the table takes. */
  readonly capacity: number
  /** The most that the kernel's instance may use, table included. */
  readonly kernelBytes: number
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
  return { capacity: Math.floor(tableBytes / BYTES_PER_HASH), kernelBytes: tableBytes + KERNEL_BYTES }
}
