// The query of a usual URL as CRAWLEE, SCRAPY and AGGRESSIVE write it: its parameters in the order of their names, without
// empty ones and those that the profile drops. Time is linear: few parameters are sorted, and lines are short.
import { SLACK } from '../batch'
import { places, placesBefore } from './byte-classes'
import { escapedByte, NO_ESCAPE, normaliseEscapes } from './escapes'
import { isForm, writeForm } from './form'
import { isDropped, lowerCase, maskOf, NAME_BYTES } from './names'
import { AGGRESSIVE, CRAWLEE, FORM, MOST_REWRITTEN, SCRAPY, UNUSUAL } from './rules'
import { seen, SEEN_ESCAPES } from './tail'

/** More are left to the platform: they are sorted by insertion. */
const MOST_PARAMETERS: u32 = 32

// Of each parameter: the first eight bytes of its decoded name as a number, where it starts, where its name and where its
// value ends.
const PARAMETER_BYTES: usize = 24
const START: usize = 8
const NAME_END: usize = 12
const END: usize = 16
const parameters: usize = memory.data(33 * 24, 8)
let count: u32 = 0

/** Where a query is decoded to, or lies while it is written in another order, of SCRATCH_BYTES: given for each batch. */
export const SCRATCH_BYTES: usize = 3 * MOST_REWRITTEN + SLACK
let scratch: usize = 0

export function setScratch(at: usize): void {
  scratch = at
}

/** Parameters are missing, shorter, longer or in another order than before. */
let isChanged: bool = false
/** Names may have escapes or '+'. */
let isEncoded: bool = false

/** What `readParameters` returns: it has read them; a value has a bare `=`, which a form escapes; they are left. */
const READ: u32 = 0
const NOT_FORM: u32 = 1
const LEFT: u32 = 2

/**
 * Writes the query [query, end), which begins with its question mark, to `out`, which is at or before `query`. Returns the
 * end, or UNUSUAL.
 */
export function rewriteQuery(query: usize, end: usize, out: usize, rules: u32): usize {
  let from = query + 1
  let result = NOT_FORM
  if (rules & AGGRESSIVE) {
    if (seen & SEEN_ESCAPES) end = normaliseEscapes(from, end)
    isEncoded = hasEncoded(from, end)
    result = readParameters(from, end, rules)
  } else if (isForm(from, end, rules)) {
    isEncoded = false
    result = readParameters(from, end, rules)
  }
  if (result == NOT_FORM) {
    isEncoded = true
    end = writeForm(from, end, scratch, rules)
    if (end == UNUSUAL) return UNUSUAL
    from = scratch
    result = readParameters(from, end, rules)
    isChanged = true
  }
  if (result == LEFT) return UNUSUAL
  if (!count) return out
  if (isChanged) {
    if (from != scratch) memory.copy(scratch, from, end - from)
    return writeParameters(out, scratch - from, rules)
  }
  if (out != query) memory.copy(out, query, end - query)
  return out + (end - query)
}

function hasEncoded(p: usize, end: usize): bool {
  for (; p < end; p += 64) {
    if ((places(p, 0x25) | places(p, 0x2b)) & placesBefore(p, end)) return true
  }
  return false
}

function readParameters(from: usize, end: usize, rules: u32): u32 {
  count = 0
  isChanged = false
  let start = from
  let equals: usize = 0
  for (let p = from; p < end; p += 64) {
    const valid = placesBefore(p, end)
    const ands = places(p, 0x26) & valid
    let marked = ands | places(p, 0x3d) & valid
    while (marked) {
      const place = p + <usize>ctz(marked)
      const bit = marked & (0 - marked)
      marked ^= bit
      if (ands & bit) {
        if (!take(start, equals ? equals : place, place, rules)) return LEFT
        start = place + 1
        equals = 0
      } else if (!equals) {
        equals = place
      } else if (rules & FORM) {
        return NOT_FORM
      }
    }
  }
  return take(start, equals ? equals : end, end, rules) ? READ : LEFT
}

/** The decoded name of a parameter: sixteen bytes of it, and how many it has. */
let nameLo: u64 = 0
let nameHi: u64 = 0
let nameSize: usize = 0

