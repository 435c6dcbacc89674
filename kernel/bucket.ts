// A bucket of the fingerprint table: one cache line. A slot has 48 bits of a hash: 32 of them lie side by side, to be compared
// four at a time, and the other 16 behind them. The bits that the bucket's number and the segment tell are not stored.
// In a small table the places tell fewer bits: there buckets have fewer slots, and what the others leave holds the rest.

export const BUCKET_BYTES: usize = 64
const STATE: usize = 60

/** The layouts: of a single segment that doubles, of segments of full size while they are few, and when they are many. */
export const FIRST: u32 = 0
export const FEW: u32 = 1
export const MANY: u32 = 2
/** The first segment has 2^8 buckets and doubles until it has full size, 2^11. */
const FIRST_BITS: u32 = 8
export const FULL_BITS: u32 = 11
/** Top bits of a hash that its segment tells where there are many, none of which has more than 1/32 of the range. */
export const TOLD_BITS: u32 = 5
const STORED_BITS: u32 = 48
/** Instead of a layout, to functions that are compiled for each: the layout of the table, whichever it is. */
export const ANY: u32 = 3

/** One layout for all segments of an instance. */
export let layout: u32 = FIRST
/** Slots of a bucket: 8, 9 or 10. */
export let slots: u32 = 8
/** Low bits of a hash that are the number of its own bucket, and buckets of a segment less one. */
export let homeBits: u32 = FIRST_BITS
export let bucketMask: u32 = (1 << FIRST_BITS) - 1
/** Bits of a hash between the 16 and the 32 that a slot has besides: 6 to 8, 5 or 0. */
let extraMask: u64 = 255
let highShift: u64 = 24
/** Hashes of a segment from which on it is crowded: 7/8 of its slots. */
export let crowd: u32 = 7 << FIRST_BITS
let slotMask: u32 = 255
/** Where the 16 bits of the slots begin. Of 9 slots there are six bytes before them for what the slots have besides. */
let lowWords: usize = 40

export function setLayout(kind: u32, bits: u32): void {
  layout = kind
  slots = 8 + kind
  homeBits = bits
  bucketMask = (1 << bits) - 1
  slotMask = (1 << slots) - 1
  lowWords = kind == FEW ? 42 : 40
  const extraBits = 64 - STORED_BITS - bits - (kind == MANY ? TOLD_BITS : 0)
  extraMask = (1 << extraBits) - 1
  highShift = 16 + extraBits
  crowd = slots * 7 << bits - 3
}

// The state of a bucket. Bits 0 to 9: slots with hashes that belong here; 10 to 19: slots with hashes whose own bucket is
// another; 20 to 27: marks of hashes that belong here and are in another. A mark may stay behind when its hash goes.
// @ts-ignore: decorator
@inline
export function stateOf(bucket: usize): u32 {
  return load<u32>(bucket, STATE)
}

// @ts-ignore: decorator
@inline
export function setState(bucket: usize, state: u32): void {
  store<u32>(bucket, state, STATE)
}

/** The slots that are free, as bits. */
// @ts-ignore: decorator
@inline
export function freeSlots(state: u32, kind: u32 = ANY): u32 {
  return ~(state | state >> 10) & (kind == ANY ? slotMask : kind == MANY ? 1023 : 511)
}

/**
 * The part of a hash that its own bucket does not tell, from below: 16 bits, those that a slot has besides, 32 bits, and those
 * that the segment tells.
 */
// @ts-ignore: decorator
@inline
export function remainder(h: u64, kind: u32 = ANY): u64 {
  return h >> (kind == ANY ? <u64>homeBits : <u64>FULL_BITS)
}

/** The buckets from a hash's own one to the other in which it can be. */
// @ts-ignore: decorator
@inline
export function wayOf(r: u32): u32 {
  return (r & 127) + 1
}

