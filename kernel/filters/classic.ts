// Classic: Bloom's filter of 1970 with any m bits and k hashes. Errs towards "seen" at the rate its fill gives,
// never towards "new". The k addresses are independent hashes derived from the key's own, or the papers' functions.
import { allocZeroed } from '../memory'
import { hashes, keyEnds, keyStarts, verdicts } from '../batch'
import { hasBits, setBits } from '../bits'
import { addressesOf, isWide } from '../hash'
import { derived, spread } from '../mix'
import { takesOne } from '../one'

let bits: usize = 0
let size: u64 = 0
let count: u32 = 0
let ones: u64 = 0
let touched: u32 = 0
/** Addresses worked on together, after one pass that only touches them: the cache misses overlap. */
const GROUP: u32 = 512
const addresses: usize = memory.data(512 * 8, 64)

/** `m` bits, all zero, and `k` hashes. False when there is no room. */
export function classicCreate(m: u64, k: u32): bool {
  size = m
  count = k
  takesOne(classicAdd.index, classicHas.index)
  bits = allocZeroed(<usize>((m + 7) >> 3))
  return bits != 0
}

// @ts-ignore: decorator
@inline
function keyAddresses(i: u32): void {
  addressesOf(load<u32>(keyStarts + (<usize>i << 2)), load<u32>(keyEnds + (<usize>i << 2)), count, size, 0)
}

/** Test-and-set of keys [from, n). */
export function classicAdd(from: u32, n: u32): u32 {
  const k = count
  if (!isWide) {
    for (let i = from; i < n; i++) {
      keyAddresses(i)
      const fresh = setBits(bits, k)
      ones += fresh
      store<u8>(verdicts + <usize>i, <u8>(fresh != 0))
    }
    return n
  }
  const m = size
  const array = bits
  const step = max(GROUP / k, 1)
  while (from < n) {
    const to = min(from + step, n)
    let sum: u32 = 0
    let p = addresses
    for (let i = from; i < to; i++) {
      const h = load<u64>(hashes + (<usize>i << 3))
      for (let j: u32 = 0; j < k; j++, p += 8) {
        const at = spread(derived(h, j), m)
        store<u64>(p, at)
        sum += <u32>load<u8>(array + <usize>(at >> 3))
      }
    }
    touched = sum
    p = addresses
    let all: u32 = 0
    for (let i = from; i < to; i++) {
      let fresh: u32 = 0
      for (let j: u32 = 0; j < k; j++, p += 8) {
        const at = load<u64>(p)
        const byte = array + <usize>(at >> 3)
        const old = <u32>load<u8>(byte)
        const set = old | (1 << (<u32>at & 7))
        fresh += <u32>(set != old)
        store<u8>(byte, <u8>set)
      }
      all += fresh
      store<u8>(verdicts + <usize>i, <u8>(fresh != 0))
    }
    ones += all
    from = to
  }
  return n
}

/** Asks for keys [from, n), marks nothing: verdict 0 where all k bits are set. */
export function classicHas(from: u32, n: u32): void {
  const k = count
  if (!isWide) {
    for (let i = from; i < n; i++) {
      keyAddresses(i)
      store<u8>(verdicts + <usize>i, <u8>!hasBits(bits, k))
    }
    return
  }
  const m = size
  const array = bits
  for (let i = from; i < n; i++) {
    const h = load<u64>(hashes + (<usize>i << 3))
    let absent: u8 = 0
    for (let j: u32 = 0; j < k; j++) {
      const at = spread(derived(h, j), m)
      if (!(load<u8>(array + <usize>(at >> 3)) >> (<u8>at & 7) & 1)) {
        absent = 1
        break
      }
    }
    store<u8>(verdicts + <usize>i, absent)
  }
}

export function classicOnes(): f64 {
  return <f64>ones
}

/** Sets how many bits are set, after they were put there from outside. */
export function classicSetOnes(count: f64): void {
  ones = <u64>count
}

export function classicBits(): usize {
  return bits
}
