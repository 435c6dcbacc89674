// The table of the fingerprint filter: segments of equal size, each a part of the range of all hashes, found by a
// hash's top bits through a directory. It grows by one segment at a time: a full segment gives three fifths of its range
// to a new one. Uneven parts keep the segments out of step, so that memory grows smoothly instead of doubling.
import { alloc, allocForFilter, release } from './memory'

/** Slots of a bucket: one cache line. A hash lies in its own bucket or, when that is full, in the next with room. */
export const BUCKET: u32 = 8
/** Slots of a grown segment: 256 KiB of hashes. The first segment starts small and doubles up to this. */
export const SEGMENT_SLOTS: u32 = 32768
export const FIRST_SLOTS: u32 = 2048
/** A segment's header: u32 count (see `counts`), u32 first and u32 last-plus-one directory entry. */
export const HEADER: usize = 64
/** Hashes that agree in more than these first bits share a segment, however crowded it is. */
export const MOST_DIRECTORY_BITS: u32 = 27

export let directory: usize = 0
export let directoryBits: u32 = 0
/** Directory entries [first, last) have segments; the rest of the hashes belong to other instances. */
export let first: u32 = 0
export let last: u32 = 0
/** Slots of every segment less one: all are of one size. The first is alone until it has grown to full size. */
export let slotMask: u32 = FIRST_SLOTS - 1
export let total: u64 = 0
/** Segments that moved to another instance, linked through their first word, to be used again. */
let spare: usize = 0
/**
 * How many hashes each segment holds, by the place of its first byte in steps of 256 KiB, where no two can begin: side by
 * side they stay in the cache. The header has the count only when the segment is on its way out.
 */
const counts: usize = memory.data(16384 * 4, 64)
/** A crowded segment for which there was no room: the next add begins with it. */
let stuck: usize = 0
/** Holds those hashes of a segment that lie outside their own bucket, while it is divided. */
let strays: usize = 0
/** Holds one bucket while its segment is divided. */
const emptied: usize = memory.data(64, 64)

// @ts-ignore: decorator
@inline
export function segmentOf(h: u64): usize {
  return <usize>load<u32>(directory + (<usize>(h >> (64 - <u64>directoryBits)) << 2))
}

// @ts-ignore: decorator
@inline
export function bucketOf(segment: usize, h: u64): usize {
  return segment + HEADER + (<usize>(<u32>h & slotMask & ~(BUCKET - 1)) << 3)
}

// Which of a bucket's eight slots hold `wanted`, as bits.
// @ts-ignore: decorator
@inline
export function slotsWith(bucket: usize, wanted: v128): u32 {
  return i64x2.bitmask(i64x2.eq(v128.load(bucket), wanted))
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 16), wanted)) << 2
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 32), wanted)) << 4
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 48), wanted)) << 6
}

// Whether any of a bucket's eight slots holds `wanted`.
// @ts-ignore: decorator
@inline
export function holds(bucket: usize, wanted: v128): bool {
  return v128.any_true(
    v128.or(
      v128.or(i64x2.eq(v128.load(bucket), wanted), i64x2.eq(v128.load(bucket, 16), wanted)),
      v128.or(i64x2.eq(v128.load(bucket, 32), wanted), i64x2.eq(v128.load(bucket, 48), wanted)),
    ),
  )
}

// @ts-ignore: decorator
@inline
export function countOf(segment: usize): u32 {
  return load<u32>(counts + (segment >> 18 << 2))
}

// @ts-ignore: decorator
@inline
export function setCount(segment: usize, count: u32): void {
  store<u32>(counts + (segment >> 18 << 2), count)
}

// @ts-ignore: decorator
@inline
export function isCrowded(segment: usize): bool {
  return countOf(segment) > slotMask - (slotMask >> 3)
}

// @ts-ignore: decorator
@inline
export function slotBytes(): usize {
  return (<usize>slotMask + 1) << 3
}

function newSegment(from: u32, to: u32): usize {
  const isUsed = spare != 0
  const segment = takeSegment()
  if (!segment) return 0
  if (isUsed) memory.fill(segment, 0, HEADER + slotBytes())
  store<u32>(segment, from, 4)
  store<u32>(segment, to, 8)
  setCount(segment, 0)
  return segment
}

/** An empty table, of one small segment. False when there is no room. */
export function createTable(): bool {
  if (!makeDirectory(4)) return false
  last = 1 << directoryBits
  const segment = newSegment(0, last)
  if (!segment) return false
  for (let i: u32 = 0; i < 1 << directoryBits; i++) store<u32>(directory + (<usize>i << 2), <u32>segment)
  return true
}

/** A directory of 2^bits entries, still without segments. False when there is no room. */
export function makeDirectory(bits: u32): bool {
  directoryBits = bits
  directory = alloc(4 << bits)
  return directory != 0
}

/** Directory entries [from, to) have segments. */
export function setRange(from: u32, to: u32): void {
  first = from
  last = to
}

/** Segments will have this many slots: in a table that has none yet. */
export function setSlots(slots: u32): void {
  slotMask = slots - 1
}

/** Counts hashes that came (or, below 0, went). */
// @ts-ignore: decorator
@inline
export function countHashes(more: i64): void {
  total += more
}

/** Keeps a segment that has left the table, to be used again. */
export function giveBack(segment: usize): void {
  store<u32>(segment, <u32>spare)
  spare = segment
}

/** Memory for one segment, as it was left; 0 when there is none. */
export function takeSegment(): usize {
  const segment = spare
  if (!segment) return allocForFilter(HEADER + slotBytes())
  spare = <usize>load<u32>(segment)
  return segment
}