// @ts-ignore: decorator
@inline
export function markOf(r: u32): u32 {
  return 1 << 20 << (r >> 7 & 7)
}

// @ts-ignore: decorator
@inline
function extraAt(bucket: usize, slot: u32, kind: u32 = ANY): u64 {
  if (kind == MANY || (kind == ANY && layout == MANY)) return 0
  if (kind == ANY && layout == FIRST) return load<u8>(bucket + <usize>slot, 32)
  return load<u64>(bucket, 36) >> <u64>slot * 5 & 31
}

// @ts-ignore: decorator
@inline
function setExtra(bucket: usize, slot: u32, extra: u64, kind: u32): void {
  if (kind != FEW && layout == FIRST) store<u8>(bucket + <usize>slot, extra, 32)
  else {
    const shift = <u64>slot * 5
    store<u64>(bucket, load<u64>(bucket, 36) & ~(31 << shift) | extra << shift, 36)
  }
}

// The slots whose 32 bits are those of `r`, as bits; above bit 9 anything.
// @ts-ignore: decorator
@inline
function candidates(bucket: usize, r: u64, kind: u32): u32 {
  const wanted = i32x4.splat(<i32>(r >> highShiftOf(kind)))
  const eight = i16x8.narrow_i32x4_s(i32x4.eq(v128.load(bucket), wanted), i32x4.eq(v128.load(bucket, 16), wanted))
  const two = i32x4.eq(v128.load64_zero(bucket, 32), wanted)
  return i8x16.bitmask(i8x16.narrow_i16x8_s(eight, i16x8.narrow_i32x4_s(two, two)))
}

// @ts-ignore: decorator
@inline
export function lowWordAt(bucket: usize, slot: u32, kind: u32 = ANY): u32 {
  return load<u16>(bucket + lowWordsOf(kind) + (<usize>slot << 1))
}

// @ts-ignore: decorator
@inline
function lowWordsOf(kind: u32): usize {
  return kind == MANY ? 40 : kind == FEW ? 42 : lowWords
}

// @ts-ignore: decorator
@inline
function highShiftOf(kind: u32): u64 {
  return kind == MANY ? 16 : kind == FEW ? 21 : highShift
}

// @ts-ignore: decorator
@inline
export function highWordAt(bucket: usize, slot: u32): u32 {
  return load<u32>(bucket + (<usize>slot << 2))
}

/** The slot of those in `among` that has the remainder `r`; -1: none has. */
export function slotWith(bucket: usize, r: u64, among: u32): i32 {
  for (let bits = candidates(bucket, r, ANY) & among; bits; bits &= bits - 1) {
    const slot = ctz(bits)
    if (lowWordAt(bucket, slot) == <u32>(r & 0xffff) && (layout == MANY || extraAt(bucket, slot) == (r >> 16 & extraMask))) {
      return slot
    }
  }
  return -1
}

/**
 * Whether one of the slots in `among` has the remainder `r`: 1 or 0, without a branch but for rare cases.
 */
// @ts-ignore: decorator
@inline
export function holds(bucket: usize, r: u64, among: u32, kind: u32 = ANY): u32 {
  const bits = candidates(bucket, r, kind) & among
  if (bits & (bits - 1)) return <u32>(slotWith(bucket, r, among) >= 0)
  const slot = ctz(bits | 512)
  const isEqual = <u32>(bits != 0) & <u32>(lowWordAt(bucket, slot, kind) == <u32>(r & 0xffff))
  if (kind == MANY || (kind == ANY && layout == MANY)) return isEqual
  if (kind == FEW) return isEqual & <u32>(((load<u64>(bucket, 36) >> <u64>slot * 5 ^ r >> 16) & 31) == 0)
  return isEqual & <u32>(extraAt(bucket, slot) == (r >> 16 & extraMask))
}

/** Slots of a bucket, of a layout. */
// @ts-ignore: decorator
@inline
export function slotsOf(kind: u32): u32 {
  return kind == MANY ? 10 : kind == FEW ? 9 : slots
}

