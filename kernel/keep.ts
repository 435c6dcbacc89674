// The lines, or keys, of a batch with the wanted verdict: lines are moved together in place, keys are copied out.
import { keyEnds, keyStarts, lineEnds, lineStarts, verdicts } from './batch'

let outCursor: usize = 0

/** Sets where `keepLines` writes next: at or before the first line that is still to be kept. */
export function keepFrom(ptr: usize): void {
  outCursor = ptr
}

// @ts-ignore: decorator
@inline
function move32(to: usize, from: usize): void {
  const a = v128.load(from)
  const b = v128.load(from, 16)
  v128.store(to, a)
  v128.store(to, b, 16)
}

// Moves [from, from + size) down to `to`, 32 bytes at a time where that cannot overwrite what is still unread.
function moveDown(to: usize, from: usize, size: usize): void {
  if (from - to < 32 || size > 4096) {
    memory.copy(to, from, size)
    return
  }
  for (let i: usize = 0; i < size; i += 32) move32(to + i, from + i)
}

/**
 * Keeps the lines whose verdict is `wanted`, each with its newline. Returns the end of all that was kept. A line of the
 * usual size is moved without asking, and the next one over it when it was not wanted: verdicts cannot be guessed.
 */
export function keepLines(n: u32, wanted: u32): usize {
  let out = outCursor
  for (let i: usize = 0; i < <usize>n; i++) {
    const from = <usize>load<u32>(lineStarts + (i << 2))
    const size = <usize>load<u32>(lineEnds + (i << 2)) - from
    const isWanted = <usize>(<u32>load<u8>(verdicts + i) == wanted)
    if (from - out >= 128 && size < 128) {
      move32(out, from)
      move32(out + 32, from + 32)
      move32(out + 64, from + 64)
      if (size >= 96) move32(out + 96, from + 96)
    } else if (!isWanted) {
      continue
    } else if (out != from) {
      moveDown(out, from, size)
    }
    out += size & (0 - isWanted)
    store<u8>(out, 10)
    out += isWanted
  }
  outCursor = out
  return out
}

/** How many bytes the keys of the lines with verdict `wanted` take, each with a newline. */
export function keptKeyBytes(n: u32, wanted: u32): usize {
  let bytes: usize = 0
  for (let i: u32 = 0; i < n; i++) {
    if (<u32>load<u8>(verdicts + <usize>i) != wanted) continue
    bytes += load<u32>(keyEnds + (<usize>i << 2)) - load<u32>(keyStarts + (<usize>i << 2)) + 1
  }
  return bytes
}

/** Writes those keys to `to`, each with a newline. */
export function keepKeys(n: u32, wanted: u32, to: usize): void {
  for (let i: u32 = 0; i < n; i++) {
    if (<u32>load<u8>(verdicts + <usize>i) != wanted) continue
    const from = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const size = <usize>load<u32>(keyEnds + (<usize>i << 2)) - from
    memory.copy(to, from, size)
    to += size
    store<u8>(to++, 10)
  }
}

/** How many of the verdicts [from, n) are "new". */
export function countNew(from: u32, n: u32): u32 {
  let count: u32 = 0
  for (let i = from; i < n; i++) count += <u32>load<u8>(verdicts + <usize>i)
  return count
}
