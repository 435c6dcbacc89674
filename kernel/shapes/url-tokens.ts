// A URL's bytes cut into tokens: its host, the segments of its path and its parameters, each with hash and form, in arrays
// that the next URL overwrites. What a URL can bring is bounded: segments, parameters, bytes.
import { siphash13 } from '../families/siphash'
import {
  DATE, EMPTY, formEnd, formStem, formValue, NUMBER, readForm, REPEAT, REST, STOP_AND, STOP_HASH, STOP_QUESTION,
  STOP_SEMICOLON, STOP_SLASH,
} from './forms'

/** Segments of a path that are looked at one by one; the others are one token, of the form `rest`. */
const MOST_SEGMENTS: u32 = 12
const MOST_PARAMETERS: u32 = 16
/** A path is cut where one of its segments comes up for this time. */
const REPEATED_SEGMENTS: u32 = 3
const MOST_HOST: usize = 255
const MOST_NAME: u32 = 64
/** The first form that is variable by itself. */
const FIRST_VARIABLE = NUMBER

/** Entries of each array: MOST_SEGMENTS + 1 + MOST_PARAMETERS, and more. */
const TOKENS: usize = 32
/**
 * The arrays, one behind the other, as src/shapes/url-tokens.ts reads them: `values` of 8 bytes, nine of 4 bytes, the forms,
 * the host, the names, and the fields.
 */
export const tokenArrays: usize = memory.data(32 * 8 + 9 * 32 * 4 + 32 + 256 + 16 * 64 + 64, 64)
/** Numbers, years and dates. */
const values = tokenArrays
const starts = values + TOKENS * 8
const ends = starts + TOKENS * 4
/** Where the extension begins; the end where there is none. */
const stems = ends + TOKENS * 4
/** Halves of the hash of the text. */
const los = stems + TOKENS * 4
const his = los + TOKENS * 4
/** Hash of the extension; 0 where there is none. */
const extensions = his + TOKENS * 4
/** Of parameters: hash and length of the name. */
const nameLos = extensions + TOKENS * 4
const nameHis = nameLos + TOKENS * 4
const nameLengths = nameHis + TOKENS * 4
const forms = nameLengths + TOKENS * 4
const host = forms + TOKENS
const names = host + 256
const fields = names + <usize>MOST_PARAMETERS * <usize>MOST_NAME

/** Where parameters behind segments begin. */
const MOST_BEHIND: u32 = 32
const behind: usize = memory.data(32 * 4, 16)
let behindCount: u32 = 0

let segments: u32 = 0
let parameters: u32 = 0
let hostLength: u32 = 0
let hostHash: u64 = 0
/** Sums of the halves of the names' hashes: the set of names, whatever their order. */
let namesLo: u32 = 0
let namesHi: u32 = 0
/** The names in their order. */
let orderLo: u32 = 0
/** The whole URL, without scheme and fragment. */
let urlLo: u32 = 0

const SLASH: u32 = 47
const QUESTION: u32 = 63
const NUMBER_SIGN: u32 = 35
const AT: u32 = 64
const COLON: u32 = 58
const SEMICOLON: u32 = 59
const EQUALS: u32 = 61
const AND: u32 = 38
const PERCENT: u32 = 37

// @ts-ignore: decorator
@inline
function byteAt(at: usize): u32 {
  return <u32>load<u8>(at)
}

// @ts-ignore: decorator
@inline
function put(array: usize, token: u32, value: u32): void {
  store<u32>(array + (<usize>token << 2), value)
}

// @ts-ignore: decorator
@inline
function get(array: usize, token: u32): u32 {
  return load<u32>(array + (<usize>token << 2))
}

