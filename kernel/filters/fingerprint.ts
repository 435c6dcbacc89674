// Fingerprint: 64-bit hashes in a table, as Mercator kept checksums (in cen-2010). Of each hash only the bits are stored
// that its place in the table does not tell. Errs towards "seen" only when two keys share all 64 bits: n/2^64
// per query. The table grows by one segment at a time.
import { ANY, FEW, MANY, append, bucketMask, crowd, freeSlots, holds, layout, markOf, remainder, setState, stateOf } from '../bucket'
import { hashes, verdicts } from '../batch'
import { isCrowded, isReady, relieve, setStuck } from '../growth'
import { takesOne } from '../one'
import {
  MOST_EXILES, alternative, bucketOf, bucketWith, countHashes, countOf, createTable, directoryBits, exile, exileCount, exileOf, first, homeless, last,
  otherBucket, placeElsewhere, recall, remove, segmentAt, segmentBytes, segmentOf, setCount, total,
} from '../segment-table'

/**
 * Hashes probed together: one pass only touches their buckets, so that the cache misses overlap; one marks those that
 * are known, without a branch, and touches the other bucket where the search goes on; the last puts in the others.
 */
const GROUP: u32 = 128

let touched: u64 = 0
/** The own bucket of each of a group, and its state when it was searched. */
const addresses: usize = memory.data(128 * 4, 16)
const states: usize = memory.data(128 * 4, 16)
/** Which of a group were not in their own bucket. */
const unknown: usize = memory.data(128 * 4, 16)
/** The other buckets of those that may be there, or will go there. */
const overflow: usize = memory.data(128 * 4, 16)
/** Those whose two buckets are full. */
const deferred: usize = memory.data(128 * 4, 16)
/** The unknown whose own bucket has a free slot, and of which none is in another: the usual case of a new one. */
const plain: usize = memory.data(128 * 4, 16)
let plainCount: usize = 0
const crowded: usize = memory.data(128 * 4, 16)

/** An empty filter. False when there is no room. */
export function fingerprintCreate(): bool {
  takesOne(fingerprintAdd.index, fingerprintHas.index)
  return createTable()
}

// Hash 0 is remembered as 1, as in the frozen filters, where 0 is no hash.
// @ts-ignore: decorator
@inline
function remembered(i: u32): u64 {
  const h = load<u64>(hashes + (<usize>i << 3))
  return h ? h : 1
}

// @ts-ignore: decorator
@inline
function isExiled(h: u64): bool {
  return exileCount != 0 && exileOf(h) >= 0
}

// Verdict 0 for those of a group that are in their own bucket, 1 for the others: they may be new, repeat another of the group, or
// be in their other bucket. Those that may be there or, with `goes`, will have to go there are listed in `unknown`, the others,
// with `goes`, in `plain`. Returns how many are in `unknown`.
// @ts-ignore: decorator
@inline
function markKnown(from: u32, to: u32, goes: bool, kind: u32): u32 {
  let sum: u64 = 0
  for (let i = from; i < to; i++) {
    const h = remembered(i)
    const bucket = bucketOf(segmentOf(h), h, kind)
    store<u32>(addresses + (<usize>(i - from) << 2), <u32>bucket)
    sum += load<u64>(bucket)
  }
  touched = sum
  let count: usize = 0
  let simple: usize = 0
  for (let i = from; i < to; i++) {
    const r = remainder(remembered(i), kind)
    const bucket = <usize>load<u32>(addresses + (<usize>(i - from) << 2))
    const state = stateOf(bucket)
    const isUnknown = holds(bucket, r, state & 1023, kind) ^ 1
    store<u8>(verdicts + <usize>i, <u8>isUnknown)
    store<u32>(unknown + (count << 2), i)
    if (goes) {
      const goesOn = <u32>!freeSlots(state, kind) | isMarked(state, r)
      store<u32>(states + (<usize>(i - from) << 2), state)
      store<u32>(plain + (simple << 2), i)
      simple += <usize>(isUnknown & (goesOn ^ 1))
      count += <usize>(isUnknown & goesOn)
    } else {
      count += <usize>isUnknown
    }
  }
  plainCount = simple
  return <u32>count
}

// One function for each layout, called through the module's table: the platform compiles only those that are used.
function newOfFirst(from: u32, to: u32): u32 {
  return markKnown(from, to, true, ANY)
}

function newOfFew(from: u32, to: u32): u32 {
  return markKnown(from, to, true, FEW)
}

function newOfMany(from: u32, to: u32): u32 {
  return markKnown(from, to, true, MANY)
}

function seenOfFirst(from: u32, to: u32): u32 {
  return markKnown(from, to, false, ANY)
}

function seenOfFew(from: u32, to: u32): u32 {
  return markKnown(from, to, false, FEW)
}

