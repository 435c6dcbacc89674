// Streams through an exact sieve: bytes in, in any cuts; whole lines with their verdicts out.
import type { ExactSieve } from './exact-sieve.ts'

const NEWLINE = 10
/** Lines go to the sieve in pieces of at least so many bytes: each piece is one write. */
const PIECE_BYTES = 256 * 1024

export interface LineBatch {
  /** Whole lines; only the last may lack its newline. */
  readonly lines: Uint8Array
  /** One verdict a line, 1 new and 0 seen; 2 is unknown and kept as new. They are acknowledged: what is new is as safe as the durability says. */
  readonly verdicts: Uint8Array
}

/**
 * Sifts a stream of newline-separated bytes, a batch of lines at a time, in order. When the stream fails, the whole lines
 * it gave come first, then its error.
 */
export async function* siftLines(
  sieve: Pick<ExactSieve, 'addLines'>,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<LineBatch> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  const failures: unknown[] = []
  const untilFailure = async function* () {
    try {
      yield* chunks
    } catch (error) {
      failures.push(error)
    }
  }
  for await (const chunk of untilFailure()) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes < PIECE_BYTES || !chunk.includes(NEWLINE)) continue
    const all = Buffer.concat(waiting)
    const end = all.lastIndexOf(NEWLINE) + 1
    const lines = all.subarray(0, end)
    waiting = end < all.length ? [all.subarray(end)] : []
    bytes = all.length - end
    yield { lines, verdicts: await sieve.addLines(lines) }
  }
  const rest = Buffer.concat(waiting)
  const lines = failures.length > 0 ? rest.subarray(0, rest.lastIndexOf(NEWLINE) + 1) : rest
  if (lines.length > 0) yield { lines, verdicts: await sieve.addLines(lines) }
  if (failures.length > 0) throw failures[0]
}

/** The lines of a batch with the verdict that is wanted, each with a newline. */
export function keptLines({ lines, verdicts }: LineBatch, keep: 'new' | 'seen'): Uint8Array {
  const keepsNew = keep === 'new'
  const kept = Buffer.allocUnsafe(lines.length + 1)
  let at = 0
  let size = 0
  for (const verdict of verdicts) {
    const newline = lines.indexOf(NEWLINE, at)
    const end = newline < 0 ? lines.length : newline
    if ((verdict !== 0) === keepsNew) {
      kept.set(lines.subarray(at, end), size)
      size += end - at
      kept[size++] = NEWLINE
    }
    at = end + 1
  }
  return kept.subarray(0, size)
}
