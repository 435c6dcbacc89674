// How the fingerprint table grows: the first segment doubles until it has full size; then a crowded segment gives half to a new one; and
// from a few segments on, it and the fuller of its neighbours give a third each to a new one between them, as in a B*-tree (Knuth, volume 3,
// 6.2.4). Uneven parts bring the segments out of step, so that memory grows smoothly.
import { FEW, FIRST, FULL_BITS, MANY, TOLD_BITS, bucketMask, crowd, homeBits, layout, setLayout, stateOf, widen } from './bucket'
import { release } from './memory'
import {
  bucketAt, countOf, directoryBits, exileCount, first, hashAt, last, leave, newSegment, place, recallAll, refineDirectory, segmentAt,
  segmentBytes, setCount, setSegment, total,
} from './segment-table'
import { countFrom, moveHashes, reserveStrays } from './split'

/**
 * Directory entries of a segment that is divided, at least, and of a neighbour that helps. With fewer, the parts would be far from
 * what they should be; with more, the directory of a large table does not stay in the cache.
 */
const LEAST_ENTRIES: u32 = 16
const LEAST_OF_NEIGHBOUR: u32 = 8
/** Up to this many hashes a segment is halved: fewer hashes move than with a neighbour's help, and memory is small anyway. */
const SMALL_TABLE: u64 = 48000

/** Segments that were divided so far. */
let splits: u32 = 0

/** A crowded segment for which there was no memory: the next add begins with it. */
let stuck: usize = 0