function seenOfMany(from: u32, to: u32): u32 {
  return markKnown(from, to, false, MANY)
}

// @ts-ignore: decorator
@inline
function markNew(from: u32, to: u32): u32 {
  const mark = layout == MANY ? newOfMany.index : layout == FEW ? newOfFew.index : newOfFirst.index
  return call_indirect<u32>(mark, from, to)
}

// @ts-ignore: decorator
@inline
function markSeen(from: u32, to: u32): u32 {
  const mark = layout == MANY ? seenOfMany.index : layout == FEW ? seenOfFew.index : seenOfFirst.index
  return call_indirect<u32>(mark, from, to)
}

// @ts-ignore: decorator
@inline
function isMarked(state: u32, r: u64): u32 {
  return state >> (20 + (<u32>r >> 7 & 7)) & 1
}

/** Whether most of the last group were new. */
let areNew: bool = true

// The same where few of the group are expected to be unknown: these are sorted afterwards.
function markFew(from: u32, to: u32): u32 {
  const all = markSeen(from, to)
  areNew = all << 1 > to - from
  let count: usize = 0
  let simple: usize = 0
  for (let j: usize = 0; j < <usize>all; j++) {
    const i = load<u32>(unknown + (j << 2))
    const at = <usize>(i - from) << 2
    const state = stateOf(<usize>load<u32>(addresses + at))
    const goesOn = <usize>(<u32>!freeSlots(state) | isMarked(state, remainder(remembered(i))))
    store<u32>(states + at, state)
    store<u32>(unknown + (count << 2), i)
    store<u32>(plain + (simple << 2), i)
    count += goesOn
    simple += goesOn ^ 1
  }
  plainCount = simple
  return <u32>count
}

// Those of the unknown that may be in their other bucket.
function marked(from: u32, all: u32): u32 {
  let count: usize = 0
  for (let j: usize = 0; j < <usize>all; j++) {
    const i = load<u32>(unknown + (j << 2))
    store<u32>(unknown + (count << 2), i)
    count += <usize>isMarked(stateOf(<usize>load<u32>(addresses + (<usize>(i - from) << 2))), remainder(remembered(i)))
  }
  return <u32>count
}

// Lists the other buckets of the unknown in `overflow` and touches them.
function touchOthers(from: u32, count: u32): void {
  let sum: u64 = 0
  for (let j: usize = 0; j < <usize>count; j++) {
    const i = load<u32>(unknown + (j << 2))
    const h = remembered(i)
    const other = otherBucket(<usize>load<u32>(addresses + (<usize>(i - from) << 2)), h, remainder(h))
    store<u32>(overflow + (j << 2), <u32>other)
    sum += load<u64>(other)
  }
  touched = sum
}

/** Instead of a verdict: both buckets are full. */
const DEFERRED: u32 = 2

// Test-and-set of one hash in its own bucket, whose state is known when it was searched for it already, or in the other.
// @ts-ignore: decorator
@inline
function insert(bucket: usize, h: u64, searched: u32): u32 {
  const r = remainder(h)
  const state = stateOf(bucket)
  if (state != searched && holds(bucket, r, state & 1023)) return 0
  const mark = markOf(<u32>r)
  if (state & mark) {
    const other = otherBucket(bucket, h, r)
    if (holds(other, r, stateOf(other) >> 10)) return 0
  }
  if (isExiled(h)) return 0
  if (freeSlots(state)) {
    append(bucket, state, r, 0)
    return 1
  }
  const other = otherBucket(bucket, h, r)
  const otherState = stateOf(other)
  if (!freeSlots(otherState)) return DEFERRED
  setState(bucket, state | mark)
  append(other, otherState, r, 10)
  return 1
}

/** How many of the hashes of a bucket are looked at first when one has to move. */
const TOUCHED_SLOTS: u32 = 3

/** No state of a bucket. */
const NOT_SEARCHED: u32 = 0xffffffff

/** Segments of the group that became crowded. */
let waiting: u32 = 0

// @ts-ignore: decorator
@inline
function countNew(segment: usize): void {
  countHashes(1)
  const count = countOf(segment) + 1
  setCount(segment, count)
  if (count <= crowd) return
  store<u32>(crowded + (<usize>waiting << 2), <u32>segment)
  waiting++
}

/** How many of the group are in `deferred`. */
let late: u32 = 0

// Adds hash number i of the batch, number i - from of the group.
function addOne(i: u32, from: u32): void {
  const h = remembered(i)
  const at = <usize>(i - from) << 2
  const verdict = insert(<usize>load<u32>(addresses + at), h, load<u32>(states + at))
  store<u8>(verdicts + <usize>i, <u8>verdict)
  store<u32>(deferred + (<usize>late << 2), i)
  late += verdict >> 1
  if (verdict == 1) countNew(segmentOf(h))
}

