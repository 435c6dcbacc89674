// Canonicalisation of the usual http(s) URL, byte for byte as the WHATWG URL Standard serialises it, without its
// fragment: scheme and host in lower case, default port dropped, dot segments resolved. Whatever is not plainly
// usual (other schemes, user names, numeric or international hosts, characters that need escaping, %2e) is left
// to the platform: `canonicalise` lists those lines and the caller fills in their keys.
import { keyEnds, keyStarts, lineEnds, lineStarts, reserveArena, SLACK, unusual } from './batch'

/** Rules that the kernel can apply besides the standard's, as bits. */
export const HTTP_IS_HTTPS: u32 = 1
/** A trailing slash of the path is dropped (Crawlee). */
export const NO_TRAILING_SLASH: u32 = 2
/** URLs with a query go to the platform (profiles that edit parameters). */
export const QUERY_IS_UNUSUAL: u32 = 4

const UNUSUAL: usize = 0
const DOTS: usize = 1

// Host characters, and what a byte of path or query means: one bit for each product of a high and a low half
// byte, so that two table look-ups classify sixteen bytes at once.
const LETTER: u8 = 1 | 2
const hostHigh: usize = memory.data(16, 16)
const hostLow: usize = memory.data(16, 16)
const OTHER: u8 = 1 | 2 | 4 | 8 | 16
const pathHigh: usize = memory.data(16, 16)
const pathLow: usize = memory.data(16, 16)

function mark(high: usize, low: usize, bit: u8, highs: u32, lows: u32): void {
  for (let i = 0; i < 16; i++) {
    if (highs & (1 << i)) store<u8>(high + i, load<u8>(high + i) | bit)
    if (lows & (1 << i)) store<u8>(low + i, load<u8>(low + i) | bit)
  }
}

function prepare(): void {
  mark(hostHigh, hostLow, 1, 1 << 4 | 1 << 6, 0xfffe) // A–O a–o
  mark(hostHigh, hostLow, 2, 1 << 5 | 1 << 7, 0x07ff) // P–Z p–z
  mark(hostHigh, hostLow, 4, 1 << 3, 0x03ff) // 0–9
  mark(hostHigh, hostLow, 8, 1 << 2, 1 << 0xd | 1 << 0xe) // - .
  mark(hostHigh, hostLow, 16, 1 << 5, 1 << 0xf) // _
  mark(pathHigh, pathLow, 1, 0xff03, 0xffff) // controls, non-ASCII
  mark(pathHigh, pathLow, 2, 1 << 3 | 1 << 5, 1 << 0xc | 1 << 0xe) // < > \ ^
  mark(pathHigh, pathLow, 4, 1 << 2 | 1 << 6, 1 << 0) // space `
  mark(pathHigh, pathLow, 8, 1 << 2, 1 << 2) // "
  mark(pathHigh, pathLow, 16, 1 << 7, 1 << 0xb | 1 << 0xd | 1 << 0xf) // { } DEL
  mark(pathHigh, pathLow, 32, 1 << 3, 1 << 0xf) // ?
  mark(pathHigh, pathLow, 64, 1 << 2, 1 << 3 | 1 << 5 | 1 << 7) // # % '
}
prepare()

// @ts-ignore: decorator
@inline
function meaning(c: u8): u8 {
  return load<u8>(pathHigh + (c >> 4)) & load<u8>(pathLow + (c & 15))
}

// @ts-ignore: decorator
@inline
function isEscapedDot(p: usize, end: usize): bool {
  return p + 2 < end && load<u8>(p, 1) == 0x32 && (load<u8>(p, 2) | 0x20) == 0x65
}

