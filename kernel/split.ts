// Moves a part of the range of a segment of the fingerprint table to another segment. A hash in its own bucket has the same bucket
// there: bucket by bucket the slots that go and those that stay are packed, four at a time. The hashes that were not in their own
// buckets find their places afterwards, as do all that go to a segment that is not empty.
import {
  BUCKET_BYTES, MANY, bucketMask, layout, packExtras, setState, slots, stateOf,
} from './bucket'
import { allocForFilter } from './memory'
import { HEADER, countOf, directoryBits, hashAt, indexOf, leave, place, segmentBytes, setCount } from './segment-table'

/** Holds the hashes of a segment that are not in their own buckets, while it is divided. */
let strays: usize = 0
let strayBytes: usize = 0
/** How bytes of four 32-bit lanes, and of four 16-bit lanes, move so that those of the bits of a number come first. */
const packWords: usize = memory.data(16 * 16, 16)
const packHalves: usize = memory.data(16 * 8, 16)

function makePacks(): void {
  for (let bits: u32 = 0; bits < 16; bits++) {
    memory.fill(packWords + (<usize>bits << 4), 0xff, 16)
    memory.fill(packHalves + (<usize>bits << 3), 0xff, 8)
    let at: usize = 0
    for (let lane: u32 = 0; lane < 4; lane++) {
      if (!(bits >> lane & 1)) continue
      store<u32>(packWords + (<usize>bits << 4) + (at << 2), 0x03020100 + lane * 0x04040404)
      store<u16>(packHalves + (<usize>bits << 3) + (at << 1), 0x0100 + lane * 0x0202)
      at++
    }
  }
}

/** Memory for what `splitBuckets` needs. False when there is none. */
export function reserveStrays(): bool {
  const bytes = <usize>(bucketMask + 1) * slots << 3
  if (bytes <= strayBytes) return true
  makePacks()
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
  const to = countOf(other) ? 0 : other
  const end = layout == MANY
    ? packSegment(segment, to, start, middle, isUpper, true)
    : packSegment(segment, to, start, middle, isUpper, false)
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

// Writes the slots of the bits `chosen` to the first slots of a bucket that is empty, as hashes that belong there. The slots are
// of 32 bits in a, b and c, and of 16 bits in d, e and f.
// @ts-ignore: decorator
@inline
function pack(to: usize, chosen: u32, a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, areMany: bool, extras: u64): void {
  const one = chosen & 15
  const two = chosen >> 4 & 15
  const three = chosen >> 8
  const second = <usize>popcnt(one)
  const third = second + <usize>popcnt(two)
  const last = <u32>third + popcnt(three)
  v128.store(to, i8x16.swizzle(a, v128.load(packWords + (<usize>one << 4))))
  v128.store(to + (second << 2), i8x16.swizzle(b, v128.load(packWords + (<usize>two << 4))))
  const ninth = i8x16.swizzle(c, v128.load(packWords + (<usize>three << 4)))
  const low = to + (areMany ? 40 : 42)
  if (areMany) v128.store64_lane(to + (third << 2), ninth, 0)
  else {
    v128.store32_lane(to + (third << 2), ninth, 0)
    // Six bytes: the low words come over the other two.
    store<u64>(to, packExtras(extras, chosen), 36)
  }
  v128.store64_lane(low, i8x16.swizzle(d, v128.load64_zero(packHalves + (<usize>one << 3))), 0)
  v128.store64_lane(low + (second << 1), i8x16.swizzle(e, v128.load64_zero(packHalves + (<usize>two << 3))), 0)
  const ninthLow = i8x16.swizzle(f, v128.load64_zero(packHalves + (<usize>three << 3)))
  if (areMany) v128.store32_lane(low + (third << 1), ninthLow, 0)
  else v128.store16_lane(low + (third << 1), ninthLow, 0)
  setState(to, <u32>(1 << last) - 1)
}

// Divides the hashes that are in their own buckets: those on one side of `middle` go to `other`, which is empty, or to `strays` when it
// is 0. The hashes that are not in their own buckets all go to `strays`, whose end is returned.
// @ts-ignore: decorator
@inline
function packSegment(segment: usize, other: usize, start: u64, middle: u64, isUpper: bool, areMany: bool): usize {
  const gap = other - segment
  const shift: u64 = areMany ? 27 : 32
  const least = i32x4.splat(<i32>(start >> shift))
  const half = i32x4.splat(<i32>(middle - start >> shift))
  const zero = i64x2.splat(0)
  let strayEnd = strays
  let kept: u32 = 0
  let gone: u32 = 0
  const end = segment + segmentBytes()
  for (let bucket = segment + HEADER; bucket < end; bucket += BUCKET_BYTES) {
    const state = stateOf(bucket)
    const low = bucket + (areMany ? 40 : 42)
    const a = v128.load(bucket)
    const b = v128.load(bucket, 16)
    const c = v128.load64_zero(bucket, 32)
    const d = v128.load64_zero(low)
    const e = v128.load64_zero(low, 8)
    const f = v128.load32_zero(low, 16)
    const extras = areMany ? 0 : load<u64>(bucket, 36)
    const above = slotsFrom(a, b, c, least, half)
    const go = state & 1023 & (isUpper ? above : ~above)
    const stay = state & 1023 & ~go
    for (let bits = state >> 10 & 1023 | (other ? 0 : go); bits; bits &= bits - 1) {
      store<u64>(strayEnd, hashAt(segment, bucket, ctz(bits), indexOf(segment, bucket)))
      strayEnd += 8
    }
    v128.store(bucket, zero)
    v128.store(bucket, zero, 16)
    v128.store(bucket, zero, 32)
    v128.store(bucket, zero, 48)
    pack(bucket, stay, a, b, c, d, e, f, areMany, extras)
    kept += popcnt(stay)
    if (!other) continue
    pack(bucket + gap, go, a, b, c, d, e, f, areMany, extras)
    gone += popcnt(go)
  }
  setCount(segment, kept)
  if (other) setCount(other, gone)
  return strayEnd
}