/** Reads the URL in [start, end). False: it is not an absolute URL with a host. */
export function readTokens(start: usize, end: usize): bool {
  segments = 0
  parameters = 0
  behindCount = 0
  namesLo = 0
  namesHi = 0
  orderLo = 0
  let at = readHost(start, end)
  if (at == 0) return false
  urlLo = <u32>hostHash
  while (at < end && byteAt(at) == SLASH) {
    at++
    if (segments == MOST_SEGMENTS) {
      at = addRest(at, end)
      break
    }
    at = addSegment(at, end)
    if (at == 0) break
  }
  if (at != 0) {
    if (behindCount) readPathParameters(end)
    if (at < end && byteAt(at) == QUESTION) readQuery(at + 1, end)
  }
  store<u32>(fields, segments)
  store<u32>(fields, parameters, 4)
  store<u32>(fields, hostLength, 8)
  store<u64>(fields, hostHash, 16)
  store<u32>(fields, namesLo, 24)
  store<u32>(fields, namesHi, 28)
  store<u32>(fields, orderLo, 32)
  store<u32>(fields, urlLo, 36)
  return true
}

// The host in lower case, without user name and default port. Returns where the path begins, or 0.
function readHost(start: usize, end: usize): usize {
  let at = start
  const most = min(end, start + 16)
  while (at < most && byteAt(at) != COLON) at++
  if (at == start || at + 3 >= end || byteAt(at) != COLON || load<u16>(at, 1) != 0x2f2f) return 0
  let from = at + 3
  let to = from
  let port: usize = 0
  for (; to < end; to++) {
    const b = byteAt(to)
    if (b == SLASH || b == QUESTION || b == NUMBER_SIGN) break
    if (b <= 32) return 0
    if (b == AT) {
      from = to + 1
      port = 0
    } else if (b == COLON) port = to
  }
  const path = to
  if (port && isDefaultPort(port + 1, to)) to = port
  if (to <= from || to - from > MOST_HOST) return 0
  const length = to - from
  for (let i: usize = 0; i < length; i++) {
    const b = byteAt(from + i)
    store<u8>(host + i, <u8>(b >= 65 && b <= 90 ? b | 32 : b))
  }
  hostLength = <u32>length
  hostHash = siphash13(host, host + length)
  return path
}

// Returns where the segment ends, or 0: the path is cut here, since the segment came up too often before.
function addSegment(start: usize, end: usize): usize {
  const token = segments
  const form = addValue(token, start, end, STOP_SLASH | STOP_QUESTION | STOP_HASH | STOP_SEMICOLON, true)
  segments = token + 1
  const to = formEnd
  if (form != EMPTY && form != NUMBER && isRepeated(token)) {
    store<u8>(forms + <usize>token, <u8>REPEAT)
    put(extensions, token, 0)
    return 0
  }
  return to < end && byteAt(to) == SEMICOLON ? skipPathParameters(to, end) : to
}

function isRepeated(token: u32): bool {
  const lo = get(los, token)
  const hi = get(his, token)
  let before: u32 = 0
  for (let i: u32 = 0; i < token; i++) before += <u32>(get(los, i) == lo && get(his, i) == hi)
  return before >= REPEATED_SEGMENTS - 1
}

function addRest(start: usize, end: usize): usize {
  const token = segments++
  addValue(token, start, end, STOP_QUESTION | STOP_HASH, false)
  store<u8>(forms + <usize>token, <u8>REST)
  return formEnd
}

// The value that begins at `start`. Returns its form.
function addValue(token: u32, start: usize, most: usize, stops: u32, isFile: bool): u32 {
  const form = readForm(start, most, stops, isFile)
  const hash = siphash13(start, formEnd)
  put(starts, token, <u32>start)
  put(ends, token, <u32>formEnd)
  put(stems, token, <u32>formStem)
  store<u8>(forms + <usize>token, <u8>form)
  put(los, token, <u32>hash)
  put(his, token, <u32>(hash >> 32))
  if (form >= FIRST_VARIABLE && form <= DATE) store<f64>(values + (<usize>token << 3), formValue)
  const mixed = ((urlLo ^ <u32>hash) * 0x9e3779b1) ^ <u32>(hash >> 32)
  urlLo = mixed ^ (mixed >> 15)
  let extension: u32 = 0
  for (let i = formStem; i < formEnd; i++) extension = (extension + byteAt(i)) * 0x01000193
  put(extensions, token, extension)
  return form
}

