// The rate of a filter that asks a second question about a key it seems to know: whether its folders, or its feature, are
// known too. How often they are is counted over the latest new keys (kernel/known-rest.ts).
import type { Kernel } from '../kernel.ts'

/** Numbers that are kept: the keys, and those of them whose rest was known. */
export const REST_COUNTS = 2
/** Fewer keys have nothing to say. */
const LEAST_KEYS = 64

/** Where the numbers are. */
export const restCounts = (kernel: Kernel) =>
  new Float64Array(kernel.bytes.buffer, kernel.call.knownRest() >>> 0, REST_COUNTS)

/**
 * The share of new keys that the second question lets pass, where the first one errs at `rate`; 1 while too few keys were
 * counted. Keys that passed both were answered "seen" and are not among those counted.
 */
export function restShare(kernel: Kernel, rate: number): number {
  const [keys, known] = restCounts(kernel) as unknown as [number, number]
  if (keys < LEAST_KEYS || known > keys || rate >= 1) return 1
  const all = known / (1 - rate)
  return all / (all + keys - known)
}
