// Hashes of lines that wait to be compared with runs on disk, as the buckets of DRUM (Lee et al. 2008): each hash is appended to
// the bucket of its top bits, and of each line only the number of its bucket is kept, in input order. When memory is full, one
// bucket after the other is sorted and compared with the runs in the processor's cache, and a verdict takes the place of each
// hash; the lines then get theirs in input order. No step jumps about in memory that is larger than the cache.
import { verdicts } from './batch'
import { alloc, allocZeroed } from './memory'
import { hashAt, releasePending } from './pending'

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

/** Hashes that wait, and those of the largest bucket. */
export let waitingCount: u32 = 0
let largest: u32 = 0

// The bucket that is being compared: its hashes in their order, and of each its place among those that came; and the same halfway.
let sorted: usize = 0
let places: usize = 0
let other: usize = 0
let otherPlaces: usize = 0
/** u8 per hash: it is in a run. */
let marks: usize = 0
let mostInBucket: u32 = 0
let open: u32 = 0
let size: u32 = 0
/** The next of the sorted hashes for `waitingNext`. */
let cursor: u32 = 0
/** u32 per value of the two digits: where the next hash goes. */
const ends: usize = memory.data(1024 * 8, 64)
const DIGIT_BITS: u32 = 10
const DIGITS: usize = 1024
/** Hashes that one goes past: of evenly spread ones, a few. */
const MOST_MOVES: u32 = 4096

/**
 * Memory for `n` hashes and half as many lines more, in place of the pending table; one bucket may have `different` more than its
 * share. False: there is none. Call once.
 */
export function waitingCreate(n: u32, different: u32): bool {
  releasePending()
  pageCount = n / PAGE_HASHES + WAITING_BUCKETS
  pages = (alloc((<usize>pageCount + 1) << PAGE_BITS) + PAGE - 1) & ~(PAGE - 1)
  following = pages ? alloc(<usize>pageCount << 2) : 0
  mostLines = n + (n >> 1)
  ids = following ? alloc(<usize>mostLines) : 0
  // Evenly spread hashes do not differ from the mean by more than a few roots of it; repeats of one may.
  const mean = <f64>n / <f64>WAITING_BUCKETS
  mostInBucket = <u32>(mean + 16.0 * Math.sqrt(mean)) + different
  sorted = ids ? alloc(<usize>mostInBucket << 3) : 0
  other = sorted ? alloc(<usize>mostInBucket << 3) : 0
  places = other ? alloc(<usize>mostInBucket << 2) : 0
  otherPlaces = places ? alloc(<usize>mostInBucket << 2) : 0
  marks = otherPlaces ? alloc(<usize>mostInBucket) : 0
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
  largest = 0
  lines = 0
  asked = 0
}

/** Whether there is memory for `n` more lines, of which at most `different` have other hashes than those shortly before. */
export function waitingFits(n: u32, different: u32): bool {
  if (mostLines - lines < n || mostInBucket - largest < different) return false
  return (pageCount - usedPages) * PAGE_HASHES >= different + WAITING_BUCKETS * PAGE_HASHES
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
    largest = max(largest, count(counts + (<usize>bucket << 2)) + 1)
    note(<u8>bucket)
    waitingCount++
  }
}

// Where a page's hashes go on, in the same bucket.
// @ts-ignore: decorator
@inline
function pageAfter(page: usize): usize {
  return <usize>load<u32>(following + ((page - pages) >> PAGE_BITS << 2))
}

// A digit of a hash's place within its bucket: 1 is the higher one.
// @ts-ignore: decorator
@inline
function digitOf(h: u64, digit: u32): usize {
  return <usize>(share(h) >> (12 + <u64>(digit * DIGIT_BITS))) & (DIGITS - 1)
}

/**
 * Sorts a bucket's hashes: by two digits of their places, lowest first (LSD radix sort), and what those do not tell by insertion.
 * False: they are not evenly spread, and it would take too long.
 */
export function waitingOpen(bucket: u32): bool {
  open = bucket
  size = load<u32>(counts + (<usize>bucket << 2))
  cursor = 0
  memory.fill(marks, 0, <usize>size)
  memory.fill(ends, 0, DIGITS << 3)
  const low = ends
  const high = ends + (DIGITS << 2)
  let page = <usize>load<u32>(firsts + (<usize>bucket << 2))
  for (let left = size; left > 0; ) {
    const some = min(left, PAGE_HASHES)
    for (let at = page, end = page + (<usize>some << 3); at < end; at += 8) {
      const h = load<u64>(at)
      count(low + (digitOf(h, 0) << 2))
      count(high + (digitOf(h, 1) << 2))
    }
    left -= some
    if (left) page = pageAfter(page)
  }
  toStarts(low)
  toStarts(high)
  page = <usize>load<u32>(firsts + (<usize>bucket << 2))
  for (let done: u32 = 0; done < size; ) {
    const some = min(size - done, PAGE_HASHES)
    for (let i: u32 = 0; i < some; i++) {
      const h = load<u64>(page + (<usize>i << 3))
      put(other, otherPlaces, count(low + (digitOf(h, 0) << 2)), h, done + i)
    }
    done += some
    if (done < size) page = pageAfter(page)
  }
  for (let i: u32 = 0; i < size; i++) {
    const h = load<u64>(other + (<usize>i << 3))
    put(sorted, places, count(high + (digitOf(h, 1) << 2)), h, load<u32>(otherPlaces + (<usize>i << 2)))
  }
  return insert()
}