/** A crowded segment could not be relieved: nothing is added before it is. 0: there is none. */
export function setStuck(segment: usize): void {
  stuck = segment
}

/** False while a crowded segment cannot be relieved. */
// @ts-ignore: decorator
@inline
export function isReady(): bool {
  if (!stuck) return true
  if (isCrowded(stuck) && !relieve(stuck)) return false
  stuck = 0
  return true
}

// @ts-ignore: decorator
@inline
export function nextBucket(segment: usize, bucket: usize): usize {
  bucket += BUCKET << 3
  return bucket == segment + HEADER + slotBytes() ? segment + HEADER : bucket
}

// Puts a hash that is known to be absent into a segment that has room.
export function place(segment: usize, h: u64): void {
  let bucket = bucketOf(segment, h)
  while (true) {
    const empty = slotsWith(bucket, i64x2.splat(0))
    if (empty) {
      store<u64>(bucket + (<usize>ctz(empty) << 3), h)
      return
    }
    bucket = nextBucket(segment, bucket)
  }
}

function hashesIn(segment: usize): u32 {
  let count: u32 = 0
  const end = segment + HEADER + slotBytes()
  for (let p = segment + HEADER; p < end; p += 16) {
    count += popcnt(i64x2.bitmask(i64x2.eq(v128.load(p), i64x2.splat(0))) ^ 3)
  }
  return count
}

export function refineDirectory(): bool {
  if (directoryBits == MOST_DIRECTORY_BITS) return false
  const entries: u32 = 1 << directoryBits
  const finer = alloc(<usize>entries << 3)
  if (!finer) return false
  let at = first
  while (at < last) {
    const segment = <usize>load<u32>(directory + (<usize>at << 2))
    const to = load<u32>(segment, 8)
    for (let i = at << 1; i < to << 1; i++) store<u32>(finer + (<usize>i << 2), <u32>segment)
    store<u32>(segment, at << 1, 4)
    store<u32>(segment, to << 1, 8)
    at = to
  }
  release(directory, <usize>entries << 2)
  directory = finer
  directoryBits++
  first <<= 1
  last <<= 1
  return true
}

// The first segment, while it is alone, moves to one of twice its size.
function doubleSegment(segment: usize): bool {
  const bytes = slotBytes()
  const count = countOf(segment)
  slotMask = slotMask << 1 | 1
  const bigger = newSegment(load<u32>(segment, 4), load<u32>(segment, 8))
  if (!bigger) {
    slotMask >>= 1
    return false
  }
  setCount(bigger, count)
  for (let p = segment + HEADER; p < segment + HEADER + bytes; p += 8) {
    const h = load<u64>(p)
    if (h) place(bigger, h)
  }
  for (let i: u32 = 0; i < 1 << directoryBits; i++) store<u32>(directory + (<usize>i << 2), <u32>bigger)
  release(segment, HEADER + bytes)
  return true
}

// Moves the hashes whose directory entry is `middle` or above to the empty segment `other`. A hash in its own bucket has
// the same bucket there: bucket by bucket, without a branch, each is written where it goes; the next one goes over what
// was not to be there. Those that had overflowed find their places afterwards.
function divide(segment: usize, other: usize, middle: u32): void {
  const slots = segment + HEADER
  const gap = other - segment
  const shift = 64 - <u64>directoryBits
  const zero = i64x2.splat(0)
  let strayEnd = strays
  for (let bucket = slots; bucket < slots + slotBytes(); bucket += BUCKET << 3) {
    for (let i: usize = 0; i < 64; i += 16) {
      v128.store(emptied + i, v128.load(bucket + i))
      v128.store(bucket + i, zero)
    }
    const home = <u32>(bucket - slots) >> 3
    let mine = bucket
    let theirs = bucket + gap
    for (let i: usize = 0; i < 64; i += 8) {
      const h = load<u64>(emptied + i)
      const isThere = <usize>(h != 0)
      const isHome = isThere & <usize>((<u32>h & slotMask & ~(BUCKET - 1)) == home)
      const stays = <usize>(<u32>(h >> shift) < middle)
      store<u64>(stays ? mine : theirs, isHome ? h : 0)
      mine += (isHome & stays) << 3
      theirs += (isHome & (stays ^ 1)) << 3
      store<u64>(strayEnd, h)
      strayEnd += (isThere ^ isHome) << 3
    }
  }
  for (let p = strays; p < strayEnd; p += 8) {
    const h = load<u64>(p)
    place(<u32>(h >> shift) < middle ? segment : other, h)
  }
  const kept = hashesIn(segment)
  setCount(other, countOf(segment) - kept)
  setCount(segment, kept)
  store<u32>(segment, middle, 8)
}

// Makes room in a crowded segment. False when the instance is full; the segment then still has room for a group.
export function relieve(segment: usize): bool {
  if (slotMask + 1 < SEGMENT_SLOTS) return doubleSegment(segment)
  while (load<u32>(segment, 8) - load<u32>(segment, 4) < 5) if (!refineDirectory()) return false
  const from = load<u32>(segment, 4)
  const to = load<u32>(segment, 8)
  const middle = from + (to - from) * 2 / 5
  if (!strays) strays = allocForFilter(slotBytes() + 8)
  if (!strays) return false
  const other = newSegment(middle, to)
  if (!other) return false
  divide(segment, other, middle)
  for (let i = middle; i < to; i++) store<u32>(directory + (<usize>i << 2), <u32>other)
  return true
}
