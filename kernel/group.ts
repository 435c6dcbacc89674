// A group of hashes that is added to the fingerprint table, or searched there, together: one pass only touches their own buckets, so
// that the cache misses overlap; the next searches them there. What has to go on in its other bucket is listed, and those buckets
// are touched together too.
import { ANY, FEW, MANY, append, crowd, freeSlots, holds, layout, markOf, remainder, setState, stateOf } from './bucket'
import { hashes, verdicts } from './batch'
import {
  alternative, bucketOf, countHashes, countOf, directory, directoryBits, exchange, exile, exileCount, exileOf, homeless, indexOf,
  MOST_EXILES, otherBucket, placeElsewhere, segmentOf, setCount,
} from './segment-table'

/** Hashes of a group, at most. */
export const GROUP: u32 = 128

let touched: u64 = 0
/** Of each of a group: its segment, its own bucket, and the state of that when it was searched. */
const segments: usize = memory.data(128 * 4, 16)
const addresses: usize = memory.data(128 * 4, 16)
const states: usize = memory.data(128 * 4, 16)
/** Which of a group were not in their own bucket, and may be in the other or have to go there. */
const unknown: usize = memory.data(128 * 4, 16)
/** The other buckets of those. */
const overflow: usize = memory.data(128 * 4, 16)
/** Those whose two buckets are full. */
export const deferred: usize = memory.data(128 * 4, 16)
/** Segments of the group that became crowded. */
export const crowded: usize = memory.data(128 * 4, 16)

// Hash 0 is remembered as 1, as in the frozen filters, where 0 is no hash.
// @ts-ignore: decorator
@inline
export function remembered(i: u32): u64 {
  const h = load<u64>(hashes + (<usize>i << 3))
  return h ? h : 1
}

// @ts-ignore: decorator
@inline
export function isExiled(h: u64): bool {
  return exileCount != 0 && exileOf(h) >= 0
}

// @ts-ignore: decorator
@inline
function touchOwn(from: u32, to: u32, kind: u32): void {
  let sum: u64 = 0
  const entries = directory
  const shift = 64 - <u64>directoryBits
  let at: usize = 0
  const end = hashes + (<usize>to << 3)
  for (let p = hashes + (<usize>from << 3); p < end; p += 8) {
    let h = load<u64>(p)
    h = h ? h : 1
    const segment = <usize>load<u32>(entries + (<usize>(h >> shift) << 2))
    const bucket = bucketOf(segment, h, kind)
    store<u32>(segments + at, <u32>segment)
    store<u32>(addresses + at, <u32>bucket)
    at += 4
    sum += load<u64>(bucket)
  }
  touched = sum
}

// Verdict 0 for those of a group that are in their own bucket, 1 for the others, which are listed in `unknown`; returns how many. No branch
// depends on a verdict: those cannot be guessed.
// @ts-ignore: decorator
@inline
function search(from: u32, to: u32, kind: u32): u32 {
  touchOwn(from, to, kind)
  let count: usize = 0
  for (let i = from; i < to; i++) {
    const r = remainder(remembered(i), kind)
    const at = <usize>(i - from) << 2
    const bucket = <usize>load<u32>(addresses + at)
    const state = stateOf(bucket)
    const isUnknown = holds(bucket, r, state & 1023, kind) ^ 1
    store<u32>(states + at, state)
    store<u8>(verdicts + <usize>i, <u8>isUnknown)
    store<u32>(unknown + (count << 2), i)
    count += <usize>isUnknown
  }
  return <u32>count
}

// Whether a hash that is not in its own bucket, of that state, may be in the other one or has to go there. Hashes are not removed and marks
// not cleared while a group is added, so this is so for every later occurrence of the hash too: all of them wait their turn.
// @ts-ignore: decorator
@inline
function goesOn(state: u32, r: u64, kind: u32): bool {
  return (<u32>!freeSlots(state, kind) | isMarked(state, r) | <u32>(exileCount != 0)) != 0
}

// @ts-ignore: decorator
@inline
function isMarked(state: u32, r: u64): u32 {
  return state >> (20 + (<u32>r >> 7 & 7)) & 1
}

/** Whether most of the last group were new. */
let areNew: bool = true

// Adds those of a group that are in their own bucket or have a place there; lists the others in `unknown` and returns how many. For a
// group of which few are expected to be new: they are sorted out without a branch.
// @ts-ignore: decorator
@inline
function addFew(from: u32, to: u32, kind: u32): u32 {
  const all = search(from, to, kind)
  areNew = all << 1 > to - from
  let left: usize = 0
  let added: i64 = 0
  for (let j: usize = 0; j < <usize>all; j++) {
    const i = load<u32>(unknown + (j << 2))
    const at = <usize>(i - from) << 2
    const r = remainder(remembered(i), kind)
    const bucket = <usize>load<u32>(addresses + at)
    const state = stateOf(bucket)
    if (goesOn(state, r, kind)) {
      store<u32>(unknown + (left << 2), i)
      left++
    } else if (state != load<u32>(states + at) && holds(bucket, r, state & 1023, kind)) {
      // It repeats another one of the group.
      store<u8>(verdicts + <usize>i, 0)
    } else {
      append(bucket, state, r, 0, kind)
      countIn(<usize>load<u32>(segments + at))
      added++
    }
  }
  countHashes(added)
  return <u32>left
}

