// How many threads a run of `dedupe` gets, and when they start.
import { defaultLimit } from '../disk/machine-memory.ts'
import { usableCores } from './core-count.ts'
import { CommandError, EXIT } from './exit.ts'

/** Without `--threads`: at most this many. */
const USUAL_THREADS = 8
const MOST_THREADS = 64
/** Starting threads takes about 0.07 s: a shorter input, above all one of repeats, is done earlier without. */
const SMALL_BYTES = 128 * 1024 * 1024
const CHUNK_BYTES = 512 * 1024

export interface Threads {
  readonly count: number
  /** The most bytes that a thread reads at a time. */
  readonly chunkBytes: number
  /** Nothing is read before they have started. */
  readonly waits: boolean
}

/** Bytes of the table per byte of input, at most: 18 per line of 10. */
const TABLE_SHARE = 2
/** The same for a packed input, which may be ten times as long. */
const PACKED_TABLE_SHARE = 20

/**
 * The threads for inputs of that many bytes, null when that is unknown. Null: one thread does it all. Threads do not
 * continue on disk when memory ends, so without `--threads` they are used only where memory is certain to suffice.
 */
export function threadsOf(
  given: number | undefined,
  totalBytes: number | null,
  isPlain: () => boolean,
): Threads | null {
  if (given !== undefined && given > MOST_THREADS) {
    throw new CommandError(
      EXIT.usage,
      `--threads ${given}: expected a whole number from 1 to ${MOST_THREADS}`,
    )
  }
  if (given === undefined) {
    if (totalBytes === null || totalBytes < SMALL_BYTES) return null
    if (totalBytes * (isPlain() ? TABLE_SHARE : PACKED_TABLE_SHARE) > defaultLimit()) return null
  }
  // There a descriptor belongs to the thread that opened the file.
  if ('Deno' in globalThis) return null
  if (given === 1) return null
  // For tests: chunks of any size, and every line is done by threads, however many cores there are.
  const chunkBytes = Number(process.env.URLSIEVE_CHUNK_BYTES ?? 0)
  const wanted = given ?? USUAL_THREADS
  // A thread without a core of its own takes time from the others, and changes no byte of the output.
  const count = chunkBytes > 0 ? wanted : Math.min(wanted, usableCores())
  if (count === 1) return null
  return { count, chunkBytes: chunkBytes || CHUNK_BYTES, waits: chunkBytes > 0 }
}
