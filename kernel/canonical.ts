// Canonicalisation of the usual http(s) URL, byte for byte as the WHATWG URL Standard serialises it, without its
// fragment: scheme and host in lower case, default port dropped, dot segments resolved. Whatever is not plainly
// usual (other schemes, user names, numeric or international hosts, characters that need escaping, %2e) is left
// to the platform: `canonicalise` lists those lines and the caller fills in their keys.
import { keyEnds, keyStarts, lineEnds, lineStarts, reserveArena, SLACK, unusual } from './batch'
import { isOtherEscape, normaliseEscapes } from './escapes'

/** Rules that the kernel can apply besides the standard's, as bits. */
export const HTTP_IS_HTTPS: u32 = 1
/** Escapes as RFC 3986, section 6.2.2: of unreserved characters decoded, the others in capitals. */
export const ESCAPES: u32 = 8

/** "https://" and "http://", as they lie in memory. */
const HTTPS: u64 = 0x2f2f3a7370747468
const HTTP: u64 = 0x2f2f3a70747468

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
  mark(pathHigh, pathLow, 128, 1 << 2, 1 << 0xe | 1 << 0xf) // . /
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

/** Whether the line has an escape that ESCAPES changes. */
let hasEscapes: bool = false

// Copies sixteen bytes and says of each what it means.
// @ts-ignore: decorator
@inline
function copied(p: usize, out: usize, high: v128, low: v128): v128 {
  const v = v128.load(p)
  v128.store(out, v)
  return v128.and(
    i8x16.swizzle(high, i8x16.shr_u(v, 4)),
    i8x16.swizzle(low, v128.and(v, i8x16.splat(15)))
  )
}

// @ts-ignore: decorator
@inline
function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return <u64>i8x16.bitmask(a) | <u64>i8x16.bitmask(b) << 16 | <u64>i8x16.bitmask(c) << 32 | <u64>i8x16.bitmask(d) << 48
}

// Which of the 64 bytes at `p` are `c`.
function places(p: usize, c: u8): u64 {
  const wanted = i8x16.splat(c)
  return bits(
    i8x16.eq(v128.load(p), wanted), i8x16.eq(v128.load(p, 16), wanted),
    i8x16.eq(v128.load(p, 32), wanted), i8x16.eq(v128.load(p, 48), wanted),
  )
}

// Copies path and query from [p, end) to `out`, 64 bytes at a time (most need one step: how many cannot be guessed), up
// to a '#'. Returns the end of the copy, or UNUSUAL, or DOTS when the path may have dot segments.
function copyTail(p: usize, end: usize, out: usize, rules: u32, inPath: bool): usize {
  const high = v128.load(pathHigh)
  const low = v128.load(pathLow)
  const zero = i8x16.splat(0)
  let before: u64 = 0
  while (p < end) {
    const a = copied(p, out, high, low)
    const b = copied(p + 16, out + 16, high, low)
    const c = copied(p + 32, out + 32, high, low)
    const d = copied(p + 48, out + 48, high, low)
    const valid: u64 = end - p >= 64 ? ~0 : ((<u64>1) << <u64>(end - p)) - 1
    let marked = bits(i8x16.gt_s(a, zero), i8x16.gt_s(b, zero), i8x16.gt_s(c, zero), i8x16.gt_s(d, zero)) & valid
    const steps = bits(a, b, c, d)
    // Dots and slashes side by side are rare: only then it is asked whether a dot follows a slash.
    const pairs = (steps << 1 | before) & steps & valid
    before = steps >> 63
    if (pairs && inPath) marked |= pairs & places(p - 1, 0x2f) & places(p, 0x2e)
    while (marked) {
      const at = <usize>ctz(marked)
      const c = load<u8>(p + at)
      marked &= marked - 1
      if (c == 0x25) {
        if (inPath && isEscapedDot(p + at, end)) return UNUSUAL
        if (rules & ESCAPES && isOtherEscape(p + at, end)) hasEscapes = true
      } else if (c == 0x3f) {
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
    p += 64
    out += 64
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
      if (c == 0x25) {
        if (isEscapedDot(to, end)) return UNUSUAL
        if (rules & ESCAPES && isOtherEscape(to, end)) hasEscapes = true
      }
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

// @ts-ignore: decorator
@inline
function hostKinds(v: v128): v128 {
  return v128.and(
    i8x16.swizzle(v128.load(hostHigh), i8x16.shr_u(v, 4)),
    i8x16.swizzle(v128.load(hostLow), v128.and(v, i8x16.splat(15)))
  )
}

// @ts-ignore: decorator
@inline
function lowered(v: v128, kinds: v128): v128 {
  const letters = i8x16.ne(v128.and(kinds, i8x16.splat(LETTER)), i8x16.splat(0))
  return v128.or(v, v128.and(letters, i8x16.splat(0x20)))
}

// @ts-ignore: decorator
@inline
function both(a: v128, b: v128): u64 {
  return <u64>i8x16.bitmask(a) | <u64>i8x16.bitmask(b) << 16
}

// Writes the key of the line [p, end) to `out`; returns the key's end, or UNUSUAL. The key is at most two bytes
// longer than the line; up to 63 bytes more may be written.
function canonicalOne(p: usize, end: usize, out: usize, rules: u32): usize {
  while (p < end && load<u8>(p) <= 0x20) p++
  while (end > p && load<u8>(end - 1) <= 0x20) end--
  if (end - p < 8) return UNUSUAL
  const head = load<u64>(p)
  const isHttps = <u32>((head | 0x2020202020) == HTTPS)
  const isHttp = <u32>(((head | 0x20202020) & 0x00ffffffffffffff) == HTTP)
  if (!(isHttps | isHttp)) return UNUSUAL
  p += 7 + isHttps
  const asHttps = isHttps | (rules & HTTP_IS_HTTPS)
  store<u64>(out, asHttps ? HTTPS : HTTP)
  out += 7 + asHttps

  const host = out
  let label: usize = out
  let hyphen: u64 = 0
  while (true) {
    const v = v128.load(p)
    const w = v128.load(p, 16)
    const first = hostKinds(v)
    const second = hostKinds(w)
    v128.store(out, lowered(v, first))
    v128.store(out, lowered(w, second), 16)
    const zero = i8x16.splat(0)
    const others = both(i8x16.eq(first, zero), i8x16.eq(second, zero)) | 0x100000000
    const size = min(<usize>ctz(others), end - p)
    const within = ((<u64>1) << <u64>size) - 1
    const dot = i8x16.splat(0x2e)
    const dots = both(i8x16.eq(v, dot), i8x16.eq(w, dot)) & within
    label = dots ? out + 64 - <usize>clz(dots) : label
    const dash = i8x16.splat(0x2d)
    const hyphens = both(i8x16.eq(v, dash), i8x16.eq(w, dash)) & within
    if (hyphens & (hyphens << 1 | hyphen)) return UNUSUAL // xn-- and its like
    hyphen = hyphens >> 31
    p += size
    out += size
    if (size < 32) break
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
  hasEscapes = false
  if (p == end || c == 0x3f || c == 0x23) {
    store<u8>(out++, 0x2f)
    if (p < end) out = copyTail(p, end, out, rules, true)
  } else if (c == 0x2f) {
    out = copyTail(p, end, path, rules, true)
    if (out == DOTS) out = copyDotted(p, end, path, rules)
  } else {
    return UNUSUAL
  }
  if (hasEscapes && out > DOTS) out = normaliseEscapes(path, out)
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
