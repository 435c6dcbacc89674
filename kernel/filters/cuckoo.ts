// Cuckoo: fingerprints of f bits in buckets of four, each in one of two buckets (Fan, Andersen, Kaminsky, Mitzenmacher
// 2014). A bucket and the fingerprint give the other bucket, so that fingerprints can move without their keys. Errs
// towards "seen" at 8 · load / 2^f; towards "new" only after deleting a key that was never added.
import { allocZeroed } from '../memory'
import { hashes, verdicts } from '../batch'
import { derived, mix, spread } from '../mix'
import { takesOne } from '../one'

/** Slots of a bucket. */
const SLOTS: u32 = 4
/** Fingerprints moved for one insertion before the filter counts as full. */
const MOST_MOVES: u32 = 500
/** Readable and writable bytes behind the slots: a slot is loaded and stored with the seven bytes around it. */
const SLACK: usize = 8

let slots: usize = 0
let buckets: u64 = 0
/** Bits of a fingerprint; 0 marks an empty slot. */
let bits: u64 = 0
let mask: u64 = 0
let count: u64 = 0
let touched: u64 = 0

/** Keys worked on together, after one pass that only touches their buckets: the cache misses overlap. */
const GROUP: u32 = 64
/** Of each key of a group: its fingerprint, its first and its second bucket. */
const prints: usize = memory.data(64 * 8, 16)
const firsts: usize = memory.data(64 * 8, 16)
const seconds: usize = memory.data(64 * 8, 16)
/** The slots that an insertion has moved fingerprints out of, in order: to undo it. */
const path: usize = memory.data(500 * 8, 16)

/** `n` buckets with fingerprints of `f` bits, 7 to 40. False when there is no room. */
export function cuckooCreate(n: u64, f: u32): bool {
  takesOne(cuckooAdd.index, cuckooHas.index)
  buckets = n
  bits = <u64>f
  mask = ((<u64>1) << bits) - 1
  slots = allocZeroed(<usize>((n * SLOTS * bits + 7) >> 3) + SLACK)
  return slots != 0
}

// @ts-ignore: decorator
@inline
function printIn(array: usize, slot: u64): u64 {
  const at = slot * bits
  return (load<u64>(array + <usize>(at >> 3)) >> (at & 7)) & mask
}

// @ts-ignore: decorator
@inline
function printAt(slot: u64): u64 {
  return printIn(slots, slot)
}

// @ts-ignore: decorator
@inline
function setPrint(slot: u64, print: u64): void {
  const at = slot * bits
  const word = slots + <usize>(at >> 3)
  const shift = at & 7
  store<u64>(word, (load<u64>(word) & ~(mask << shift)) | (print << shift))
}

// The hash's low half chooses the bucket: its top bits choose the instance.
// @ts-ignore: decorator
@inline
function firstBucket(h: u64): u64 {
  return spread(rotl(h, 32), buckets)
}

// 1 to 2^f − 1.
// @ts-ignore: decorator
@inline
function printOf(h: u64): u64 {
  return 1 + spread(derived(h, 0), mask)
}

// The sum of a fingerprint's two buckets is its hash, modulo their number: the other one of either.
// @ts-ignore: decorator
@inline
function otherBucket(bucket: u64, print: u64): u64 {
  const sum = spread(mix(print * 0x9e3779b97f4a7c15), buckets)
  return sum >= bucket ? sum - bucket : sum + buckets - bucket
}

// The slot of a bucket that holds `print`, the first of them; -1: none does.
// @ts-ignore: decorator
@inline
function find(bucket: u64, print: u64): i64 {
  const first = bucket * SLOTS
  for (let slot = first; slot < first + SLOTS; slot++) if (printAt(slot) == print) return <i64>slot
  return -1
}

function touchGroup(from: u32, to: u32): void {
  let sum: u64 = 0
  for (let i = from; i < to; i++) {
    const h = load<u64>(hashes + (<usize>i << 3))
    const print = printOf(h)
    const first = firstBucket(h)
    const second = otherBucket(first, print)
    const place = <usize>(i - from) << 3
    store<u64>(prints + place, print)
    store<u64>(firsts + place, first)
    store<u64>(seconds + place, second)
    sum += printAt(first * SLOTS) + printAt(second * SLOTS)
  }
  touched = sum
}

