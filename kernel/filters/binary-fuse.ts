// Binary fuse, 3-wise: a set that is made once and then only asked (Graf, Lemire 2022). Each key has three cells, one in
// each of three neighbouring segments; the fingerprints in them XOR to the key's own. Errs towards "seen" at 2^−bits,
// never towards "new". Cells are found by peeling: a cell that one key alone uses is that key's to set, last of all.
// Making it takes 9 bytes per key and 13 a cell, about 24 bytes per key: do it in an instance that is thrown away.
import { alloc, allocZeroed } from '../memory'
import { hashes, verdicts } from '../batch'
import { derived, mix, spread } from '../mix'
import { takesOne } from '../one'

let bits: u32 = 0
let seed: u64 = 0
/** Cells of a segment, a power of two, less one. */
let segmentMask: u32 = 0
/** A key's first cell is one of these: all but the last two segments. */
let firstCells: u32 = 0
let cells: u32 = 0
let fingerprints: usize = 0

// While it is made:
let keys: u32 = 0
/** Of each cell the XOR of its keys; before that, the hashes as they are given. */
let sums: usize = 0
/** Of each cell: its keys · 4, and the XOR of which of the key's three cells (0, 1, 2) it is to each. */
let uses: usize = 0
/** The keys, block by block; later in the order they are peeled. */
let order: usize = 0
/** Of each peeled key: which of its three cells it sets. */
let chosen: usize = 0
/** Cells that one key alone uses. Its memory becomes the fingerprints, which need it only when it is done. */
let alone: usize = 0
/** Keys are put in order of their first bits, so that what is touched together lies together. */
const MOST_BLOCK_BITS: u32 = 10
const blockEnds: usize = memory.data(1024 * 4, 16)

// @ts-ignore: decorator
@inline
function remembered(h: u64): u64 {
  return h ? h : 1 // as the fingerprint filter remembers it
}

// @ts-ignore: decorator
@inline
function firstCell(x: u64): u32 {
  return <u32>spread(x, firstCells)
}

// @ts-ignore: decorator
@inline
function secondCell(x: u64, first: u32): u32 {
  return (first + segmentMask + 1) ^ (<u32>(x >> 18) & segmentMask)
}

// @ts-ignore: decorator
@inline
function thirdCell(x: u64, first: u32): u32 {
  return (first + 2 * (segmentMask + 1)) ^ (<u32>x & segmentMask)
}

// The cell of a key that is `which` of its three: 0, 1, 2.
// @ts-ignore: decorator
@inline
function cellOf(x: u64, first: u32, which: u32): u32 {
  return which == 0 ? first : which == 1 ? secondCell(x, first) : thirdCell(x, first)
}

// @ts-ignore: decorator
@inline
function at<T>(cell: u32): u32 {
  return <u32>load<T>(fingerprints + <usize>cell * sizeof<T>())
}

// The XOR of a key's own fingerprint and those in its three cells: 0 when it is in the set.
// @ts-ignore: decorator
@inline
function difference<T>(x: u64): u32 {
  const first = firstCell(x)
  return <u32><T>(<u32>x ^ <u32>(x >> 32)) ^ at<T>(first) ^ at<T>(secondCell(x, first)) ^ at<T>(thirdCell(x, first))
}

function setShape(chosenBits: u32, segmentLength: u32, segments: u32): void {
  bits = chosenBits
  segmentMask = segmentLength - 1
  firstCells = segments * segmentLength
  cells = firstCells + 2 * segmentLength
}

/** An array of fingerprints to be filled from outside. `segments` does not count the last two; 0 of them: an empty set. */
export function binaryFuseCreate(chosenBits: u32, segmentLength: u32, segments: u32, chosenSeed: u64): bool {
  seed = chosenSeed
  takesOne(0, binaryFuseHas.index)
  if (!segments) return true
  setShape(chosenBits, segmentLength, segments)
  fingerprints = allocZeroed(<usize>cells * <usize>(bits >> 3))
  return fingerprints != 0
}

/** Room for the hashes of the `n` keys to make a set of, all distinct; 0 when there is none. */
export function binaryFuseReserve(chosenBits: u32, segmentLength: u32, segments: u32, n: u32): usize {
  setShape(chosenBits, segmentLength, segments)
  keys = n
  sums = alloc(<usize>cells << 3)
  uses = alloc(cells)
  order = alloc(<usize>n << 3)
  chosen = alloc(n)
  alone = alloc(<usize>cells << 2)
  return sums && uses && order && chosen && alone ? sums : 0
}

// Mixes the given hashes with the seed and puts them into `order`, block by block (a counting sort).
function arrange(): void {
  const blockBits = max(1, min(MOST_BLOCK_BITS, 32 - clz(firstCells / (segmentMask + 1))))
  const shift = 64 - <u64>blockBits
  memory.fill(blockEnds, 0, 4 << blockBits)
  for (let i: u32 = 0; i < keys; i++) {
    const slot = sums + (<usize>i << 3)
    const x = mix(load<u64>(slot) + seed)
    store<u64>(slot, x)
    const block = blockEnds + (<usize>(x >> shift) << 2)
    store<u32>(block, load<u32>(block) + 1)
  }
  let end: u32 = 0
  for (let i: usize = 0; i < 1 << blockBits; i++) {
    const count = load<u32>(blockEnds + (i << 2))
    store<u32>(blockEnds + (i << 2), end)
    end += count
  }
  for (let i: u32 = 0; i < keys; i++) {
    const x = load<u64>(sums + (<usize>i << 3))
    const block = blockEnds + (<usize>(x >> shift) << 2)
    const to = load<u32>(block)
    store<u32>(block, to + 1)
    store<u64>(order + (<usize>to << 3), x)
  }
}

