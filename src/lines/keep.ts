// The lines with one verdict, out of a batch of lines.
import type { LineBatch } from './sift.ts'

const NEWLINE = 10

/** The lines that are new, or those that are seen, each with a newline, as a buffer of their own. Runs of them are copied whole. */
export function keepLines({ lines, verdicts }: LineBatch, keep: 'new' | 'seen'): Uint8Array {
  const isNewKept = keep === 'new'
  const kept = new Uint8Array(lines.length + 1)
  let size = 0
  let at = 0
  /** Where the run of kept lines begins; -1: the line before is not kept. */
  let from = -1
  const take = (to: number) => {
    if (from >= 0) kept.set(lines.subarray(from, to), size)
    if (from >= 0) size += to - from
    from = -1
  }
  for (const verdict of verdicts) {
    const isKept = (verdict !== 0) === isNewKept
    if (!isKept) take(at)
    else if (from < 0) from = at
    const newline = lines.indexOf(NEWLINE, at)
    at = newline < 0 ? lines.length + 1 : newline + 1
  }
  const isCut = at > lines.length && from >= 0
  take(Math.min(at, lines.length))
  if (isCut) kept[size++] = NEWLINE
  return kept.subarray(0, size)
}
