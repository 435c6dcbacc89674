// A batch's hashes by the part of the table they belong to, for threads that own one part each; and the verdicts of all
// parts back in the order of the batch. The parts are equal shares of bits 32 to 47, which the tables do not choose
// segments or buckets by: every part is spread evenly over its own table.
import { hashes, verdicts } from './batch'
import { alloc } from './memory'

/** Each part begins at a multiple of this many entries, so that copies of its verdicts are aligned. */
const STEP: u32 = 8

/** Entries of all parts: those of a batch, and the gaps between 64 parts. */
const ENTRIES: usize = 2048 + 64 * 8
// What `reserveParts` returns the address of: the hashes, part by part, in the order of the batch; their verdicts; u32, where
// each part begins; u32, where it ends; u16, the entry of each of the batch's hashes.
const VERDICTS: usize = ENTRIES * 8
const STARTS: usize = VERDICTS + ENTRIES
const ENDS: usize = STARTS + 64 * 4
const PLACES: usize = ENDS + 64 * 4
const SIZE: usize = PLACES + 2048 * 2

let parts: usize = 0

/** Where the parts lie: they never move. 0: no room in this instance. */
export function reserveParts(): usize {
  if (!parts) parts = alloc(SIZE)
  return parts
}

// @ts-ignore: decorator
@inline
function partOf(h: u64, count: u32): usize {
  return <usize>((<u32>(h >> 32) & 0xffff) * count >> 16)
}

/** Sorts the batch's n hashes into `count` parts, at most 64. */
export function divideHashes(n: u32, count: u32): void {
  const ends = parts + ENDS
  for (let p: u32 = 0; p < count; p++) store<u32>(ends + (<usize>p << 2), 0)
  for (let i: u32 = 0; i < n; i++) {
    const end = ends + (partOf(load<u64>(hashes + (<usize>i << 3)), count) << 2)
    store<u32>(end, load<u32>(end) + 1)
  }
  let start: u32 = 0
  for (let p: u32 = 0; p < count; p++) {
    const end = ends + (<usize>p << 2)
    const size = load<u32>(end)
    store<u32>(parts + STARTS + (<usize>p << 2), start)
    store<u32>(end, start)
    start = (start + size + STEP - 1) & ~(STEP - 1)
  }
  for (let i: u32 = 0; i < n; i++) {
    const h = load<u64>(hashes + (<usize>i << 3))
    const end = ends + (partOf(h, count) << 2)
    const entry = load<u32>(end)
    store<u32>(end, entry + 1)
    store<u64>(parts + (<usize>entry << 3), h)
    store<u16>(parts + PLACES + (<usize>i << 1), <u16>entry)
  }
}

/** Gives the batch's n entries the verdicts of their parts. */
export function gatherVerdicts(n: u32): void {
  for (let i: usize = 0; i < <usize>n; i++) {
    store<u8>(verdicts + i, load<u8>(parts + VERDICTS + <usize>load<u16>(parts + PLACES + (i << 1))))
  }
}
