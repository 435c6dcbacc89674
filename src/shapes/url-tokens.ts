// A URL's bytes cut into tokens: its host, the segments of its path and its parameters, each with hash and form, in arrays
// that are used again for the next URL. No string is made. What a URL can bring is bounded: segments, parameters, bytes.
import { FIRST_VARIABLE, FORM, FormReader, STOP } from './forms.ts'
import type { HalfSip } from './half-sip.ts'

/** Segments of a path that are looked at one by one; the others are one token, `{rest}`. */
export const MOST_SEGMENTS = 12
/** Parameters that are looked at. */
export const MOST_PARAMETERS = 16
/** A path is cut where one of its segments comes up for this time. */
export const REPEATED_SEGMENTS = 3
const MOST_TOKENS = MOST_SEGMENTS + 1 + MOST_PARAMETERS
const MOST_HOST = 255
const MOST_NAME = 64

const SLASH = 47
const QUESTION = 63
const HASH = 35
const AT = 64
const COLON = 58
const SEMICOLON = 59
const EQUALS = 61
const AND = 38
const PERCENT = 37

export class UrlTokens {
  /** Host, in lower case and without user name and default port. */
  readonly host = new Uint8Array(MOST_HOST)
  hostLength = 0
  hostLo = 0
  hostHi = 0
  /** Tokens [0, segments) are segments; the next `parameters` are values of parameters. */
  segments = 0
  parameters = 0
  readonly starts = new Int32Array(MOST_TOKENS)
  readonly ends = new Int32Array(MOST_TOKENS)
  /** Where the extension begins; the end where there is none. */
  readonly stems = new Int32Array(MOST_TOKENS)
  readonly forms = new Uint8Array(MOST_TOKENS)
  readonly los = new Int32Array(MOST_TOKENS)
  readonly his = new Int32Array(MOST_TOKENS)
  /** Hash of the extension; 0 where there is none. */
  readonly extensions = new Int32Array(MOST_TOKENS)
  /** Numbers, years and dates (YYYYMMDD). */
  readonly values = new Float64Array(MOST_TOKENS)
  /** Of parameters: hash and text of the name; digits in brackets are one 0. */
  readonly nameLos = new Int32Array(MOST_TOKENS)
  readonly nameHis = new Int32Array(MOST_TOKENS)
  readonly names = new Uint8Array(MOST_PARAMETERS * MOST_NAME)
  readonly nameLengths = new Int32Array(MOST_TOKENS)
  /** The set of names, whatever their order. */
  namesLo = 0
  namesHi = 0
  /** The names in their order. */
  orderLo = 0
  /** The whole URL, without scheme and fragment. */
  urlLo = 0
  readonly #hash: HalfSip
  readonly #reader = new FormReader()
  /** Where parameters behind segments begin. */
  readonly #behind: number[] = []

  constructor(hash: HalfSip) {
    this.#hash = hash
  }