// Puts a key into one of its cells. False when the cell has more keys than its byte can count.
// @ts-ignore: decorator
@inline
function enter(cell: u32, x: u64, which: u32): bool {
  const use = uses + <usize>cell
  const count = ((<u32>load<u8>(use) + 4) & 255) ^ which
  store<u8>(use, <u8>count)
  const sum = sums + (<usize>cell << 3)
  store<u64>(sum, load<u64>(sum) ^ x)
  return count >= 4
}

// Takes a peeled key out of another of its cells. Returns how many cells wait: one more when one key is left in it.
// @ts-ignore: decorator
@inline
function leave(cell: u32, x: u64, which: u32, waiting: u32): u32 {
  const use = uses + <usize>cell
  const count = <u32>load<u8>(use)
  store<u32>(alone + (<usize>waiting << 2), cell)
  store<u8>(use, <u8>((count - 4) ^ which))
  const sum = sums + (<usize>cell << 3)
  store<u64>(sum, load<u64>(sum) ^ x)
  return waiting + <u32>(count >> 2 == 2)
}

// Peels the keys off. False when some are left that share all their cells with others.
function peel(): bool {
  memory.fill(sums, 0, <usize>cells << 3)
  memory.fill(uses, 0, cells)
  let fits = true
  for (let i: u32 = 0; i < keys; i++) {
    const x = load<u64>(order + (<usize>i << 3))
    const first = firstCell(x)
    const a = enter(first, x, 0)
    const b = enter(secondCell(x, first), x, 1)
    const c = enter(thirdCell(x, first), x, 2)
    fits = fits && a && b && c
  }
  if (!fits) return false
  // A cell comes to be alone at most once, so there is room for all of them, and one to write before it is known.
  let waiting: u32 = 0
  for (let cell: u32 = 0; cell < cells; cell++) {
    if (load<u8>(uses + <usize>cell) >> 2 != 1) continue
    store<u32>(alone + (<usize>waiting << 2), cell)
    waiting++
  }
  let peeled: u32 = 0
  while (waiting) {
    const cell = load<u32>(alone + (<usize>(--waiting) << 2))
    const use = <u32>load<u8>(uses + <usize>cell)
    if (use >> 2 != 1) continue
    const which = use & 3
    const x = load<u64>(sums + (<usize>cell << 3))
    store<u64>(order + (<usize>peeled << 3), x)
    store<u8>(chosen + <usize>peeled, <u8>which)
    peeled++
    const first = firstCell(x)
    const next = which == 2 ? 0 : which + 1
    const last = which == 0 ? 2 : which - 1
    waiting = leave(cellOf(x, first, next), x, next, waiting)
    waiting = leave(cellOf(x, first, last), x, last, waiting)
  }
  return peeled == keys
}

// The last key peeled sets its cell first: no key set later touches it again.
function assign<T>(): void {
  fingerprints = alone
  memory.fill(fingerprints, 0, <usize>cells * sizeof<T>())
  for (let i = keys; i--; ) {
    const x = load<u64>(order + (<usize>i << 3))
    const cell = cellOf(x, firstCell(x), <u32>load<u8>(chosen + <usize>i))
    store<T>(fingerprints + <usize>cell * sizeof<T>(), <T>difference<T>(x))
  }
}

/**
 * Makes the set from the hashes in the room reserved, with the seed of this attempt: 0, 1, … False when that seed will not
 * do; the hashes are gone then, and must be given again for the next. Equal hashes never do.
 */
export function binaryFuseBuild(attempt: u32): bool {
  seed = derived(0, attempt)
  arrange()
  if (!peel()) return false
  if (bits == 8) assign<u8>()
  else if (bits == 16) assign<u16>()
  else assign<u32>()
  return true
}

export function binaryFuseSeed(): u64 {
  return seed
}

/** Where the fingerprints lie, a cell each; 0 for an empty set. */
export function binaryFuseFingerprints(): usize {
  return fingerprints
}

// No branch waits for a cell, so the misses of several keys overlap by themselves: touching the cells in a pass of its own
// first, as the other filters do, gained nothing.
function probe<T>(from: u32, n: u32): void {
  for (let i = from; i < n; i++) {
    const x = mix(remembered(load<u64>(hashes + (<usize>i << 3))) + seed)
    store<u8>(verdicts + <usize>i, <u8>(difference<T>(x) != 0))
  }
}

/** Asks for hashes [from, n): verdict 0 where one is in the set. */
export function binaryFuseHas(from: u32, n: u32): void {
  if (!fingerprints) memory.fill(verdicts + <usize>from, 1, n - from)
  else if (bits == 8) probe<u8>(from, n)
  else if (bits == 16) probe<u16>(from, n)
  else probe<u32>(from, n)
}
