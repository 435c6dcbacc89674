// Multilayer: the MLBF of cen-2010, Algorithms 1 and 2 (term-project 3 and 4), as written: layer i holds the i-th
// segment of the URL, and one more layer the XOR of the segments' addresses, modulo m where that leaves the array.
// Errs towards "seen": by its fill, on recombined segments, and for certain on swapped ones, since XOR forgets order.
// With words instead of segments, dealt round-robin to the layers, it is the filter of sharma-keywords.
import { alloc, allocZeroed, release } from '../memory'
import { keyEnds, keyStarts, verdicts } from '../batch'
import { addresses, addressesOf, hashPieces, isWide } from '../hash'
import { derived, spread } from '../mix'
import { afterScheme, segmentEnd, wordEnd, wordStart } from '../segments'
import { addUnknown, beginKey, countKey, rateLayers, unknownPiecesCreate } from '../unknown-pieces'

/** What happens past the last layer: the rest is one segment, layers are added, or layers are dealt again. */
const JOIN: u32 = 0
const GROW: u32 = 1
const WORDS: u32 = 2
const MOST_LAYERS: u32 = 64

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
/** Of one group: their 16 bytes each must not wrap around 2^32. */
const MOST_PIECES: u32 = 0x0fff0000
const MOST_LOCATED_BYTES: u64 = 0xffff0000

