// The bytes of one connection for its parser: parsed in the shared read buffer; the rest of an incomplete command moves to a
// buffer of the connection before other connections are read.
import { SLACK } from './command-prefix.ts'
import type { Parser } from './parser.ts'
import { HEADROOM } from './read-buffer.ts'

/** A larger buffer is not kept for the next rest. */
const MOST_KEPT_BYTES = 64 * 1024

export class InputBuffer {
  readonly #parser: Parser
  readonly #readBuffer: Buffer
  #rest = Buffer.alloc(0)
  /** The parser's bytes are in a buffer of this connection, not in the read buffer. */
  #isOwned = true

  /** `readBuffer`: where all read to. */
  constructor(parser: Parser, readBuffer: Buffer) {
    this.#parser = parser
    this.#readBuffer = readBuffer
  }

  /**
   * Takes `size` bytes from the read buffer. The rest of the last read is copied directly before them; if the rest is long,
   * or a command waits, they are appended to it instead. Bytes that a waiting command uses are never moved.
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

  /** Call before other connections are read: moves the rest to a buffer of this connection. */
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
