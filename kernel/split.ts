// Moves a part of the range of a segment of the fingerprint table to another segment. A hash in its own bucket has the same bucket
// there, and the same slot where that is free: a bucket is divided by masks. Hashes that were not in their own buckets go there, now that
// there is room. The few that find none are placed afterwards.
import {
  BUCKET_BYTES, FEW, MANY, append, bucketMask, copySlot, extraBits, freeSlots, layout, remainderAt, setState, slots, stateOf, wayOf,
} from './bucket'
import { allocForFilter } from './memory'
import { HEADER, bucketAt, countOf, directoryBits, hashAt, leave, place, segmentBytes, setCount } from './segment-table'

/** Holds the hashes of a segment that find no place in their own buckets, while it is divided. */
let strays: usize = 0
let strayBytes: usize = 0

/** Memory for what `moveHashes` needs. False when there is none. */
export function reserveStrays(): bool {
  const bytes = <usize>(bucketMask + 1) * slots << 3
  if (bytes <= strayBytes) return true
  strays = allocForFilter(bytes)
  strayBytes = strays ? bytes : 0
  return strays != 0
}

/**
 * Moves the hashes of a segment from directory entry `entry` on (`isUpper`), or those before it, to `other`, and sets the end or
 * the beginning of its range there.
 */
export function moveHashes(segment: usize, entry: u32, isUpper: bool, other: usize): void {
  const shift = 64 - <u64>directoryBits
  const start = <u64>load<u32>(segment, 4) << shift
  const middle = <u64>entry << shift
  const end = layout == MANY
    ? divide(segment, other, start, middle, isUpper, MANY)
    : divide(segment, other, start, middle, isUpper, FEW)
  store<u32>(segment + (isUpper ? 8 : 4), entry)
  for (let p = strays; p < end; p += 8) {
    const h = load<u64>(p)
    const target = h < middle == isUpper ? segment : other
    setCount(target, countOf(target) + 1)
    if (!place(target, h)) leave(target)
  }
}

/** How many of a segment's hashes are at or above directory entry `entry`. */
export function countFrom(segment: usize, entry: u32): u32 {
  const shift: u64 = layout == MANY ? 27 : 32
  const start = <u64>load<u32>(segment, 4) << (64 - <u64>directoryBits)
  const middle = <u64>entry << (64 - <u64>directoryBits)
  const least = i32x4.splat(<i32>(start >> shift))
  const half = i32x4.splat(<i32>(middle - start >> shift))
  let count: u32 = 0
  const end = segment + segmentBytes()
  for (let bucket = segment + HEADER; bucket < end; bucket += BUCKET_BYTES) {
    const state = stateOf(bucket)
    const above = slotsFrom(v128.load(bucket), v128.load(bucket, 16), v128.load64_zero(bucket, 32), least, half)
    count += popcnt((state | state >> 10) & 1023 & above)
  }
  return count
}

// The slots whose 32 bits are at or above a middle, as bits: `half` is its distance from the segment's beginning, `least`.
// @ts-ignore: decorator
@inline
function slotsFrom(a: v128, b: v128, c: v128, least: v128, half: v128): u32 {
  return i32x4.bitmask(i32x4.ge_u(i32x4.sub(a, least), half))
    | i32x4.bitmask(i32x4.ge_u(i32x4.sub(b, least), half)) << 4
    | i32x4.bitmask(i32x4.ge_u(i32x4.sub(c, least), half)) << 8
}

// Of each 16 bits of a bucket's 64 bytes: the bit of the slot that they belong to, or bit 15 where they belong to none.
// @ts-ignore: decorator
@inline
function slotBits(quarter: u32, kind: u32): v128 {
  if (quarter == 0) return i16x8(1, 1, 2, 2, 4, 4, 8, 8)
  if (quarter == 1) return i16x8(16, 16, 32, 32, 64, 64, 128, 128)
  if (kind == MANY) return quarter == 2 ? i16x8(256, 256, 512, 512, 1, 2, 4, 8) : i16x8(16, 32, 64, 128, 256, 512, -32768, -32768)
  return quarter == 2 ? i16x8(256, 256, -32768, -32768, -32768, 1, 2, 4) : i16x8(8, 16, 32, 64, 128, 256, -32768, -32768)
}

