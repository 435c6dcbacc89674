// Lines: finds newline-separated lines, 64 bytes at a time. A line is the bytes before its newline; a last line without
// one counts too.
import { BATCH, keyEnds, keyStarts, lineEnds, lineStarts } from './batch'

/** Where the next batch starts, after `findLines`: just behind the last newline it took. */
export let lineCursor: usize = 0

// @ts-ignore: decorator
@inline
function newlines(p: usize, nl: v128): u64 {
  return <u64>i8x16.bitmask(i8x16.eq(v128.load(p), nl))
}

/**
 * Takes up to one batch of whole lines from [from, to). `searched` is how far [from, …) is known to hold no
 * newline, so that a long line arriving in pieces is scanned once. With `last`, what follows the last newline
 * is a line too. Returns the number of lines.
 */
export function findLines(from: usize, searched: usize, to: usize, last: bool): u32 {
  const nl = i8x16.splat(10)
  let n: u32 = 0
  let start = from
  let p = searched
  while (p < to) {
    let found = newlines(p, nl) | newlines(p + 16, nl) << 16 | newlines(p + 32, nl) << 32 | newlines(p + 48, nl) << 48
    if (to - p < 64) found &= (<u64>1 << (to - p)) - 1
    while (found) {
      const end = p + <usize>ctz(found)
      found &= found - 1
      store<u32>(lineStarts + (<usize>n << 2), <u32>start)
      store<u32>(lineEnds + (<usize>n << 2), <u32>end)
      start = end + 1
      if (++n == BATCH) {
        lineCursor = start
        return n
      }
    }
    p += 64
  }
  if (last && start < to) {
    store<u32>(lineStarts + (<usize>n << 2), <u32>start)
    store<u32>(lineEnds + (<usize>n << 2), <u32>to)
    n++
    start = to
  }
  lineCursor = start
  return n
}

/** Lines and keys are the same bytes: the profile `raw`. */
export function takeLinesAsKeys(n: u32): void {
  // Not memory.copy, whose call costs more than one URL's share of all the rest.
  for (let i: usize = 0; i < <usize>n << 2; i += 16) {
    v128.store(keyStarts + i, v128.load(lineStarts + i))
    v128.store(keyEnds + i, v128.load(lineEnds + i))
  }
}
