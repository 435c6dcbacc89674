// A query decoded and written again as a form: by the WHATWG URL Standard (application/x-www-form-urlencoded, CRAWLEE) and
// by Python's urllib (SCRAPY). They differ in the characters left alone, in `;`, which separates parameters for Python, and
// in bytes that are not UTF-8, which the standard replaces: these are left to the platform.
import { bits, classesOf, mark, placesBefore } from './byte-classes'
import { escapedByte, isUnreserved, NO_ESCAPE, writeEscape } from './escapes'
import { CRAWLEE, SCRAPY, UNUSUAL } from './rules'

// Classes of the bytes that stay: those of both, and one each.
const STAR: u8 = 64
const TILDE: u8 = 128
const formHigh: usize = memory.data(16, 16)
const formLow: usize = memory.data(16, 16)

function prepare(): void {
  mark(formHigh, formLow, 1, 1 << 4 | 1 << 6, 0xfffe) // A–O a–o
  mark(formHigh, formLow, 2, 1 << 5 | 1 << 7, 0x07ff) // P–Z p–z
  mark(formHigh, formLow, 4, 1 << 3, 0x03ff) // 0–9
  mark(formHigh, formLow, 8, 1 << 2, 1 << 6 | 1 << 0xd | 1 << 0xe) // & - .
  mark(formHigh, formLow, 16, 1 << 5, 1 << 0xf) // _
  mark(formHigh, formLow, 32, 1 << 3, 1 << 0xd) // =
  mark(formHigh, formLow, STAR, 1 << 2, 1 << 0xa) // *
  mark(formHigh, formLow, TILDE, 1 << 7, 1 << 0xe) // ~
}
prepare()

/** Whether all bytes of [p, end) stay as they are, but for an `=` inside a value. */
export function isForm(p: usize, end: usize, rules: u32): bool {
  const high = v128.load(formHigh)
  const low = v128.load(formLow)
  const kept = i8x16.splat(rules & SCRAPY ? ~STAR : ~TILDE)
  const zero = i8x16.splat(0)
  for (; p < end; p += 64) {
    const others = bits(
      i8x16.eq(v128.and(classesOf(v128.load(p), high, low), kept), zero),
      i8x16.eq(v128.and(classesOf(v128.load(p, 16), high, low), kept), zero),
      i8x16.eq(v128.and(classesOf(v128.load(p, 32), high, low), kept), zero),
      i8x16.eq(v128.and(classesOf(v128.load(p, 48), high, low), kept), zero),
    )
    if (others & placesBefore(p, end)) return false
  }
  return true
}

// @ts-ignore: decorator
@inline
function isPlain(c: u32, rules: u32): bool {
  if (c == 0x2a) return (rules & CRAWLEE) != 0
  return isUnreserved(c) && (c != 0x7e || rules & SCRAPY)
}

/**
 * Writes the query [p, end), without its question mark, to `out`, at most three times as long. An `=` behind a name that has
 * none is left out. Returns the end, or UNUSUAL.
 */
export function writeForm(p: usize, end: usize, out: usize, rules: u32): usize {
  let isName = true
  while (p < end) {
    let c = <u32>load<u8>(p)
    if (c == 0x26 || (c == 0x3b && rules & SCRAPY)) {
      store<u8>(out++, 0x26)
      isName = true
      p++
      continue
    }
    if (c == 0x2b || (c == 0x3d && isName)) {
      store<u8>(out++, <u8>c)
      if (c == 0x3d) isName = false
      p++
      continue
    }
    if (c == 0x25) {
      const value = escapedByte(p, end)
      if (value != NO_ESCAPE) {
        if (value >= 0x80 && rules & CRAWLEE) {
          const size = utf8Escapes(p, end, value)
          if (!size) return UNUSUAL
          const stop = p + 3 * size
          for (; p < stop; p += 3) out = writeEscape(out, escapedByte(p, end))
          continue
        }
        c = value
        p += 2
      }
    }
    p++
    if (c == 0x20) store<u8>(out++, 0x2b)
    else if (isPlain(c, rules)) store<u8>(out++, <u8>c)
    else out = writeEscape(out, c)
  }
  return out
}

// How many escapes from `p` on are one character of UTF-8 that begins with byte `first`; 0: none.
function utf8Escapes(p: usize, end: usize, first: u32): usize {
  const size: usize = first - 0xc2 < 0x1e ? 2 : first - 0xe0 < 0x10 ? 3 : first - 0xf0 < 5 ? 4 : 0
  for (let i: usize = 1; i < size; i++) {
    const at = p + 3 * i
    if (at >= end || load<u8>(at) != 0x25) return 0
    const value = escapedByte(at, end)
    if (value - 0x80 >= 0x40) return 0 // NO_ESCAPE as well
    if (i > 1) continue
    // Overlong forms, surrogates, and what is past U+10FFFF.
    if (first == 0xe0 && value < 0xa0 || first == 0xed && value > 0x9f) return 0
    if (first == 0xf0 && value < 0x90 || first == 0xf4 && value > 0x8f) return 0
  }
  return size
}
