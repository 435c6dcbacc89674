// The table of the fingerprint filter: segments of equal size, each a part of the range of all hashes, found by a
// hash's top bits through a directory. Within a segment the low bits choose a hash's own bucket. Where that is full, the hash
// goes to one other bucket, or a hash that is there moves to its other bucket, as in cuckoo hashing (Pagh, Rodler 2001).
import {
  ANY, BUCKET_BYTES, FIRST, FULL_BITS, MANY, TOLD_BITS, append, bucketMask, clearSlot, copySlot, fillSlot, freeSlots, holds, homeBits, layout,
  lowWordAt, markOf, remainder,
  remainderAt, setLayout, setState, slotWith, slots, slotsOf, stateOf, wayOf,
} from './bucket'
import { alloc, allocForFilter, release } from './memory'

/** A segment's header: u32 count (see `counts`), u32 first and u32 last-plus-one directory entry. */
export const HEADER: usize = 64
/** Bytes of a page of the platform's memory, or less. */
const PAGE: usize = 4096
/** Hashes that agree in more than these first bits share a segment, however crowded it is. */
const MOST_DIRECTORY_BITS: u32 = 27
/** Hashes that move to their other bucket for one that is added. Random hashes need a few at most. */
const MOST_MOVES: u32 = 64

export let directory: usize = 0
export let directoryBits: u32 = 0
/** Directory entries [first, last) have segments; the rest of the hashes belong to other instances. */
export let first: u32 = 0
export let last: u32 = 0
export let total: u64 = 0
/** Segments that moved to another instance, linked through their first word, to be used again. */
let spare: usize = 0
/**
 * How many hashes each segment of full size holds, by the place of its first byte in steps of 128 KiB, where no two can begin: side
 * by side they stay in the cache. The header of such a segment has the count only when it is on its way out.
 */
const counts: usize = memory.data(16384 * 2, 64)
/** Where segments end, for which there are counts. */
const MOST_ADDRESS: u64 = 16384 << 17
/**
 * Hashes for which there was no free slot. Of random hashes there are none; a table of forged or chosen ones takes this many,
 * and then refuses more.
 */
export const MOST_EXILES: u32 = 256
export const exiles: usize = memory.data(256 * 8, 64)
export let exileCount: u32 = 0

// @ts-ignore: decorator
@inline
export function segmentOf(h: u64): usize {
  return <usize>load<u32>(directory + (<usize>(h >> (64 - <u64>directoryBits)) << 2))
}

// @ts-ignore: decorator
@inline
export function bucketAt(segment: usize, index: u32): usize {
  return segment + HEADER + <usize>index * BUCKET_BYTES
}

// @ts-ignore: decorator
@inline
export function bucketOf(segment: usize, h: u64, kind: u32 = ANY): usize {
  return bucketAt(segment, <u32>h & maskOf(kind))
}

// @ts-ignore: decorator
@inline
function maskOf(kind: u32): u32 {
  return kind == ANY ? bucketMask : (1 << FULL_BITS) - 1
}

/** The other bucket in which a hash can be; `bucket` is its own. */
// @ts-ignore: decorator
@inline
export function otherBucket(bucket: usize, h: u64, r: u64, kind: u32 = ANY): usize {
  const mask = maskOf(kind)
  const index = <u32>h & mask
  return bucket + (<usize>(index + wayOf(<u32>r) & mask) - <usize>index) * BUCKET_BYTES
}

/** The number of a bucket in its segment. */
// @ts-ignore: decorator
@inline
export function indexOf(segment: usize, bucket: usize): u32 {
  return <u32>((bucket - segment - HEADER) / BUCKET_BYTES)
}

/** Bytes of a segment with its header. */
// @ts-ignore: decorator
@inline
export function segmentBytes(): usize {
  return HEADER + (<usize>bucketMask + 1) * BUCKET_BYTES
}

// @ts-ignore: decorator
@inline
function countAddress(segment: usize): usize {
  return layout == FIRST ? segment : counts + (segment >> 17 << 1)
}

// @ts-ignore: decorator
@inline
export function countOf(segment: usize): u32 {
  return load<u16>(countAddress(segment))
}

// @ts-ignore: decorator
@inline
export function setCount(segment: usize, count: u32): void {
  store<u16>(countAddress(segment), count)
}

