// Multilayer: the MLBF of cen-2010, Algorithms 1 and 2 (term-project 3 and 4), as written: layer i holds the i-th
// segment of the URL, and one more layer the XOR of the segments' addresses, modulo m where that leaves the array.
// Errs towards "seen": by its fill, on recombined segments, and for certain on swapped ones, since XOR forgets order.
// With words instead of segments, dealt round-robin to the layers, it is the filter of sharma-keywords.
import { alloc, allocZeroed, release } from '../memory'
import { keyEnds, keyStarts, verdicts } from '../batch'
import { addresses, addressesOf, hashPieces, isWide } from '../hash'
import { countBits } from '../journal'
import { derived, spread } from '../mix'
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
let touched: u32 = 0
/** The addresses of a group, as u64. */
let located: usize = 0
let locatedRoom: usize = 0

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

/** Pieces collected from several keys before they are hashed together: u32 start and u32 end, and then their hashes. */
const GROUP: u32 = 128
let pieces: usize = 0
let pieceHashes: usize = 0
let room: u32 = 0
/** How many pieces each key of the group has. */
const counts: usize = memory.data(256 * 4, 16)

function reserve(wanted: u32): bool {
  if (wanted <= room) return true
  const wider = alloc(<usize>wanted << 4)
  if (!wider) return false
  if (room) {
    memory.copy(wider, pieces, <usize>room << 3)
    release(pieces, <usize>room << 4)
  }
  pieces = wider
  pieceHashes = wider + (<usize>wanted << 3)
  room = wanted
  return true
}

// Collects and hashes the pieces of keys [from, …) until there are enough. Returns the key behind the last, or `from`
// when there is no room.
function collect(from: u32, n: u32): u32 {
  let count: u32 = 0
  let i = from
  for (; i < n && count < GROUP && i - from < GROUP; i++) {
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    let p = afterScheme(<usize>load<u32>(keyStarts + (<usize>i << 2)), to)
    const before = count
    for (let piece: u32 = 0; nextPiece(p, to, piece); piece++) {
      if (count == room && !reserve(max(room * 2, GROUP + MOST_LAYERS))) return from
      store<u32>(pieces + (<usize>count << 3), <u32>pieceStart)
      store<u32>(pieces + (<usize>count << 3), <u32>pieceEnd, 4)
      count++
      p = pieceEnd + 1
    }
    store<u32>(counts + (<usize>(i - from) << 2), count - before)
  }
  if (isWide) hashPieces(pieces, count, pieceHashes)
  return i
}

// Writes the addresses of the piece at `at` of the group to `to`.
// @ts-ignore: decorator
@inline
function locate(at: u32, to: usize): void {
  if (isWide) {
    const h = load<u64>(pieceHashes + (<usize>at << 3))
    for (let j: u32 = 0; j < count; j++) store<u64>(to + (<usize>j << 3), spread(derived(h, j), size))
  } else {
    const piece = pieces + (<usize>at << 3)
    addressesOf(load<u32>(piece), load<u32>(piece, 4), count, size, 0)
    memory.copy(to, addresses, <usize>count << 3)
  }
}

// @ts-ignore: decorator
@inline
function setAt(array: usize, at: u64): u32 {
  const byte = array + <usize>(at >> 3)
  const old = <u32>load<u8>(byte)
  const set = old | (1 << (<u32>at & 7))
  store<u8>(byte, <u8>set)
  return <u32>(set != old)
}

// @ts-ignore: decorator
@inline
function isSetAt(array: usize, at: u64): bool {
  return <bool>(load<u8>(array + <usize>(at >> 3)) >> (<u8>at & 7) & 1)
}

// The XOR layer's address.
// @ts-ignore: decorator
@inline
function folded(xor: u64): u64 {
  return xor < size ? xor : xor % size
}

