// The papers' byte-at-a-time hashes, modulo 2^32. Each takes the value it starts from, so that several can be had
// of one: `start` 0 is the published function, j starts j higher. For poly31 and djb2 the j-th hash of two strings of
// one length then collides exactly when the first does: that weakness is theirs, and the lab measures it.

/** Polynomial rolling hash with 31 (url-caching's first). */
export function poly31(p: usize, end: usize, start: u32): u32 {
  let h = start
  while (p < end) h = h * 31 + load<u8>(p++)
  return h
}

/** Bernstein's h · 33 + c from 5381 (url-caching's second). */
export function djb2(p: usize, end: usize, start: u32): u32 {
  let h: u32 = 5381 + start
  while (p < end) h = h * 33 + load<u8>(p++)
  return h
}

/** Shifts and XOR from 17 (url-caching's third); the paper names no shifts: left 5 and right 2 are ours. */
export function xor17(p: usize, end: usize, start: u32): u32 {
  let h: u32 = 17 + start
  while (p < end) h ^= (h << 5) + (h >> 2) + load<u8>(p++)
  return h
}

/** The three of url-caching in one pass, to `out` as u32: the chains are independent, so they overlap. */
export function urlCaching(p: usize, end: usize, out: usize): void {
  let a: u32 = 0
  let b: u32 = 5381
  let c: u32 = 17
  while (p < end) {
    const byte = <u32>load<u8>(p++)
    a = a * 31 + byte
    b = b * 33 + byte
    c ^= (c << 5) + (c >> 2) + byte
  }
  store<u32>(out, a)
  store<u32>(out, b, 4)
  store<u32>(out, c, 8)
}

/** Bob Jenkins' one-at-a-time (jiang-eigenvalue prints it). */
export function jenkins(p: usize, end: usize, start: u32): u32 {
  let h = start
  while (p < end) {
    h += load<u8>(p++)
    h += h << 10
    h ^= h >> 6
  }
  h += h << 3
  h ^= h >> 11
  return h + (h << 15)
}
