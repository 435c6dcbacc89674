// Names of at most sixteen bytes that a profile drops: parameters, beginnings of parameters and index pages. The lists
// are those of `src/canonical/`, which the keyer writes here; a name is two words, padded with zeros.

/** Kinds of names. */
export const PARAMETER: u32 = 1
export const PAGE: u32 = 2

/** The longest name. */
export const NAME_BYTES: usize = 16

// A table with open addressing, at most half full: two words and the kind, or kind 0.
const SLOTS: u32 = 256
const SLOT_BYTES: usize = 24
const slots: usize = memory.data(256 * 24, 16)
let names: u32 = 0

// Beginnings: two words, and two that mask a name to as many bytes.
const MOST_BEGINNINGS: u32 = 32
const BEGINNING_BYTES: usize = 32
const beginnings: usize = memory.data(32 * 32, 16)
let beginningCount: u32 = 0

/** Which first bytes names of either kind and beginnings have, of 64: most names need no more than this. */
let parameterFirsts: u64 = 0
let pageFirsts: u64 = 0
let beginningFirsts: u64 = 0

// @ts-ignore: decorator
@inline
function firstBit(lo: u64): u64 {
  return (<u64>1) << (lo & 63)
}

// @ts-ignore: decorator
@inline
function slotOf(kind: u32, lo: u64, hi: u64): u32 {
  return <u32>(((lo ^ hi * 0x9e3779b97f4a7c15) + <u64>kind) * 0xff51afd7ed558ccd >> 56)
}

/** The low `size` bytes of a word; `size` may be past 8. */
// @ts-ignore: decorator
@inline
export function maskOf(size: usize): u64 {
  return size < 8 ? ((<u64>1) << (<u64>size << 3)) - 1 : ~0
}

/** Drops all names. */
export function clearNames(): void {
  memory.fill(slots, 0, <usize>SLOTS * SLOT_BYTES)
  names = 0
  beginningCount = 0
  parameterFirsts = 0
  pageFirsts = 0
  beginningFirsts = 0
}

/** Adds a name of some kind. False: the table is full. */
export function addName(kind: u32, lo: u64, hi: u64): bool {
  if (names == SLOTS >> 1) return false
  let slot = slotOf(kind, lo, hi)
  while (load<u32>(slots + <usize>slot * SLOT_BYTES, 16)) slot = slot + 1 & SLOTS - 1
  const at = slots + <usize>slot * SLOT_BYTES
  store<u64>(at, lo)
  store<u64>(at, hi, 8)
  store<u32>(at, kind, 16)
  names++
  if (kind == PARAMETER) parameterFirsts |= firstBit(lo)
  else pageFirsts |= firstBit(lo)
  return true
}

/** Adds the first `size` bytes of the parameters that are dropped. False: there are too many. */
export function addBeginning(lo: u64, hi: u64, size: u32): bool {
  if (beginningCount == MOST_BEGINNINGS) return false
  const at = beginnings + <usize>beginningCount * BEGINNING_BYTES
  store<u64>(at, lo)
  store<u64>(at, hi, 8)
  store<u64>(at, maskOf(size), 16)
  store<u64>(at, size > 8 ? maskOf(size - 8) : 0, 24)
  beginningCount++
  beginningFirsts |= firstBit(lo)
  return true
}

function isName(kind: u32, lo: u64, hi: u64): bool {
  let slot = slotOf(kind, lo, hi)
  while (true) {
    const at = slots + <usize>slot * SLOT_BYTES
    const found = load<u32>(at, 16)
    if (!found) return false
    if (found == kind && load<u64>(at) == lo && load<u64>(at, 8) == hi) return true
    slot = slot + 1 & SLOTS - 1
  }
}

function hasBeginning(lo: u64, hi: u64): bool {
  for (let i: u32 = 0; i < beginningCount; i++) {
    const at = beginnings + <usize>i * BEGINNING_BYTES
    if ((lo & load<u64>(at, 16)) == load<u64>(at) && (hi & load<u64>(at, 24)) == load<u64>(at, 8)) return true
  }
  return false
}

/** Whether a parameter whose name has `size` bytes, the first sixteen of them given, is dropped. */
// @ts-ignore: decorator
@inline
export function isDropped(lo: u64, hi: u64, size: usize): bool {
  const first = firstBit(lo)
  if (beginningFirsts & first && hasBeginning(lo, hi)) return true
  return (parameterFirsts & first) != 0 && size <= NAME_BYTES && isName(PARAMETER, lo, hi)
}

/** Whether a page whose name has at most sixteen bytes is an index. */
// @ts-ignore: decorator
@inline
export function isIndexPage(lo: u64, hi: u64): bool {
  return (pageFirsts & firstBit(lo)) != 0 && isName(PAGE, lo, hi)
}

/** Eight bytes with capitals in lower case. */
// @ts-ignore: decorator
@inline
export function lowerCase(word: u64): u64 {
  const v = i64x2.splat(<i64>word)
  const letters = i8x16.lt_u(i8x16.sub(v, i8x16.splat(0x41)), i8x16.splat(26))
  return <u64>i64x2.extract_lane(v128.or(v, v128.and(letters, i8x16.splat(0x20))), 0)
}
