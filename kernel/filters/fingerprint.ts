// Fingerprint: the 64-bit hashes themselves in open addressing, as Mercator kept checksums (in cen-2010). Errs
// towards "seen" only when two keys share all 64 bits: n/2^64 per query. The table grows by one segment at a time.
import { hashes, verdicts } from '../batch'
import { takesOne } from '../one'
import {
  BUCKET, HEADER, bucketOf, countHashes, countOf, createTable, directory, directoryBits, first, holds, isCrowded, isReady, last,
  nextBucket, relieve, segmentOf, setCount, setStuck, slotBytes, slotMask, slotsWith, total,
} from '../segment-table'

/**
 * Hashes probed together: one pass only touches their buckets, so that the cache misses overlap; one marks those that
 * are known, without a branch, and touches the next bucket where the own one is full; the last puts in the others.
 */
const GROUP: u32 = 128

let touched: u64 = 0
/** Where to look for each of a group. */
const addresses: usize = memory.data(128 * 4, 16)
/** Which of a group were not in their own bucket. */
const unknown: usize = memory.data(128 * 4, 16)
/** The buckets to look in for those whose own was full. */
const overflow: usize = memory.data(128 * 4, 16)
const crowded: usize = memory.data(128 * 4, 16)
/** An empty filter. False when there is no room. */
export function fingerprintCreate(): bool {
  takesOne(fingerprintAdd.index, fingerprintHas.index)
  return createTable()
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
    if (!isReady()) return from
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
      countHashes(1)
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
      if (isCrowded(segment) && !relieve(segment)) setStuck(segment)
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
  const lastBucket = slotMask >> 3
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
        if (((at - home) & lastBucket) >= ((at - here) & lastBucket)) {
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
    countHashes(-1)
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