  /** Reads the URL in bytes [start, end). False: it is not an absolute URL with a host. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    this.segments = 0
    if (this.#behind.length > 0) this.#behind.length = 0
    this.parameters = 0
    this.namesLo = 0
    this.namesHi = 0
    this.orderLo = 0
    let at = this.#readHost(bytes, start, end)
    if (at < 0) return false
    this.urlLo = this.hostLo
    while (at < end && bytes[at] === SLASH) {
      at++
      if (this.segments === MOST_SEGMENTS) {
        at = this.#addRest(bytes, at, end)
        break
      }
      at = this.#addSegment(bytes, at, end)
      if (at < 0) return true
    }
    if (this.#behind.length > 0) this.#readPathParameters(bytes, end)
    if (at < end && bytes[at] === QUESTION) this.#readQuery(bytes, at + 1, end)
    return true
  }

  // Returns where the path begins, or -1.
  #readHost(bytes: Uint8Array, start: number, end: number): number {
    let at = start
    const most = Math.min(end, start + 16)
    while (at < most && bytes[at] !== COLON) at++
    if (
      at === start ||
      bytes[at] !== COLON ||
      bytes[at + 1] !== SLASH ||
      bytes[at + 2] !== SLASH ||
      at + 3 >= end
    )
      return -1
    let from = at + 3
    let to = from
    let port = -1
    for (; to < end; to++) {
      const b = bytes[to]!
      if (b === SLASH || b === QUESTION || b === HASH) break
      if (b <= 32) return -1
      if (b === AT) {
        from = to + 1
        port = -1
      } else if (b === COLON) port = to
    }
    const path = to
    if (port >= 0 && isDefaultPort(bytes, port + 1, to)) to = port
    if (to <= from || to - from > MOST_HOST) return -1
    const { host } = this
    for (let i = from; i < to; i++) {
      const b = bytes[i]!
      host[i - from] = b >= 65 && b <= 90 ? b | 32 : b
    }
    this.hostLength = to - from
    this.#hash.hash(host, 0, this.hostLength)
    this.hostLo = this.#hash.lo
    this.hostHi = this.#hash.hi
    return path
  }

  // Returns where the segment ends, or -1: the path is cut here, since the segment came up too often before.
  #addSegment(bytes: Uint8Array, start: number, end: number): number {
    const token = this.segments
    const form = this.#addValue(token, bytes, start, end, PATH_STOPS | STOP.semicolon, true)
    this.segments = token + 1
    const to = this.ends[token]!
    if (form !== FORM.empty && form !== FORM.number && this.#isRepeated(token)) {
      this.forms[token] = FORM.repeat
      this.extensions[token] = 0
      return -1
    }
    return bytes[to] === SEMICOLON && to < end ? this.#skipPathParameters(bytes, to, end) : to
  }

  #isRepeated(token: number): boolean {
    const lo = this.los[token]!
    const hi = this.his[token]!
    let before = 0
    for (let i = 0; i < token; i++) if (this.los[i] === lo && this.his[i] === hi) before++
    return before >= REPEATED_SEGMENTS - 1
  }

  #addRest(bytes: Uint8Array, start: number, end: number): number {
    const token = this.segments++
    this.#addValue(token, bytes, start, end, STOP.question | STOP.hash, false)
    this.forms[token] = FORM.rest
    return this.ends[token]!
  }

  // The value that begins at `start`.
  #addValue(
    token: number,
    bytes: Uint8Array,
    start: number,
    most: number,
    stops: number,
    isFile: boolean,
  ): number {
    const form = this.#reader.read(bytes, start, most, stops, isFile)
    const hash = this.#hash
    const { end, stem } = this.#reader
    hash.hash(bytes, start, end)
    this.starts[token] = start
    this.ends[token] = end
    this.stems[token] = stem
    this.forms[token] = form
    this.los[token] = hash.lo
    this.his[token] = hash.hi
    if (form >= FIRST_VARIABLE && form <= FORM.date) this.values[token] = this.#reader.value
    const mixed = Math.imul(this.urlLo ^ hash.lo, 0x9e3779b1) ^ hash.hi
    this.urlLo = mixed ^ (mixed >>> 15)
    let extension = 0
    for (let i = stem; i < end; i++) extension = Math.imul(extension + bytes[i]!, 0x01000193)
    this.extensions[token] = extension
    return form
  }

  // `;jsessionid=…` and its like behind a segment: they are parameters, whose tokens come behind those of all segments.
  #skipPathParameters(bytes: Uint8Array, start: number, end: number): number {
    if (this.#behind.length < 2 * MOST_PARAMETERS) this.#behind.push(start)
    let at = start
    while (at < end && !isPathStop(bytes[at]!)) at++
    return at
  }

  #readPathParameters(bytes: Uint8Array, end: number): void {
    for (const start of this.#behind) {
      for (let from = start; from < end && bytes[from] === SEMICOLON; ) {
        let to = from + 1
        while (to < end && bytes[to] !== SEMICOLON && !isPathStop(bytes[to]!)) to++
        if (to > from + 1) this.#addParameter(bytes, from, to)
        from = to
      }
    }
  }

  #readQuery(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end && bytes[at] !== HASH; at++) {
      if (bytes[at] === AND) continue
      if (this.parameters === MOST_PARAMETERS) {
        // The others count for the whole URL only.
        this.#hash.hash(bytes, at, end)
        this.urlLo ^= this.#hash.lo
        return
      }
      at = this.#addParameter(bytes, at, end)
      if (bytes[at] === HASH) return
    }
  }

  // Returns where the parameter ends.
  #addParameter(bytes: Uint8Array, start: number, most: number): number {
    if (this.parameters === MOST_PARAMETERS) return most
    let equals = start
    while (equals < most && bytes[equals] !== EQUALS && bytes[equals] !== AND && bytes[equals] !== HASH)
      equals++
    const token = this.segments + this.parameters
    const at = this.parameters * MOST_NAME
    const length = copyName(bytes, start, equals, this.names, at)
    const hash = this.#hash
    hash.hash(this.names, at, at + length)
    const { lo, hi } = hash
    this.nameLos[token] = lo
    this.nameHis[token] = hi
    this.nameLengths[token] = length
    let isRepeated = false
    for (let i = this.segments; i < token; i++)
      if (this.nameLos[i] === lo && this.nameHis[i] === hi) isRepeated = true
    if (!isRepeated) {
      this.namesLo = (this.namesLo + lo) | 0
      this.namesHi = (this.namesHi + hi) | 0
      this.orderLo = Math.imul(this.orderLo ^ lo, 0x9e3779b1) ^ (this.orderLo >>> 13)
    }
    this.urlLo = Math.imul(this.urlLo ^ lo, 0x85ebca6b)
    const from = bytes[equals] === EQUALS && equals < most ? equals + 1 : equals
    this.#addValue(token, bytes, from, most, STOP.and | STOP.hash, false)
    this.parameters++
    return this.ends[token]!
  }
}

const PATH_STOPS = STOP.slash | STOP.question | STOP.hash

const isPathStop = (byte: number) => byte === SLASH || byte === QUESTION || byte === HASH

function isDefaultPort(bytes: Uint8Array, start: number, end: number): boolean {
  if (end === start) return true
  if (end - start === 2) return bytes[start] === 56 && bytes[start + 1] === 48
  return end - start === 3 && bytes[start] === 52 && bytes[start + 1] === 52 && bytes[start + 2] === 51
}

/** Copies a name, at most `MOST_NAME` bytes of it; a run of digits behind a bracket becomes 0. Returns its length. */
function copyName(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  let size = 0
  let isInBrackets = false
  for (let i = start; i < end && size < MOST_NAME; i++) {
    let b = bytes[i]!
    if (b === 91) isInBrackets = true
    else if (b === 93) isInBrackets = false
    else if (b === PERCENT && bytes[i + 1] === 53 && i + 2 < end) {
      const third = bytes[i + 2]! | 32
      if (third === 98 || third === 100) {
        isInBrackets = third === 98
        b = isInBrackets ? 91 : 93
        i += 2
      }
    } else if (isInBrackets && b >= 48 && b <= 57) {
      while (i + 1 < end && bytes[i + 1]! >= 48 && bytes[i + 1]! <= 57) i++
      b = 48
    }
    to[at + size++] = b
  }
  return size
}
