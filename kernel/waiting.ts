// Hashes of lines that wait to be compared with runs on disk, as the buckets of DRUM (Lee et al. 2008): each hash is appended to
// the bucket of its top bits, and of each line only the number of its bucket is kept, in input order. When memory is full, one
// bucket after the other is deduplicated and compared in a table that fits into the processor's cache, and a verdict takes the
// place of each hash; the lines then get theirs in input order. No step jumps about in memory that is larger than the cache.
import { hashes, verdicts } from './batch'
import { alloc, allocZeroed } from './memory'
import { releasePending } from './pending'

/** Ascending shares of the range of all hashes. */
export const WAITING_BUCKETS: u32 = 255
/** In place of a bucket's number: a line that was there shortly before, so that it is not new. */
const REPEAT: u8 = 255
/** A bucket's hashes are in pages, in the order they came; later their verdicts, a bit each, are at the beginning of each page. */
const PAGE_BITS: usize = 10
const PAGE: usize = 1 << PAGE_BITS
const PAGE_HASHES: u32 = 128
/** The hashes added last, one per value of some of their bits. */
const RECENT: usize = 32768
/** Slots behind the last place of the table of a bucket. The last one stays empty. */
const OVERFLOW: u32 = 8192

let pages: usize = 0
let pageCount: u32 = 0
let usedPages: u32 = 0
/** u32 per page: the bucket's next page. */
let following: usize = 0
/** u8 per line: its bucket. */
let ids: usize = 0
let mostLines: u32 = 0
let lines: u32 = 0
let asked: u32 = 0
let recent: usize = 0
/** u32 per bucket: its first page, the place for its next hash, and the next verdict: a page's address and a number in it. */
const firsts: usize = memory.data(256 * 4, 64)
const tails: usize = memory.data(256 * 4, 64)
const cursors: usize = memory.data(256 * 4, 64)
/** u32 per bucket: how many hashes it has. */
const counts: usize = memory.data(256 * 4, 64)

/** Hashes that wait. */
export let waitingCount: u32 = 0

// The table of the bucket that is being compared: a hash's place follows from the bits below those that choose the bucket.
let table: usize = 0
/** u8 per slot: the hash is in a run, or has its verdict. */
let marks: usize = 0
let mostSlots: u32 = 0
let slots: u64 = 0
let last: usize = 0
let open: u32 = 0
let cursor: usize = 0

/** Memory for `n` hashes and as many lines and half as many, in place of the pending table. False: there is none. Call once. */
export function waitingCreate(n: u32): bool {
  releasePending()
  pageCount = n / PAGE_HASHES + WAITING_BUCKETS
  pages = (alloc((<usize>pageCount + 1) << PAGE_BITS) + PAGE - 1) & ~(PAGE - 1)
  following = pages ? alloc(<usize>pageCount << 2) : 0
  mostLines = n + (n >> 1)
  ids = following ? alloc(<usize>mostLines) : 0
  // Evenly spread hashes do not differ from the mean by more than a few roots of it.
  const mean = <f64>n / <f64>WAITING_BUCKETS
  mostSlots = <u32>(mean * 1.5 + 16.0 * Math.sqrt(mean)) + 64
  table = ids ? alloc(<usize>(mostSlots + OVERFLOW) << 3) : 0
  marks = table ? alloc(<usize>(mostSlots + OVERFLOW)) : 0
  recent = marks ? allocZeroed(RECENT << 3) : 0
  waitingClear()
  return recent != 0
}

/** Forgets all lines, after their verdicts. Which hashes came last is remembered: they are seen from now on. */
export function waitingClear(): void {
  memory.fill(tails, 0, 256 * 4)
  memory.fill(counts, 0, 256 * 4)
  usedPages = 0
  waitingCount = 0
  lines = 0
  asked = 0
}

/** Whether there is memory for `n` more lines, of which at most `different` have other hashes than those shortly before. */
export function waitingFits(n: u32, different: u32): bool {
  return mostLines - lines >= n && (pageCount - usedPages) * PAGE_HASHES >= different + WAITING_BUCKETS * PAGE_HASHES
}

// 0 marks an empty slot: the hash 0 is taken for the hash 1.
// @ts-ignore: decorator
@inline
function hashAt(i: u32): u64 {
  const h = load<u64>(hashes + (<usize>i << 3))
  return h + <u64>(h == 0)
}

// The bucket in the upper half, and the place within it, as a share of 2^32, in the lower.
// @ts-ignore: decorator
@inline
function share(h: u64): u64 {
  return (h >> 32) * <u64>WAITING_BUCKETS
}

// @ts-ignore: decorator
@inline
function append(bucket: u32, h: u64): void {
  const tail = tails + (<usize>bucket << 2)
  let at = <usize>load<u32>(tail)
  if ((at & (PAGE - 1)) == 0) at = nextPage(bucket, at)
  store<u64>(at, h)
  store<u32>(tail, <u32>(at + 8))
}

// A new page behind the one that ends at `end`, which is 0 for the first.
function nextPage(bucket: u32, end: usize): usize {
  const page = pages + (<usize>usedPages << PAGE_BITS)
  usedPages++
  if (end) store<u32>(following + ((end - PAGE - pages) >> PAGE_BITS << 2), <u32>page)
  else store<u32>(firsts + (<usize>bucket << 2), <u32>page)
  return page
}

