// What the new keys of a multilayer filter are made of: how many of them had no unknown piece, one, two or three, and in
// which layers, as the layers themselves answered, and how often the layers erred meanwhile. All is halved when it
// describes a quarter of all new keys: the latest count. docs/filters.md derives the false-positive rate from it.
import { allocZeroed } from './memory'

/** Unknown pieces as a number: three bits for each of at most three, 1 … 7 for its layer, 7 for all deeper ones. */
const LAYER_BITS: u32 = 3
const DEEPEST: u32 = 7
const MOST_PIECES: u32 = 3
/** Places behind the 512 such numbers: keys with more pieces; the keys that the rates are of; a rate for 1 … 7. */
const MORE: u32 = 512
const RATED: u32 = 513
const RATES: u32 = RATED
const PLACES: u32 = 521
/** One key, in the unit of the counts: what remains after ten halvings is whole. */
const KEY: f64 = 1024
/** A rate of 1 for one key. */
const CERTAIN: f64 = 1048576
const LEAST_WINDOW: f64 = 2048
const REFRESH: u32 = 256

/** Whole numbers, as f64. */
let counts: usize = 0
let age: u32 = 0

let unknown: u32 = 0
let signature: u32 = 0

export function unknownPiecesCreate(): bool {
  counts = allocZeroed(<usize>PLACES << 3)
  return counts != 0
}

/** Where the numbers are. */
export function unknownPieces(): usize {
  return counts
}

// @ts-ignore: decorator
@inline
export function beginKey(): void {
  unknown = 0
  signature = 0
}

/** A layer did not know a piece of the key. */
// @ts-ignore: decorator
@inline
export function addUnknown(layer: u32): void {
  if (unknown++ < MOST_PIECES) signature = signature << LAYER_BITS | min(layer + 1, DEEPEST)
}

// @ts-ignore: decorator
@inline
function increase(place: u32, by: f64): void {
  const at = counts + (<usize>place << 3)
  store<f64>(at, load<f64>(at) + by)
}

/** The key is new. True when the rates of the layers are due. */
export function countKey(): bool {
  increase(unknown > MOST_PIECES ? MORE : signature, KEY)
  return ++age % REFRESH == 0
}

/** The set bits of each layer, of `size`, after the last keys counted; `keys` is the number of all. */
export function rateLayers(ones: usize, layers: u32, size: u64, hashes: u32, keys: u64): void {
  let deepest: f64 = 0
  for (let layer: u32 = 0; layer < layers; layer++) {
    const fill = <f64>load<u64>(ones + (<usize>layer << 3)) / <f64>size
    let rate: f64 = 1
    for (let j: u32 = 0; j < hashes; j++) rate *= fill
    if (layer + 1 < DEEPEST) increase(RATES + layer + 1, Math.round(rate * CERTAIN) * REFRESH)
    else deepest = max(deepest, rate)
  }
  increase(RATES + DEEPEST, Math.round(deepest * CERTAIN) * REFRESH)
  increase(RATED, <f64>REFRESH)
  limitWindow(keys)
}

function limitWindow(keys: u64): void {
  let held: f64 = 0
  for (let i: u32 = 0; i <= MORE; i++) held += load<f64>(counts + (<usize>i << 3))
  if (held <= KEY * max(LEAST_WINDOW, <f64>keys / 4)) return
  for (let i: u32 = 0; i < PLACES; i++) {
    const at = counts + (<usize>i << 3)
    store<f64>(at, Math.floor(load<f64>(at) / 2))
  }
}
