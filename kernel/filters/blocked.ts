// Blocked: a Bloom filter whose k bits of one key lie in one 512-bit block, a cache line (Putze, Sanders, Singler
// 2007). Errs towards "seen" at a rate a little above the classic filter's, never towards "new"; one cache miss
// a key. The hash's low half chooses the block (its top bits choose the instance); seven 9-bit positions are taken from each derived hash.
import { allocZeroed } from '../memory'
import { hashes, verdicts } from '../batch'
import { derived, spread } from '../mix'
import { takesOne } from '../one'

let blocks: usize = 0
let size: u64 = 0
let count: u32 = 0
let ones: u64 = 0
let touched: u64 = 0

/** Blocks probed together after one pass that only touches them. */
const GROUP: u32 = 64
const addresses: usize = memory.data(64 * 4, 16)

/** `n` blocks of 64 bytes, all zero, and `k` hashes. False when there is no room. */
export function blockedCreate(n: u64, k: u32): bool {
  size = n
  count = k
  takesOne(blockedAdd.index, blockedHas.index)
  blocks = allocZeroed(<usize>(n << 6))
  return blocks != 0
}

function touchGroup(from: u32, to: u32): void {
  let sum: u64 = 0
  for (let i = from; i < to; i++) {
    const block = blocks + (<usize>spread(rotl(load<u64>(hashes + (<usize>i << 3)), 32), size) << 6)
    store<u32>(addresses + (<usize>(i - from) << 2), <u32>block)
    sum += load<u64>(block)
  }
  touched = sum
}

// Looks at the k bits of hashes [from, n), until one is not set unless it `sets` them. Both uses are compiled apart: `sets` is
// a constant in each.
// @ts-ignore: decorator
@inline
function probe(from: u32, n: u32, sets: bool): void {
  while (from < n) {
    const to = min(from + GROUP, n)
    touchGroup(from, to)
    for (let i = from; i < to; i++) {
      const h = load<u64>(hashes + (<usize>i << 3))
      const block = <usize>load<u32>(addresses + (<usize>(i - from) << 2))
      let absent: u32 = 0
      let left = count
      for (let j: u32 = 0; left && (sets || !absent); j++) {
        let positions = derived(h, j)
        const here = min(left, 7)
        left -= here
        for (let b: u32 = 0; b < here; b++) {
          const word = block + (<usize>(positions >> 6 & 7) << 3)
          const old = load<u64>(word)
          if (sets) {
            const bit = <u64>1 << (positions & 63)
            absent += <u32>((old & bit) == 0)
            store<u64>(word, old | bit)
          } else if (!(old >> (positions & 63) & 1)) {
            absent = 1
            break
          }
          positions >>= 9
        }
      }
      if (sets) ones += absent
      store<u8>(verdicts + <usize>i, <u8>(absent != 0))
    }
    from = to
  }
}

/** Test-and-set of hashes [from, n). */
export function blockedAdd(from: u32, n: u32): u32 {
  probe(from, n, true)
  return n
}

/** Asks for hashes [from, n), marks nothing: verdict 0 where all k bits are set. */
export function blockedHas(from: u32, n: u32): void {
  probe(from, n, false)
}

export function blockedOnes(): f64 {
  return <f64>ones
}

/** Sets how many bits are set, after they were put there from outside. */
export function blockedSetOnes(count: f64): void {
  ones = <u64>count
}

export function blockedBits(): usize {
  return blocks
}