/** An empty table, of one small segment. False when there is no room. */
export function createTable(): bool {
  if (!makeDirectory(4)) return false
  last = 1 << directoryBits
  const segment = newSegment()
  if (!segment) return false
  setSegment(segment, 0, last)
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

/** Counts hashes that came (or, below 0, went). */
// @ts-ignore: decorator
@inline
export function countHashes(more: i64): void {
  total += more
}

/** Gives a segment the directory entries [from, to). */
export function setSegment(segment: usize, from: u32, to: u32): void {
  store<u32>(segment, from, 4)
  store<u32>(segment, to, 8)
  for (let i = from; i < to; i++) store<u32>(directory + (<usize>i << 2), <u32>segment)
}

/** An empty segment; 0 when there is no memory. */
export function newSegment(): usize {
  const isUsed = spare != 0
  const segment = takeSegment()
  if (!segment) return 0
  if (isUsed) memory.fill(segment, 0, segmentBytes())
  setCount(segment, 0)
  return segment
}

/** Keeps a segment that has left the table, to be used again. */
export function giveBack(segment: usize): void {
  store<u32>(segment, <u32>spare)
  spare = segment
}

/** A new segment, or 0 when it lies beyond the addresses that segments can have. */
export function checkedSegment(segment: usize): usize {
  if (<u64>segment + <u64>segmentBytes() <= MOST_ADDRESS) return segment
  release(segment, segmentBytes())
  return 0
}

/** Memory for one segment, as it was left; 0 when there is none. */
export function takeSegment(): usize {
  const segment = spare
  if (!segment) return touchPages(checkedSegment(allocForFilter(segmentBytes())))
  spare = <usize>load<u32>(segment)
  return segment
}

// Writes to each page of a new segment. One that is read first costs two page faults, and an interrupt of every thread of the process.
function touchPages(segment: usize): usize {
  if (segment) for (let at = segment, end = segment + segmentBytes(); at < end; at += PAGE) store<u8>(at, 0)
  return segment
}

/** The segment that has the directory entry `at`. */
// @ts-ignore: decorator
@inline
export function segmentAt(at: u32): usize {
  return <usize>load<u32>(directory + (<usize>at << 2))
}

export function refineDirectory(): bool {
  if (directoryBits == MOST_DIRECTORY_BITS) return false
  const entries: u32 = 1 << directoryBits
  const finer = alloc(<usize>entries << 3)
  if (!finer) return false
  const coarse = directory
  directory = finer
  for (let at = first; at < last; ) {
    const segment = <usize>load<u32>(coarse + (<usize>at << 2))
    const to = load<u32>(segment, 8)
    setSegment(segment, at << 1, to << 1)
    at = to
  }
  release(coarse, <usize>entries << 2)
  directoryBits++
  first <<= 1
  last <<= 1
  return true
}

/** The number of a hash in the list of those that found no slot; -1: it is not there. */
export function exileOf(h: u64): i32 {
  for (let i: u32 = 0; i < exileCount; i++) if (load<u64>(exiles + (<usize>i << 3)) == h) return i
  return -1
}

export function exile(h: u64): bool {
  if (exileCount == MOST_EXILES) return false
  store<u64>(exiles + (<usize>exileCount << 3), h)
  exileCount++
  return true
}

/** Takes hash number `i` off that list. */
export function recall(i: u32): void {
  exileCount--
  store<u64>(exiles + (<usize>i << 3), load<u64>(exiles + (<usize>exileCount << 3)))
}

/** Tries again to put them into their segments. */
export function recallAll(): void {
  for (let i = exileCount; i > 0; i--) {
    const h = load<u64>(exiles + (<usize>(i - 1) << 3))
    const segment = segmentOf(h)
    const own = bucketOf(segment, h)
    const r = remainder(h)
    if (!freeSlots(stateOf(own)) && !freeSlots(stateOf(otherBucket(own, h, r)))) continue
    place(segment, h)
    setCount(segment, countOf(segment) + 1)
    recall(i - 1)
  }
}

/** The hash that `place` left without a slot. */
export let homeless: u64 = 0

/**
 * Puts a hash that is known to be absent into its segment. False when there is no slot for it: then `homeless` is a hash, this or
 * another one, that is not in the segment.
 */
// @ts-ignore: decorator
@inline
export function place(segment: usize, h: u64): bool {
  const own = bucketOf(segment, h)
  const state = stateOf(own)
  if (!freeSlots(state)) return placeElsewhere(segment, own, h)
  append(own, state, remainder(h), 0)
  return true
}

/** The same where its own bucket is full. */
export function placeElsewhere(segment: usize, own: usize, h: u64): bool {
  const r = remainder(h)
  const other = otherBucket(own, h, r)
  const state = stateOf(other)
  if (!freeSlots(state)) return displace(segment, own, h)
  setState(own, stateOf(own) | markOf(<u32>r))
  append(other, state, r, 10)
  return true
}

// The bucket in which the hash in a slot of bucket number `index` could be besides.
// @ts-ignore: decorator
@inline
export function alternative(segment: usize, bucket: usize, index: u32, slot: u32, kind: u32 = ANY): usize {
  const way = wayOf(lowWordAt(bucket, slot, kind))
  const isGuest = stateOf(bucket) >> (10 + slot) & 1
  return bucketAt(segment, (isGuest ? index - way : index + way) & maskOf(kind))
}

/**
 * Puts a remainder into its own bucket, which is full, in place of a hash that goes to its other bucket. False when those of all
 * hashes there are full too.
 */
// @ts-ignore: decorator
@inline
export function exchange(segment: usize, bucket: usize, r: u64, kind: u32): bool {
  const index = indexOf(segment, bucket)
  const state = stateOf(bucket)
  for (let slot: u32 = 0; slot < slotsOf(kind); slot++) {
    const to = alternative(segment, bucket, index, slot, kind)
    const toState = stateOf(to)
    const free = freeSlots(toState, kind)
    if (!free) continue
    const isGuest = state >> (10 + slot) & 1
    copySlot(bucket, slot, to, ctz(free), kind)
    setState(to, toState | 1 << (isGuest ? 0 : 10) << ctz(free))
    // A guest leaves for its own bucket; the place of a hash that belongs here is marked.
    const left = isGuest ? state & ~(0x400 << slot) : state | markOf(lowWordAt(bucket, slot, kind))
    fillSlot(bucket, slot, r, kind)
    setState(bucket, left | 1 << slot)
    return true
  }
  return false
}

// Moves the hash in a slot to its other bucket, which has a free slot.
function moveSlot(bucket: usize, slot: u32, to: usize): void {
  const r = remainderAt(bucket, slot)
  const isGuest = stateOf(bucket) >> (10 + slot) & 1
  clearSlot(bucket, slot)
  if (!isGuest) setState(bucket, stateOf(bucket) | markOf(<u32>r))
  append(to, stateOf(to), r, isGuest ? 0 : 10)
}

// Puts a hash into `bucket`, its own, which is full: one that is there goes to its other bucket, if need be in place of another.
function displace(segment: usize, bucket: usize, h: u64): bool {
  let index = indexOf(segment, bucket)
  for (let move: u32 = 0; move < MOST_MOVES; move++) {
    for (let slot: u32 = 0; slot < slots; slot++) {
      const to = alternative(segment, bucket, index, slot)
      if (!freeSlots(stateOf(to))) continue
      moveSlot(bucket, slot, to)
      putInto(segment, bucket, index, h)
      return true
    }
    const slot = (<u32>(h >> 20) + move) % slots
    const evicted = hashAt(segment, bucket, slot, index)
    const to = alternative(segment, bucket, index, slot)
    clearSlot(bucket, slot)
    putInto(segment, bucket, index, h)
    h = evicted
    bucket = to
    index = indexOf(segment, bucket)
  }
  homeless = h
  return false
}

// Puts a hash into one of its two buckets, which has a free slot.
function putInto(segment: usize, bucket: usize, index: u32, h: u64): void {
  const r = remainder(h)
  const isGuest = (<u32>h & bucketMask) != index
  append(bucket, stateOf(bucket), r, isGuest ? 10 : 0)
  if (!isGuest) return
  const own = bucketOf(segment, h)
  setState(own, stateOf(own) | markOf(<u32>r))
}

/** The hash in a slot of bucket number `index`. The range of the segment is in entries of a directory of 2^bits. */
// @ts-ignore: decorator
@inline
export function hashAt(segment: usize, bucket: usize, slot: u32, index: u32, bits: u32 = directoryBits): u64 {
  const r = remainderAt(bucket, slot)
  const isGuest = stateOf(bucket) >> (10 + slot) & 1
  const home = index - (isGuest ? wayOf(<u32>r) : 0) & bucketMask
  const h = r << <u64>homeBits | <u64>home
  if (layout != MANY) return h
  // The range of a segment is not longer than what the bits that are not told can count.
  const start = <u64>load<u32>(segment, 4) << (64 - <u64>bits)
  const span: u64 = 1 << (64 - <u64>TOLD_BITS)
  const all = start & ~(span - 1) | h
  return all < start ? all + span : all
}

/** Where a hash lies: its bucket; 0 when it is in none. */
export function bucketWith(h: u64): usize {
  const segment = segmentOf(h)
  const own = bucketOf(segment, h)
  const r = remainder(h)
  const state = stateOf(own)
  if (holds(own, r, state & 1023)) return own
  if (!(state & markOf(<u32>r))) return 0
  const other = otherBucket(own, h, r)
  return holds(other, r, stateOf(other) >> 10) ? other : 0
}

/** The slot of a hash in the bucket where it lies. */
export function slotOf(bucket: usize, h: u64): u32 {
  const state = stateOf(bucket)
  return slotWith(bucket, remainder(h), bucket == bucketOf(segmentOf(h), h) ? state & 1023 : state >> 10 & 1023)
}

/** Removes a hash from its bucket. */
export function remove(bucket: usize, h: u64): void {
  const segment = segmentOf(h)
  clearSlot(bucket, slotOf(bucket, h))
  setCount(segment, countOf(segment) - 1)
}

/** A hash that was counted in a segment has no slot there. Past the list of such hashes it is lost, and new again. */
export function leave(segment: usize): void {
  setCount(segment, countOf(segment) - 1)
  if (!exile(homeless)) total--
}