// Touches the buckets to which hashes may move for those that found theirs full.
function touchDeferred(): void {
  let sum: u64 = 0
  for (let j: u32 = 0; j < late; j++) {
    const h = remembered(load<u32>(deferred + (<usize>j << 2)))
    const segment = segmentOf(h)
    const bucket = bucketOf(segment, h)
    for (let slot: u32 = 0; slot < TOUCHED_SLOTS; slot++) sum += load<u64>(alternative(segment, bucket, <u32>h & bucketMask, slot))
  }
  touched = sum
}

// Puts hash number i of the batch into the table although its buckets are full. False when there is no place for it.
function insertDeferred(i: u32): bool {
  const h = remembered(i)
  const segment = segmentOf(h)
  const bucket = bucketOf(segment, h)
  const verdict = insert(bucket, h, NOT_SEARCHED)
  store<u8>(verdicts + <usize>i, <u8>(verdict != 0))
  if (verdict == 0) return true
  if (verdict == DEFERRED && exileCount == MOST_EXILES) return false
  if (verdict == DEFERRED && !placeElsewhere(segment, bucket, h)) {
    exile(homeless)
    countHashes(1)
    return true
  }
  countNew(segment)
  return true
}

/** Test-and-set of hashes [from, n). Returns how many of the batch are done: fewer than `n` when it is full. */
export function fingerprintAdd(from: u32, n: u32): u32 {
  while (from < n) {
    if (!isReady()) return from
    // One at a time where some might find no place.
    const to = exileCount + GROUP > MOST_EXILES ? from + 1 : min(from + GROUP, n)
    waiting = 0
    late = 0
    if (to - from > 1) {
      const left = areNew ? markNew(from, to) : markFew(from, to)
      if (areNew) areNew = <u32>plainCount + left << 1 > to - from
      touchOthers(from, left)
      for (let j: usize = 0; j < plainCount; j++) {
        const i = load<u32>(plain + (j << 2))
        const at = <usize>(i - from) << 2
        const bucket = <usize>load<u32>(addresses + at)
        const state = stateOf(bucket)
        // A repeat of another hash of the group would have changed the state.
        if (state == load<u32>(states + at)) {
          const h = remembered(i)
          append(bucket, state, remainder(h), 0)
          countNew(segmentOf(h))
        } else {
          addOne(i, from)
        }
      }
      for (let j: u32 = 0; j < left; j++) addOne(load<u32>(unknown + (<usize>j << 2)), from)
    } else {
      const h = remembered(from)
      store<u32>(addresses, <u32>bucketOf(segmentOf(h), h))
      store<u32>(states, NOT_SEARCHED)
      addOne(from, from)
    }
    touchDeferred()
    for (let j: u32 = 0; j < late; j++) {
      const i = load<u32>(deferred + (<usize>j << 2))
      if (insertDeferred(i)) continue
      // Where its neighbours leave the segment there is a place.
      if (!relieve(segmentOf(remembered(i)))) return i
      j--
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
  if (n - from == 1) {
    const h = remembered(from)
    store<u8>(verdicts + <usize>from, <u8>!(bucketWith(h) != 0 || isExiled(h)))
    return
  }
  const start = from
  while (from < n) {
    const to = min(from + GROUP, n)
    const left = marked(from, markSeen(from, to))
    touchOthers(from, left)
    for (let j: u32 = 0; j < left; j++) {
      const i = load<u32>(unknown + (<usize>j << 2))
      const h = remembered(i)
      const r = remainder(h)
      const other = <usize>load<u32>(overflow + (<usize>j << 2))
      store<u8>(verdicts + <usize>i, <u8>(holds(other, r, stateOf(other) >> 10) ^ 1))
    }
    from = to
  }
  if (!exileCount) return
  for (let i = start; i < n; i++) if (isExiled(remembered(i))) store<u8>(verdicts + <usize>i, 0)
}

/** Forgets hashes [0, n): verdict 0 where one was remembered. */
export function fingerprintDelete(n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const h = remembered(i)
    const bucket = bucketWith(h)
    const exiled = bucket ? -1 : exileOf(h)
    if (bucket) remove(bucket, h)
    else if (exiled >= 0) recall(exiled)
    const isThere = bucket != 0 || exiled >= 0
    store<u8>(verdicts + <usize>i, <u8>!isThere)
    if (isThere) countHashes(-1)
  }
}

export function fingerprintCount(): f64 {
  return <f64>total
}

/** Bytes held by segments and directory. */
export function fingerprintBytes(): f64 {
  let bytes: f64 = <f64>(4 << directoryBits)
  for (let at = first; at < last; ) {
    const segment = segmentAt(at)
    bytes += <f64>segmentBytes()
    at = load<u32>(segment, 8)
  }
  return bytes
}
