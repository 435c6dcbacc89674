// The path of a usual URL as CRAWLEE, SCRAPY and AGGRESSIVE write it, in place: it never gets longer, but for `|`, `[` and `]`.
import { places, placesBefore } from './byte-classes'
import { escapedByte, isUnreserved, NO_ESCAPE, normaliseEscapes, writeEscape } from './escapes'
import { isIndexPage, lowerCase, maskOf, NAME_BYTES } from './names'
import { CRAWLEE, SCRAPY } from './rules'
import { seen, SEEN_ESCAPES, SEEN_SEMICOLON, SEEN_SLASHES } from './tail'

/** Rewrites the path [path, end), which begins with a slash. Returns its new end. */
export function rewritePath(path: usize, end: usize, rules: u32): usize {
  if (rules & CRAWLEE) return load<u8>(end - 1) == 0x2f ? end - 1 : end
  if (rules & SCRAPY) return seen & (SEEN_ESCAPES | SEEN_SEMICOLON) ? requoteSegments(path, end) : end
  if (seen & SEEN_ESCAPES) end = normaliseEscapes(path, end)
  if (seen & SEEN_SLASHES) end = joinSlashes(path, end)
  return dropIndexPages(path, end)
}

// What SCRAPY decodes in a path: Python's safe characters but / and ?.
function isDecoded(c: u32): bool {
  if (isUnreserved(c) || c - 0x24 < 9) return true // $ % & ' ( ) * + ,
  return c == 0x21 || c == 0x3a || c == 0x3b || c == 0x3d || c == 0x40 || c == 0x5b || c == 0x5d || c == 0x7c // ! : ; = @ [ ] |
}

// The parameters of the last segment, behind `;`, keep their escapes; without any the `;` goes.
function requoteSegments(path: usize, end: usize): usize {
  let last = end - 1
  while (load<u8>(last) != 0x2f) last--
  while (last < end && load<u8>(last) != 0x3b) last++
  let out = path
  for (let p = path; p < last; p++) {
    const c = load<u8>(p)
    const value = c == 0x25 ? escapedByte(p, last) : NO_ESCAPE
    if (value == NO_ESCAPE) {
      store<u8>(out++, c)
      continue
    }
    if (isDecoded(value)) store<u8>(out++, <u8>value)
    else out = writeEscape(out, value)
    p += 2
  }
  if (end - last < 2) return out
  memory.copy(out, last, end - last)
  return out + (end - last)
}

function joinSlashes(path: usize, end: usize): usize {
  let out = path
  let before: u8 = 0
  for (let p = path; p < end; p++) {
    const c = load<u8>(p)
    if (c == 0x2f && before == 0x2f) continue
    store<u8>(out++, c)
    before = c
  }
  return out
}

// Drops slashes and index pages at the end.
function dropIndexPages(path: usize, end: usize): usize {
  while (true) {
    while (end > path && load<u8>(end - 1) == 0x2f) end--
    if (end == path) return end
    // A name has fewer than sixteen bytes: no slash among the last sixteen is no such name.
    const slashes = <u32>i8x16.bitmask(i8x16.eq(v128.load(end - NAME_BYTES), i8x16.splat(0x2f)))
    if (!slashes) return end
    const size = <usize>clz(slashes << 16)
    const name = end - size
    const lo = lowerCase(load<u64>(name)) & maskOf(size)
    const hi = size > 8 ? lowerCase(load<u64>(name, 8)) & maskOf(size - 8) : 0
    if (name <= path || !isIndexPage(lo, hi)) return end
    end = name - 1
  }
}

/** How many bytes of [from, end) RFC 3986 never allows bare and the standard leaves: `|`, `[` and `]`. */
export function countUnwise(from: usize, end: usize): usize {
  let count: usize = 0
  for (let p = from; p < end; p += 64) {
    const unwise = places(p, 0x7c) | places(p, 0x5b) | places(p, 0x5d)
    count += <usize>popcnt(unwise & placesBefore(p, end))
  }
  return count
}

/** Writes each of them as its escape. Returns the new end. */
export function escapeUnwise(from: usize, end: usize): usize {
  let out = end + 2 * countUnwise(from, end)
  const newEnd = out
  for (let p = end; p < out; ) {
    const c = load<u8>(--p)
    if (c == 0x7c || c == 0x5b || c == 0x5d) {
      out -= 3
      writeEscape(out, c)
    } else {
      store<u8>(--out, c)
    }
  }
  return newEnd
}
