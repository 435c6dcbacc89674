// The pieces of a key that the layered filters remember: segments between slashes after the scheme
// (cen-2010: a1/a2/…/aL), or words (sharma-keywords).

/** Where the key's text begins, after "scheme://" when there is one. */
export function afterScheme(from: usize, to: usize): usize {
  const limit = min(to, from + 32)
  for (let p = from; p + 2 < limit; p++) {
    const c = load<u8>(p)
    if (c == 0x3a) return load<u16>(p, 1) == 0x2f2f ? p + 3 : from
    if (c == 0x2f) return from
  }
  return from
}

/** The end of the segment that starts at `p`: the next slash, or `to`. */
export function segmentEnd(p: usize, to: usize): usize {
  const slash = i8x16.splat(0x2f)
  while (p < to) {
    const found = <u32>i8x16.bitmask(i8x16.eq(v128.load(p), slash))
    if (found) return min(p + <usize>ctz(found), to)
    p += 16
  }
  return to
}

// @ts-ignore: decorator
@inline
function isWord(c: u8): bool {
  return c >= 0x80 || <u32>(c | 0x20) - 0x61 < 26 || <u32>c - 0x30 < 10
}

/** The start of the next word from `p` on: letters, digits and whatever is not ASCII; `to` when there is none. */
export function wordStart(p: usize, to: usize): usize {
  while (p < to && !isWord(load<u8>(p))) p++
  return p
}

export function wordEnd(p: usize, to: usize): usize {
  while (p < to && isWord(load<u8>(p))) p++
  return p
}
