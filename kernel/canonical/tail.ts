// Path and query of a usual URL: copied 64 bytes at a time while every byte is classified, with the path's dot segments
// resolved. Notes what the rules after it have to look for.
import { bits, classesOf, mark, places, placesBefore } from './byte-classes'
import { isOtherEscape } from './escapes'
import { AGGRESSIVE, ESCAPES, FORM, SCRAPY, UNUSUAL } from './rules'

/** Instead of the end of a copy: the path may have dot segments. */
export const DOTS: usize = 1

/** What `copyTail` has seen, as bits of `seen`: escapes that a rule changes … */
export const SEEN_ESCAPES: u32 = 1
/** … slashes side by side, */
export const SEEN_SLASHES: u32 = 2
/** and a semicolon in the path. */
export const SEEN_SEMICOLON: u32 = 4

export let seen: u32 = 0
/** Where the copy has its question mark; 0: no query. */
export let queryAt: usize = 0

// What a byte of path or query means. `widerLow` also marks what SCRAPY and AGGRESSIVE have to see.
const OTHER: u8 = 1 | 2 | 4 | 8 | 16
const pathHigh: usize = memory.data(16, 16)
const pathLow: usize = memory.data(16, 16)
const widerLow: usize = memory.data(16, 16)

function prepare(): void {
  mark(pathHigh, pathLow, 1, 0xff03, 0xffff) // controls, non-ASCII
  mark(pathHigh, pathLow, 2, 1 << 3 | 1 << 5, 1 << 0xc | 1 << 0xe) // < > \ ^
  mark(pathHigh, pathLow, 4, 1 << 2 | 1 << 6, 1 << 0) // space `
  mark(pathHigh, pathLow, 8, 1 << 2, 1 << 2) // "
  mark(pathHigh, pathLow, 16, 1 << 7, 1 << 0xb | 1 << 0xd | 1 << 0xf) // { } DEL
  mark(pathHigh, pathLow, 32, 1 << 3, 1 << 0xf) // ?
  mark(pathHigh, pathLow, 64, 1 << 2, 1 << 3 | 1 << 5 | 1 << 7) // # % '
  mark(pathHigh, pathLow, 128, 1 << 2, 1 << 0xe | 1 << 0xf) // . /
  memory.copy(widerLow, pathLow, 16)
  mark(pathHigh, widerLow, 32, 1 << 3, 1 << 0xb) // ;
  mark(pathHigh, widerLow, 64, 1 << 2, 1 << 8) // (
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

// Copies sixteen bytes. Returns what each means.
// @ts-ignore: decorator
@inline
function copied(p: usize, out: usize, high: v128, low: v128): v128 {
  const v = v128.load(p)
  v128.store(out, v)
  return classesOf(v, high, low)
}

// Whether what is behind a semicolon may be jsessionid, phpsessid, sid or sessionid: escaped, or by its first letter.
// @ts-ignore: decorator
@inline
function mayBeSession(p: usize): bool {
  const c = load<u8>(p) | 0x20
  return c == 0x6a || c == 0x70 || c == 0x73 || c == 0x25
}

// Dots and slashes side by side, of which there are few: those that may begin a dot segment. Notes slashes side by side.
function pairsAt(p: usize, pairs: u64, rules: u32): u64 {
  const behindSlash = pairs & places(p - 1, 0x2f)
  if (rules & AGGRESSIVE && behindSlash & places(p, 0x2f)) seen |= SEEN_SLASHES
  return rules & SCRAPY ? 0 : behindSlash & places(p, 0x2e)
}

/**
 * Copies path and query from [p, end) to `out` (most need one step of 64 bytes: how many cannot be guessed), up to a '#'.
 * Returns the end of the copy, or UNUSUAL, or DOTS.
 */
export function copyTail(p: usize, end: usize, out: usize, rules: u32): usize {
  seen = 0
  queryAt = 0
  return copyOn(p, end, out, rules, false)
}

function copyOn(p: usize, end: usize, out: usize, rules: u32, isResolved: bool): usize {
  const high = v128.load(pathHigh)
  const low = v128.load(rules & (SCRAPY | AGGRESSIVE) ? widerLow : pathLow)
  const zero = i8x16.splat(0)
  let inPath = true
  let carried: u64 = 0
  while (p < end) {
    const a = copied(p, out, high, low)
    const b = copied(p + 16, out + 16, high, low)
    const c = copied(p + 32, out + 32, high, low)
    const d = copied(p + 48, out + 48, high, low)
    const valid = placesBefore(p, end)
    let marked = bits(i8x16.gt_s(a, zero), i8x16.gt_s(b, zero), i8x16.gt_s(c, zero), i8x16.gt_s(d, zero)) & valid
    const steps = bits(a, b, c, d)
    const pairs = (steps << 1 | carried) & steps & valid
    carried = steps >> 63
    if (pairs && inPath) marked |= pairsAt(p, pairs, rules)
    while (marked) {
      const at = <usize>ctz(marked)
      const c = load<u8>(p + at)
      marked &= marked - 1
      if (c == 0x25) {
        if (rules & SCRAPY) {
          seen |= SEEN_ESCAPES
        } else {
          if (inPath && isEscapedDot(p + at, end)) return UNUSUAL
          if (rules & ESCAPES && isOtherEscape(p + at, end)) seen |= SEEN_ESCAPES
        }
      } else if (c == 0x3f) {
        if (inPath) queryAt = out + at
        inPath = false
      } else if (c == 0x23) {
        return out + at
      } else if (c == 0x27) {
        if (!inPath && !(rules & FORM)) return UNUSUAL
      } else if (c == 0x2e) {
        if (inPath && !isResolved) return DOTS
      } else if (c == 0x3b) {
        if (inPath && rules & AGGRESSIVE && mayBeSession(p + at + 1)) return UNUSUAL
        if (inPath) seen |= SEEN_SEMICOLON
      } else if (c == 0x28) {
        if (rules & AGGRESSIVE && inPath && load<u8>(p + at - 1) == 0x2f) return UNUSUAL // perhaps /(S(…))/
      } else {
        return UNUSUAL
      }
    }
    p += 64
    out += 64
  }
  return out - (p - end)
}

/**
 * The path state of the standard for usual characters, with its dot segments resolved; then the query. `p` stands on
 * the first slash. Returns the end of the copy or UNUSUAL.
 */
export function copyDotted(p: usize, end: usize, out: usize, rules: u32): usize {
  const root = out
  while (p < end && load<u8>(p) == 0x2f) {
    const from = p + 1
    let to = from
    let c: u8 = 0
    while (to < end) {
      c = load<u8>(to)
      if (c == 0x2f || c == 0x3f || c == 0x23) break
      if (meaning(c) & OTHER || (c == 0x25 && isEscapedDot(to, end))) return UNUSUAL
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
  memory.copy(out, p, end - p)
  seen = 0
  queryAt = 0
  return copyOn(root, out + (end - p), root, rules, true)
}