// @ts-ignore: decorator
@inline
function note(id: u8): void {
  store<u8>(ids + <usize>lines, id)
  lines++
}

/**
 * Adds the batch's first n lines: verdict 0 for a line that was there shortly before, 1 for one that waits. `isWhole`: the first
 * are asked for again too. The caller makes sure that they fit.
 */
export function waitingAdd(n: u32, isWhole: bool): void {
  for (let i: u32 = 0; i < n; i++) {
    const h = hashAt(i)
    const slot = recent + (<usize>(<u32>h & (<u32>RECENT - 1)) << 3)
    const isRepeat = load<u64>(slot) == h
    store<u8>(verdicts + <usize>i, <u8>!isRepeat)
    if (isRepeat) {
      if (isWhole) note(REPEAT)
      continue
    }
    store<u64>(slot, h)
    const bucket = <u32>(share(h) >> 32)
    append(bucket, h)
    const count = counts + (<usize>bucket << 2)
    store<u32>(count, load<u32>(count) + 1)
    note(<u8>bucket)
    waitingCount++
  }
}

// @ts-ignore: decorator
@inline
function placeOf(h: u64): usize {
  return table + (<usize>(((share(h) & 0xffffffff) * slots) >> 32) << 3)
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

/** Puts a bucket's hashes into the table and sorts it. False: they are not evenly spread. */
export function waitingOpen(bucket: u32): bool {
  const count = load<u32>(counts + (<usize>bucket << 2))
  slots = <u64>min(mostSlots, count + (count >> 1) + 64)
  const all = <usize>slots + <usize>OVERFLOW
  memory.fill(table, 0, all << 3)
  memory.fill(marks, 0, all)
  last = table + ((all - 1) << 3)
  open = bucket
  cursor = table
  let page = <usize>load<u32>(firsts + (<usize>bucket << 2))
  for (let left = count; left > 0; ) {
    const some = min(left, PAGE_HASHES)
    for (let at = page, end = page + (<usize>some << 3); at < end; at += 8) {
      const h = load<u64>(at)
      const to = find(h)
      if (to == last) return false
      store<u64>(to, h)
    }
    left -= some
    if (left) page = <usize>load<u32>(following + ((page - pages) >> PAGE_BITS << 2))
  }
  sort()
  return true
}

// Hashes are in their order but for neighbours.
function sort(): void {
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

/** Marks those of the ascending hashes in [from, to) that the open bucket holds. Returns where those behind the bucket begin. */
export function waitingMark(from: usize, to: usize): usize {
  for (; from < to; from += 8) {
    const h = load<u64>(from)
    const bucket = <u32>(share(h) >> 32)
    if (bucket > open) break
    if (bucket < open) continue
    // From its place on, hashes ascend up to an empty slot.
    let at = placeOf(h)
    let held = load<u64>(at)
    while (held - 1 < h - 1) {
      at += 8
      held = load<u64>(at)
    }
    if (held == h) store<u8>(marks + ((at - table) >> 3), 1)
  }
  return from
}

/** The next `most` or fewer unmarked hashes of the open bucket, ascending, to `to`; returns how many, 0 at the end. */
export function waitingNext(to: usize, most: u32): u32 {
  let count: u32 = 0
  let at = cursor
  for (; at < last && count < most; at += 8) {
    const h = load<u64>(at)
    if (h == 0 || load<u8>(marks + ((at - table) >> 3))) continue
    store<u64>(to + (<usize>count << 3), h)
    count++
  }
  cursor = at
  return count
}

/** Puts verdicts in the place of the open bucket's hashes: 1 for the first of each that is in no run. */
export function waitingSettle(): void {
  const count = load<u32>(counts + (<usize>open << 2))
  let page = <usize>load<u32>(firsts + (<usize>open << 2))
  store<u32>(cursors + (<usize>open << 2), <u32>page)
  for (let left = count; left > 0; ) {
    const some = min(left, PAGE_HASHES)
    for (let i: u32 = 0; i < some; i += 64) {
      let bits: u64 = 0
      for (let j = i; j < min(i + 64, some); j++) {
        const mark = marks + ((find(load<u64>(page + (<usize>j << 3))) - table) >> 3)
        bits |= <u64>(load<u8>(mark) ^ 1) << <u64>(j - i)
        store<u8>(mark, 1)
      }
      store<u64>(page + (<usize>i >> 3), bits)
    }
    left -= some
    if (left) page = <usize>load<u32>(following + ((page - pages) >> PAGE_BITS << 2))
  }
}

/** Verdicts of the next n lines, when all buckets have theirs: 1 new, 0 seen. False: fewer lines were added. */
export function waitingTake(n: u32): bool {
  if (n > lines - asked) return false
  for (let i: u32 = 0; i < n; i++) {
    const bucket = load<u8>(ids + <usize>asked + <usize>i)
    if (bucket == REPEAT) {
      store<u8>(verdicts + <usize>i, 0)
      continue
    }
    const entry = cursors + (<usize>bucket << 2)
    const at = load<u32>(entry)
    const number = at & <u32>(PAGE - 1)
    const page = <usize>(at - number)
    store<u8>(verdicts + <usize>i, load<u8>(page + <usize>(number >> 3)) >> <u8>(number & 7) & 1)
    if (number + 1 < PAGE_HASHES) store<u32>(entry, at + 1)
    else store<u32>(entry, load<u32>(following + ((page - pages) >> PAGE_BITS << 2)))
  }
  asked += n
  return true
}
