// How much memory there is, and what share of it a process uses where no limit is given.
import { totalmem } from 'node:os'

const DEFAULT_SHARE = 0.7

/** Bytes that the process may use where no limit is given: a share of the memory of the machine, or of the container (cgroup) if that has less. */
export function defaultLimit(): number {
  // Without a limit it is 0, or a number of the order of 2^63.
  const constrained = process.constrainedMemory()
  return DEFAULT_SHARE * (constrained ? Math.min(constrained, totalmem()) : totalmem())
}