// One more; returns how many there were.
// @ts-ignore: decorator
@inline
function count(at: usize): u32 {
  const before = load<u32>(at)
  store<u32>(at, before + 1)
  return before
}

function toStarts(at: usize): void {
  let start: u32 = 0
  for (const end = at + (DIGITS << 2); at < end; at += 4) {
    const n = load<u32>(at)
    store<u32>(at, start)
    start += n
  }
}

// @ts-ignore: decorator
@inline
function put(to: usize, toPlaces: usize, i: u32, h: u64, place: u32): void {
  store<u64>(to + (<usize>i << 3), h)
  store<u32>(toPlaces + (<usize>i << 2), place)
}

// Equal hashes stay in the order they came.
function insert(): bool {
  for (let i: u32 = 1; i < size; i++) {
    const h = load<u64>(sorted + (<usize>i << 3))
    let before = load<u64>(sorted + (<usize>(i - 1) << 3))
    if (before <= h) continue
    const place = load<u32>(places + (<usize>i << 2))
    let to = i
    while (before > h) {
      put(sorted, places, to, before, load<u32>(places + (<usize>(to - 1) << 2)))
      if (--to == 0) break
      if (i - to > MOST_MOVES) return false
      before = load<u64>(sorted + (<usize>(to - 1) << 3))
    }
    put(sorted, places, to, h, place)
  }
  return true
}

// The first of the ascending hashes in [from, to) that is not below h.
function notBelow(from: usize, to: usize, h: u64): usize {
  while (from < to) {
    const middle = from + ((to - from) >> 4 << 3)
    if (load<u64>(middle) < h) from = middle + 8
    else to = middle
  }
  return from
}

/** Marks those of the ascending hashes in [from, to) that the open bucket holds. Returns where those behind the bucket begin. */
export function waitingMark(from: usize, to: usize): usize {
  if (from >= to) return to
  // The first hash that does not belong to the bucket or one before it.
  const next = ((<u64>(open + 1) << 32) + <u64>WAITING_BUCKETS - 1) / <u64>WAITING_BUCKETS << 32
  const end = open + 1 == WAITING_BUCKETS ? to : notBelow(from, to, next)
  const last = sorted + (<usize>size << 3)
  let at = notBelow(sorted, last, load<u64>(from))
  // Without a branch that depends on the hashes, which nothing could predict.
  while (at < last && from < end) {
    const own = load<u64>(at)
    const theirs = load<u64>(from)
    const mark = marks + ((at - sorted) >> 3)
    store<u8>(mark, load<u8>(mark) | <u8>(own == theirs))
    at += <usize>(own <= theirs) << 3
    from += <usize>(theirs <= own) << 3
  }
  return end
}

// Whether entry i of the sorted bucket is the first of its hash.
// @ts-ignore: decorator
@inline
function isFirst(i: u32): bool {
  return i == 0 || load<u64>(sorted + (<usize>i << 3)) != load<u64>(sorted + (<usize>(i - 1) << 3))
}

/** The next `most` or fewer unmarked hashes of the open bucket, ascending, to `to`; returns how many, 0 at the end. */
export function waitingNext(to: usize, most: u32): u32 {
  let n: u32 = 0
  for (; cursor < size && n < most; cursor++) {
    store<u64>(to + (<usize>n << 3), load<u64>(sorted + (<usize>cursor << 3)))
    n += <u32>isFirst(cursor) & ~<u32>load<u8>(marks + <usize>cursor)
  }
  return n
}

/** Puts verdicts in the place of the open bucket's hashes: 1 for the first of each that is in no run. */
export function waitingSettle(): void {
  // The other array is free now: a bit per hash, in the order they came.
  const pageBytes = <usize>PAGE_HASHES >> 3
  memory.fill(other, 0, (<usize>size >> 3) + pageBytes)
  for (let i: u32 = 0; i < size; i++) {
    const place = load<u32>(places + (<usize>i << 2))
    const bit = other + <usize>(place >> 3)
    const isNew = <u32>isFirst(i) & ~<u32>load<u8>(marks + <usize>i)
    store<u8>(bit, load<u8>(bit) | <u8>(isNew << (place & 7)))
  }
  let page = <usize>load<u32>(firsts + (<usize>open << 2))
  store<u32>(cursors + (<usize>open << 2), <u32>page)
  let from = other
  for (let done: u32 = 0; done < size; done += PAGE_HASHES, from += pageBytes) {
    v128.store(page, v128.load(from))
    if (done + PAGE_HASHES < size) page = pageAfter(page)
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
    else store<u32>(entry, <u32>pageAfter(page))
  }
  asked += n
  return true
}