// The addresses of every piece of the group, and behind those of each key the ones of its XOR; each byte is touched,
// so that the cache misses of the group overlap.
function locateGroup(from: u32, to: u32): bool {
  let total: u32 = 0
  for (let i = from; i < to; i++) total += load<u32>(counts + (<usize>(i - from) << 2)) + 1
  const bytes = <usize>(total * count) << 3
  if (bytes > locatedRoom) {
    release(located, locatedRoom)
    located = alloc(bytes)
    locatedRoom = located ? bytes : 0
    if (!located) return false
  }
  let sum: u32 = 0
  let at: u32 = 0
  let p = located
  const wide = <usize>count << 3
  for (let i = from; i < to; i++) {
    const own = load<u32>(counts + (<usize>(i - from) << 2))
    const xor = p + <usize>own * wide
    for (let j: u32 = 0; j < count; j++) store<u64>(xor + (<usize>j << 3), 0)
    for (let piece: u32 = 0; piece < own; piece++, at++, p += wide) {
      locate(at, p)
      const layer = layerOf(piece)
      const array = layer < layers ? <usize>load<u32>(arrays + (<usize>layer << 2)) : xorArray
      for (let j: u32 = 0; j < count; j++) {
        const address = load<u64>(p + (<usize>j << 3))
        sum += <u32>load<u8>(array + <usize>(address >> 3))
        const fold = xor + (<usize>j << 3)
        store<u64>(fold, load<u64>(fold) ^ address)
      }
    }
    for (let j: u32 = 0; j < count; j++, p += 8) {
      const address = folded(load<u64>(p))
      store<u64>(p, address)
      sum += <u32>load<u8>(xorArray + <usize>(address >> 3))
    }
  }
  touched = sum
  return true
}

/** Test-and-set of keys [from, n). Returns how many are done: fewer than n when there is no room. */
export function multilayerAdd(from: u32, n: u32): u32 {
  while (from < n) {
    const to = collect(from, n)
    if (to == from || !locateGroup(from, to)) return from
    let p = located
    for (let i = from; i < to; i++) {
      const own = load<u32>(counts + (<usize>(i - from) << 2))
      if (mode == GROW && own > layers && !multilayerReach(own)) return i
      let fresh: u32 = 0
      let last: u32 = 0
      for (let piece: u32 = 0; piece < own; piece++) {
        last = layerOf(piece)
        const array = <usize>load<u32>(arrays + (<usize>last << 2))
        let set: u32 = 0
        for (let j: u32 = 0; j < count; j++, p += 8) set += setAt(array, load<u64>(p))
        const tally = ones + (<usize>last << 3)
        store<u64>(tally, load<u64>(tally) + set)
        fresh += set
      }
      let set: u32 = 0
      for (let j: u32 = 0; j < count; j++, p += 8) set += setAt(xorArray, load<u64>(p))
      xorOnes += set
      const isNew = fresh + set != 0
      if (isNew) store<u64>(lasts + (<usize>last << 3), load<u64>(lasts + (<usize>last << 3)) + 1)
      store<u8>(verdicts + <usize>i, <u8>isNew)
    }
    from = to
  }
  return n
}

// Whether the key whose addresses begin at `p` has all its bits set.
// @ts-ignore: decorator
@inline
function isThere(p: usize, own: u32): bool {
  if (mode == GROW && own > layers) return false
  for (let piece: u32 = 0; piece < own; piece++) {
    const array = <usize>load<u32>(arrays + (<usize>layerOf(piece) << 2))
    for (let j: u32 = 0; j < count; j++, p += 8) if (!isSetAt(array, load<u64>(p))) return false
  }
  for (let j: u32 = 0; j < count; j++, p += 8) if (!isSetAt(xorArray, load<u64>(p))) return false
  return true
}

/** Asks for keys [from, n), marks nothing: verdict 0 where every layer and the XOR layer have their bits set. */
export function multilayerHas(from: u32, n: u32): void {
  while (from < n) {
    const to = collect(from, n)
    if (to == from || !locateGroup(from, to)) {
      // No room even for one key's pieces: it cannot have been added here.
      store<u8>(verdicts + <usize>from, 1)
      from++
      continue
    }
    let p = located
    for (let i = from; i < to; i++) {
      const own = load<u32>(counts + (<usize>(i - from) << 2))
      store<u8>(verdicts + <usize>i, <u8>!isThere(p, own))
      p += (<usize>(own + 1) * count) << 3
    }
    from = to
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
