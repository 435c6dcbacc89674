// Prefix layers: our repair of the multi-layer filter. Layer i remembers the folder a1/…/ai/ of every key, under
// hash functions of its own, and the last word is the whole key: no recombination, no order blindness. All layers
// share one bit array, so each takes just what it holds. Errs towards "seen" at the rate its fill gives.
import { allocZeroed } from '../memory'
import { keyEnds, keyStarts, verdicts } from '../batch'
import { hasBits, setBits } from '../bits'
import { addresses, addressesOf } from '../hash'
import { countRest } from '../known-rest'
import { afterScheme } from '../segments'

let bits: usize = 0
let size: u64 = 0
let count: u32 = 0
let folderCount: u32 = 0
let layers: u32 = 0
let ones: u64 = 0
/** Folders of each layer that were new when they came, and at 0 the whole keys. */
const fresh: usize = memory.data(64 * 8, 16)

/** `m` bits for all; k hashes for the whole key and `kf` for each of the first `L` folders. */
export function prefixLayersCreate(m: u64, k: u32, kf: u32, L: u32): bool {
  size = m
  count = k
  folderCount = kf
  layers = L
  bits = allocZeroed(<usize>((m + 7) >> 3))
  return bits != 0
}

// The end, behind its slash, of the folder that contains [p, …) next; 0 when the path has no more.
// @ts-ignore: decorator
@inline
function folderEnd(p: usize, to: usize): usize {
  while (p < to) {
    const c = load<u8>(p++)
    if (c == 0x2f) return p
    if (c == 0x3f) return 0
  }
  return 0
}

// @ts-ignore: decorator
@inline
function tally(layer: u32, set: u32): void {
  ones += set
  const at = fresh + (<usize>layer << 3)
  store<u64>(at, load<u64>(at) + <u64>(set != 0))
}

/** Test-and-set of keys [from, n). */
export function prefixLayersAdd(from: u32, n: u32): u32 {
  for (let i = from; i < n; i++) {
    const start = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    addressesOf(start, to, count, size, 0)
    const set = setBits(bits, count)
    tally(0, set)
    // Folders are marked even when the key seems to be there: the filter may err about the key, not about them.
    const more = markFolders(start, to)
    if (set + more != 0) countRest(more == 0)
    store<u8>(verdicts + <usize>i, <u8>(set + more != 0))
  }
  return n
}

function markFolders(start: usize, to: usize): u32 {
  const host = afterScheme(start, to)
  let p = host
  let added: u32 = 0
  for (let layer: u32 = 1; layer <= layers; layer++) {
    p = folderEnd(p, to)
    if (!p) break
    addressesOf(host, p, folderCount, size, layer)
    const set = setBits(bits, folderCount)
    tally(layer, set)
    added += set
  }
  return added
}

function hasFolders(start: usize, to: usize): bool {
  const host = afterScheme(start, to)
  let p = host
  for (let layer: u32 = 1; layer <= layers; layer++) {
    p = folderEnd(p, to)
    if (!p) return true
    addressesOf(host, p, folderCount, size, layer)
    if (!hasBits(bits, folderCount)) return false
  }
  return true
}

/** Asks for keys [from, n), marks nothing: verdict 0 where the key and all its folders have their bits set. */
export function prefixLayersHas(from: u32, n: u32): void {
  for (let i = from; i < n; i++) {
    const start = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    addressesOf(start, to, count, size, 0)
    store<u8>(verdicts + <usize>i, <u8>!(hasBits(bits, count) && hasFolders(start, to)))
  }
}

/** Whether anything was added under the folder that each of the keys [0, n) is: verdict 0 where it may be so. */
export function prefixLayersHasUnder(n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const start = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    store<u8>(verdicts + <usize>i, <u8>!hasFolders(start, to))
  }
}

/** Where the addresses of the first key's folder in that layer are, as u64; of the whole key in layer 0. 0: it has no such folder. */
export function prefixLayersLook(layer: u32): usize {
  const start = <usize>load<u32>(keyStarts)
  const to = <usize>load<u32>(keyEnds)
  const host = afterScheme(start, to)
  let p = host
  for (let i: u32 = 0; i < layer; i++) {
    p = folderEnd(p, to)
    if (!p) return 0
  }
  if (layer) addressesOf(host, p, folderCount, size, layer)
  else addressesOf(start, to, count, size, 0)
  return addresses
}

export function prefixLayersOnes(): f64 {
  return <f64>ones
}

/** Whole keys (layer 0) or folders of a layer that were new when they came. */
export function prefixLayersFresh(layer: u32): f64 {
  return <f64>load<u64>(fresh + (<usize>layer << 3))
}

/** Sets how many bits are set, after they were put there from outside. */
export function prefixLayersSetOnes(count: f64): void {
  ones = <u64>count
}

export function prefixLayersSetFresh(layer: u32, count: f64): void {
  store<u64>(fresh + (<usize>layer << 3), <u64>count)
}

export function prefixLayersBits(): usize {
  return bits
}
