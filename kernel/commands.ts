// The commands of url-caching: lines `ADD url` and `CHECK url`, in any case and with white space around. Reads them
// from the batch's lines before the keys are made, and writes their answers when the verdicts are there.
import { lineEnds, lineStarts, verdicts } from './batch'

const CHECK: u32 = 0
const ADD: u32 = 1
const NONE: u32 = 2

/** Of each command: ADD or CHECK. */
export const commandOps: usize = memory.data(2048, 64)
/** Of each command: how many lines of the batch stand before it. */
export const commandOffsets: usize = memory.data(2048 * 4, 16)
/** Of each line that is no command: how many lines of the batch stand before it, and where its first word lies. */
export const badOffsets: usize = memory.data(2048 * 4, 16)
export const badStarts: usize = memory.data(2048 * 4, 16)
export const badEnds: usize = memory.data(2048 * 4, 16)
/** How many lines the last `readCommands` could not read. */
export let badLines: u32 = 0

// @ts-ignore: decorator
@inline
function isSpace(p: usize): bool {
  const c = <u32>load<u8>(p)
  return c == 32 || c - 9 < 5
}

// The word [from, to), which is not empty. Wide loads may run past it: the input has slack.
// @ts-ignore: decorator
@inline
function commandOf(from: usize, to: usize): u32 {
  const letters = load<u32>(from) | 0x20202020
  if (to - from == 3) return (letters & 0xffffff) == 0x646461 ? ADD : NONE // add
  return to - from == 5 && letters == 0x63656863 && (load<u8>(from, 4) | 32) == 0x6b ? CHECK : NONE // chec k
}

/**
 * Reads the batch's n lines and returns how many are commands: these move to the front, each line now its URL alone.
 * Blank lines are passed over; the others are listed as bad.
 */
export function readCommands(n: u32): u32 {
  let count: usize = 0
  let bad: usize = 0
  for (let i: u32 = 0; i < n; i++) {
    let from = <usize>load<u32>(lineStarts + (<usize>i << 2))
    let to = <usize>load<u32>(lineEnds + (<usize>i << 2))
    while (from < to && isSpace(from)) from++
    while (from < to && isSpace(to - 1)) to--
    if (from == to) continue
    let end = from + 1
    while (end < to && !isSpace(end)) end++
    const op = commandOf(from, end)
    if (op == NONE || end == to) {
      store<u32>(badOffsets + (bad << 2), i)
      store<u32>(badStarts + (bad << 2), <u32>from)
      store<u32>(badEnds + (bad << 2), <u32>end)
      bad++
      continue
    }
    while (isSpace(end)) end++
    store<u32>(lineStarts + (count << 2), <u32>end)
    store<u32>(lineEnds + (count << 2), <u32>to)
    store<u32>(commandOffsets + (count << 2), i)
    store<u8>(commandOps + count, <u8>op)
    count++
  }
  badLines = <u32>bad
  return <u32>count
}

/** The longest answer is this much longer than its URL. */
export const ANSWER: usize = 18
const ADDED: usize = memory.data<u8>([97, 100, 100, 101, 100, 32, 0, 0])
const PRESENT: usize = memory.data<u8>([112, 111, 115, 115, 105, 98, 108, 121, 45, 112, 114, 101, 115, 101, 110, 116])
const ABSENT: usize = memory.data<u8>([110, 111, 116, 45, 112, 114, 101, 115, 101, 110, 116, 32, 0, 0, 0, 0])

/** Writes the answers of commands [from, n) to `out`, a line each; 16 bytes at a time, so `out` needs slack. */
export function answerCommands(from: u32, n: u32, out: usize): usize {
  for (let i = from; i < n; i++) {
    if (<u32>load<u8>(commandOps + <usize>i) == ADD) {
      store<u64>(out, load<u64>(ADDED))
      out += 6
    } else if (load<u8>(verdicts + <usize>i)) {
      v128.store(out, v128.load(ABSENT))
      out += 12
    } else {
      v128.store(out, v128.load(PRESENT))
      store<u8>(out, 32, 16)
      out += 17
    }
    const start = <usize>load<u32>(lineStarts + (<usize>i << 2))
    const size = <usize>load<u32>(lineEnds + (<usize>i << 2)) - start
    for (let at: usize = 0; at < size; at += 16) v128.store(out + at, v128.load(start + at))
    out += size
    store<u8>(out++, 10)
  }
  return out
}