// The same for a group of which most are expected to be new.
// @ts-ignore: decorator
@inline
function addMost(from: u32, to: u32, kind: u32): u32 {
  touchOwn(from, to, kind)
  let left: usize = 0
  let added: i64 = 0
  for (let i = from; i < to; i++) {
    const at = <usize>(i - from) << 2
    const r = remainder(remembered(i), kind)
    const bucket = <usize>load<u32>(addresses + at)
    const state = stateOf(bucket)
    if (holds(bucket, r, state & 1023, kind)) {
      store<u8>(verdicts + <usize>i, 0)
    } else if (goesOn(state, r, kind)) {
      store<u32>(states + at, state)
      store<u32>(unknown + (left << 2), i)
      left++
    } else {
      append(bucket, state, r, 0, kind)
      countIn(<usize>load<u32>(segments + at))
      store<u8>(verdicts + <usize>i, 1)
      added++
    }
  }
  countHashes(added)
  areNew = (<u32>added + <u32>left) << 1 > to - from
  return <u32>left
}

/** How many are in `crowded`; a segment may be there more than once. */
export let waiting: u32 = 0

// @ts-ignore: decorator
@inline
function countIn(segment: usize): void {
  const count = countOf(segment) + 1
  setCount(segment, count)
  if (count <= crowd) return
  store<u32>(crowded + (<usize>waiting << 2), <u32>segment)
  waiting++
}

/** Instead of a verdict: both buckets are full. */
const DEFERRED: u32 = 2

/** How many of the group are in `deferred`; in the end those for which more than one hash has to move. */
export let late: u32 = 0

// Lists the other buckets of the unknown in `overflow` and touches them.
// @ts-ignore: decorator
@inline
function touchOthers(from: u32, count: u32, kind: u32): void {
  let sum: u64 = 0
  for (let j: usize = 0; j < <usize>count; j++) {
    const i = load<u32>(unknown + (j << 2))
    const h = remembered(i)
    const other = otherBucket(<usize>load<u32>(addresses + (<usize>(i - from) << 2)), h, remainder(h, kind), kind)
    store<u32>(overflow + (j << 2), <u32>other)
    sum += load<u64>(other)
  }
  touched = sum
}

// Test-and-set of one hash whose own bucket is full or marked, so that it may be in the other one or have to go there.
// @ts-ignore: decorator
@inline
function insert(bucket: usize, other: usize, h: u64, searched: u32, kind: u32): u32 {
  const r = remainder(h, kind)
  const state = stateOf(bucket)
  if (state != searched && holds(bucket, r, state & 1023, kind)) return 0
  const mark = markOf(<u32>r)
  const otherState = stateOf(other)
  if (state & mark && holds(other, r, otherState >> 10, kind)) return 0
  if (isExiled(h)) return 0
  if (freeSlots(state, kind)) {
    append(bucket, state, r, 0, kind)
    return 1
  }
  if (!freeSlots(otherState, kind)) return DEFERRED
  setState(bucket, state | mark)
  append(other, otherState, r, 10, kind)
  return 1
}

// Adds the `left` hashes in `unknown`.
// @ts-ignore: decorator
@inline
function addOthers(from: u32, left: u32, kind: u32): void {
  touchOthers(from, left, kind)
  let added: i64 = 0
  for (let j: usize = 0; j < <usize>left; j++) {
    const i = load<u32>(unknown + (j << 2))
    const at = <usize>(i - from) << 2
    const bucket = <usize>load<u32>(addresses + at)
    const verdict = insert(bucket, <usize>load<u32>(overflow + (j << 2)), remembered(i), load<u32>(states + at), kind)
    store<u8>(verdicts + <usize>i, <u8>verdict)
    store<u32>(deferred + (<usize>late << 2), i)
    late += verdict >> 1
    if (verdict != 1) continue
    countIn(<usize>load<u32>(segments + at))
    added++
  }
  countHashes(added)
}

/** No state of a bucket. */
const NOT_SEARCHED: u32 = 0xffffffff

/** How many of the hashes of a bucket are looked at first when one has to move. */
const TOUCHED_SLOTS: u32 = 3