// Puts the parameter [start, end) in its place, unless it is empty or dropped. False: it is left to the platform.
function take(start: usize, nameEnd: usize, end: usize, rules: u32): bool {
  if (rules & AGGRESSIVE && nameEnd + 1 == end) {
    end = nameEnd
    isChanged = true
  }
  if (start == end) {
    isChanged = true
    return true
  }
  if (isEncoded) {
    if (!decodeName(start, nameEnd)) return false
  } else {
    nameSize = nameEnd - start
    nameLo = load<u64>(start) & maskOf(nameSize)
    nameHi = nameSize > 8 ? load<u64>(start, 8) & maskOf(nameSize - 8) : 0
  }
  const isUnwanted = rules & AGGRESSIVE
    ? isDropped(lowerCase(nameLo), lowerCase(nameHi), nameSize)
    : rules & CRAWLEE && isDropped(nameLo, nameHi, nameSize)
  if (isUnwanted) {
    isChanged = true
    return true
  }
  if (count == MOST_PARAMETERS) return false
  if (rules & FORM && nameEnd == end) isChanged = true
  const key = bswap(nameLo)
  let at = parameters + <usize>count * PARAMETER_BYTES
  while (at > parameters && isBefore(key, start, nameEnd, end, at - PARAMETER_BYTES, rules)) {
    memory.copy(at, at - PARAMETER_BYTES, PARAMETER_BYTES)
    at -= PARAMETER_BYTES
    isChanged = true
  }
  store<u64>(at, key)
  store<u32>(at, <u32>start, START)
  store<u32>(at, <u32>nameEnd, NAME_END)
  store<u32>(at, <u32>end, END)
  count++
  return true
}

// False: the name has bytes beyond ASCII, which are compared and lower-cased as characters, or a zero.
function decodeName(p: usize, end: usize): bool {
  nameLo = 0
  nameHi = 0
  nameSize = 0
  while (p < end) {
    const c = decoded(p, end)
    if (c - 1 >= 0x7f) return false
    p += sizeOf(p, end)
    if (nameSize < 8) nameLo |= <u64>c << (<u64>nameSize << 3)
    else if (nameSize < NAME_BYTES) nameHi |= <u64>c << (<u64>nameSize - 8 << 3)
    nameSize++
  }
  return true
}

// The byte at `p` that a form means, and how many bytes it is written with.
function decoded(p: usize, end: usize): u32 {
  const c = <u32>load<u8>(p)
  if (c == 0x2b) return 0x20
  if (c != 0x25) return c
  const value = escapedByte(p, end)
  return value == NO_ESCAPE ? c : value
}

function sizeOf(p: usize, end: usize): usize {
  return load<u8>(p) == 0x25 && escapedByte(p, end) != NO_ESCAPE ? 3 : 1
}

// Whether a parameter stands before the one of entry `at`. Names of less than eight bytes are their keys.
// @ts-ignore: decorator
@inline
function isBefore(key: u64, start: usize, nameEnd: usize, end: usize, at: usize, rules: u32): bool {
  const other = load<u64>(at)
  if (key != other) return key < other
  return (key & 0xff || rules & SCRAPY) && isBeforeEqual(start, nameEnd, end, at, rules)
}

// The same for two whose names begin with the same eight bytes. SCRAPY compares values as well.
function isBeforeEqual(start: usize, nameEnd: usize, end: usize, at: usize, rules: u32): bool {
  const otherNameEnd = <usize>load<u32>(at, NAME_END)
  const otherEnd = <usize>load<u32>(at, END)
  const order = compare(start, nameEnd, load<u32>(at, START), otherNameEnd)
  if (order || !(rules & SCRAPY)) return order < 0
  return compare(min(nameEnd + 1, end), end, min(otherNameEnd + 1, otherEnd), otherEnd) < 0
}

function compare(p: usize, end: usize, q: usize, otherEnd: usize): i32 {
  while (p < end && q < otherEnd) {
    const difference = <i32>decoded(p, end) - <i32>decoded(q, otherEnd)
    if (difference) return difference
    p += sizeOf(p, end)
    q += sizeOf(q, otherEnd)
  }
  return <i32>(p < end) - <i32>(q < otherEnd)
}

// Writes all parameters, which lie `shift` behind where they were read. A form has an `=` in each.
function writeParameters(out: usize, shift: usize, rules: u32): usize {
  store<u8>(out++, 0x3f)
  for (let at = parameters; at < parameters + <usize>count * PARAMETER_BYTES; at += PARAMETER_BYTES) {
    const start = <usize>load<u32>(at, START)
    const size = <usize>load<u32>(at, END) - start
    for (let i: usize = 0; i < size; i += 16) v128.store(out + i, v128.load(start + shift + i))
    out += size
    if (rules & FORM && load<u32>(at, NAME_END) == load<u32>(at, END)) store<u8>(out++, 0x3d)
    store<u8>(out++, 0x26)
  }
  return out - 1
}