// A quarter of a bucket in which all slots are zero but those of the bits `chosen`.
// @ts-ignore: decorator
@inline
function onlySlots(bytes: v128, chosen: u32, quarter: u32, kind: u32): v128 {
  const bits = slotBits(quarter, kind)
  return v128.and(bytes, i16x8.eq(v128.and(i16x8.splat(<i16>chosen), bits), bits))
}

// What the chosen slots have besides, where it lies in the third quarter.
// @ts-ignore: decorator
@inline
function extrasOf(extras: u64, chosen: u32, kind: u32): v128 {
  if (kind == MANY) return i64x2.splat(0)
  const bits = extras & extraBits(chosen)
  return i64x2.replace_lane(i64x2.splat(bits << 32), 1, bits >> 32)
}

// Divides the hashes of a segment: those on one side of `middle` go to `other`, into the slots that they have now where those are free. The
// hashes for which there is no room in their own buckets go to `strays`, whose end is returned.
// @ts-ignore: decorator
@inline
function divide(segment: usize, other: usize, start: u64, middle: u64, isUpper: bool, kind: u32): usize {
  const shift: u64 = kind == MANY ? 27 : 32
  const least = i32x4.splat(<i32>(start >> shift))
  const half = i32x4.splat(<i32>(middle - start >> shift))
  const below: u32 = isUpper ? 0 : 1023
  let strayEnd = strays
  let kept: u32 = 0
  let gone = countOf(other)
  for (let index: u32 = 0; index <= bucketMask; index++) {
    const bucket = bucketAt(segment, index)
    const target = bucketAt(other, index)
    const state = stateOf(bucket)
    const a = v128.load(bucket)
    const b = v128.load(bucket, 16)
    const c = v128.load(bucket, 32)
    const d = v128.load(bucket, 48)
    const extras = kind == MANY ? 0 : load<u64>(bucket, 36)
    const goes = slotsFrom(a, b, c, least, half) ^ below
    // The buckets before this one are divided already.
    for (let bits = state >> 10 & 1023; bits; bits &= bits - 1) {
      const slot = ctz(bits)
      const r = remainderAt(bucket, slot, kind)
      const way = wayOf(<u32>r)
      const isGoing = goes >> slot & 1
      const own = bucketAt(isGoing ? other : segment, index - way & bucketMask)
      const ownState = stateOf(own)
      if (way <= index && freeSlots(ownState, kind)) {
        append(own, ownState, r, 0, kind)
        gone += isGoing
        kept += isGoing ^ 1
      } else {
        store<u64>(strayEnd, hashAt(segment, bucket, slot, index))
        strayEnd += 8
      }
    }
    const stay = state & 1023 & ~goes
    const go = state & 1023 & goes
    const targetState = stateOf(target)
    const free = freeSlots(targetState, kind)
    const direct = go & free
    v128.store(target, v128.or(v128.load(target), onlySlots(a, direct, 0, kind)))
    v128.store(target, v128.or(v128.load(target, 16), onlySlots(b, direct, 1, kind)), 16)
    v128.store(target, v128.or(v128.load(target, 32), v128.or(onlySlots(c, direct, 2, kind), extrasOf(extras, direct, kind))), 32)
    v128.store(target, v128.or(v128.load(target, 48), onlySlots(d, direct, 3, kind)), 48)
    let left = free & ~direct
    for (let bits = go & ~direct; bits; bits &= bits - 1) {
      if (left) {
        copySlot(bucket, ctz(bits), target, ctz(left), kind)
        left &= left - 1
      } else {
        store<u64>(strayEnd, hashAt(segment, bucket, ctz(bits), index))
        strayEnd += 8
      }
    }
    setState(target, targetState | free & ~left)
    gone += popcnt(free & ~left)
    v128.store(bucket, onlySlots(a, stay, 0, kind))
    v128.store(bucket, onlySlots(b, stay, 1, kind), 16)
    v128.store(bucket, v128.or(onlySlots(c, stay, 2, kind), extrasOf(extras, stay, kind)), 32)
    v128.store(bucket, onlySlots(d, stay, 3, kind), 48)
    setState(bucket, stay)
    kept += popcnt(stay)
  }
  setCount(segment, kept)
  setCount(other, gone)
  return strayEnd
}