// Copies path and query from [p, end) to `out`, 16 bytes at a time, up to a '#'. Returns the end of the copy, or
// UNUSUAL, or DOTS when the path may have dot segments.
function copyTail(p: usize, end: usize, out: usize, rules: u32, inPath: bool): usize {
  const high = v128.load(pathHigh)
  const low = v128.load(pathLow)
  const half = i8x16.splat(15)
  const zero = i8x16.splat(0)
  const slashes = i8x16.splat(0x2f)
  const dots = i8x16.splat(0x2e)
  let afterSlash: u32 = 0
  while (p < end) {
    const v = v128.load(p)
    v128.store(out, v)
    const room = end - p
    const valid: u32 = room >= 16 ? 0xffff : (1 << <u32>room) - 1
    const kinds = v128.and(
      i8x16.swizzle(high, i8x16.shr_u(v, 4)),
      i8x16.swizzle(low, v128.and(v, half))
    )
    let marked = <u32>i8x16.bitmask(i8x16.ne(kinds, zero)) & valid
    let dotted: u32 = 0
    if (inPath) {
      const slash = <u32>i8x16.bitmask(i8x16.eq(v, slashes))
      dotted = (slash << 1 | afterSlash) & <u32>i8x16.bitmask(i8x16.eq(v, dots)) & valid
      afterSlash = slash >> 15 & 1
    }
    marked |= dotted
    while (marked) {
      const at = <usize>ctz(marked)
      const c = load<u8>(p + at)
      marked &= marked - 1
      if (c == 0x25) {
        if (inPath && isEscapedDot(p + at, end)) return UNUSUAL
      } else if (c == 0x3f) {
        if (rules & QUERY_IS_UNUSUAL) return UNUSUAL
        inPath = false
      } else if (c == 0x23) {
        return out + at
      } else if (c == 0x27) {
        if (!inPath) return UNUSUAL
      } else if (c == 0x2e) {
        if (inPath) return DOTS
      } else {
        return UNUSUAL
      }
    }
    p += 16
    out += 16
  }
  return out - (p - end)
}

// The path state of the standard for usual characters, with its dot segments resolved; then the query by
// `copyTail`. `p` stands on the first slash. Returns the end of the copy or UNUSUAL.
function copyDotted(p: usize, end: usize, out: usize, rules: u32): usize {
  const root = out
  while (p < end && load<u8>(p) == 0x2f) {
    const from = p + 1
    let to = from
    let c: u8 = 0
    while (to < end) {
      c = load<u8>(to)
      if (c == 0x2f || c == 0x3f || c == 0x23) break
      if (meaning(c) & OTHER) return UNUSUAL
      if (c == 0x25 && isEscapedDot(to, end)) return UNUSUAL
      to++
    }
    const final = to == end || c != 0x2f
    const size = to - from
    const isDot = size == 1 && load<u8>(from) == 0x2e
    const isDots = size == 2 && load<u16>(from) == 0x2e2e
    if (isDots) {
      while (out > root && load<u8>(--out) != 0x2f) {}
    }
    if (isDot || isDots) {
      if (final) store<u8>(out++, 0x2f)
    } else {
      store<u8>(out++, 0x2f)
      memory.copy(out, from, size)
      out += size
    }
    p = to
  }
  return p < end ? copyTail(p, end, out, rules, true) : out
}

