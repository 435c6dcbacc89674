// A feed takes newline-separated bytes in any cuts, straight into the kernel's memory, sifts whole lines a batch at
// a time, and gives back the lines (or keys) that were asked for. The bytes of a line are never made a string.
import { SieveError } from './errors.ts'
import type { Kernel } from './kernel.ts'

export interface FeedOptions {
  /** Which lines to give back. */
  readonly keep: 'new' | 'seen' | 'none'
  /** Give back the lines as they came, or their keys. */
  readonly as?: 'line' | 'key'
}

const NOTHING = new Uint8Array(0)

export class Feed {
  /** Lines sifted so far. */
  lines = 0
  readonly #current: () => Kernel
  #kernel: Kernel
  readonly #sift: (n: number) => void
  readonly #wanted: number
  readonly #keys: boolean
  readonly #onBatch: ((verdicts: Uint8Array) => void) | undefined
  #input = 0
  /** Bytes of an unfinished line in the input buffer, no newline among them, and where they lie in it. */
  #waiting = 0
  #waitingAt = 0
  /** What went wrong in the middle of a push: thrown by the next call. */
  #failure: unknown
  /** The same bytes, while another feed uses the input buffer. */
  #stashed: Uint8Array | null = null

  /** `current` is the kernel to use now; `sift` gives the batch's n lines their keys, hashes and verdicts. */
  constructor(
    current: () => Kernel,
    sift: (n: number) => void,
    { keep, as = 'line' }: FeedOptions,
    onBatch?: (verdicts: Uint8Array) => void,
  ) {
    this.#current = current
    this.#kernel = current()
    this.#sift = sift
    this.#wanted = keep === 'new' ? 1 : keep === 'seen' ? 0 : 2
    this.#keys = as === 'key'
    this.#onBatch = onBatch
  }

  /** Where to put the next bytes: at least `bytes` of room in the kernel's own memory, good until the next call. */
  room(bytes: number): Uint8Array {
    this.#throwFailure()
    // A sieve that was cleared has a new kernel; half a line that waits stays where it is.
    if (this.#waiting === 0) this.#kernel = this.#current()
    if (this.#kernel.inputOwner !== this) {
      this.#kernel.inputOwner?.stash()
      this.#kernel.inputOwner = this
    }
    const need = this.#waiting + bytes
    this.#input = this.#kernel.call.reserveInput(need) >>> 0
    this.#kernel.refresh()
    if (this.#input === 0) {
      throw new SieveError('room', `a line of over ${this.#waiting} bytes does not fit into the memory left`)
    }
    const at = this.#input + this.#waitingAt
    if (this.#stashed) this.#kernel.bytes.set(this.#stashed, this.#input)
    else if (this.#waitingAt > 0) this.#kernel.bytes.copyWithin(this.#input, at, at + this.#waiting)
    this.#stashed = null
    this.#waitingAt = 0
    const from = this.#input + this.#waiting
    return this.#kernel.bytes.subarray(from, from + bytes)
  }

  /** Sifts what `room` was filled with. Gives back the kept bytes: a view that is good until the next call. */
  push(bytes: number): Uint8Array {
    return this.#run(bytes, false)
  }

  /** Sifts a last line that had no newline. */
  end(): Uint8Array {
    this.#throwFailure()
    if (this.#waiting === 0) return NOTHING
    this.room(0)
    const out = this.#run(0, true)
    this.#throwFailure()
    return out
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Another feed takes the input buffer: keeps what waits there. */
  stash(): void {
    const at = this.#input + this.#waitingAt
    if (this.#waiting > 0) this.#stashed = this.#kernel.bytes.slice(at, at + this.#waiting)
  }

  #run(bytes: number, last: boolean): Uint8Array {
    const { call } = this.#kernel
    const input = this.#input
    const end = input + this.#waiting + bytes
    let from = input
    let searched = input + this.#waiting
    let kept = input
    const keys: Uint8Array[] = []
    call.keepFrom(input)
    for (;;) {
      const n = call.findLines(from, searched, end, last ? 1 : 0)
      from = call.lineCursor.value >>> 0
      searched = from
      if (n === 0) break
      try {
        this.#sift(n)
      } catch (error) {
        // What was sifted before is given out first; the error comes with the next call.
        this.#failure = error
        break
      }
      this.lines += n
      this.#onBatch?.(this.#kernel.verdicts.subarray(0, n))
      if (this.#keys) keys.push(this.#keptKeys(n))
      else if (this.#wanted < 2) kept = call.keepLines(n, this.#wanted) >>> 0
      if (n < this.#kernel.batchLines) break
    }
    // The half line that is left is moved to the front when room is asked for: what was kept lies there now.
    this.#waiting = end - from
    this.#waitingAt = from - input
    if (this.#keys) return joined(keys)
    return kept === input ? NOTHING : this.#kernel.bytes.subarray(input, kept)
  }

  #keptKeys(n: number): Uint8Array {
    const { call } = this.#kernel
    const bytes = call.keptKeyBytes(n, this.#wanted)
    const to = call.reserveOutput(bytes) >>> 0
    this.#kernel.refresh()
    if (to === 0) throw new SieveError('room', `no memory left for ${bytes} bytes of keys`)
    call.keepKeys(n, this.#wanted, to)
    return this.#kernel.bytes.slice(to, to + bytes)
  }
}

function joined(parts: Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