/** Writes a remainder into a slot; the state stays as it is. */
// @ts-ignore: decorator
@inline
export function fillSlot(bucket: usize, slot: u32, r: u64, kind: u32): void {
  store<u32>(bucket + (<usize>slot << 2), <u32>(r >> highShiftOf(kind)))
  if (kind == FEW) setExtra(bucket, slot, r >> 16 & 31, FEW)
  else if (kind == ANY && layout != MANY) setExtra(bucket, slot, r >> 16 & extraMask, ANY)
  store<u16>(bucket + lowWordsOf(kind) + (<usize>slot << 1), <u32>r)
}

/**
 * Puts a remainder into a bucket that has a free slot; `from` is the first bit of the state for it: 0 in the hash's own bucket,
 * else 10.
 */
// @ts-ignore: decorator
@inline
export function append(bucket: usize, state: u32, r: u64, from: u32, kind: u32 = ANY): void {
  const slot = ctz(freeSlots(state, kind))
  fillSlot(bucket, slot, r, kind)
  setState(bucket, state | 1 << from << slot)
}

/** The remainder in a slot, as far as it is stored. */
// @ts-ignore: decorator
@inline
export function remainderAt(bucket: usize, slot: u32, kind: u32 = ANY): u64 {
  const high = <u64>highWordAt(bucket, slot) << highShiftOf(kind)
  return high | extraAt(bucket, slot, kind) << 16 | <u64>lowWordAt(bucket, slot, kind)
}

/** Copies a slot to a free one of another bucket; the states stay as they are. */
// @ts-ignore: decorator
@inline
export function copySlot(bucket: usize, slot: u32, to: usize, free: u32, kind: u32): void {
  store<u32>(to + (<usize>free << 2), highWordAt(bucket, slot))
  store<u16>(to + lowWordsOf(kind) + (<usize>free << 1), lowWordAt(bucket, slot, kind))
  if (kind == FEW || (kind == ANY && layout != MANY)) setExtra(to, free, extraAt(bucket, slot, kind), kind)
}

/** The bits of what the slots of the bits `chosen` of 9 have besides. */
// @ts-ignore: decorator
@inline
export function extraBits(chosen: u32): u64 {
  let bits: u64 = chosen
  bits = (bits | bits << 32) & 0x100000000ff
  bits = (bits | bits << 16) & 0x10000f0000f
  bits = (bits | bits << 8) & 0x100c0300c03
  bits = (bits | bits << 4) & 0x10842108421
  return bits * 31
}

/** Changes a bucket from the layout of few segments to that of many. */
export function widen(bucket: usize): void {
  const extras = load<u64>(bucket, 36)
  for (let slot: usize = 0; slot < 9; slot++) {
    const word = bucket + (slot << 2)
    const low = bucket + (slot << 1)
    store<u32>(word, load<u32>(word) << 5 | <u32>(extras >> <u64>slot * 5) & 31)
    store<u16>(low, load<u16>(low, 42), 40)
  }
  store<u32>(bucket, 0, 36)
  store<u16>(bucket, 0, 58)
}

/** Empties a slot. */
export function clearSlot(bucket: usize, slot: u32): void {
  fillSlot(bucket, slot, 0, ANY)
  setState(bucket, stateOf(bucket) & ~(0x401 << slot))
}

/** Whether nothing lies in the slots that are not in use, and the state is one that can be. */
export function isTidy(bucket: usize): bool {
  const state = stateOf(bucket)
  if (state & state >> 10 & 1023 || state >> 28 || (state | state >> 10) & 1023 & ~slotMask) return false
  for (let bits = freeSlots(state); bits; bits &= bits - 1) if (remainderAt(bucket, ctz(bits))) return false
  return layout != FEW || !(load<u64>(bucket, 36) >> 45 & 7)
}
