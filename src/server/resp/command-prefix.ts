// The fast path for a pipeline that repeats one command on one sieve: the bytes before the first item are compared with
// those of the last command, and only the items are parsed.
import { MOST_URL_BYTES } from '../url-limits.ts'
import { type Batch, FULL_ITEMS, ONE } from './batch.ts'
import type { ItemsCommand } from './command.ts'
import type { Parser } from './parser.ts'

const CR = 13
const LF = 10
const DOLLAR = 36
const ZERO = 48
/** A longer prefix is not worth comparing. */
const MOST_BYTES = 512
/** The parser's bytes must be followed by this many bytes of any value. */
export const SLACK = 32

export class CommandPrefix {
  command: ItemsCommand | null = null
  #bytes = new Uint8Array(MOST_BYTES)
  #size = 0
  #items = 0

  forget(): void {
    this.command = null
  }

  /** Remembers the command that the parser has found. */
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
   * Adds complete commands with this prefix to the batch until it is full; the parser is then at the first command that is
   * incomplete or different.
   */
  take(parser: Parser, batch: Batch): void {
    const { bytes, size } = parser
    const prefix = this.#bytes
    const prefixSize = this.#size
    const items = this.#items
    const reply = this.command!.isMany ? items : ONE
    const { itemBytes } = parser.limits
    const most = this.command!.group === 'sieve' ? Math.min(itemBytes, MOST_URL_BYTES) : itemBytes
    let at = parser.at
    while (batch.count < FULL_ITEMS && at + prefixSize < size) {
      let same = prefixSize - 1
      while (same >= 0 && bytes[at + same] === prefix[same]) same--
      if (same >= 0) break
      batch.reserve(items)
      const { starts, ends } = batch
      let n = batch.count
      const last = n + items
      let p = at + prefixSize
      // `$` digits CR LF item CR LF; anything incomplete or invalid is left to the parser. SLACK keeps these reads within
      // the buffer: a read past its end would deoptimise the loop.
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
