// From bytes to hashes. A key has one 64-bit hash for the filters that take that, or k addresses in an array for
// those that take k hash functions. `siphash` and `xxh64` are wide: k hashes are derived from one. The papers'
// functions are narrow: 32 bits, one for each j, reduced modulo the size of the array as the papers do it.
import { hashes, keyEnds, keyStarts } from './batch'
import { djb2, jenkins, poly31, urlCaching, xor17 } from './families/bytewise'
import { digest, md5 } from './families/md5'
import { murmur3 } from './families/murmur3'
import { siphash13, siphash13Four, siphash13Pair } from './families/siphash'
import { xxh64 } from './families/xxh64'
import { derived, spread } from './mix'

/** Numbers that `src/hashes.ts` names. */
const SIPHASH: u32 = 0
const XXH64: u32 = 1
const MURMUR3: u32 = 2
const POLY31: u32 = 3
const DJB2: u32 = 4
const XOR17: u32 = 5
const JENKINS: u32 = 6

/** The most hash functions a filter may take for one key. */
export const MOST_HASHES: u32 = 64
/** The addresses that `addressesOf` wrote, as u64. */
export const addresses: usize = memory.data(64 * 8, 16)

let families: u64 = 0
let familyCount: u32 = 1
let seed: u64 = 0
/** One wide family: filters may use the batch's 64-bit hashes. */
export let isWide: bool = true
/** url-caching's three functions in its order: their first hashes are made in one pass. */
let isUrlCaching: bool = false
const three: usize = memory.data(12, 16)

/** Chooses up to eight families, one a byte, taken in turn for j = 0, 1, …; a wide one stands alone. */
export function setHash(chosen: u64, count: u32, chosenSeed: u64): void {
  families = chosen
  familyCount = count
  seed = chosenSeed
  isWide = <u32>(chosen & 255) <= XXH64
  isUrlCaching = count == 3 && chosen == (POLY31 | DJB2 << 8 | XOR17 << 16)
}

// @ts-ignore: decorator
@inline
function wideHash(from: usize, to: usize): u64 {
  return <u32>families == SIPHASH ? siphash13(from, to) : xxh64(from, to, seed)
}

// The j-th narrow hash: the families in turn, and past the last of them again from the next start value.
function narrowHash(from: usize, to: usize, j: u32): u32 {
  const family = <u32>(families >> (<u64>(j % familyCount) << 3)) & 255
  const start = j / familyCount
  if (family == MURMUR3) return murmur3(from, to, start)
  if (family == POLY31) return poly31(from, to, start)
  if (family == DJB2) return djb2(from, to, start)
  if (family == XOR17) return xor17(from, to, start)
  if (family == JENKINS) return jenkins(from, to, start)
  md5(from, to, start >> 2)
  return load<u32>(digest + (<usize>(start & 3) << 2))
}

// @ts-ignore: decorator
@inline
function startOf(i: usize): usize {
  return <usize>load<u32>(keyStarts + (i << 2))
}

// @ts-ignore: decorator
@inline
function sizeOf(i: usize): usize {
  return <usize>load<u32>(keyEnds + (i << 2)) - startOf(i)
}

/** Keys of this many words and more are not told apart. */
const MOST_WORDS: usize = 31
const places: usize = memory.data(33 * 4, 16)
/** The batch's keys by their whole words. */
const order: usize = memory.data(2048 * 4, 16)
const four: usize = memory.data(32, 16)

// @ts-ignore: decorator
@inline
function placeOf(i: usize): usize {
  return places + (min(sizeOf(i) >> 3, MOST_WORDS) << 2)
}

// A counting sort by length, so that four keys hashed at once end together and every loop is as long as the one before.
function orderByWords(n: u32): void {
  memory.fill(places, 0, 33 * 4)
  for (let i: usize = 0; i < <usize>n; i++) {
    const place = placeOf(i)
    store<u32>(place, load<u32>(place, 4) + 1, 4)
  }
  for (let place = places; place < places + (MOST_WORDS << 2); place += 4) {
    store<u32>(place, load<u32>(place) + load<u32>(place, 4), 4)
  }
  for (let i: usize = 0; i < <usize>n; i++) {
    const place = placeOf(i)
    const at = load<u32>(place)
    store<u32>(place, at + 1)
    store<u32>(order + (<usize>at << 2), <u32>i)
  }
}

