// Runs: ascending 64-bit hashes in blocks of 4096 bytes, the differences Rice-coded (Golomb 1966, Rice 1979). A block: its
// first hash (u64), how many hashes it has (u32), the Rice parameter (u32), a checksum (u64), then the codes, lowest bit first:
// the quotient as ones and a zero, then k bits; 16 ones and 64 bits for a difference with a larger quotient.
import { xxh64 } from './families/xxh64'
import { alloc } from './memory'
import { pendingMark } from './pending'

export const RUN_BLOCK: usize = 4096
const HEADER: usize = 24
const BLOCK_BITS: u32 = (4096 - 24) * 8
/** Quotients of this many ones stand for a whole difference. */
const ESCAPE: u32 = 16
const LEAST_K: u32 = 8
const MOST_K: u32 = 56
/** No block holds more: a code has at least 9 bits. */
const MOST_HASHES: u32 = 4096

/** Where blocks are decoded. */
const decoded: usize = memory.data(4096 * 8, 64)
/** The block being written, and slack for wide stores. */
const block: usize = memory.data(4096 + 64, 64)
let blockCount: u32 = 0
let bits: u32 = 0
let before: u64 = 0
let k: u32 = 0
/** That of the next block. */
let nextK: u32 = 0

/** Memory for blocks and hashes, for as long as the instance lives; 0: there is none. */
export function runBuffer(bytes: usize): usize {
  return alloc(bytes + 64)
}

/** A checksum of `bytes` bytes at `at`. */
export function checksum(at: usize, bytes: usize): u64 {
  return xxh64(at, at + bytes, 0)
}

/** From the next block on, differences are about 2^64 / `count`. */
export function runExpect(count: f64): void {
  // The best k is the least with 2^k at or above ln φ · mean difference (Gallager, van Voorhis 1975).
  const parameter = 63.945 - Math.log2(max(count, 1))
  nextK = <u32>max(<f64>LEAST_K, min(<f64>MOST_K, Math.floor(parameter)))
}

/** Begins a run whose differences are about 2^64 / `count`. */
export function runBegin(count: f64): void {
  runExpect(count)
  k = nextK
  blockCount = 0
  memory.fill(block, 0, RUN_BLOCK + 64)
}

// Appends the low `size` bits of `value`: at most 57.
// @ts-ignore: decorator
@inline
function put(value: u64, size: u32): void {
  const at = block + HEADER + <usize>(bits >> 3)
  store<u64>(at, load<u64>(at) | (value << <u64>(bits & 7)))
  bits += size
}

// @ts-ignore: decorator
@inline
function checksumOf(at: usize): u64 {
  return xxh64(at + HEADER, at + RUN_BLOCK, xxh64(at, at + 16, 0))
}

// Completes the block and copies it to `out`.
function seal(out: usize): void {
  store<u32>(block, blockCount, 8)
  store<u32>(block, k, 12)
  store<u64>(block, checksumOf(block), 16)
  memory.copy(out, block, RUN_BLOCK)
  memory.fill(block, 0, RUN_BLOCK + 64)
  blockCount = 0
  k = nextK
}

/** Appends the `n` ascending hashes at `from` to the run. Complete blocks go to `out`; returns how many. */
export function runAppend(from: usize, n: u32, out: usize): u32 {
  let sealed: u32 = 0
  const end = from + (<usize>n << 3)
  for (; from < end; from += 8) {
    const h = load<u64>(from)
    if (blockCount) {
      const difference = h - before
      const quotient = difference >> <u64>k
      const isEscaped = quotient >= <u64>ESCAPE
      const size = isEscaped ? ESCAPE + 64 : <u32>quotient + 1 + k
      if (bits + size > BLOCK_BITS) {
        seal(out + (<usize>sealed << 12))
        sealed++
      } else if (isEscaped) {
        put(0xffff, ESCAPE)
        put(difference & 0xffffffff, 32)
        put(difference >> 32, 32)
      } else {
        put((<u64>1 << quotient) - 1, <u32>quotient + 1)
        put(difference & ((<u64>1 << <u64>k) - 1), k)
      }
    }
    if (blockCount == 0) {
      store<u64>(block, h)
      bits = 0
    }
    blockCount++
    before = h
  }
  return sealed
}

