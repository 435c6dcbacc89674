// XXH64 (Yann Collet), as in the xxHash specification 0.2: for trusted input and for interchange; unkeyed, so a
// page that knows the seed can choose colliding URLs.

const P1: u64 = 0x9e3779b185ebca87
const P2: u64 = 0xc2b2ae3d27d4eb4f
const P3: u64 = 0x165667b19e3779f9
const P4: u64 = 0x85ebca77c2b2ae63
const P5: u64 = 0x27d4eb2f165667c5

// @ts-ignore: decorator
@inline
function round(acc: u64, lane: u64): u64 {
  return rotl(acc + lane * P2, 31) * P1
}

// @ts-ignore: decorator
@inline
function merge(acc: u64, lane: u64): u64 {
  return (acc ^ round(0, lane)) * P1 + P4
}

/** The hash of the bytes [p, end) with `seed`. */
export function xxh64(p: usize, end: usize, seed: u64): u64 {
  const size = <u64>(end - p)
  let h: u64
  if (size >= 32) {
    let a = seed + P1 + P2
    let b = seed + P2
    let c = seed
    let d = seed - P1
    const limit = end - 32
    do {
      a = round(a, load<u64>(p))
      b = round(b, load<u64>(p, 8))
      c = round(c, load<u64>(p, 16))
      d = round(d, load<u64>(p, 24))
      p += 32
    } while (p <= limit)
    h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)
    h = merge(merge(merge(merge(h, a), b), c), d)
  } else {
    h = seed + P5
  }
  h += size
  while (p + 8 <= end) {
    h = rotl(h ^ round(0, load<u64>(p)), 27) * P1 + P4
    p += 8
  }
  if (p + 4 <= end) {
    h = rotl(h ^ (<u64>load<u32>(p) * P1), 23) * P2 + P3
    p += 4
  }
  while (p < end) {
    h = rotl(h ^ (<u64>load<u8>(p) * P5), 11) * P1
    p++
  }
  h = (h ^ (h >> 33)) * P2
  h = (h ^ (h >> 29)) * P3
  return h ^ (h >> 32)
}
