// Test-and-set and test of bits at the addresses that `addressesOf` left, for the filters made of bit arrays.
import { addresses } from './hash'

/** Sets the bits at the first k addresses of the array at `bits`. Returns how many were not set before. */
// @ts-ignore: decorator
@inline
export function setBits(bits: usize, k: u32): u32 {
  let fresh: u32 = 0
  for (let j: u32 = 0; j < k; j++) {
    const at = load<u64>(addresses + (<usize>j << 3))
    const byte = bits + <usize>(at >> 3)
    const old = <u32>load<u8>(byte)
    const set = old | (1 << (<u32>at & 7))
    fresh += <u32>(set != old)
    store<u8>(byte, <u8>set)
  }
  return fresh
}

/** Whether the bits at the first k addresses of the array at `bits` are all set. */
// @ts-ignore: decorator
@inline
export function hasBits(bits: usize, k: u32): bool {
  for (let j: u32 = 0; j < k; j++) {
    const at = load<u64>(addresses + (<usize>j << 3))
    if (!(<u32>load<u8>(bits + <usize>(at >> 3)) >> (<u32>at & 7) & 1)) return false
  }
  return true
}
