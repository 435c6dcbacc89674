// Streams of lines through any sieve: bytes in, in any cuts; whole lines with their verdicts out.
import type { AnySieve } from '../any-sieve.ts'

const NEWLINE = 10
/** Lines go to the sieve in pieces of at least this length: each piece is one write or round trip. */
const PIECE_BYTES = 256 * 1024
const HELD = { confirm: false }

/** Whole lines of a stream, with their verdicts. */
export interface LineBatch {
  /** Whole lines; only the last may lack its newline. */
  readonly lines: Uint8Array
  /**
   * One verdict per line, 1 new and 0 seen; 2 is unknown and kept as new. What is new counts as delivered when the next batch is
   * asked for, and is as safe then as the sieve's durability says.
   */
  readonly verdicts: Uint8Array
}

/**
 * Sifts a stream of newline-separated bytes, a batch of lines at a time, in order. When the stream fails, the whole lines
 * before the failure come first, then its error is thrown. Errs as the sieve does. Asking for the next batch, or for the end, confirms all
 * that was added to the sieve before; who leaves the loop early leaves the last batch unconfirmed: it is new again when the sieve
 * is opened next.
 */
export async function* siftLines(
  sieve: Pick<AnySieve, 'addLines' | 'confirm'>,
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
    const all = joinBytes(waiting)
    const end = all.lastIndexOf(NEWLINE) + 1
    const lines = all.subarray(0, end)
    waiting = end < all.length ? [all.subarray(end)] : []
    bytes = all.length - end
    yield { lines, verdicts: await sieve.addLines(lines, HELD) }
    await sieve.confirm?.()
  }
  const rest = joinBytes(waiting)
  const lines = failures.length > 0 ? rest.subarray(0, rest.lastIndexOf(NEWLINE) + 1) : rest
  if (lines.length > 0) {
    yield { lines, verdicts: await sieve.addLines(lines, HELD) }
    await sieve.confirm?.()
  }
  if (failures.length > 0) throw failures[0]
}

/** The parts one after another; the part itself where there is one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
