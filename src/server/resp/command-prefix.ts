// The quick way for what a pipeline is full of: the same command on the same sieve, again and again. Its first bytes, up
// to the first item, are compared with those of the last one; only the items are read.
import { type Batch, FULL_ITEMS, ONE } from './batch.ts'
import type { ItemsCommand } from './command.ts'
import type { Parser } from './parser.ts'

const CR = 13
const LF = 10
const DOLLAR = 36
const ZERO = 48
/** A longer head is not worth comparing. */
const MOST_BYTES = 512
/** The parser's bytes must be followed by so many of any kind. */
export const SLACK = 32

export class CommandPrefix {
  command: ItemsCommand | null = null
  #bytes = new Uint8Array(MOST_BYTES)
  #size = 0
  #items = 0

  forget(): void {
    this.command = null
  }

  /** Remembers the command that was just found. */
  learn(parser: Parser, command: ItemsCommand): void {
    const { bytes, base } = parser.source
    const size = parser.ends[1]! + 2
    this.command = null
    if (bytes !== parser.bytes || size > MOST_BYTES) return
    this.#bytes.set(bytes.subarray(base, base + size))
    this.#size = size
    this.#items = parser.count - 2
    this.command = command
  }

  /**
   * Takes commands with this head into the batch while they are whole and nothing is unusual; the parser then stands
   * before the first that is not. Stops when the batch is full.
   */
  take(parser: Parser, batch: Batch): void {
    const { bytes, size } = parser
    const head = this.#bytes
    const headSize = this.#size
    const items = this.#items
    const reply = this.command!.isMany ? items : ONE
    const most = parser.limits.itemBytes
    let at = parser.at
    while (batch.count < FULL_ITEMS && at + headSize < size) {
      let same = headSize - 1
      while (same >= 0 && bytes[at + same] === head[same]) same--
      if (same >= 0) break
      batch.reserve(items)
      const { starts, ends } = batch
      let n = batch.count
      const last = n + items
      let p = at + headSize
      // `$` digits CR LF item CR LF; what is cut short or wrong is left to the parser. There is SLACK behind the bytes, so
      // that looking a little too far is no look past their end, which would make all of this slow.
      while (n < last && p < size && bytes[p] === DOLLAR) {
        let length = bytes[++p]! - ZERO
        if (length >>> 0 > 9) break
        let digit = bytes[++p]! - ZERO
        while (digit >>> 0 <= 9 && length <= most) {
          length = length * 10 + digit
          digit = bytes[++p]! - ZERO
        }
        const start = p + 2
        const end = start + length
        if (end + 2 > size || length > most) break
        if (bytes[p] !== CR || bytes[p + 1] !== LF || bytes[end] !== CR || bytes[end + 1] !== LF) break
        starts[n] = start
        ends[n] = end
        n++
        p = end + 2
      }
      if (n < last) break
      batch.count = n
      batch.sizes[batch.commands++] = reply
      at = p
    }
    parser.at = at
  }
}
