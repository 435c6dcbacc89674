// The shapes of a stream of URLs: bytes in, in any cuts; a report whenever it is wanted. Memory is bounded by `maxNodes`
// whatever the URLs are, and time is linear in the bytes.
import { SieveError } from '../errors.ts'
import { type ReportOptions, reportShapes, type ShapesReport } from './shape-report.ts'
import { ShapeTree, type ShapeTreeOptions } from './shape-tree.ts'

const NEWLINE = 10
const RETURN = 13
/** Longer lines are not URLs. */
const MOST_LINE = 64 * 1024
const LEAST_BUFFER = 256 * 1024

const encoder = new TextEncoder()

export class Shapes {
  /** Lines read so far; empty ones are left out. */
  lines = 0
  readonly #tree: ShapeTree
  #buffer = new Uint8Array(LEAST_BUFFER)
  /** Bytes of an unfinished line at the beginning of the buffer. */
  #waiting = 0
  /** The line under way is too long: the rest of it is passed over. */
  #isSkipping = false

  constructor(options: ShapeTreeOptions = {}) {
    const { maxNodes } = options
    if (maxNodes !== undefined && (!Number.isSafeInteger(maxNodes) || maxNodes < 1024 || maxNodes > 2 ** 22))
      throw new SieveError('option', `maxNodes ${maxNodes}: expected a whole number from 1024 to 4194304`)
    this.#tree = new ShapeTree(options)
  }

  /** Takes in one URL. False: it is not an absolute URL with a host, and counts as such. */
  add(url: string): boolean {
    if (typeof url !== 'string') throw new SieveError('option', `url is ${typeof url}: expected a string`)
    const bytes = encoder.encode(url)
    return this.#line(bytes, 0, bytes.length)
  }

  /** Takes in whole lines, one URL each; the last may lack its newline. */
  addLines(bytes: Uint8Array): void {
    this.#lines(bytes, bytes.length, true)
  }

  /** A buffer of at least this number of bytes, to be filled for `push`. */
  reserve(bytes: number): Uint8Array {
    if (this.#waiting + bytes > this.#buffer.length) {
      const wider = new Uint8Array(this.#waiting + bytes)
      wider.set(this.#buffer.subarray(0, this.#waiting))
      this.#buffer = wider
    }
    return this.#buffer.subarray(this.#waiting, this.#waiting + bytes)
  }

  /** Takes in the first `bytes` bytes of what `reserve` returned, in any cuts. */
  push(bytes: number): void {
    const all = this.#waiting + bytes
    const used = this.#lines(this.#buffer, all, false)
    this.#waiting = all - used
    if (this.#waiting > MOST_LINE) {
      this.#isSkipping = true
      this.#waiting = 0
    } else this.#buffer.copyWithin(0, used, all)
  }

  /** The last line, if it had no newline. */
  end(): void {
    this.#lines(this.#buffer, this.#waiting, true)
    this.#waiting = 0
  }

  /** The hosts and shapes so far; more lines may follow. */
  report(options?: ReportOptions): ShapesReport {
    return reportShapes(this.#tree, options)
  }

  // Takes in the lines of bytes [0, end). Returns where an unfinished one begins.
  #lines(bytes: Uint8Array, end: number, isLast: boolean): number {
    let at = 0
    while (at < end) {
      let to = bytes.indexOf(NEWLINE, at)
      if (to < 0 || to >= end) {
        if (!isLast) break
        to = end
      }
      if (this.#isSkipping) this.#skipped()
      else this.#line(bytes, at, to)
      at = to + 1
    }
    return Math.min(at, end)
  }

  #skipped(): void {
    this.#isSkipping = false
    this.lines++
    this.#tree.invalid++
  }

  #line(bytes: Uint8Array, start: number, lineEnd: number): boolean {
    let end = lineEnd
    while (end > start && (bytes[end - 1] === RETURN || bytes[end - 1] === 32)) end--
    if (end === start) return false
    this.lines++
    if (end - start > MOST_LINE) {
      this.#tree.invalid++
      return false
    }
    return this.#tree.add(bytes, start, end) >= 0
  }
}