// Writes the key of the line [p, end) to `out`; returns the key's end, or UNUSUAL. The key is at most two bytes
// longer than the line; up to 15 bytes more may be written.
function canonicalOne(p: usize, end: usize, out: usize, rules: u32): usize {
  while (p < end && load<u8>(p) <= 0x20) p++
  while (end > p && load<u8>(end - 1) <= 0x20) end--
  if (end - p < 8) return UNUSUAL
  const origin = out
  const head = load<u64>(p)
  let isHttps = false
  if ((head | 0x2020202020) == 0x2f2f3a7370747468) {
    isHttps = true
    p += 8
  } else if (((head | 0x20202020) & 0x00ffffffffffffff) == 0x2f2f3a70747468) {
    p += 7
  } else {
    return UNUSUAL
  }
  if (isHttps || rules & HTTP_IS_HTTPS) {
    store<u64>(out, 0x2f2f3a7370747468)
    out += 8
  } else {
    store<u64>(out, 0x2f2f3a70747468)
    out += 7
  }

  const host = out
  let label: usize = out
  let hyphen: u32 = 0
  while (true) {
    const v = v128.load(p)
    const kinds = v128.and(
      i8x16.swizzle(v128.load(hostHigh), i8x16.shr_u(v, 4)),
      i8x16.swizzle(v128.load(hostLow), v128.and(v, i8x16.splat(15)))
    )
    const letters = i8x16.ne(v128.and(kinds, i8x16.splat(LETTER)), i8x16.splat(0))
    v128.store(out, v128.or(v, v128.and(letters, i8x16.splat(0x20))))
    const others = <u32>i8x16.bitmask(i8x16.eq(kinds, i8x16.splat(0))) | 0x10000
    const size = min(<usize>ctz(others), end - p)
    const within: u32 = (1 << <u32>size) - 1
    const dots = <u32>i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x2e))) & within
    if (dots) label = out + 32 - clz(dots)
    const hyphens = <u32>i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x2d))) & within
    if (hyphens & (hyphens << 1 | hyphen)) return UNUSUAL // xn-- and its like
    hyphen = hyphens >> 15
    p += size
    out += size
    if (size < 16) break
  }
  const size = out - host
  if (size == 0 || size > 63 || label == out) return UNUSUAL
  if (<u32>load<u8>(label) - 0x30 < 10) return UNUSUAL // the last label may be a number

  let c: u8
  c = p < end ? load<u8>(p) : 0x2f
  if (c == 0x3a) {
    const colon = p++
    let port: u32 = 0
    while (p < end && <u32>load<u8>(p) - 0x30 < 10 && p - colon <= 5) {
      port = port * 10 + load<u8>(p) - 0x30
      p++
    }
    if (port > 65535) return UNUSUAL
    const digits = p - colon - 1
    if (digits > 0) {
      if (load<u8>(colon, 1) == 0x30) return UNUSUAL
      const isDefault = isHttps ? port == 443 : port == 80 || (rules & HTTP_IS_HTTPS && port == 443)
      if (!isDefault) {
        store<u64>(out, load<u64>(colon))
        out += digits + 1
      }
    }
    c = p < end ? load<u8>(p) : 0x2f
  }

  const path = out
  if (p == end || c == 0x3f || c == 0x23) {
    store<u8>(out++, 0x2f)
    if (p < end) out = copyTail(p, end, out, rules, true)
  } else if (c == 0x2f) {
    out = copyTail(p, end, path, rules, true)
    if (out == DOTS) out = copyDotted(p, end, path, rules)
  } else {
    return UNUSUAL
  }
  // With NO_TRAILING_SLASH queries are unusual as well, so the key ends with its path.
  if (out > DOTS && rules & NO_TRAILING_SLASH && load<u8>(out - 1) == 0x2f && out > origin) out--
  return out
}

/**
 * Writes the keys of the batch's `n` lines. Returns how many lines are unusual and listed for the caller, or -1
 * when the instance has no room for the keys.
 */
export function canonicalise(n: u32, rules: u32): i32 {
  if (!n) return 0
  const first = load<u32>(lineStarts)
  const bytes = <usize>load<u32>(lineEnds + (<usize>(n - 1) << 2)) - first + 2 * <usize>n
  let out = reserveArena(bytes + SLACK)
  if (!out) return -1
  let odd = 0
  for (let i: u32 = 0; i < n; i++) {
    const at = <usize>i << 2
    const end = canonicalOne(load<u32>(lineStarts + at), load<u32>(lineEnds + at), out, rules)
    if (end == UNUSUAL) {
      store<u32>(unusual + (<usize>odd << 2), i)
      odd++
      continue
    }
    store<u32>(keyStarts + at, <u32>out)
    store<u32>(keyEnds + at, <u32>end)
    out = end
  }
  return odd
}
