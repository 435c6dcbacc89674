// Fingerprint: the 64-bit hashes themselves in open addressing, as Mercator kept checksums (in cen-2010). Errs
// towards "seen" only when two keys share all 64 bits: n/2^64 a query. Grows one segment at a time: the hash's
// top bits choose a segment through a directory; a full segment gives three fifths of its range to a new one.
// Uneven halves keep the segments out of step, so memory grows smoothly instead of doubling at once.
import { alloc, allocForFilter, release } from '../memory'
import { hashes, verdicts } from '../batch'

/** Slots of a bucket: one cache line. A hash lies in its own bucket or, when that is full, in the next with room. */
const BUCKET: u32 = 8
/** Slots of a grown segment: 256 KiB of hashes. The first segment starts small and doubles up to this. */
const SEGMENT_SLOTS: u32 = 32768
const FIRST_SLOTS: u32 = 2048
/** A segment's header: u32 count (see `counts`), u32 first and u32 last-plus-one directory entry. */
const HEADER: usize = 64
/**
 * Hashes probed together: one pass only touches their buckets, so that the cache misses overlap; one marks those that
 * are known, without a branch, and touches the next bucket where the own one is full; the last puts in the others.
 */
const GROUP: u32 = 128

/** Hashes that agree in more than these first bits share a segment, however crowded it is. */
const MOST_DIRECTORY_BITS: u32 = 27

let directory: usize = 0
let directoryBits: u32 = 0
/** Directory entries [first, last) have segments; the rest of the hashes belong to other instances. */
let first: u32 = 0
let last: u32 = 0
/** Slots of every segment less one: all are of one size. The first is alone until it has grown to full size. */
let slotMask: u32 = FIRST_SLOTS - 1
let total: u64 = 0
/** Segments that moved to another instance, linked through their first word, to be used again. */
let spare: usize = 0
let touched: u64 = 0
/** Where to look for each of a group. */
const addresses: usize = memory.data(128 * 4, 16)
/** Which of a group were not in their own bucket. */
const unknown: usize = memory.data(128 * 4, 16)
/** The buckets to look in for those whose own was full. */
const overflow: usize = memory.data(128 * 4, 16)
/**
 * How many hashes each segment holds, by the place of its first byte in steps of 256 KiB, where no two can begin: side by
 * side they stay in the cache. The header has the count only when the segment is on its way out.
 */
const counts: usize = memory.data(16384 * 4, 64)
/** A crowded segment for which there was no room: the next add begins with it. */
let stuck: usize = 0
/** Holds those hashes of a segment that lie outside their own bucket, while it is divided. */
let strays: usize = 0
const crowded: usize = memory.data(128 * 4, 16)
/** Holds one bucket while its segment is divided. */
const emptied: usize = memory.data(64, 64)

// @ts-ignore: decorator
@inline
function segmentOf(h: u64): usize {
  return <usize>load<u32>(directory + (<usize>(h >> (64 - <u64>directoryBits)) << 2))
}

// @ts-ignore: decorator
@inline
function bucketOf(segment: usize, h: u64): usize {
  return segment + HEADER + (<usize>(<u32>h & slotMask & ~(BUCKET - 1)) << 3)
}

// Which of a bucket's eight slots hold `wanted`, as bits.
// @ts-ignore: decorator
@inline
function slotsWith(bucket: usize, wanted: v128): u32 {
  return i64x2.bitmask(i64x2.eq(v128.load(bucket), wanted))
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 16), wanted)) << 2
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 32), wanted)) << 4
    | i64x2.bitmask(i64x2.eq(v128.load(bucket, 48), wanted)) << 6
}

// Whether any of a bucket's eight slots holds `wanted`.
// @ts-ignore: decorator
@inline
function holds(bucket: usize, wanted: v128): bool {
  return v128.any_true(
    v128.or(
      v128.or(i64x2.eq(v128.load(bucket), wanted), i64x2.eq(v128.load(bucket, 16), wanted)),
      v128.or(i64x2.eq(v128.load(bucket, 32), wanted), i64x2.eq(v128.load(bucket, 48), wanted)),
    ),
  )
}

// @ts-ignore: decorator
@inline
function countOf(segment: usize): u32 {
  return load<u32>(counts + (segment >> 18 << 2))
}

// @ts-ignore: decorator
@inline
function setCount(segment: usize, count: u32): void {
  store<u32>(counts + (segment >> 18 << 2), count)
}

// @ts-ignore: decorator
@inline
function isCrowded(segment: usize): bool {
  return countOf(segment) > slotMask - (slotMask >> 3)
}

// @ts-ignore: decorator
@inline
function slotBytes(): usize {
  return (<usize>slotMask + 1) << 3
}