// The slot that holds a key of the group; -1: it is not there.
// @ts-ignore: decorator
@inline
function slotOf(place: usize): i64 {
  const print = load<u64>(prints + place)
  const slot = find(load<u64>(firsts + place), print)
  return slot >= 0 ? slot : find(load<u64>(seconds + place), print)
}

// Moves fingerprints from bucket to bucket until the last one finds an empty slot. The slot to empty follows from the
// fingerprint that comes, so that equal adds give equal memory. False when there is none: then nothing has changed.
function insertByMoving(bucket: u64, print: u64): bool {
  let moves: u32 = 0
  while (moves < MOST_MOVES) {
    const slot = bucket * SLOTS + (mix(print + moves) >> 62)
    const evicted = printAt(slot)
    setPrint(slot, print)
    store<u64>(path + (<usize>moves << 3), slot)
    moves++
    print = evicted
    bucket = otherBucket(bucket, print)
    const empty = find(bucket, 0)
    if (empty >= 0) {
      setPrint(<u64>empty, print)
      return true
    }
  }
  while (moves) {
    moves--
    const slot = load<u64>(path + (<usize>moves << 3))
    const moved = printAt(slot)
    setPrint(slot, print)
    print = moved
  }
  return false
}

// Puts in a fingerprint that neither of its buckets has. False when there is no room: then nothing has changed.
// @ts-ignore: decorator
@inline
function insert(first: u64, second: u64, print: u64): bool {
  let empty = find(first, 0)
  if (empty < 0) empty = find(second, 0)
  if (empty >= 0) setPrint(<u64>empty, print)
  else if (!insertByMoving(first, print)) return false
  count++
  return true
}

/** Test-and-set of hashes [from, n). Returns how many of the batch are done: fewer than `n` when it is full. */
export function cuckooAdd(from: u32, n: u32): u32 {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) {
      const place = <usize>(i - from) << 3
      const isNew = slotOf(place) < 0
      store<u8>(verdicts + <usize>i, <u8>isNew)
      if (!isNew) continue
      if (!insert(load<u64>(firsts + place), load<u64>(seconds + place), load<u64>(prints + place))) return i
    }
    from = to
  }
  return n
}

/** Queries hashes [from, n), marks nothing: verdict 0 where one of the two buckets has the fingerprint. */
export function cuckooHas(from: u32, n: u32): void {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) store<u8>(verdicts + <usize>i, <u8>(slotOf(<usize>(i - from) << 3) < 0))
    from = to
  }
}

/** Deletes hashes [0, n): verdict 0 where one was there. Another key with that fingerprint is deleted with it. */
export function cuckooDelete(n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    touchGroup(i, i + 1)
    const slot = slotOf(0)
    store<u8>(verdicts + <usize>i, <u8>(slot < 0))
    if (slot < 0) continue
    setPrint(<u64>slot, 0)
    count--
  }
}

/** Takes in the fingerprints of another filter's slots, which lie at `from`. False when there is no room for all of them. */
export function cuckooUnite(from: usize): bool {
  for (let slot: u64 = 0; slot < buckets * SLOTS; slot++) {
    const print = printIn(from, slot)
    if (!print) continue
    const bucket = slot / SLOTS
    const other = otherBucket(bucket, print)
    if (find(bucket, print) >= 0 || find(other, print) >= 0) continue
    if (!insert(bucket, other, print)) return false
  }
  return true
}

/** Fingerprints in use. */
export function cuckooCount(): f64 {
  return <f64>count
}

/** The fingerprint in a slot; 0: it is empty. */
export function cuckooPrint(slot: u64): u64 {
  return printAt(slot)
}

/** The slot that makes the batch's first hash "seen"; -1: there is none. */
export function cuckooFind(): i64 {
  touchGroup(0, 1)
  return slotOf(0)
}

/** Where the slots lie. */
export function cuckooSlots(): usize {
  return slots
}

/** Counts the fingerprints after they were put there from outside. False when one of them lies twice in its buckets. */
export function cuckooIsSound(): bool {
  count = 0
  for (let bucket: u64 = 0; bucket < buckets; bucket++) {
    for (let slot = bucket * SLOTS; slot < (bucket + 1) * SLOTS; slot++) {
      const print = printAt(slot)
      if (!print) continue
      count++
      const other = otherBucket(bucket, print)
      if (find(bucket, print) != <i64>slot || other != bucket && find(other, print) >= 0) return false
    }
  }
  return true
}
