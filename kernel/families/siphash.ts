// SipHash-1-3 with a 128-bit secret key: the default hash, since pages choose the URLs.
// Aumasson and Bernstein, "SipHash: a fast short-input PRF", with c = 1 and d = 3 rounds. A round is written out wherever one is
// done: its four words are local variables, which a function cannot return; the last word's round in the loop of the last
// three makes a hash of 61 bytes a sixth slower.

let key0: u64 = 0
let key1: u64 = 0

export function setKey(lo: u64, hi: u64): void {
  key0 = lo
  key1 = hi
}

/** The hash of the bytes [p, end). Reads up to 7 bytes past the end. */
export function siphash13(p: usize, end: usize): u64 {
  let v0 = key0 ^ 0x736f6d6570736575
  let v1 = key1 ^ 0x646f72616e646f6d
  let v2 = key0 ^ 0x6c7967656e657261
  let v3 = key1 ^ 0x7465646279746573
  const size = end - p
  const whole = p + (size & ~7)
  while (p < whole) {
    const m = load<u64>(p)
    p += 8
    v3 ^= m
    v0 += v1; v1 = rotl(v1, 13) ^ v0; v0 = rotl(v0, 32)
    v2 += v3; v3 = rotl(v3, 16) ^ v2
    v0 += v3; v3 = rotl(v3, 21) ^ v0
    v2 += v1; v1 = rotl(v1, 17) ^ v2; v2 = rotl(v2, 32)
    v0 ^= m
  }
  const last = lastWord(p, size)
  v3 ^= last
  v0 += v1; v1 = rotl(v1, 13) ^ v0; v0 = rotl(v0, 32)
  v2 += v3; v3 = rotl(v3, 16) ^ v2
  v0 += v3; v3 = rotl(v3, 21) ^ v0
  v2 += v1; v1 = rotl(v1, 17) ^ v2; v2 = rotl(v2, 32)
  v0 ^= last
  v2 ^= 0xff
  for (let i = 0; i < 3; i++) {
    v0 += v1; v1 = rotl(v1, 13) ^ v0; v0 = rotl(v0, 32)
    v2 += v3; v3 = rotl(v3, 16) ^ v2
    v0 += v3; v3 = rotl(v3, 21) ^ v0
    v2 += v1; v1 = rotl(v1, 17) ^ v2; v2 = rotl(v2, 32)
  }
  return v0 ^ v1 ^ v2 ^ v3
}

/**
 * Hashes [p, endP) and [q, endQ) at once and stores both at `out`. Each hash is one chain of dependent steps;
 * two of them side by side keep the processor busy.
 */
export function siphash13Pair(p: usize, endP: usize, q: usize, endQ: usize, out: usize): void {
  let a0 = key0 ^ 0x736f6d6570736575
  let a1 = key1 ^ 0x646f72616e646f6d
  let a2 = key0 ^ 0x6c7967656e657261
  let a3 = key1 ^ 0x7465646279746573
  let b0 = a0
  let b1 = a1
  let b2 = a2
  let b3 = a3
  const sizeP = endP - p
  const sizeQ = endQ - q
  const wholeP = p + (sizeP & ~7)
  const wholeQ = q + (sizeQ & ~7)
  const both = p + (min(sizeP, sizeQ) & ~7)
  while (p < both) {
    const m = load<u64>(p)
    const w = load<u64>(q)
    p += 8
    q += 8
    a3 ^= m; b3 ^= w
    a0 += a1; b0 += b1; a1 = rotl(a1, 13) ^ a0; b1 = rotl(b1, 13) ^ b0; a0 = rotl(a0, 32); b0 = rotl(b0, 32)
    a2 += a3; b2 += b3; a3 = rotl(a3, 16) ^ a2; b3 = rotl(b3, 16) ^ b2
    a0 += a3; b0 += b3; a3 = rotl(a3, 21) ^ a0; b3 = rotl(b3, 21) ^ b0
    a2 += a1; b2 += b1; a1 = rotl(a1, 17) ^ a2; b1 = rotl(b1, 17) ^ b2; a2 = rotl(a2, 32); b2 = rotl(b2, 32)
    a0 ^= m; b0 ^= w
  }
  while (p < wholeP) {
    const m = load<u64>(p)
    p += 8
    a3 ^= m
    a0 += a1; a1 = rotl(a1, 13) ^ a0; a0 = rotl(a0, 32)
    a2 += a3; a3 = rotl(a3, 16) ^ a2
    a0 += a3; a3 = rotl(a3, 21) ^ a0
    a2 += a1; a1 = rotl(a1, 17) ^ a2; a2 = rotl(a2, 32)
    a0 ^= m
  }
  while (q < wholeQ) {
    const w = load<u64>(q)
    q += 8
    b3 ^= w
    b0 += b1; b1 = rotl(b1, 13) ^ b0; b0 = rotl(b0, 32)
    b2 += b3; b3 = rotl(b3, 16) ^ b2
    b0 += b3; b3 = rotl(b3, 21) ^ b0
    b2 += b1; b1 = rotl(b1, 17) ^ b2; b2 = rotl(b2, 32)
    b0 ^= w
  }
  const lastP = lastWord(p, sizeP)
  const lastQ = lastWord(q, sizeQ)
  a3 ^= lastP; b3 ^= lastQ
  for (let i = 0; i < 4; i++) {
    a0 += a1; b0 += b1; a1 = rotl(a1, 13) ^ a0; b1 = rotl(b1, 13) ^ b0; a0 = rotl(a0, 32); b0 = rotl(b0, 32)
    a2 += a3; b2 += b3; a3 = rotl(a3, 16) ^ a2; b3 = rotl(b3, 16) ^ b2
    a0 += a3; b0 += b3; a3 = rotl(a3, 21) ^ a0; b3 = rotl(b3, 21) ^ b0
    a2 += a1; b2 += b1; a1 = rotl(a1, 17) ^ a2; b1 = rotl(b1, 17) ^ b2; a2 = rotl(a2, 32); b2 = rotl(b2, 32)
    if (i == 0) {
      a0 ^= lastP; b0 ^= lastQ
      a2 ^= 0xff; b2 ^= 0xff
    }
  }
  store<u64>(out, a0 ^ a1 ^ a2 ^ a3)
  store<u64>(out, b0 ^ b1 ^ b2 ^ b3, 8)
}

