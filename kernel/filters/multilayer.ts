// Multilayer: the MLBF of cen-2010, Algorithms 1 and 2 (term-project 3 and 4), as written: layer i holds the i-th
// segment of the URL, and one more layer the XOR of the segments' addresses, modulo m where that leaves the array.
// Errs towards "seen": by its fill, on recombined segments, and for certain on swapped ones, since XOR forgets order.
// With words instead of segments, dealt round-robin to the layers, it is the filter of sharma-keywords.
import { allocZeroed } from '../memory'
import { keyEnds, keyStarts, verdicts } from '../batch'
import { hasBits, setBits } from '../bits'
import { addresses, addressesOf } from '../hash'
import { countBits } from '../journal'
import { afterScheme, segmentEnd, wordEnd, wordStart } from '../segments'

/** What happens past the last layer: the rest is one segment, layers are added, or layers are dealt again. */
const JOIN: u32 = 0
const GROW: u32 = 1
const WORDS: u32 = 2
export const MOST_LAYERS: u32 = 64

let mode: u32 = JOIN
let size: u64 = 0
let count: u32 = 0
let layers: u32 = 0
const arrays: usize = memory.data(64 * 4, 16)
const ones: usize = memory.data(64 * 8, 16)
/** How many new keys had their last piece in each layer. */
const lasts: usize = memory.data(64 * 8, 16)
let xorArray: usize = 0
let xorOnes: u64 = 0
const xored: usize = memory.data(64 * 8, 16)

/** `L` layers of `m` bits and k hashes, and the XOR layer. False when there is no room. */
export function multilayerCreate(L: u32, m: u64, k: u32, chosenMode: u32): bool {
  mode = chosenMode
  size = m
  count = k
  xorArray = allocZeroed(<usize>((m + 7) >> 3))
  return xorArray != 0 && multilayerReach(L)
}

/** Makes sure that there are `wanted` layers. False when there is no room. */
export function multilayerReach(wanted: u32): bool {
  while (layers < wanted) {
    const array = allocZeroed(<usize>((size + 7) >> 3))
    if (!array) return false
    store<u32>(arrays + (<usize>layers << 2), <u32>array)
    layers++
  }
  return true
}

// @ts-ignore: decorator
@inline
function foldAddresses(): void {
  for (let j: u32 = 0; j < count; j++) {
    const at = <usize>j << 3
    store<u64>(xored + at, load<u64>(xored + at) ^ load<u64>(addresses + at))
  }
}

// The XOR layer's addresses take the place of the last segment's.
// @ts-ignore: decorator
@inline
function takeFolded(): void {
  for (let j: u32 = 0; j < count; j++) {
    const at = <usize>j << 3
    const folded = load<u64>(xored + at)
    store<u64>(addresses + at, folded < size ? folded : folded % size)
  }
}

/** The layer a piece belongs to; past the last, by the mode. */
// @ts-ignore: decorator
@inline
function layerOf(piece: u32): u32 {
  return mode == WORDS ? piece % layers : piece
}

let pieceStart: usize = 0
let pieceEnd: usize = 0

// Moves to the next piece of the key, from `p`; false when there is none. Segments may be empty, words are not.
// @ts-ignore: decorator
@inline
function nextPiece(p: usize, to: usize, piece: u32): bool {
  if (mode == WORDS) {
    pieceStart = wordStart(p, to)
    pieceEnd = wordEnd(pieceStart, to)
    return pieceStart < to
  }
  if (p > to) return false
  pieceStart = p
  pieceEnd = mode == JOIN && piece + 1 == layers || piece + 1 == MOST_LAYERS ? to : segmentEnd(p, to)
  return true
}

/** Test-and-set of keys [from, n). Returns how many are done: fewer than n when no layer can be added. */
export function multilayerAdd(from: u32, n: u32): u32 {
  for (let i = from; i < n; i++) {
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    let p = afterScheme(<usize>load<u32>(keyStarts + (<usize>i << 2)), to)
    memory.fill(xored, 0, <usize>count << 3)
    let fresh: u32 = 0
    let last: u32 = 0
    for (let piece: u32 = 0; nextPiece(p, to, piece); piece++) {
      const layer = layerOf(piece)
      if (layer == layers && !multilayerReach(layer + 1)) return i
      addressesOf(pieceStart, pieceEnd, count, size, 0)
      const set = setBits(<usize>load<u32>(arrays + (<usize>layer << 2)), count)
      const tally = ones + (<usize>layer << 3)
      store<u64>(tally, load<u64>(tally) + set)
      fresh += set
      last = layer
      foldAddresses()
      p = pieceEnd + 1
    }
    takeFolded()
    const set = setBits(xorArray, count)
    xorOnes += set
    const isNew = fresh + set != 0
    if (isNew) store<u64>(lasts + (<usize>last << 3), load<u64>(lasts + (<usize>last << 3)) + 1)
    store<u8>(verdicts + <usize>i, <u8>isNew)
  }
  return n
}

/** Asks for keys [from, n), marks nothing: verdict 0 where every layer and the XOR layer have their bits set. */
export function multilayerHas(from: u32, n: u32): void {
  for (let i = from; i < n; i++) {
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    let p = afterScheme(<usize>load<u32>(keyStarts + (<usize>i << 2)), to)
    memory.fill(xored, 0, <usize>count << 3)
    let absent = false
    for (let piece: u32 = 0; !absent && nextPiece(p, to, piece); piece++) {
      const layer = layerOf(piece)
      absent = layer >= layers
      if (absent) break
      addressesOf(pieceStart, pieceEnd, count, size, 0)
      absent = !hasBits(<usize>load<u32>(arrays + (<usize>layer << 2)), count)
      foldAddresses()
      p = pieceEnd + 1
    }
    if (!absent) {
      takeFolded()
      absent = !hasBits(xorArray, count)
    }
    store<u8>(verdicts + <usize>i, <u8>absent)
  }
}

export function multilayerLayers(): u32 {
  return layers
}

/** Set bits of a layer; of the XOR layer for `layer` = the number of layers. */
export function multilayerOnes(layer: u32): f64 {
  return <f64>(layer == layers ? xorOnes : load<u64>(ones + (<usize>layer << 3)))
}

/** Counts the bits again, after they were put there from outside. */
export function multilayerRestored(): void {
  const bytes = <usize>((size + 7) >> 3)
  for (let i: u32 = 0; i < layers; i++) {
    store<u64>(ones + (<usize>i << 3), countBits(load<u32>(arrays + (<usize>i << 2)), bytes))
  }
  xorOnes = countBits(xorArray, bytes)
}

export function multilayerSetLasts(layer: u32, count: f64): void {
  store<u64>(lasts + (<usize>layer << 3), <u64>count)
}

/** How many new keys had their last piece in this layer. */
export function multilayerLasts(layer: u32): f64 {
  return <f64>load<u64>(lasts + (<usize>layer << 3))
}

/** The bit array of a layer, or of the XOR layer. */
export function multilayerBits(layer: u32): usize {
  return layer == layers ? xorArray : <usize>load<u32>(arrays + (<usize>layer << 2))
}
