// How much memory the process may use, and what of it is for the table of hashes.
import { totalmem } from 'node:os'
import { invalidOption } from '../errors.ts'
import { BYTES_PER_HASH } from './pending-table.ts'

/** Of the memory of the machine or container, where no limit is given. */
export const DEFAULT_SHARE = 0.7
/** Kept free for buffers, compiled code, and what Node collects later. */
const RESERVE_BYTES = 56 * 1024 ** 2
/** A smaller table would be compared with the runs all the time. */
const LEAST_TABLE_BYTES = 4 * 1024 ** 2
/** Memory of the kernel besides the table: the batch at hand, runs, and a long line. */
const KERNEL_BYTES = 24 * 1024 ** 2

/** Memory of the machine, or of the container (cgroup) if that has less. */
export function machineBytes(): number {
  // Without a limit it is 0, or a number of the order of 2^63.
  const constrained = process.constrainedMemory()
  return constrained ? Math.min(constrained, totalmem()) : totalmem()
}

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
  return {
    capacity: Math.floor(tableBytes / BYTES_PER_HASH),
    kernelBytes: tableBytes + KERNEL_BYTES,
  }
}
