// From bytes to hashes. A key has one 64-bit hash for the filters that take that, or k addresses in an array for
// those that take k hash functions. `siphash` and `xxh64` are wide: k hashes are derived from one. The papers'
// functions are narrow: 32 bits, one for each j, reduced modulo the size of the array as the papers do it.
import { hashes, keyEnds, keyStarts } from './batch'
import { djb2, jenkins, poly31, urlCaching, xor17 } from './families/bytewise'
import { digest, md5 } from './families/md5'
import { murmur3 } from './families/murmur3'
import { siphash13, siphash13Pair } from './families/siphash'
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

/** Hashes the keys of lines [0, n), 64 bits each; two narrow hashes make one. */
export function hashKeys(n: u32): void {
  let i: u32 = 0
  if (isWide && <u32>families == SIPHASH) {
    for (; i + 1 < n; i += 2) {
      const starts = load<u64>(keyStarts + (<usize>i << 2))
      const ends = load<u64>(keyEnds + (<usize>i << 2))
      siphash13Pair(<usize>starts, <usize>ends, <usize>(starts >> 32), <usize>(ends >> 32), hashes + (<usize>i << 3))
    }
  }
  for (; i < n; i++) {
    const from = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    store<u64>(hashes + (<usize>i << 3), isWide ? wideHash(from, to) : <u64>narrowHash(from, to, 0) << 32 | narrowHash(from, to, 1))
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
