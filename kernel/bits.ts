// Bit arrays: test-and-set and test of the bits at the addresses that `addressesOf` left, counting, and union.
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

/** How many bits are set in the `bytes` bytes at `p`. */
export function countBits(p: usize, bytes: usize): u64 {
  let count: u64 = 0
  const end = p + bytes
  for (; p + 8 <= end; p += 8) count += popcnt(load<u64>(p))
  for (; p < end; p++) count += popcnt(<u64>load<u8>(p))
  return count
}

/** Whether no bit is set in the `bytes` bytes at `p`. */
export function isZero(p: usize, bytes: usize): bool {
  const end = p + bytes
  for (; p + 64 <= end; p += 64) {
    const some = v128.or(
      v128.or(v128.load(p), v128.load(p, 16)),
      v128.or(v128.load(p, 32), v128.load(p, 48)),
    )
    if (v128.any_true(some)) return false
  }
  for (; p < end; p++) if (load<u8>(p)) return false
  return true
}

/** Sets in the array at `to` every bit that is set in the one at `from`: the union of two filters. */
export function uniteBits(to: usize, from: usize, bytes: usize): void {
  const end = to + bytes
  for (; to + 16 <= end; to += 16, from += 16) v128.store(to, v128.or(v128.load(to), v128.load(from)))
  for (; to < end; to++, from++) store<u8>(to, load<u8>(to) | load<u8>(from))
}
