// How much memory the process may use, and what of it is for the table of hashes.
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { invalidOption } from '../errors.ts'
import { BYTES_PER_HASH, LEAST_TABLE_BYTES } from './pending-table.ts'

/** Kept free for buffers, compiled code, and what Node collects later. */
const RESERVE_BYTES = 60 * 1024 ** 2
/** Memory of the kernel besides the table: the batch at hand, runs, and a long line. */
const KERNEL_BYTES = 24 * 1024 ** 2

/** In the middle of a run: collections of what it has given up, and the time that each has to free it. */
const COLLECTIONS = 4
const COLLECTION_MS = 25

export interface MemoryShare {
  /** Hashes that the table takes. */
  readonly capacity: number
  /** The most that the kernel's instance may use, table included. */
  readonly kernelBytes: number
}

/** How a limit for the whole process is used. Throws where it is too small. */
export function shareOf(limitBytes: number): MemoryShare {
  const used = process.memoryUsage.rss()
  const tableBytes = limitBytes - used - RESERVE_BYTES
  if (tableBytes < LEAST_TABLE_BYTES) {
    const least = `at least ${Math.ceil((used + RESERVE_BYTES + LEAST_TABLE_BYTES) / 1024 ** 2)}M`
    throw invalidOption('maxMemory', `${Math.floor(limitBytes / 1024 ** 2)}M`, least)
  }
  return shareOfTable(tableBytes)
}

/** The same in the middle of a run, which goes on with a small table where little is left. */
export async function shareLeft(limitBytes: number): Promise<MemoryShare> {
  await collectGarbage()
  const tableBytes = limitBytes - process.memoryUsage.rss() - RESERVE_BYTES
  return shareOfTable(Math.max(tableBytes, LEAST_TABLE_BYTES))
}

function shareOfTable(tableBytes: number): MemoryShare {
  return { capacity: Math.floor(tableBytes / BYTES_PER_HASH), kernelBytes: tableBytes + KERNEL_BYTES }
}

// Memory of a kernel instance that is not used any more returns to the system only when Node collects it, and has another
// thread free it.
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return
  for (let i = 0; i < COLLECTIONS; i++) {
    collect()
    await setTimeout(COLLECTION_MS)
  }
}