function siphashKeys(n: u32): void {
  if (n == 1) {
    store<u64>(hashes, siphash13(startOf(0), startOf(0) + sizeOf(0)))
    return
  }
  orderByWords(n)
  const end = order + (<usize>n << 2)
  for (let at = order; at < end; ) {
    const a = <usize>load<u32>(at)
    if (at + 16 <= end) {
      const b = <usize>load<u32>(at, 4)
      const c = <usize>load<u32>(at, 8)
      const d = <usize>load<u32>(at, 12)
      const words = sizeOf(a) >> 3
      if (sizeOf(d) >> 3 == words && sizeOf(b) >> 3 == words && sizeOf(c) >> 3 == words) {
        siphash13Four(
          startOf(a), sizeOf(a), startOf(b), sizeOf(b), startOf(c), sizeOf(c), startOf(d), sizeOf(d), four,
        )
        store<u64>(hashes + (a << 3), load<u64>(four))
        store<u64>(hashes + (b << 3), load<u64>(four, 8))
        store<u64>(hashes + (c << 3), load<u64>(four, 16))
        store<u64>(hashes + (d << 3), load<u64>(four, 24))
        at += 16
        continue
      }
    }
    store<u64>(hashes + (a << 3), siphash13(startOf(a), startOf(a) + sizeOf(a)))
    at += 4
  }
}

/** Hashes the keys of lines [0, n), 64 bits each; two narrow hashes make one. */
export function hashKeys(n: u32): void {
  if (isWide && <u32>families == SIPHASH) {
    siphashKeys(n)
    return
  }
  for (let i: usize = 0; i < <usize>n; i++) {
    const from = startOf(i)
    const to = from + sizeOf(i)
    store<u64>(hashes + (i << 3), isWide ? wideHash(from, to) : <u64>narrowHash(from, to, 0) << 32 | narrowHash(from, to, 1))
  }
}

/** Hashes `n` pieces, given by u32 start and u32 end, with the wide function; their 64-bit hashes go to `out`. */
export function hashPieces(pieces: usize, n: u32, out: usize): void {
  let i: u32 = 0
  if (<u32>families == SIPHASH) {
    for (; i + 1 < n; i += 2) {
      const one = load<u64>(pieces + (<usize>i << 3))
      const two = load<u64>(pieces + (<usize>i << 3), 8)
      siphash13Pair(<usize>one, <usize>(one >> 32), <usize>two, <usize>(two >> 32), out + (<usize>i << 3))
    }
  }
  for (; i < n; i++) {
    const piece = load<u64>(pieces + (<usize>i << 3))
    store<u64>(out + (<usize>i << 3), wideHash(<usize>piece, <usize>(piece >> 32)))
  }
}

/**
 * Writes to `addresses` the k addresses of the bytes [from, to) in an array of `size`. `layer` gives each layer
 * hash functions of its own; 0 for all where the paper uses the same everywhere.
 */
export function addressesOf(from: usize, to: usize, k: u32, size: u64, layer: u32): void {
  if (isWide) {
    const h = wideHash(from, to)
    for (let j: u32 = 0; j < k; j++) {
      store<u64>(addresses + (<usize>j << 3), spread(derived(h, layer * MOST_HASHES + j), size))
    }
  } else if (isUrlCaching && k == 3 && layer == 0) {
    urlCaching(from, to, three)
    for (let j: usize = 0; j < 3; j++) {
      store<u64>(addresses + (j << 3), <u64>load<u32>(three + (j << 2)) % size)
    }
  } else {
    for (let j: u32 = 0; j < k; j++) {
      store<u64>(addresses + (<usize>j << 3), <u64>narrowHash(from, to, layer * MOST_HASHES + j) % size)
    }
  }
}

/** As `addressesOf`, for the batch's key `i`; returns where the addresses are, as u64. */
export function keyAddresses(i: u32, k: u32, size: u64, layer: u32): usize {
  addressesOf(startOf(<usize>i), startOf(<usize>i) + sizeOf(<usize>i), k, size, layer)
  return addresses
}