/** `L` layers of `m` bits and k hashes, and the XOR layer. False when there is no room. */
export function multilayerCreate(L: u32, m: u64, k: u32, chosenMode: u32): bool {
  mode = chosenMode
  size = m
  count = k
  xorArray = allocZeroed(<usize>((m + 7) >> 3))
  return xorArray != 0 && unknownPiecesCreate() && multilayerReach(L)
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
let collected: u32 = 0
let pieces: usize = 0
let pieceHashes: usize = 0
let room: u32 = 0
/** Of each key of the group: its last piece and that one's hash; of those that passed it: which key it is. */
const lastPieces: usize = memory.data(128 * 8, 16)
const lastHashes: usize = memory.data(128 * 8, 16)
const passedKeys: usize = memory.data(128 * 4, 16)
/** How many pieces each key of the group has. */
const counts: usize = memory.data(128 * 4, 16)

function reserve(wanted: u32): bool {
  if (wanted <= room) return true
  if (wanted > MOST_PIECES) return false
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

// Collects the pieces of keys [from, …) until there are enough. Returns the key behind the last, or `from`
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
  collected = count
  return i
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

// The addresses of every piece of the group, and behind those of each key the ones of its XOR; each byte is touched,
// so that the cache misses of the group overlap.
function locateGroup(from: u32, to: u32): bool {
  if (isWide) hashPieces(pieces, collected, pieceHashes)
  let total: u32 = 0
  for (let i = from; i < to; i++) total += load<u32>(counts + (<usize>(i - from) << 2)) + 1
  const need = <u64>total * <u64>count << 3
  if (need > MOST_LOCATED_BYTES) return false
  const bytes = <usize>need
  if (bytes > locatedRoom) {
    const wider = alloc(bytes)
    if (!wider) return false
    release(located, locatedRoom)
    located = wider
    locatedRoom = bytes
  }
  const k = count
  const m = size
  const wide = isWide
  const stride = <usize>k << 3
  let sum: u32 = 0
  let piece = pieces
  let hash = pieceHashes
  let p = located
  for (let i = from; i < to; i++) {
    const own = load<u32>(counts + (<usize>(i - from) << 2))
    const xor = p + <usize>own * stride
    for (let q = xor; q < xor + stride; q += 8) store<u64>(q, 0)
    for (let n: u32 = 0; n < own; n++, piece += 8, hash += 8) {
      const layer = layerOf(n)
      const array = layer < layers ? <usize>load<u32>(arrays + (<usize>layer << 2)) : xorArray
      const h = load<u64>(hash)
      if (!wide) addressesOf(load<u32>(piece), load<u32>(piece, 4), k, m, 0)
      for (let j: u32 = 0; j < k; j++, p += 8) {
        const offset = <usize>j << 3
        const address = wide ? spread(derived(h, j), m) : load<u64>(addresses + offset)
        store<u64>(p, address)
        sum += <u32>load<u8>(array + <usize>(address >> 3))
        store<u64>(xor + offset, load<u64>(xor + offset) ^ address)
      }
    }
    for (let q = xor; q < xor + stride; q += 8) {
      const folded = load<u64>(q)
      const address = folded < m ? folded : folded % m
      store<u64>(q, address)
      sum += <u32>load<u8>(xorArray + <usize>(address >> 3))
    }
    p = xor + stride
  }
  touched = sum
  return true
}

function newKeys(): u64 {
  let keys: u64 = 0
  for (let layer: u32 = 0; layer < layers; layer++) keys += load<u64>(lasts + (<usize>layer << 3))
  return keys
}

/** Test-and-set of keys [from, n). Returns how many are done: fewer than n when there is no room. */
export function multilayerAdd(from: u32, n: u32): u32 {
  let end = n
  while (from < n) {
    const to = collect(from, end)
    if (to == from || !locateGroup(from, to)) {
      // No room for a group: one key at a time.
      if (end == from + 1) return from
      end = from + 1
      continue
    }
    let p = located
    for (let i = from; i < to; i++) {
      const own = load<u32>(counts + (<usize>(i - from) << 2))
      if (mode == GROW && own > layers && !multilayerReach(own)) return i
      let fresh: u32 = 0
      let last: u32 = 0
      beginKey()
      for (let piece: u32 = 0; piece < own; piece++) {
        last = layerOf(piece)
        const array = <usize>load<u32>(arrays + (<usize>last << 2))
        let set: u32 = 0
        for (let j: u32 = 0; j < count; j++, p += 8) set += setAt(array, load<u64>(p))
        const tally = ones + (<usize>last << 3)
        store<u64>(tally, load<u64>(tally) + set)
        if (set) addUnknown(last)
        fresh += set
      }
      let set: u32 = 0
      for (let j: u32 = 0; j < count; j++, p += 8) set += setAt(xorArray, load<u64>(p))
      xorOnes += set
      const isNew = fresh + set != 0
      if (isNew) {
        store<u64>(lasts + (<usize>last << 3), load<u64>(lasts + (<usize>last << 3)) + 1)
        if (countKey()) rateLayers(ones, layers, size, count, newKeys())
      }
      store<u8>(verdicts + <usize>i, <u8>isNew)
    }
    from = to
    if (end < n) end = from + 1
  }
  return n
}

// Whether the key whose addresses begin at `p` has all its bits set.
// @ts-ignore: decorator
@inline
function isThere(p: usize, own: u32): bool {
  for (let piece: u32 = 0; piece < own; piece++) {
    const array = <usize>load<u32>(arrays + (<usize>layerOf(piece) << 2))
    for (let j: u32 = 0; j < count; j++, p += 8) if (!isSetAt(array, load<u64>(p))) return false
  }
  for (let j: u32 = 0; j < count; j++, p += 8) if (!isSetAt(xorArray, load<u64>(p))) return false
  return true
}

// Asks for the last piece of each key of the group first: a new page mostly differs there, and which layer is asked
// first does not change the answer. Keys that pass move to the front of the group; returns how many they are.
function passLast(from: u32, to: u32): u32 {
  const keys = to - from
  let at: u32 = 0
  for (let i: u32 = 0; i < keys; i++) {
    at += load<u32>(counts + (<usize>i << 2))
    // A key without pieces, of words only, has nothing to ask for here: any piece will do.
    const last: u32 = at ? at - 1 : 0
    store<u64>(lastPieces + (<usize>i << 3), load<u64>(pieces + (<usize>last << 3)))
  }
  if (isWide) hashPieces(lastPieces, keys, lastHashes)
  let passed: u32 = 0
  let kept: u32 = 0
  at = 0
  for (let i: u32 = 0; i < keys; i++) {
    const own = load<u32>(counts + (<usize>i << 2))
    const first = at
    at += own
    const tooDeep = mode == GROW && own > layers
    if (tooDeep || (own && !hasPiece(i, layerOf(own - 1)))) {
      store<u8>(verdicts + <usize>(from + i), 1)
      continue
    }
    memory.copy(pieces + (<usize>kept << 3), pieces + (<usize>first << 3), <usize>own << 3)
    kept += own
    store<u32>(counts + (<usize>passed << 2), own)
    store<u32>(passedKeys + (<usize>passed << 2), from + i)
    passed++
  }
  collected = kept
  return passed
}

// @ts-ignore: decorator
@inline
function hasPiece(i: u32, layer: u32): bool {
  const array = <usize>load<u32>(arrays + (<usize>layer << 2))
  if (!isWide) {
    const piece = lastPieces + (<usize>i << 3)
    addressesOf(load<u32>(piece), load<u32>(piece, 4), count, size, 0)
  }
  const h = load<u64>(lastHashes + (<usize>i << 3))
  for (let j: u32 = 0; j < count; j++) {
    const address = isWide ? spread(derived(h, j), size) : load<u64>(addresses + (<usize>j << 3))
    if (!isSetAt(array, address)) return false
  }
  return true
}

/**
 * Asks for keys [from, n), marks nothing: verdict 0 where every layer and the XOR layer have their bits set. Returns how
 * many are done: fewer than n when there is no room for the pieces of one key.
 */
export function multilayerHas(from: u32, n: u32): u32 {
  let end = n
  while (from < n) {
    const to = collect(from, end)
    const passed: u32 = to == from ? 0 : passLast(from, to)
    if (to == from || !locateGroup(0, passed)) {
      // No room for a group: one key at a time.
      if (end == from + 1) return from
      end = from + 1
      continue
    }
    let p = located
    for (let i: u32 = 0; i < passed; i++) {
      const own = load<u32>(counts + (<usize>i << 2))
      store<u8>(verdicts + <usize>load<u32>(passedKeys + (<usize>i << 2)), <u8>!isThere(p, own))
      p += (<usize>(own + 1) * count) << 3
    }
    from = to
    if (end < n) end = from + 1
  }
  return n
}

/** Looks closely at the batch's first key: finds its pieces and returns how many they are, or -1 without room. */
export function multilayerLook(): i32 {
  return collect(0, 1) == 0 || !locateGroup(0, 1) ? -1 : <i32>load<u32>(counts)
}

/** The pieces that were found: a u32 start and a u32 end each. */
export function multilayerPieces(): usize {
  return pieces
}

/** The addresses of each piece found, k as u64, and behind the last piece those of the XOR layer. */
export function multilayerLocated(): usize {
  return located
}

/** Whether the layer of that piece has all its bits set; for the number of pieces, whether the XOR layer has. */
export function multilayerKnows(piece: u32): bool {
  const own = load<u32>(counts)
  const layer = layerOf(piece)
  if (piece < own && layer >= layers) return false
  const array = piece < own ? <usize>load<u32>(arrays + (<usize>layer << 2)) : xorArray
  const p = located + (<usize>(piece * count) << 3)
  for (let j: usize = 0; j < <usize>count; j++) if (!isSetAt(array, load<u64>(p + (j << 3)))) return false
  return true
}

export function multilayerLayers(): u32 {
  return layers
}

/** Set bits of a layer; of the XOR layer for `layer` = the number of layers. */
export function multilayerOnes(layer: u32): f64 {
  return <f64>(layer == layers ? xorOnes : load<u64>(ones + (<usize>layer << 3)))
}

/** Sets how many bits of a layer are set, after they were put there from outside; behind the last layer is the XOR layer. */
export function multilayerSetOnes(layer: u32, count: f64): void {
  if (layer == layers) xorOnes = <u64>count
  else store<u64>(ones + (<usize>layer << 3), <u64>count)
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