// `;jsessionid=…` and its like behind a segment: they are parameters, whose tokens come behind those of all segments.
function skipPathParameters(start: usize, end: usize): usize {
  if (behindCount < MOST_BEHIND) put(behind, behindCount++, <u32>start)
  let at = start
  while (at < end && !isPathStop(byteAt(at))) at++
  return at
}

function readPathParameters(end: usize): void {
  for (let i: u32 = 0; i < behindCount; i++) {
    for (let from = <usize>get(behind, i); from < end && byteAt(from) == SEMICOLON; ) {
      let to = from + 1
      while (to < end && byteAt(to) != SEMICOLON && !isPathStop(byteAt(to))) to++
      if (to > from + 1) addParameter(from, to)
      from = to
    }
  }
}

function readQuery(start: usize, end: usize): void {
  for (let at = start; at < end && byteAt(at) != NUMBER_SIGN; at++) {
    if (byteAt(at) == AND) continue
    if (parameters == MOST_PARAMETERS) {
      // The others count for the whole URL only.
      urlLo ^= <u32>siphash13(at, end)
      return
    }
    at = addParameter(at, end)
    if (at < end && byteAt(at) == NUMBER_SIGN) return
  }
}

// Returns where the parameter ends.
function addParameter(start: usize, most: usize): usize {
  if (parameters == MOST_PARAMETERS) return most
  let equals = start
  for (; equals < most; equals++) {
    const b = byteAt(equals)
    if (b == EQUALS || b == AND || b == NUMBER_SIGN) break
  }
  const token = segments + parameters
  const name = names + <usize>(parameters * MOST_NAME)
  const length = copyName(start, equals, name)
  const hash = siphash13(name, name + <usize>length)
  const lo = <u32>hash
  const hi = <u32>(hash >> 32)
  put(nameLos, token, lo)
  put(nameHis, token, hi)
  put(nameLengths, token, length)
  let isKnown = false
  for (let i = segments; i < token; i++) isKnown = isKnown || (get(nameLos, i) == lo && get(nameHis, i) == hi)
  if (!isKnown) {
    namesLo += lo
    namesHi += hi
    orderLo = ((orderLo ^ lo) * 0x9e3779b1) ^ (orderLo >> 13)
  }
  urlLo = (urlLo ^ lo) * 0x85ebca6b
  const from = equals < most && byteAt(equals) == EQUALS ? equals + 1 : equals
  addValue(token, from, most, STOP_AND | STOP_HASH, false)
  parameters++
  return formEnd
}

// @ts-ignore: decorator
@inline
function isPathStop(byte: u32): bool {
  return byte == SLASH || byte == QUESTION || byte == NUMBER_SIGN
}

function isDefaultPort(start: usize, end: usize): bool {
  if (end == start) return true
  if (end - start == 2) return load<u16>(start) == 0x3038 // 80
  return end - start == 3 && load<u16>(start) == 0x3434 && byteAt(start + 2) == 51 // 443
}

/** Copies a name, at most `MOST_NAME` bytes of it; a run of digits behind a bracket becomes 0. Returns its length. */
function copyName(start: usize, end: usize, to: usize): u32 {
  let size: u32 = 0
  let isInBrackets = false
  for (let i = start; i < end && size < MOST_NAME; i++) {
    let b = byteAt(i)
    if (b == 91) isInBrackets = true
    else if (b == 93) isInBrackets = false
    else if (b == PERCENT && i + 2 < end && byteAt(i + 1) == 53) {
      const third = byteAt(i + 2) | 32
      if (third == 98 || third == 100) {
        isInBrackets = third == 98
        b = isInBrackets ? 91 : 93
        i += 2
      }
    } else if (isInBrackets && b >= 48 && b <= 57) {
      while (i + 1 < end && byteAt(i + 1) >= 48 && byteAt(i + 1) <= 57) i++
      b = 48
    }
    store<u8>(to + <usize>size, <u8>b)
    size++
  }
  return size
}