/** The last block of the run, to `out`; returns 1, or 0 when there is none left. */
export function runEnd(out: usize): u32 {
  if (blockCount == 0) return 0
  seal(out)
  return 1
}

/** The hashes of the block at `at`, ascending, to `to`. Returns how many, or 0: it is damaged. */
export function runDecode(at: usize, to: usize): u32 {
  const count = load<u32>(at, 8)
  const parameter = load<u32>(at, 12)
  if (count == 0 || count > MOST_HASHES || parameter < LEAST_K || parameter > MOST_K) return 0
  if (load<u64>(at, 16) != checksumOf(at)) return 0
  const codes = at + HEADER
  const mask = (<u64>1 << <u64>parameter) - 1
  let h = load<u64>(at)
  let bit: u32 = 0
  store<u64>(to, h)
  for (let i: usize = 1; i < <usize>count; i++) {
    if (bit > BLOCK_BITS) return 0
    const word = load<u64>(codes + <usize>(bit >> 3)) >> <u64>(bit & 7)
    const ones = <u32>ctz(~word)
    let difference: u64
    if (ones + 1 + parameter <= 57 && ones < ESCAPE) {
      difference = (<u64>ones << <u64>parameter) | ((word >> <u64>(ones + 1)) & mask)
      bit += ones + 1 + parameter
    } else if (ones < ESCAPE) {
      bit += ones + 1
      const rest = load<u64>(codes + <usize>(bit >> 3)) >> <u64>(bit & 7)
      difference = (<u64>ones << <u64>parameter) | (rest & mask)
      bit += parameter
    } else {
      bit += ESCAPE
      const low = (load<u64>(codes + <usize>(bit >> 3)) >> <u64>(bit & 7)) & 0xffffffff
      bit += 32
      const high = (load<u64>(codes + <usize>(bit >> 3)) >> <u64>(bit & 7)) & 0xffffffff
      bit += 32
      difference = (high << 32) | low
    }
    const next = h + difference
    if (next <= h) return 0
    h = next
    store<u64>(to + (i << 3), h)
  }
  return bit > BLOCK_BITS ? 0 : count
}

/** The last hash of the blocks read since `runScan`. */
let scanned: u64 = 0
/** Hashes in them. */
export let scannedCount: f64 = 0

/** Begins to read a run from its first block. */
export function runScan(): void {
  scanned = 0
  scannedCount = 0
}

// Decodes the next block of the run; 0: it is damaged, or does not follow the one before.
// @ts-ignore: decorator
@inline
function scan(at: usize): u32 {
  const count = runDecode(at, decoded)
  if (count == 0 || load<u64>(decoded) <= scanned) return 0
  scanned = load<u64>(decoded + (<usize>(count - 1) << 3))
  scannedCount += <f64>count
  return count
}

/** Marks in the pending table the hashes of the next `blocks` blocks. Returns how many blocks are sound: all, or the first that is not. */
export function runCompare(at: usize, blocks: u32): u32 {
  for (let i: u32 = 0; i < blocks; i++) {
    const count = scan(at + (<usize>i << 12))
    if (count == 0) return i
    pendingMark(decoded, count)
  }
  return blocks
}

/** The same without marking. */
export function runCheck(at: usize, blocks: u32): u32 {
  for (let i: u32 = 0; i < blocks; i++) if (scan(at + (<usize>i << 12)) == 0) return i
  return blocks
}

/**
 * Merges ascending hashes of `n` sources, each a u32 start and a u32 end at `sources`, to `to`, until one of them is used up or
 * `most` are written; starts move on. Hashes in several sources are written once. Returns how many were written.
 */
export function runMerge(sources: usize, n: u32, to: usize, most: u32): u32 {
  let count: u32 = 0
  const end = sources + (<usize>n << 3)
  while (count < most) {
    let least: u64 = 0xffffffffffffffff
    for (let s = sources; s < end; s += 8) least = min(least, load<u64>(<usize>load<u32>(s)))
    store<u64>(to + (<usize>count << 3), least)
    count++
    let isUsedUp = false
    for (let s = sources; s < end; s += 8) {
      const start = <usize>load<u32>(s)
      if (load<u64>(start) != least) continue
      store<u32>(s, <u32>start + 8)
      isUsedUp = isUsedUp || start + 8 == <usize>load<u32>(s, 4)
    }
    if (isUsedUp) break
  }
  return count
}
