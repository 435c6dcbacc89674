// The bytes of one connection on their way to its parser: worked on where they were read, and what is left of a command cut
// in two kept apart while other connections read.
import { SLACK } from './command-prefix.ts'
import type { Parser } from './parser.ts'
import { HEADROOM } from './read-buffer.ts'

/** A buffer for what is left is kept for the next time while it is no longer than this. */
const MOST_KEPT_BYTES = 64 * 1024

export class InputBuffer {
  readonly #parser: Parser
  readonly #readBuffer: Buffer
  #rest = Buffer.alloc(0)
  /** The parser's bytes are in a buffer of this connection, not where others read to. */
  #isOwned = true

  /** `readBuffer`: where all read to. */
  constructor(parser: Parser, readBuffer: Buffer) {
    this.#parser = parser
    this.#readBuffer = readBuffer
  }

  /**
   * So many bytes were read. What is left is put right before them; or, when that is much or a command is waiting, they
   * are put behind it. Bytes that a waiting command reads are never moved.
   */
  take(size: number, isWaiting: boolean): void {
    const parser = this.#parser
    const readBuffer = this.#readBuffer
    const left = parser.size - parser.at
    if (left <= HEADROOM && !isWaiting) {
      parser.bytes.copy(readBuffer, HEADROOM - left, parser.at, parser.size)
      this.#isOwned = false
      parser.bytes = readBuffer
      parser.at = HEADROOM - left
      parser.size = HEADROOM + size
      return
    }
    if (parser.size + size + SLACK > parser.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(2 * (left + size) + SLACK)
      parser.bytes.copy(bytes, 0, parser.at, parser.size)
      parser.bytes = bytes
      parser.at = 0
      parser.size = left
    }
    readBuffer.copy(parser.bytes, parser.size, HEADROOM, HEADROOM + size)
    parser.size += size
  }

  /** Others read next: what is left goes to a buffer of this connection. */
  leave(): void {
    if (this.#isOwned) return
    const parser = this.#parser
    const left = parser.size - parser.at
    if (left + SLACK > this.#rest.length || this.#rest.length > MOST_KEPT_BYTES) {
      this.#rest = Buffer.allocUnsafeSlow(left + (left >> 1) + SLACK)
    }
    parser.bytes.copy(this.#rest, 0, parser.at, parser.size)
    this.#isOwned = true
    parser.bytes = this.#rest
    parser.at = 0
    parser.size = left
  }
}
