// Where URLs that come as strings, or as items of a buffer, wait in the kernel's memory to be sifted: apart from the
// input, where half a line may be waiting. Each call makes the batch's lines of as many as fit.
import { SieveError } from './errors.ts'
import type { Kernel } from './kernel.ts'

/** Items in one buffer, in the order of their places: item i is the bytes [starts[i], ends[i]). */
export interface Items {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/** Room for one URL's bytes; longer ones ask the kernel for more. */
const SHORT_BYTES = 16 * 1024
/** Room for many: small enough for the processor's cache. */
const MANY_BYTES = 256 * 1024

const encoder = new TextEncoder()

export class UrlRoom {
  readonly #kernel: Kernel
  #bytes!: Uint8Array
  #at = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
    this.#reserve(SHORT_BYTES)
  }

  #reserve(bytes: number): void {
    this.#at = this.#kernel.call.reserveUrls(bytes) >>> 0
    this.#kernel.refresh()
    if (this.#at === 0)
      throw new SieveError('room', `a URL of ${bytes} bytes does not fit into the memory left`)
    this.#bytes = this.#kernel.bytes.subarray(this.#at, this.#at + bytes)
  }

  /** Where what `write` has written begins. */
  get at(): number {
    return this.#at
  }

  /** Writes one URL. Returns its bytes. */
  write(url: string): number {
    const need = url.length * 3
    // The view has no length once the memory has grown.
    if (need >= this.#bytes.length) this.#reserve(Math.max(need + 1, SHORT_BYTES))
    return encoder.encodeInto(url, this.#bytes).written
  }

  /** A batch of one URL. */
  one(url: string): void {
    const size = this.write(url)
    this.#kernel.lineStarts[0] = this.#at
    this.#kernel.lineEnds[0] = this.#at + size
  }

  /** A batch of the URLs from `from` on. Returns how many have found room: one at least. */
  strings(urls: readonly string[], from: number): number {
    if (this.#bytes.length < MANY_BYTES) this.#reserve(MANY_BYTES)
    const n = this.#ascii(urls, from) || this.#any(urls, from)
    if (n > 0) return n
    this.#reserve(urls[from]!.length * 3)
    return this.#any(urls, from)
  }

  // As one string, since a call for each would cost twice as much. 0: not all of them are ASCII, a byte a letter.
  #ascii(urls: readonly string[], from: number): number {
    const { lineStarts, lineEnds, batchLines } = this.#kernel
    const most = Math.min(batchLines, urls.length - from)
    let used = 0
    let n = 0
    while (n < most) {
      const next = used + urls[from + n]!.length
      if (next > this.#bytes.length) break
      lineStarts[n] = this.#at + used
      lineEnds[n++] = this.#at + next
      used = next
    }
    const { read, written } = encoder.encodeInto(urls.slice(from, from + n).join(''), this.#bytes)
    return read === used && written === used ? n : 0
  }

  // One by one, of any letters. 0: not even the first has room.
  #any(urls: readonly string[], from: number): number {
    const { lineStarts, lineEnds, batchLines } = this.#kernel
    const most = Math.min(batchLines, urls.length - from)
    let used = 0
    let n = 0
    while (n < most) {
      const url = urls[from + n]!
      if (used + url.length * 3 > this.#bytes.length) break
      lineStarts[n] = this.#at + used
      used += encoder.encodeInto(url, this.#bytes.subarray(used)).written
      lineEnds[n++] = this.#at + used
    }
    return n
  }

  /** A batch of the items from `from` on. Returns how many have found room: one at least. */
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
