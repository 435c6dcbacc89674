// The shapes of a stream of URLs: bytes in, in any cuts; a report whenever it is wanted. Memory is bounded by `maxNodes`
// whatever the URLs are, and time is linear in the bytes.
import { SieveError } from '../errors.ts'
import { type ReportOptions, reportShapes, type ShapesReport } from './shape-report.ts'
import { ShapeTree } from './shape-tree.ts'
import { MOST_URL, UrlTokens } from './url-tokens.ts'

const NEWLINE = 10
const RETURN = 13
const SPACE = 32
/** Bytes that `addLines` takes at a time, if no line is longer. */
const PIECE_BYTES = 256 * 1024

const encoder = new TextEncoder()

export interface ShapesOptions {
  /** Nodes to tell apart: 1.1 KB each at most. Default 2^17. */
  readonly maxNodes?: number
  /** Key of the hash. Default: random. */
  readonly key?: readonly [number, number]
}

export class Shapes {
  /** Lines read so far; empty ones are left out. */
  lines = 0
  readonly #tree: ShapeTree
  readonly #tokens: UrlTokens
  /** Where the buffer is, in the memory of the tokens. */
  #buffer: number
  /** Bytes of an unfinished line at the beginning of the buffer. */
  #waiting = 0
  /** Bytes behind them that `reserve` has returned. */
  #reserved = 0
  /** The line under way is too long: the rest of it is passed over. */
  #isSkipping = false

  constructor({ maxNodes, key }: ShapesOptions = {}) {
    if (maxNodes !== undefined && (!Number.isSafeInteger(maxNodes) || maxNodes < 1024 || maxNodes > 2 ** 22))
      throw new SieveError('option', `maxNodes ${maxNodes}: expected a whole number from 1024 to 4194304`)
    this.#tokens = new UrlTokens(key)
    this.#buffer = this.#tokens.reserve(0)
    this.#tree = new ShapeTree({ tokens: this.#tokens, ...(maxNodes !== undefined && { maxNodes }) })
  }

  /** Takes in one URL. False: it is not an absolute URL with a host, and counts as such. */
  add(url: string): boolean {
    if (typeof url !== 'string') throw new SieveError('option', `url is ${typeof url}: expected a string`)
    const bytes = encoder.encode(url)
    const start = this.#tokens.put(bytes)
    return this.#line(start, start + bytes.length)
  }

  /** Takes in whole lines, one URL each; the last may lack its newline. A line that `push` has left unfinished ends before. */
  addLines(bytes: Uint8Array): void {
    this.end()
    for (let at = 0; at < bytes.length; ) {
      const last =
        at + PIECE_BYTES < bytes.length ? bytes.lastIndexOf(NEWLINE, at + PIECE_BYTES - 1) : bytes.length
      const to = last >= at ? last : lineEnd(bytes, at)
      this.#addPiece(bytes.subarray(at, to))
      at = to + 1
    }
  }

  // Whole lines, or one that is longer than a piece.
  #addPiece(piece: Uint8Array): void {
    if (piece.length > PIECE_BYTES && isLong(piece)) {
      this.#skipped()
      return
    }
    this.reserve(piece.length).set(piece)
    this.#lines(this.#buffer + piece.length, true)
  }

  /** A buffer of this number of bytes, to be filled for `push`; valid until the next call. */
  reserve(bytes: number): Uint8Array {
    this.#buffer = this.#tokens.reserve(this.#waiting + bytes)
    this.#reserved = bytes
    const start = this.#buffer + this.#waiting
    return this.#tokens.bytes.subarray(start, start + bytes)
  }

  /** Takes in the first `bytes` bytes of what `reserve` returned, in any cuts. */
  push(bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#reserved))
      throw new SieveError(
        'option',
        `push of ${bytes} bytes: expected at most the ${this.#reserved} reserved`,
      )
    this.#reserved = 0
    const end = this.#buffer + this.#waiting + bytes
    const rest = this.#lines(end, false)
    this.#waiting = end - rest
    if (this.#waiting > MOST_URL) {
      this.#isSkipping = true
      this.#waiting = 0
    } else this.#tokens.bytes.copyWithin(this.#buffer, rest, end)
  }

  /** The last line, if it had no newline. */
  end(): void {
    this.#lines(this.#buffer + this.#waiting, true)
    this.#waiting = 0
    if (this.#isSkipping) this.#skipped()
  }

  /** The hosts and shapes so far; more lines may follow. */
  report(options?: ReportOptions): ShapesReport {
    return reportShapes(this.#tree, options)
  }

  // Takes in the lines from the beginning of the buffer to `end`. Returns where an unfinished one begins.
  #lines(end: number, isLast: boolean): number {
    const tokens = this.#tokens
    let from = this.#buffer
    for (let n = 1; n > 0 && from < end; ) {
      n = tokens.findLines(from, end, isLast)
      from = tokens.linesEnd
      for (let i = 0; i < n; i++) {
        if (this.#isSkipping) this.#skipped()
        else this.#line(tokens.lineStarts[i]!, tokens.lineEnds[i]!)
      }
    }
    return from
  }

  #skipped(): void {
    this.#isSkipping = false
    this.lines++
    this.#tree.invalid++
  }

  #line(start: number, lineEnd: number): boolean {
    const { bytes } = this.#tokens
    let end = lineEnd
    while (end > start && (bytes[end - 1] === RETURN || bytes[end - 1] === SPACE)) end--
    if (end === start) return false
    this.lines++
    if (end - start > MOST_URL) {
      this.#tree.invalid++
      return false
    }
    return this.#tree.add(start, end) >= 0
  }
}

/** Where the line that begins at `start` ends. */
function lineEnd(bytes: Uint8Array, start: number): number {
  const at = bytes.indexOf(NEWLINE, start)
  return at < 0 ? bytes.length : at
}

/** Whether a line is too long for a URL, without the white space at its end. */
const isLong = (line: Uint8Array) => line.subarray(MOST_URL).some((byte) => byte !== RETURN && byte !== SPACE)
