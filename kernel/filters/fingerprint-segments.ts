// Segments of the fingerprint filter on their way into a snapshot or another instance, and from there into the table.
// What comes from a file is checked before it is used.
import { alloc } from '../memory'
import { takesOne } from '../one'
import {
  HEADER, bucketOf, countHashes, countOf, directory, directoryBits, first, giveBack, holds, last, makeDirectory, nextBucket,
  refineDirectory, setCount, setRange, setSlots, setStuck, slotBytes, slotMask, slotsWith, takeSegment, total,
} from '../segment-table'
import { fingerprintAdd, fingerprintHas } from './fingerprint'

/** Walks the segments: the one at directory entry `at`, or 0 past the last. Its header says where the next begins. */
export function fingerprintSegment(at: u32): usize {
  if (at >= last) return 0
  const segment = <usize>load<u32>(directory + (<usize>at << 2))
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
  return HEADER + slotBytes()
}

/** The directory entry at which the segments divide most evenly by their hashes; 0 when there is only one. */
export function fingerprintMiddle(): u32 {
  let below: u64 = 0
  let at = first
  while (at < last) {
    const segment = <usize>load<u32>(directory + (<usize>at << 2))
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
    const segment = <usize>load<u32>(directory + (<usize>at << 2))
    at = load<u32>(segment, 8)
    countHashes(-<i64>countOf(segment))
    giveBack(segment)
  }
  setRange(first, middle)
  setStuck(0)
}

/** In an instance without a filter: segments will have this many slots. */
export function fingerprintAdoptSlots(slots: u32): void {
  setSlots(slots)
}

/** Makes a directory of 2^bits entries, of which [from, to) will be covered by the segments taken. */
export function fingerprintAdopt(bits: u32, from: u32, to: u32): bool {
  takesOne(fingerprintAdd.index, fingerprintHas.index)
  setRange(from, to)
  return makeDirectory(bits)
}

/** Room for one segment, to be filled header and all; 0 when there is none. */
export function fingerprintAdoptRoom(): usize {
  return alloc(HEADER + slotBytes())
}

/** Buckets looked at for repeated hashes of one segment: a table made to be slow must not be slow to check. */
const MOST_STEPS: u32 = 1 << 18

// Whether a hash lies in a bucket that a search comes to before `bucket`.
function isBefore(segment: usize, bucket: usize, h: u64): bool {
  for (let b = bucketOf(segment, h); b != bucket; b = nextBucket(segment, b)) {
    if (holds(b, i64x2.splat(h))) return true
  }
  return false
}

/**
 * Whether the segment at `segment`, filled from outside, can be used: its count is right, a slot is empty so that every
 * search ends, and each hash lies once, where a search finds it. Its range is in entries of a directory of 2^bits. Linear.
 */
export function fingerprintIsSound(segment: usize, bits: u32): bool {
  const slots = segment + HEADER
  const from = load<u32>(segment, 4)
  const to = load<u32>(segment, 8)
  const shift = 64 - <u64>bits
  const buckets = (slotMask + 1) >> 3
  // A search goes on past full buckets only: the walk begins behind one that is not.
  let start: u32 = 0
  while (start < buckets && load<u64>(slots + (<usize>start << 6), 56)) start++
  if (start == buckets) return false
  let count: u32 = 0
  let full: u32 = 0
  let steps: u32 = 0
  let bucket = nextBucket(segment, slots + (<usize>start << 6))
  for (let i: u32 = 0; i < buckets; i++) {
    const here = <u32>((bucket - slots) >> 6)
    let gap = false
    for (let p = bucket; p < bucket + 64; p += 8) {
      const h = load<u64>(p)
      if (!h) {
        gap = true
        continue
      }
      const entry = <u32>(h >> shift)
      const back = (here - ((<u32>h & slotMask) >> 3)) & (buckets - 1)
      if (gap || entry < from || entry >= to || back > full) return false
      if (ctz(slotsWith(bucket, i64x2.splat(h))) != <u32>(p - bucket) >> 3) return false
      steps += back
      if (steps < MOST_STEPS && isBefore(segment, bucket, h)) return false
      count++
    }
    full = gap ? 0 : full + 1
    bucket = nextBucket(segment, bucket)
  }
  return count == load<u32>(segment)
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
  for (let i = load<u32>(segment, 4); i < load<u32>(segment, 8); i++) {
    store<u32>(directory + (<usize>i << 2), <u32>segment)
  }
  setCount(segment, load<u32>(segment))
  countHashes(<i64>load<u32>(segment))
}
