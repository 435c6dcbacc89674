// Hashes that wait to be compared with runs on disk: open addressing in which a hash's place follows from its top bits, so
// that the table is in the order of the hashes but for neighbours, which one pass sorts. A run is compared with it, and a
// run is written from it, in one sequential pass. Bounds hold for keyed hashes, which are evenly spread.
import { hashes, verdicts } from './batch'
import { allocZeroed, release } from './memory'

/** Slots behind the last place: clusters at the end run into them. The last one stays empty. */
const OVERFLOW: usize = 8192
/** Slots probed together after one pass that only touches them. */
const GROUP: u32 = 128

let table: usize = 0
let last: usize = 0
let slots: u64 = 0
/** A bit per slot: the hash was in a run, or was taken. */
let marks: usize = 0
let marksBytes: usize = 0
/** Hashes in the table. */
export let pendingCount: u32 = 0
let touched: u64 = 0
let cursor: usize = 0

/** An empty table of `n` places. False: this instance has no memory for it. Call once. */
export function pendingCreate(n: u32): bool {
  const all = <usize>n + OVERFLOW
  slots = <u64>n
  table = allocZeroed(all << 3)
  marksBytes = (all >> 3) + 8
  marks = table ? allocZeroed(marksBytes) : 0
  last = table + ((all - 1) << 3)
  cursor = table
  return marks != 0
}

/** Gives the table's memory back. Nothing else may be called after it. */
export function releasePending(): void {
  if (!table) return
  release(table, last + 8 - table)
  release(marks, marksBytes)
  table = 0
}

/** Forgets all hashes. */
export function pendingClear(): void {
  memory.fill(table, 0, last - table)
  memory.fill(marks, 0, marksBytes)
  pendingCount = 0
  cursor = table
}

// @ts-ignore: decorator
@inline
function placeOf(h: u64): usize {
  return table + (<usize>(((h >> 32) * slots) >> 32) << 3)
}

/** A hash of the batch. 0 marks an empty slot: the hash 0 is taken for the hash 1. */
// @ts-ignore: decorator
@inline
export function hashAt(i: u32): u64 {
  const h = load<u64>(hashes + (<usize>i << 3))
  return h + <u64>(h == 0)
}

function touchGroup(from: u32, to: u32): void {
  let sum: u64 = 0
  for (let i = from; i < to; i++) sum += load<u64>(placeOf(hashAt(i)))
  touched = sum
}

// The slot of `h`, or the empty one where it belongs.
// @ts-ignore: decorator
@inline
function find(h: u64): usize {
  let at = placeOf(h)
  let held = load<u64>(at)
  while (held != h && held != 0) {
    at += 8
    held = load<u64>(at)
  }
  return at
}

// @ts-ignore: decorator
@inline
function isMarked(at: usize): bool {
  const slot = (at - table) >> 3
  return ((<u32>load<u8>(marks + (slot >> 3)) >> <u32>(slot & 7)) & 1) != 0
}

// @ts-ignore: decorator
@inline
function mark(at: usize): void {
  const slot = (at - table) >> 3
  const byte = marks + (slot >> 3)
  store<u8>(byte, <u8>(<u32>load<u8>(byte) | ((<u32>1) << <u32>(slot & 7))))
}

/** Test-and-set of the batch's hashes [from, n). Returns n, or the first that has no place: hashes are not evenly spread. */
export function pendingAdd(from: u32, n: u32): u32 {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) {
      const h = hashAt(i)
      const at = find(h)
      const isNew = load<u64>(at) == 0
      if (at == last) return i
      store<u64>(at, h)
      pendingCount += <u32>isNew
      store<u8>(verdicts + <usize>i, <u8>isNew)
    }
    from = to
  }
  return n
}

/** Verdicts of the batch's hashes [from, n): 0 where the table holds them. Changes nothing. */
export function pendingHas(from: u32, n: u32): void {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) store<u8>(verdicts + <usize>i, <u8>(load<u64>(find(hashAt(i))) == 0))
    from = to
  }
}

/**
 * Verdicts of hashes [from, n) after the comparison: 1 for the first that asks for an unmarked hash, which is marked by
 * that. Returns n, or the first hash that is not in the table.
 */
export function pendingTake(from: u32, n: u32): u32 {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) {
      const at = find(hashAt(i))
      if (load<u64>(at) == 0) return i
      const isSeen = isMarked(at)
      store<u8>(verdicts + <usize>i, <u8>!isSeen)
      if (!isSeen) mark(at)
    }
    from = to
  }
  return n
}

/** Verdicts of hashes [from, n) of the table after the comparison: 0 where they are marked. Marks nothing. */
export function pendingSeen(from: u32, n: u32): void {
  for (let i = from; i < n; i++) store<u8>(verdicts + <usize>i, <u8>!isMarked(find(hashAt(i))))
}

/** Sorts neighbours, so that all hashes stand in their order. Before anything is marked; places stay valid. */
export function pendingSort(): void {
  for (let at = table + 8; at < last; at += 8) {
    const h = load<u64>(at)
    if (h == 0) continue
    let to = at
    let before = load<u64>(to - 8)
    while (to > table && before > h) {
      store<u64>(to, before)
      to -= 8
      before = to > table ? load<u64>(to - 8) : 0
    }
    if (to != at) store<u64>(to, h)
  }
}

/** Marks those of the `n` ascending hashes at `from` that the table holds. */
export function pendingMark(from: usize, n: u32): void {
  const end = from + (<usize>n << 3)
  for (; from < end; from += 8) {
    const at = find(load<u64>(from))
    if (load<u64>(at)) mark(at)
  }
}

/** The next `most` or fewer unmarked hashes, ascending, to `to`; returns how many, 0 at the end. */
export function pendingNext(to: usize, most: u32): u32 {
  let count: u32 = 0
  let at = cursor
  for (; at < last && count < most; at += 8) {
    const h = load<u64>(at)
    if (h == 0 || isMarked(at)) continue
    store<u64>(to + (<usize>count << 3), h)
    count++
  }
  cursor = at
  return count
}

/** `pendingNext` begins with the first hash again. */
export function pendingRewind(): void {
  cursor = table
}

/** How many hashes are marked. */
export function pendingMarked(): u32 {
  let count: u32 = 0
  for (let i: usize = 0; i < marksBytes; i += 8) count += <u32>popcnt(load<u64>(marks + i))
  return count
}
