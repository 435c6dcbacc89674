// Eigenvalue: the extension filter of jiang-eigenvalue: region {1..m1} takes k hashes of the key, region {m1..m}
// d hashes of its feature g(key). Errs towards "seen" by its fill; keys that share a feature with a known key pass
// the second region for free, so for them it is a classic filter of m1 bits.
import { allocZeroed } from '../memory'
import { featureEnds, featureStarts, keyEnds, keyStarts, verdicts } from '../batch'
import { hasBits, setBits } from '../bits'
import { addressesOf } from '../hash'
import { countRest } from '../known-rest'

let bits: usize = 0
let features: usize = 0
let urlSize: u64 = 0
let featureSize: u64 = 0
let count: u32 = 0
let featureCount: u32 = 0
let urlOnes: u64 = 0
let featureOnes: u64 = 0

/** Regions of m1 and m2 bits with k and d hashes. False when there is no room. */
export function eigenvalueCreate(m1: u64, m2: u64, k: u32, d: u32): bool {
  urlSize = m1
  featureSize = m2
  count = k
  featureCount = d
  bits = allocZeroed(<usize>((m1 + 7) >> 3))
  features = allocZeroed(<usize>((m2 + 7) >> 3))
  return bits != 0 && features != 0
}

/** Test-and-set of keys [from, n), whose features are in the batch. */
export function eigenvalueAdd(from: u32, n: u32): u32 {
  for (let i = from; i < n; i++) {
    const at = <usize>i << 2
    addressesOf(load<u32>(keyStarts + at), load<u32>(keyEnds + at), count, urlSize, 0)
    const set = setBits(bits, count)
    addressesOf(load<u32>(featureStarts + at), load<u32>(featureEnds + at), featureCount, featureSize, 1)
    const more = setBits(features, featureCount)
    urlOnes += set
    featureOnes += more
    if (set + more != 0) countRest(more == 0)
    store<u8>(verdicts + <usize>i, <u8>(set + more != 0))
  }
  return n
}

/** Asks for keys [from, n), marks nothing: verdict 0 where both regions have their bits set. */
export function eigenvalueHas(from: u32, n: u32): void {
  for (let i = from; i < n; i++) {
    const at = <usize>i << 2
    addressesOf(load<u32>(keyStarts + at), load<u32>(keyEnds + at), count, urlSize, 0)
    let seen = hasBits(bits, count)
    if (seen) {
      addressesOf(load<u32>(featureStarts + at), load<u32>(featureEnds + at), featureCount, featureSize, 1)
      seen = hasBits(features, featureCount)
    }
    store<u8>(verdicts + <usize>i, <u8>!seen)
  }
}

/** Set bits of the first (0) or the second (1) region. */
export function eigenvalueOnes(region: u32): f64 {
  return <f64>(region == 0 ? urlOnes : featureOnes)
}

/** Sets how many bits of a region are set, after they were put there from outside. */
export function eigenvalueSetOnes(region: u32, count: f64): void {
  if (region == 0) urlOnes = <u64>count
  else featureOnes = <u64>count
}

export function eigenvalueBits(region: u32): usize {
  return region == 0 ? bits : features
}