// Touches the buckets to which hashes may move for those that found theirs full.
// @ts-ignore: decorator
@inline
function touchDeferred(from: u32, kind: u32): void {
  let sum: u64 = 0
  for (let j: u32 = 0; j < late; j++) {
    const at = <usize>(load<u32>(deferred + (<usize>j << 2)) - from) << 2
    const segment = <usize>load<u32>(segments + at)
    const bucket = <usize>load<u32>(addresses + at)
    const index = indexOf(segment, bucket)
    for (let slot: u32 = 0; slot < TOUCHED_SLOTS; slot++) sum += load<u64>(alternative(segment, bucket, index, slot, kind))
  }
  touched = sum
}

// Adds those whose two buckets are full: a hash that is in their own bucket goes to its other one. Those for which more have to move
// stay in `deferred`.
// @ts-ignore: decorator
@inline
function addDeferred(from: u32, kind: u32): void {
  touchDeferred(from, kind)
  let left: u32 = 0
  let added: i64 = 0
  for (let j: u32 = 0; j < late; j++) {
    const i = load<u32>(deferred + (<usize>j << 2))
    const at = <usize>(i - from) << 2
    const segment = <usize>load<u32>(segments + at)
    const bucket = <usize>load<u32>(addresses + at)
    const r = remainder(remembered(i), kind)
    // It may repeat the one before.
    const isNew = holds(bucket, r, stateOf(bucket) & 1023, kind) ^ 1
    store<u8>(verdicts + <usize>i, <u8>isNew)
    if (!isNew) continue
    if (exchange(segment, bucket, r, kind)) {
      countIn(segment)
      added++
    } else {
      store<u32>(deferred + (<usize>left << 2), i)
      left++
    }
  }
  countHashes(added)
  late = left
}

/** Puts hash number i of the batch into the table although more than one hash has to move for it. False when there is no place. */
export function insertDeferred(i: u32): bool {
  const h = remembered(i)
  const segment = segmentOf(h)
  const bucket = bucketOf(segment, h)
  const verdict = insert(bucket, otherBucket(bucket, h, remainder(h)), h, NOT_SEARCHED, ANY)
  store<u8>(verdicts + <usize>i, <u8>(verdict != 0))
  if (verdict == 0) return true
  if (verdict == DEFERRED && exileCount == MOST_EXILES) return false
  countHashes(1)
  if (verdict == DEFERRED && !placeElsewhere(segment, bucket, h)) exile(homeless)
  else countIn(segment)
  return true
}

// One function for each layout, called through the module's table: the platform compiles only those that are used.
// The first segment is small and in the cache: there hashes are added one by one.
function addToFirst(from: u32, to: u32): void {
  for (let i = from; i < to; i++) {
    if (insertDeferred(i)) continue
    store<u32>(deferred + (<usize>late << 2), i)
    late++
  }
}

function addToFew(from: u32, to: u32): void {
  addOthers(from, areNew ? addMost(from, to, FEW) : addFew(from, to, FEW), FEW)
  addDeferred(from, FEW)
}

function addToMany(from: u32, to: u32): void {
  addOthers(from, areNew ? addMost(from, to, MANY) : addFew(from, to, MANY), MANY)
  addDeferred(from, MANY)
}

// Those of [from, to) that are not in their own bucket and may be in the other: verdict 0 where they are.
// @ts-ignore: decorator
@inline
function searchOthers(from: u32, all: u32, kind: u32): void {
  let left: u32 = 0
  for (let j: usize = 0; j < <usize>all; j++) {
    const i = load<u32>(unknown + (j << 2))
    store<u32>(unknown + (<usize>left << 2), i)
    left += isMarked(load<u32>(states + (<usize>(i - from) << 2)), remainder(remembered(i), kind))
  }
  touchOthers(from, left, kind)
  for (let j: usize = 0; j < <usize>left; j++) {
    const i = load<u32>(unknown + (j << 2))
    const other = <usize>load<u32>(overflow + (j << 2))
    store<u8>(verdicts + <usize>i, <u8>(holds(other, remainder(remembered(i), kind), stateOf(other) >> 10, kind) ^ 1))
  }
}

function searchFirst(from: u32, to: u32): void {
  searchOthers(from, search(from, to, ANY), ANY)
}

function searchFew(from: u32, to: u32): void {
  searchOthers(from, search(from, to, FEW), FEW)
}

function searchMany(from: u32, to: u32): void {
  searchOthers(from, search(from, to, MANY), MANY)
}

/** Test-and-set of hashes [from, to), a group; all but those in `deferred` have their verdicts then. */
export function addGroup(from: u32, to: u32): void {
  waiting = 0
  late = 0
  call_indirect<void>(layout == MANY ? addToMany.index : layout == FEW ? addToFew.index : addToFirst.index, from, to)
}

/** Verdict 0 for those of the group [from, to) that have a slot in the table, else 1. */
export function searchGroup(from: u32, to: u32): void {
  call_indirect<void>(layout == MANY ? searchMany.index : layout == FEW ? searchFew.index : searchFirst.index, from, to)
}
