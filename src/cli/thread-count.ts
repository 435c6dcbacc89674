// How many threads a run of `dedupe` gets, and when they start.
import { availableParallelism } from 'node:os'
import { CommandError, EXIT } from './exit.ts'

/** Without `--threads`: at most this many. */
const USUAL_THREADS = 8
const MOST_THREADS = 64
/** Starting threads takes about 0.1 s: a shorter input, above all one of repeats, is done earlier without. */
const SMALL_BYTES = 256 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024

export interface Threads {
  readonly count: number
  /** Bytes that the main thread reads before it starts the others. */
  readonly startBytes: number
  /** The most bytes that a thread reads at a time. */
  readonly chunkBytes: number
  /** Nothing is read before they have started. */
  readonly waits: boolean
}

/** The threads for inputs of that many bytes, null when that is unknown. Null: one thread does it all. */
export function threadsOf(given: number | undefined, totalBytes: number | null): Threads | null {
  if (given !== undefined && given > MOST_THREADS) {
    throw new CommandError(
      EXIT.usage,
      `--threads ${given}: expected a whole number from 1 to ${MOST_THREADS}`,
    )
  }
  if (given === undefined && totalBytes !== null && totalBytes < SMALL_BYTES) return null
  const count = given ?? Math.min(USUAL_THREADS, availableParallelism())
  if (count === 1) return null
  // For tests: chunks of any size, and every line is done by threads.
  const chunkBytes = Number(process.env.URLSIEVE_CHUNK_BYTES ?? 0)
  const startBytes = given === undefined && totalBytes === null ? SMALL_BYTES : 0
  return { count, startBytes, chunkBytes: chunkBytes || CHUNK_BYTES, waits: chunkBytes > 0 }
}
