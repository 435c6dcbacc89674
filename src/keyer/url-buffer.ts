// Where URLs that come as strings, or as items of a buffer, are written in the kernel's memory to be sifted: apart from
// the input, where half a line may be waiting. Each call makes the batch's lines of as many as fit.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { checkUrl, type Items, MANY_BYTES } from '../url-input.ts'

/** Bytes for one URL; longer ones make the buffer grow. */
const SHORT_BYTES = 16 * 1024

const encoder = new TextEncoder()
const NOTHING = new Uint8Array(0)

export class UrlBuffer {
  readonly #kernel: Kernel
  /** Without a length when the memory has grown, or the buffer may have moved. */
  #bytes: Uint8Array = NOTHING
  #at = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
    this.#reserve(SHORT_BYTES)
  }

  #reserve(bytes: number): void {
    const at = this.#kernel.call.reserveUrls(bytes) >>> 0
    this.#kernel.refresh()
    if (at === 0) {
      // The kernel has the buffer as long as before, possibly elsewhere: the next call finds out where.
      this.#bytes = NOTHING
      throw new SieveError('memory', `a URL of ${bytes} bytes does not fit into the memory left`)
    }
    this.#at = at
    this.#bytes = this.#kernel.bytes.subarray(at, at + bytes)
  }

  /** Where what `write` has written begins. */
  get at(): number {
    return this.#at
  }

  /** Writes one URL. Returns its bytes. */
  write(url: string): number {
    checkUrl(url)
    const need = url.length * 3
    if (need >= this.#bytes.length) this.#reserve(Math.max(need + 1, SHORT_BYTES))
    return encoder.encodeInto(url, this.#bytes).written
  }

  /** A batch of one URL. */
  one(url: string): void {
    const size = this.write(url)
    this.#kernel.lineStarts[0] = this.#at
    this.#kernel.lineEnds[0] = this.#at + size
  }

  /** A batch of the first of these URLs. Returns how many fit: one at least. */
  strings(some: readonly string[]): number {
    if (this.#bytes.length < MANY_BYTES) this.#reserve(MANY_BYTES)
    const n = this.#ascii(some) || this.#any(some)
    if (n > 0) return n
    this.#reserve(some[0]!.length * 3)
    return this.#any(some)
  }

  // As one string, since a call for each would cost twice as much. 0: not all of them are ASCII, one byte per letter,
  // or a long one does not fit.
  #ascii(some: readonly string[]): number {
    const { lineStarts, lineEnds } = this.#kernel
    let used = 0
    for (let i = 0; i < some.length; i++) {
      lineStarts[i] = this.#at + used
      used += some[i]!.length
      lineEnds[i] = this.#at + used
    }
    if (used > this.#bytes.length) return 0
    const { read, written } = encoder.encodeInto(some.join(''), this.#bytes)
    return read === used && written === used ? some.length : 0
  }

  // One by one, of any letters. 0: not even the first fits.
  #any(some: readonly string[]): number {
    const { lineStarts, lineEnds } = this.#kernel
    let used = 0
    let n = 0
    while (n < some.length) {
      const url = some[n]!
      if (used + url.length * 3 > this.#bytes.length) break
      lineStarts[n] = this.#at + used
      used += encoder.encodeInto(url, this.#bytes.subarray(used)).written
      lineEnds[n++] = this.#at + used
    }
    return n
  }

  /** A batch of the items from `from` on. Returns how many fit: one at least. */
  items({ bytes, starts, ends }: Items, from: number): number {
    const most = Math.min(starts.length - from, this.#kernel.batchLines)
    const start = starts[from]!
    let n = 1
    while (n < most && ends[from + n]! - start <= MANY_BYTES) n++
    const size = ends[from + n - 1]! - start
    if (size >= this.#bytes.length) this.#reserve(Math.max(size + 1, MANY_BYTES))
    this.#bytes.set(bytes.subarray(start, start + size))
    const { lineStarts, lineEnds } = this.#kernel
    const shift = this.#at - start
    for (let i = 0; i < n; i++) {
      lineStarts[i] = starts[from + i]! + shift
      lineEnds[i] = ends[from + i]! + shift
    }
    return n
  }
}
