// From one 64-bit hash to many independent ones, and from a hash to an address in an array of any size.

/** The finaliser of SplitMix64 (Steele, Lea, Flood): a bijection that passes statistical tests. */
// @ts-ignore: decorator
@inline
export function mix(x: u64): u64 {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb
  return x ^ (x >> 31)
}

/** The j-th hash derived from `h`: independent ones, not a + j·b, whose bits are not (see docs/filters.md). */
// @ts-ignore: decorator
@inline
export function derived(h: u64, j: u32): u64 {
  return mix(h + (<u64>j + 1) * 0x9e3779b97f4a7c15)
}

/** floor(x · size / 2^64): `x` spread evenly over [0, size), for any size under 2^48. */
// @ts-ignore: decorator
@inline
export function spread(x: u64, size: u64): u64 {
  const high = x >> 32
  const low = x & 0xffffffff
  if (!(size >> 32)) return (high * size + ((low * size) >> 32)) >> 32
  const sizeHigh = size >> 32
  const sizeLow = size & 0xffffffff
  const t = high * sizeLow + ((low * sizeLow) >> 32)
  return high * sizeHigh + (t >> 32) + (((t & 0xffffffff) + low * sizeHigh) >> 32)
}
