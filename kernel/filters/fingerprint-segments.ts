// Segments of the fingerprint filter on their way into a snapshot or another instance, and from there into the table.
// What comes from a file is checked before it is used.
import { bucketMask, freeSlots, holds, homeBits, isTidy, layout, markOf, remainder, remainderAt, setLayout, slotWith, slots, stateOf } from '../bucket'
import { changes, copyHashes, countWalks, setStuck } from '../growth'
import { alloc } from '../memory'
import { takesOne } from '../one'
import {
  bucketAt, bucketOf, bucketWith, checkedSegment, countHashes, countOf, directory, directoryBits, exile, exileCount, exileOf, exiles, first, giveBack,
  hashAt, indexOf, last, makeDirectory, otherBucket, recall, refineDirectory, segmentAt, segmentBytes, segmentOf, setCount, setRange,
  setSegment, slotOf, takeSegment, total,
} from '../segment-table'
import { fingerprintAdd, fingerprintHas } from './fingerprint'

/** Walks the segments: the one at directory entry `at`, or 0 past the last. Its header says where the next begins. */
export function fingerprintSegment(at: u32): usize {
  if (at >= last) return 0
  const segment = segmentAt(at)
  store<u32>(segment, countOf(segment))
  return segment
}

/** The directory entry where the first segment begins. */
export function fingerprintFirst(): u32 {
  return first
}

/** The directory entry behind the last segment. */
export function fingerprintLast(): u32 {
  return last
}

export function fingerprintDirectoryBits(): u32 {
  return directoryBits
}

/** Bytes of one segment with its header. */
export function fingerprintSegmentBytes(): usize {
  return segmentBytes()
}

/** Slots of a bucket. */
export function fingerprintSlots(): u32 {
  return slots
}

/** The layout of the table: 0, 1 or 2. */
export function fingerprintLayout(): u32 {
  return layout
}

/** How often the layout has changed. */
export function fingerprintChanges(): u32 {
  return changes
}

/** A walk over the segments begins (1) or is over (-1): until then the boundaries between them stay. */
export function fingerprintWalk(more: i32): void {
  countWalks(more)
}

/** Writes the hashes of the buckets [from, until) of a segment to `to`; returns how many. */
export function fingerprintHashes(segment: usize, from: u32, until: u32, to: usize): u32 {
  return copyHashes(segment, from, until, to)
}

/** The slot of a hash, counted from the first of its segment; -1: it is in none. */
export function fingerprintFind(h: u64): i32 {
  const bucket = bucketWith(h)
  return bucket ? <i32>(indexOf(segmentOf(h), bucket) * slots + slotOf(bucket, h)) : -1
}

/** The directory entry at which the segments divide most evenly by their hashes; 0 when there is only one. */
export function fingerprintMiddle(): u32 {
  let below: u64 = 0
  let at = first
  while (at < last) {
    const segment = segmentAt(at)
    below += countOf(segment)
    const next = load<u32>(segment, 8)
    if (below << 1 >= total) return next < last ? next : at == first ? 0 : at
    at = next
  }
  return 0
}

/** Lets go of all segments from directory entry `middle` on: they are in another instance now. */
export function fingerprintCut(middle: u32): void {
  let at = middle
  while (at < last) {
    const segment = segmentAt(at)
    at = load<u32>(segment, 8)
    countHashes(-<i64>countOf(segment))
    giveBack(segment)
  }
  for (let i = exileCount; i > 0; i--) {
    if (<u32>(load<u64>(exiles + (<usize>(i - 1) << 3)) >> (64 - <u64>directoryBits)) < middle) continue
    recall(i - 1)
    countHashes(-1)
  }
  setRange(first, middle)
  setStuck(0)
}

/** In an instance without a filter: the layout, and the number of buckets of a segment as a power of two. */
export function fingerprintAdoptLayout(kind: u32, bits: u32): void {
  setLayout(kind, bits)
}

/** Makes a directory of 2^bits entries, of which [from, to) will be covered by the segments taken. */
export function fingerprintAdopt(bits: u32, from: u32, to: u32): bool {
  takesOne(fingerprintAdd.index, fingerprintHas.index)
  setRange(from, to)
  return makeDirectory(bits)
}

/** Room for one segment, to be filled header and all; 0 when there is none. */
export function fingerprintAdoptRoom(): usize {
  return checkedSegment(alloc(segmentBytes()))
}

/** Free slots that a segment needs for what can come before it is relieved. */
const STEP: u32 = 128

// Hashes that a segment of a file can have: builds before 2026-11-18 filled segments to 29/32.
function mostHashes(): u32 {
  return (slots * 29 << homeBits - 5) + STEP
}

// Whether a search finds the hash in a slot there and only there.
function isFound(segment: usize, bucket: usize, slot: u32, index: u32, h: u64): bool {
  const state = stateOf(bucket)
  const r = remainder(h)
  const isGuest = state >> (10 + slot) & 1
  if (slotWith(bucket, r, isGuest ? state >> 10 : state & 1023) != <i32>slot) return false
  const own = bucketOf(segment, h)
  if (isGuest) return (stateOf(own) & markOf(<u32>r)) != 0 && !holds(own, r, stateOf(own) & 1023)
  return true
}

/**
 * Whether the segment at `segment`, filled from outside, can be used: its count is right and leaves free slots, nothing lies
 * outside the slots in use, and each hash lies once, where a search finds it. Its range is in entries of a directory of 2^bits.
 */
export function fingerprintIsSound(segment: usize, bits: u32): bool {
  const from = load<u32>(segment, 4)
  const to = load<u32>(segment, 8)
  let count: u32 = 0
  for (let index: u32 = 0; index <= bucketMask; index++) {
    const bucket = bucketAt(segment, index)
    if (!isTidy(bucket)) return false
    for (let used = ~freeSlots(stateOf(bucket)) & (1 << slots) - 1; used; used &= used - 1) {
      const h = hashAt(segment, bucket, ctz(used), index, bits)
      const entry = <u32>(h >> (64 - <u64>bits))
      if (entry < from || entry >= to || !isFound(segment, bucket, ctz(used), index, h)) return false
      count++
    }
  }
  return count == load<u32>(segment) && count <= mostHashes()
}

/** Room for one segment that is moved here: one that was moved away, or new; 0 when the instance is full. */
export function fingerprintTakeRoom(): usize {
  return takeSegment()
}

/** Directory entries from `from` on will have segments: those before the first are taken next. */
export function fingerprintSetFirst(from: u32): void {
  setRange(from, last)
}

/** Twice as many directory entries. False when there is no room. */
export function fingerprintRefine(): bool {
  return refineDirectory()
}

/** Takes the segment at `segment`; its header says which directory entries it covers. */
export function fingerprintAdopted(segment: usize): void {
  const count = load<u32>(segment)
  setSegment(segment, load<u32>(segment, 4), load<u32>(segment, 8))
  setCount(segment, count)
  countHashes(<i64>count)
}

/** Where the hashes lie that found no slot within reach. */
export function fingerprintExiles(): usize {
  return exiles
}

export function fingerprintExileCount(): u32 {
  return exileCount
}

/** Takes one of them. False unless it is one of this instance's and not there already. */
export function fingerprintExile(h: u64): bool {
  const entry = <u32>(h >> (64 - <u64>directoryBits))
  if (entry < first || entry >= last || exileOf(h) >= 0 || bucketWith(h) || !exile(h)) return false
  countHashes(1)
  return true
}
