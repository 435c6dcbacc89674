// Fingerprint: 64-bit hashes in a table, as Mercator kept checksums (in cen-2010). Of each hash only the bits are stored
// that its place in the table does not tell. Errs towards "seen" only when two keys share all 64 bits: n/2^64
// per query. The table grows by one segment at a time.
import { verdicts } from '../batch'
import { GROUP, addGroup, crowded, deferred, insertDeferred, isExiled, late, remembered, searchGroup, waiting } from '../group'
import { isCrowded, isReady, relieve, setStuck } from '../growth'
import { takesOne } from '../one'
import {
  MOST_EXILES, bucketWith, countHashes, createTable, directoryBits, exileCount, exileOf, first, last, recall, remove, segmentAt, segmentBytes,
  segmentOf, total,
} from '../segment-table'

/** An empty filter. False when there is no room. */
export function fingerprintCreate(): bool {
  takesOne(fingerprintAdd.index, fingerprintHas.index)
  return createTable()
}

/** Test-and-set of hashes [from, n). Returns how many of the batch are done: fewer than `n` when it is full. */
export function fingerprintAdd(from: u32, n: u32): u32 {
  while (from < n) {
    if (!isReady()) return from
    // One at a time where some might find no place.
    const to = exileCount + GROUP > MOST_EXILES ? from + 1 : min(from + GROUP, n)
    addGroup(from, to)
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
      // A first segment that was doubled has left its place.
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
    searchGroup(from, to)
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