function newSegment(from: u32, to: u32): usize {
  let segment = spare
  if (segment) {
    spare = <usize>load<u32>(segment)
    memory.fill(segment, 0, HEADER + slotBytes())
  } else {
    segment = allocForFilter(HEADER + slotBytes())
    if (!segment) return 0
  }
  store<u32>(segment, from, 4)
  store<u32>(segment, to, 8)
  setCount(segment, 0)
  return segment
}

/** An empty filter. False when there is no room. */
export function fingerprintCreate(): bool {
  directoryBits = 4
  directory = alloc(4 << directoryBits)
  if (!directory) return false
  last = 1 << directoryBits
  const segment = newSegment(0, last)
  if (!segment) return false
  for (let i: u32 = 0; i < 1 << directoryBits; i++) store<u32>(directory + (<usize>i << 2), <u32>segment)
  return true
}

// @ts-ignore: decorator
@inline
function nextBucket(segment: usize, bucket: usize): usize {
  bucket += BUCKET << 3
  return bucket == segment + HEADER + slotBytes() ? segment + HEADER : bucket
}

// Puts a hash that is known to be absent into a segment that has room.
function place(segment: usize, h: u64): void {
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

function refineDirectory(): bool {
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
function relieve(segment: usize): bool {
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

// @ts-ignore: decorator
@inline
function remembered(h: u64): u64 {
  return h ? h : 1 // 0 marks an empty slot
}

function touchGroup(from: u32, to: u32): void {
  let sum: u64 = 0
  for (let i = from; i < to; i++) {
    const h = remembered(load<u64>(hashes + (<usize>i << 3)))
    const bucket = bucketOf(segmentOf(h), h)
    store<u32>(addresses + (<usize>(i - from) << 2), <u32>bucket)
    sum += load<u64>(bucket)
  }
  touched = sum
}

// Verdict 0 for those in their own bucket, 1 for the others, which are listed in `unknown`: they may be new, repeat
// another of the group, or lie in a later bucket. Returns how many they are. Where the own bucket is full, the search
// is to go on in the next one; the last of a segment is left to the search itself.
function markKnown(from: u32, to: u32): u32 {
  let count: u32 = 0
  let overflowed: usize = 0
  for (let i = from; i < to; i++) {
    const h = remembered(load<u64>(hashes + (<usize>i << 3)))
    const address = addresses + (<usize>(i - from) << 2)
    const bucket = <usize>load<u32>(address)
    const isUnknown = <u32>!holds(bucket, i64x2.splat(h))
    store<u8>(verdicts + <usize>i, <u8>isUnknown)
    store<u32>(unknown + (<usize>count << 2), i)
    count += isUnknown
    const isFull = <u32>(load<u64>(bucket, 56) != 0)
    const isLast = <u32>(((<u32>h | (BUCKET - 1)) & slotMask) == slotMask)
    const goesOn = <usize>(isUnknown & isFull & (isLast ^ 1))
    const next = bucket + (goesOn << 6)
    store<u32>(address, <u32>next)
    store<u32>(overflow + (overflowed << 2), <u32>next)
    overflowed += goesOn
  }
  let sum: u64 = 0
  for (let i: usize = 0; i < overflowed; i++) sum += load<u64>(<usize>load<u32>(overflow + (i << 2)))
  touched = sum
  return count
}

// Sets `addresses`, `unknown` and the verdicts of a group. Returns how many are unknown. A single one is not asked for
// before it is put in: there is nothing to overlap.
// @ts-ignore: decorator
@inline
function lookFor(from: u32, to: u32): u32 {
  if (to - from > 1) {
    touchGroup(from, to)
    return markKnown(from, to)
  }
  const h = remembered(load<u64>(hashes + (<usize>from << 3)))
  store<u32>(addresses, <u32>bucketOf(segmentOf(h), h))
  store<u32>(unknown, from)
  store<u8>(verdicts + <usize>from, 1)
  return 1
}

// The empty slot where `h` would go, looking from `bucket` on; 0 when it is there already.
// @ts-ignore: decorator
@inline
function vacancy(bucket: usize, h: u64): usize {
  while (!holds(bucket, i64x2.splat(h))) {
    const empty = slotsWith(bucket, i64x2.splat(0))
    if (empty) return bucket + (<usize>ctz(empty) << 3)
    bucket = nextBucket(segmentOf(h), bucket)
  }
  return 0
}

/** Test-and-set of hashes [from, n). Returns how many of the batch are done: fewer than `n` when it is full. */
export function fingerprintAdd(from: u32, n: u32): u32 {
  while (from < n) {
    if (stuck && isCrowded(stuck) && !relieve(stuck)) return from
    stuck = 0
    const to = min(from + GROUP, n)
    const left = lookFor(from, to)
    let waiting: u32 = 0
    for (let j: u32 = 0; j < left; j++) {
      const i = load<u32>(unknown + (<usize>j << 2))
      const h = remembered(load<u64>(hashes + (<usize>i << 3)))
      const slot = vacancy(<usize>load<u32>(addresses + (<usize>(i - from) << 2)), h)
      if (!slot) {
        store<u8>(verdicts + <usize>i, 0)
        continue
      }
      store<u64>(slot, h)
      total++
      const segment = segmentOf(h)
      setCount(segment, countOf(segment) + 1)
      if (isCrowded(segment)) {
        store<u32>(crowded + (<usize>waiting << 2), <u32>segment)
        waiting++
      }
    }
    from = to
    for (let i: u32 = 0; i < waiting; i++) {
      const segment = <usize>load<u32>(crowded + (<usize>i << 2))
      // A segment may be listed more than once; a first segment that was doubled has left its place.
      if (i && <u32>segment == load<u32>(crowded + (<usize>(i - 1) << 2))) continue
      if (isCrowded(segment) && !relieve(segment)) stuck = segment
    }
  }
  return n
}

/** Asks for hashes [from, n), marks nothing: verdict 0 where one is remembered. */
export function fingerprintHas(from: u32, n: u32): void {
  while (from < n) {
    const to = min(from + GROUP, n)
    const left = lookFor(from, to)
    for (let j: u32 = 0; j < left; j++) {
      const i = load<u32>(unknown + (<usize>j << 2))
      const h = remembered(load<u64>(hashes + (<usize>i << 3)))
      const slot = vacancy(<usize>load<u32>(addresses + (<usize>(i - from) << 2)), h)
      store<u8>(verdicts + <usize>i, <u8>(slot != 0))
    }
    from = to
  }
}

// Empties a slot. What had overflowed past its full bucket moves up, so that no search ends too early.
function clearSlot(segment: usize, slot: usize): void {
  const slots = segment + HEADER
  const last = slotMask >> 3
  let bucket = slots + ((slot - slots) & ~63)
  while (true) {
    // Buckets fill from the left: the last hash of the bucket takes the place, which leaves a gap at its end.
    const empty = slotsWith(bucket, i64x2.splat(0))
    const end = bucket + (<usize>(empty ? ctz(empty) : BUCKET) << 3) - 8
    store<u64>(slot, load<u64>(end))
    store<u64>(end, 0)
    if (empty) return
    // The bucket was full: look further on for a hash that belongs in it or before it.
    slot = end
    const here = <u32>((bucket - slots) >> 6)
    let next = bucket
    let borrowed: usize = 0
    while (!borrowed) {
      next = nextBucket(segment, next)
      const at = <u32>((next - slots) >> 6)
      for (let p = next; p < next + 64; p += 8) {
        const h = load<u64>(p)
        if (!h) return
        const home = (<u32>h & slotMask) >> 3
        if (((at - home) & last) >= ((at - here) & last)) {
          borrowed = p
          break
        }
      }
    }
    store<u64>(slot, load<u64>(borrowed))
    slot = borrowed
    bucket = next
  }
}

/** Forgets hashes [0, n): verdict 0 where one was remembered. */
export function fingerprintDelete(n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const h = remembered(load<u64>(hashes + (<usize>i << 3)))
    const segment = segmentOf(h)
    let bucket = bucketOf(segment, h)
    const wanted = i64x2.splat(h)
    while (!holds(bucket, wanted) && !slotsWith(bucket, i64x2.splat(0))) bucket = nextBucket(segment, bucket)
    const found = slotsWith(bucket, wanted)
    store<u8>(verdicts + <usize>i, <u8>!found)
    if (!found) continue
    const slot = bucket + (<usize>ctz(found) << 3)
    total--
    setCount(segment, countOf(segment) - 1)
    clearSlot(segment, slot)
  }
}

export function fingerprintCount(): f64 {
  return <f64>total
}

/** Bytes held by segments and directory. */
export function fingerprintBytes(): f64 {
  let bytes: f64 = <f64>(4 << directoryBits)
  for (let at = first; at < last; ) {
    const segment = <usize>load<u32>(directory + (<usize>at << 2))
    bytes += <f64>(HEADER + slotBytes())
    at = load<u32>(segment, 8)
  }
  return bytes
}

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
    total -= countOf(segment)
    store<u32>(segment, <u32>spare)
    spare = segment
  }
  last = middle
  stuck = 0
}

/** In an instance without a filter: segments will have this many slots. */
export function fingerprintAdoptSlots(slots: u32): void {
  slotMask = slots - 1
}

/** Makes a directory of 2^bits entries, of which [from, to) will be covered by the segments taken. */
export function fingerprintAdopt(bits: u32, from: u32, to: u32): bool {
  directoryBits = bits
  first = from
  last = to
  directory = alloc(4 << bits)
  return directory != 0
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
  if (!spare) return allocForFilter(HEADER + slotBytes())
  const segment = spare
  spare = <usize>load<u32>(segment)
  return segment
}

/** Directory entries from `from` on will have segments: those before the first are taken next. */
export function fingerprintSetFirst(from: u32): void {
  first = from
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
  total += load<u32>(segment)
}