// @ts-ignore: decorator
@inline
export function isCrowded(segment: usize): bool {
  return countOf(segment) > crowd
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

/** Makes room in a segment. False when the instance is full; the segment then still has room for a group. */
export function relieve(segment: usize): bool {
  if (layout == FIRST) {
    if (!doubleSegment(segment)) return false
  } else {
    // Unevenly spread hashes may all be on one side.
    for (let next = segment; next; ) {
      const other = split(next)
      if (!other) return false
      next = isCrowded(next) ? next : isCrowded(other) ? other : 0
    }
  }
  if (layout == FEW) becomeMany()
  if (exileCount) recallAll()
  return true
}

/** While this is above 0 no boundary between segments moves: someone walks over them. */
let walks: u32 = 0

/** A walk over the segments begins (1) or is over (-1): adds between its steps leave the boundaries where they are. */
export function countWalks(more: i32): void {
  walks += more
}

// Gives a part of a segment's range to another one, which is returned; 0 when there is no memory for it.
function split(segment: usize): usize {
  while (entriesOf(segment) < LEAST_ENTRIES) if (!refineDirectory()) return 0
  if (!reserveStrays()) return 0
  const from = load<u32>(segment, 4)
  const to = load<u32>(segment, 8)
  const isFree = !walks && total > SMALL_TABLE && isCrowded(segment)
  const before = isFree && from > first ? partner(segmentAt(from - 1)) : 0
  const behind = isFree && to < last ? partner(segmentAt(to)) : 0
  splits++
  const added = newSegment()
  if (!added) return 0
  const isBefore = before != 0 && (!behind || countOf(before) >= countOf(behind))
  if (isBefore && share(before, segment, added)) return added
  if (!isBefore && behind && share(segment, behind, added)) return added
  halve(segment, added)
  return added
}

// A neighbour whose boundary can be moved, or 0.
// @ts-ignore: decorator
@inline
function partner(segment: usize): usize {
  return entriesOf(segment) < LEAST_OF_NEIGHBOUR ? 0 : segment
}

// @ts-ignore: decorator
@inline
function entriesOf(segment: usize): u32 {
  return load<u32>(segment, 8) - load<u32>(segment, 4)
}

// A factor around 1, in a sequence that is evenly spread (multiples of the golden ratio): from 7/10 to 13/10, 9/10 to 11/10 past
// SMALL_TABLE, and 19/20 to 21/20 when there are many segments.
function unevenness(): f64 {
  const spread = layout == MANY ? 0.05 : total > SMALL_TABLE ? 0.1 : 0.3
  return 1 - spread + 2 * spread * <f64>(splits * 0x9e3779b9) / 4294967296
}

function halve(segment: usize, added: usize): void {
  const to = load<u32>(segment, 8)
  const middle = load<u32>(segment, 4) + <u32>(0.5 * unevenness() * <f64>entriesOf(segment))
  setSegment(added, middle, to)
  moveHashes(segment, middle, true, added)
}

// Two neighbours keep about a third of their hashes each; the rest goes to a new segment between them. False when one has fewer, or
// that would be too many, as it may be of unevenly spread hashes.
function share(lower: usize, upper: usize, added: usize): bool {
  const factor = unevenness()
  const ofLower = factor / 3 * <f64>(countOf(lower) + countOf(upper))
  const ofUpper = (2 - factor) / 3 * <f64>(countOf(lower) + countOf(upper))
  if (ofLower > <f64>countOf(lower) || ofUpper > <f64>countOf(upper)) return false
  const from = load<u32>(lower, 4) + entriesWith(ofLower, lower)
  const to = load<u32>(upper, 8) - entriesWith(ofUpper, upper)
  if (countFrom(lower, from) + countOf(upper) - countFrom(upper, to) > crowd) return false
  setSegment(added, from, to)
  moveHashes(lower, from, true, added)
  moveHashes(upper, to, false, added)
  return true
}

// The directory entries of a segment on which about so many of its hashes fall.
function entriesWith(hashes: f64, segment: usize): u32 {
  return <u32>(hashes / <f64>countOf(segment) * <f64>entriesOf(segment))
}

/** From this many hashes on, segments that are in the way of the layout of many are divided though they are not crowded. */
const MANY_HASHES: u64 = 700000

// Changes the layout when no segment has more of the range than that of many allows. Not in an instance that shares the range with
// another one: segments move between them.
function becomeMany(): void {
  if (first || last != 1 << directoryBits) return
  const most: u32 = last >> TOLD_BITS
  for (let at = first; at < last; ) {
    const segment = segmentAt(at)
    const to = load<u32>(segment, 8)
    if (to - at > most) {
      if (total > MANY_HASHES) split(segment)
      return
    }
    at = to
  }
  widenAll()
}

/** How often the layout has changed: segments of before and after do not go together. */
export let changes: u32 = 0

function widenAll(): void {
  for (let at = first; at < last; at = load<u32>(segmentAt(at), 8)) {
    for (let index: u32 = 0; index <= bucketMask; index++) widen(bucketAt(segmentAt(at), index))
  }
  setLayout(MANY, FULL_BITS)
  changes++
}

/** Writes the hashes of the buckets [from, until) of a segment to `to`; returns how many. */
export function copyHashes(segment: usize, from: u32, until: u32, to: usize): u32 {
  let at = to
  for (let index = from; index < until; index++) {
    const bucket = bucketAt(segment, index)
    const state = stateOf(bucket)
    for (let bits = (state | state >> 10) & 1023; bits; bits &= bits - 1) {
      store<u64>(at, hashAt(segment, bucket, ctz(bits), index))
      at += 8
    }
  }
  return <u32>((at - to) >> 3)
}

/** The hashes of one bucket. */
const hashes: usize = memory.data(8 * 8, 64)

// The first segment, while it is alone, moves to one of twice its buckets. False when there is no memory.
function doubleSegment(segment: usize): bool {
  const buckets = bucketMask + 1
  const bytes = segmentBytes()
  const bits = homeBits + 1
  const kind: u32 = bits == FULL_BITS ? FEW : FIRST
  const count = countOf(segment)
  setLayout(kind, bits)
  const bigger = newSegment()
  if (!bigger) {
    setLayout(FIRST, bits - 1)
    return false
  }
  setSegment(bigger, load<u32>(segment, 4), load<u32>(segment, 8))
  setCount(bigger, count)
  for (let index: u32 = 0; index < buckets; index++) {
    setLayout(FIRST, bits - 1)
    const some = copyHashes(segment, index, index + 1, hashes)
    setLayout(kind, bits)
    for (let i: usize = 0; i < <usize>some; i++) if (!place(bigger, load<u64>(hashes + (i << 3)))) leave(bigger)
  }
  release(segment, bytes)
  return true
}