// A vector of two 64-bit words, turned left.
// @ts-ignore: decorator
@inline
function turn(x: v128, bits: i32): v128 {
  return v128.or(i64x2.shl(x, bits), i64x2.shr_u(x, 64 - bits))
}

// @ts-ignore: decorator
@inline
function turn16(x: v128): v128 {
  return v128.shuffle<u16>(x, x, 3, 0, 1, 2, 7, 4, 5, 6)
}

// @ts-ignore: decorator
@inline
function turn32(x: v128): v128 {
  return v128.shuffle<u32>(x, x, 1, 0, 3, 2)
}

// @ts-ignore: decorator
@inline
function two(p: usize, q: usize): v128 {
  return v128.load_lane<u64>(q, v128.load_zero<u64>(p), 1)
}

// The bytes behind the last whole word, and the size in the top byte.
// @ts-ignore: decorator
@inline
function lastWord(p: usize, size: usize): u64 {
  return (load<u64>(p) & (((<u64>1) << ((<u64>size & 7) << 3)) - 1)) | (<u64>size << 56)
}

/**
 * Hashes four keys at once, two in a vector, and stores their hashes at `out`. All have as many whole words: the same
 * size / 8, rounded down.
 */
// @ts-ignore: decorator
@inline
export function siphash13Four(
  p: usize, sizeP: usize, q: usize, sizeQ: usize, r: usize, sizeR: usize, s: usize, sizeS: usize, out: usize,
): void {
  let a0 = i64x2.splat(key0 ^ 0x736f6d6570736575)
  let a1 = i64x2.splat(key1 ^ 0x646f72616e646f6d)
  let a2 = i64x2.splat(key0 ^ 0x6c7967656e657261)
  let a3 = i64x2.splat(key1 ^ 0x7465646279746573)
  let b0 = a0
  let b1 = a1
  let b2 = a2
  let b3 = a3
  const whole = p + (sizeP & ~7)
  while (p < whole) {
    const m = two(p, q)
    const w = two(r, s)
    p += 8
    q += 8
    r += 8
    s += 8
    a3 = v128.xor(a3, m); b3 = v128.xor(b3, w)
    a0 = i64x2.add(a0, a1); b0 = i64x2.add(b0, b1)
    a1 = v128.xor(turn(a1, 13), a0); b1 = v128.xor(turn(b1, 13), b0)
    a0 = turn32(a0); b0 = turn32(b0)
    a2 = i64x2.add(a2, a3); b2 = i64x2.add(b2, b3)
    a3 = v128.xor(turn16(a3), a2); b3 = v128.xor(turn16(b3), b2)
    a0 = i64x2.add(a0, a3); b0 = i64x2.add(b0, b3)
    a3 = v128.xor(turn(a3, 21), a0); b3 = v128.xor(turn(b3, 21), b0)
    a2 = i64x2.add(a2, a1); b2 = i64x2.add(b2, b1)
    a1 = v128.xor(turn(a1, 17), a2); b1 = v128.xor(turn(b1, 17), b2)
    a2 = turn32(a2); b2 = turn32(b2)
    a0 = v128.xor(a0, m); b0 = v128.xor(b0, w)
  }
  const m = i64x2.replace_lane(i64x2.splat(lastWord(p, sizeP)), 1, lastWord(q, sizeQ))
  const w = i64x2.replace_lane(i64x2.splat(lastWord(r, sizeR)), 1, lastWord(s, sizeS))
  a3 = v128.xor(a3, m); b3 = v128.xor(b3, w)
  for (let i = 0; i < 4; i++) {
    a0 = i64x2.add(a0, a1); b0 = i64x2.add(b0, b1)
    a1 = v128.xor(turn(a1, 13), a0); b1 = v128.xor(turn(b1, 13), b0)
    a0 = turn32(a0); b0 = turn32(b0)
    a2 = i64x2.add(a2, a3); b2 = i64x2.add(b2, b3)
    a3 = v128.xor(turn16(a3), a2); b3 = v128.xor(turn16(b3), b2)
    a0 = i64x2.add(a0, a3); b0 = i64x2.add(b0, b3)
    a3 = v128.xor(turn(a3, 21), a0); b3 = v128.xor(turn(b3, 21), b0)
    a2 = i64x2.add(a2, a1); b2 = i64x2.add(b2, b1)
    a1 = v128.xor(turn(a1, 17), a2); b1 = v128.xor(turn(b1, 17), b2)
    a2 = turn32(a2); b2 = turn32(b2)
    if (i == 0) {
      a0 = v128.xor(a0, m); b0 = v128.xor(b0, w)
      a2 = v128.xor(a2, i64x2.splat(0xff)); b2 = v128.xor(b2, i64x2.splat(0xff))
    }
  }
  v128.store(out, v128.xor(v128.xor(a0, a1), v128.xor(a2, a3)))
  v128.store(out, v128.xor(v128.xor(b0, b1), v128.xor(b2, b3)), 16)
}
