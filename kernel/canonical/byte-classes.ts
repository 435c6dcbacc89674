// Bytes in classes, sixteen at a time: a class is a bit for the product of a set of high and a set of low half bytes, so two
// table look-ups classify. And masks of 64 bytes: bit i is the byte at `p` + i.

/** Adds to the tables `high` and `low` that half bytes `highs` with `lows` are of class `bit`. */
export function mark(high: usize, low: usize, bit: u8, highs: u32, lows: u32): void {
  for (let i = 0; i < 16; i++) {
    if (highs & (1 << i)) store<u8>(high + i, load<u8>(high + i) | bit)
    if (lows & (1 << i)) store<u8>(low + i, load<u8>(low + i) | bit)
  }
}

/** The classes of sixteen bytes. */
// @ts-ignore: decorator
@inline
export function classesOf(v: v128, high: v128, low: v128): v128 {
  return v128.and(
    i8x16.swizzle(high, i8x16.shr_u(v, 4)),
    i8x16.swizzle(low, v128.and(v, i8x16.splat(15)))
  )
}

/** The top bits of 64 bytes. */
// @ts-ignore: decorator
@inline
export function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return <u64>i8x16.bitmask(a) | <u64>i8x16.bitmask(b) << 16 | <u64>i8x16.bitmask(c) << 32 | <u64>i8x16.bitmask(d) << 48
}

/** Which of the 64 bytes at `p` are `c`. */
export function places(p: usize, c: u8): u64 {
  const wanted = i8x16.splat(c)
  return bits(
    i8x16.eq(v128.load(p), wanted), i8x16.eq(v128.load(p, 16), wanted),
    i8x16.eq(v128.load(p, 32), wanted), i8x16.eq(v128.load(p, 48), wanted),
  )
}

/** Which of the 64 bytes at `p` lie before `end`. */
// @ts-ignore: decorator
@inline
export function placesBefore(p: usize, end: usize): u64 {
  return end - p >= 64 ? ~0 : ((<u64>1) << <u64>(end - p)) - 1
}
