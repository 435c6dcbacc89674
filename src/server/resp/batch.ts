// The items of consecutive commands on one sieve, for one call of the kernel, and how many of them belong to each command:
// replies are written in the order of the commands.

import { countAdds } from '../meters.ts'
import type { Answers, LentItems, ServedSieve } from '../registry.ts'
import type { Parser } from './parser.ts'
import type { Replies, VerdictForm } from './replies.ts'

const FIRST_ITEMS = 512
/** A batch of this many items is executed before more are gathered. */
export const FULL_ITEMS = 8192
/** Size of a command that is answered with one verdict instead of an array. */
export const ONE = -1

export class Batch {
  sieve: ServedSieve | null = null
  act: 'add' | 'has' = 'add'
  form: VerdictForm = 'verdicts'
  /** A command whose new items do not all fit adds none of them. */
  isWhole = false
  bytes: Uint8Array = new Uint8Array(0)
  /** The bytes belong to this connection alone and do not change until its commands are answered. */
  isKept = false
  /** Items and commands gathered. */
  count = 0
  commands = 0
  starts = new Uint32Array(FIRST_ITEMS)
  ends = new Uint32Array(FIRST_ITEMS)
  /** Items of each command, or ONE. */
  sizes = new Int32Array(FIRST_ITEMS)

  /** Makes the arrays large enough for `items` more items and one more command. */
  reserve(items: number): void {
    if (this.count + items > this.starts.length) {
      const size = Math.max(this.count + items, this.starts.length * 2)
      this.starts = copyInto(this.starts, new Uint32Array(size))
      this.ends = copyInto(this.ends, new Uint32Array(size))
    }
    if (this.commands === this.sizes.length) {
      this.sizes = copyInto(this.sizes, new Int32Array(this.sizes.length * 2))
    }
  }

  /** Adds the command that the parser has found; its offsets are relative to `base`. */
  put(parser: Parser, base: number, isMany: boolean): void {
    const items = parser.count - 2
    this.reserve(items)
    const { starts, ends, count } = this
    starts.set(parser.starts.subarray(2, parser.count), count)
    ends.set(parser.ends.subarray(2, parser.count), count)
    this.count += items
    if (base > 0) {
      for (let i = count; i < this.count; i++) {
        starts[i]! += base
        ends[i]! += base
      }
    }
    this.sizes[this.commands++] = isMany ? items : ONE
  }

  /** Passes the items from `first` on to the sieve. */
  execute(first: number): Answers<Uint8Array> {
    const { sieve, act, bytes, count } = this
    const items: LentItems = {
      bytes,
      isKept: this.isKept,
      starts: this.starts.subarray(first, count),
      ends: this.ends.subarray(first, count),
    }
    if (act === 'has') return sieve!.has(items)
    return this.isWhole && sieve!.addWhole ? sieve!.addWhole(items) : sieve!.add(items)
  }

  /** Writes the replies to commands [from, to); returns their number. */
  answer(replies: Replies, verdicts: Uint8Array, from: number, to: number): number {
    const { sizes, form } = this
    let at = 0
    for (let i = from; i < to; i++) {
      const size = sizes[i]!
      if (size === ONE) replies.verdicts(verdicts, at, ++at, form)
      else if (form === 'count') {
        let ones = 0
        for (const end = at + size; at < end; at++) ones += verdicts[at]!
        replies.write(ones)
      } else {
        replies.array(size)
        replies.verdicts(verdicts, at, at + size, form)
        at += size
      }
    }
    this.#meter(verdicts)
    return to - from
  }

  /**
   * Writes the replies to the commands whose verdicts are complete, and the verdicts of the next one as an array that
   * ends with the error, which the caller writes; a count is left out. Returns the command and the item after it.
   */
  answerPart(
    replies: Replies,
    verdicts: Uint8Array,
    from: number,
    item: number,
    isFull: boolean,
  ): [number, number] {
    const itemsOf = (i: number) => (this.sizes[i] === ONE ? 1 : this.sizes[i]!)
    let to = from
    let at = 0
    while (at + itemsOf(to) <= verdicts.length) at += itemsOf(to++)
    this.answer(replies, verdicts.subarray(0, at), from, to)
    const part = verdicts.subarray(at)
    const isInArray = this.sizes[to] !== ONE && this.form !== 'count'
    // Of a full filter the error of the first item is in an array too, as in RedisBloom.
    if (isInArray && (part.length > 0 || (isFull && !this.isWhole))) {
      replies.array(part.length + 1)
      replies.verdicts(part, 0, part.length, this.form)
    }
    this.#meter(part)
    return [to + 1, item + at + itemsOf(to)]
  }

  #meter(verdicts: Uint8Array): void {
    const { meters } = this.sieve!
    if (this.act === 'has') meters.asks += verdicts.length
    else countAdds(meters, verdicts)
  }

  /** Copies the bytes if other connections read into the same buffer. */
  keep(): void {
    if (this.isKept) return
    this.bytes = new Uint8Array(this.bytes) // a Buffer's slice would share its memory
    this.isKept = true
  }

  clear(): void {
    this.sieve = null
    this.count = 0
    this.commands = 0
    if (this.starts.length <= 2 * FULL_ITEMS) return
    this.starts = new Uint32Array(FIRST_ITEMS)
    this.ends = new Uint32Array(FIRST_ITEMS)
  }
}

function copyInto<T extends Uint32Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
