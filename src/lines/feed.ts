// A feed takes newline-separated bytes in any cuts, straight into the kernel's memory, sifts whole lines a batch at
// a time, and returns the lines (or keys) that are wanted. The bytes of a line are never made a string.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { wrongType } from '../url-input.ts'
import { joinBytes } from './sift.ts'

/** Which lines a feed returns. */
export interface FeedOptions {
  /** Which lines to return. */
  readonly keep: 'new' | 'seen' | 'none'
  /** Return the lines as they came, or their keys. Default `line`. */
  readonly as?: 'line' | 'key'
}

/** What is done with the lines of the kernel's batch. */
export interface FeedSteps {
  /** The kernel to use now. Throws while it cannot be used. */
  kernel(): Kernel
  /** Gives the batch's n lines their keys and hashes. */
  prepare(n: number): void
  /** Gives the batch's first lines their verdicts. Returns how many: n, or fewer when it has no memory for the others. */
  take(n: number): number
}

const NOTHING = new Uint8Array(0)
const wanted = { new: 1, seen: 0, none: 2 } as const
/** A longer length would wrap around on its way into the kernel. */
const MOST_BYTES = 2 ** 32 - 1

/**
 * Bytes in, in any cuts; lines out. When a batch is refused, the lines before it were sifted and are returned: `lines`
 * counts them, `end` and the next `reserve` throw the error, and nothing of the rest is marked. One feed at a time uses the
 * kernel's input buffer; another one may begin between two calls.
 */
export class Feed {
  /** Lines sifted so far. */
  lines = 0
  readonly #steps: FeedSteps
  #kernel: Kernel
  readonly #wanted: number
  readonly #keys: boolean
  readonly #onBatch: ((verdicts: Uint8Array) => void) | undefined
  #input = 0
  /** Bytes of an unfinished line in the input buffer, no newline among them, and where they lie in it. */
  #waiting = 0
  #waitingAt = 0
  /** Bytes that `reserve` returned and `push` may take. */
  #space = 0
  /** What went wrong in the middle of a push: thrown by the next call. */
  #failure: unknown
  /** The waiting bytes, while another feed uses the input buffer. */
  #stashed: Uint8Array | null = null

  constructor(
    steps: FeedSteps,
    { keep, as = 'line' }: FeedOptions,
    onBatch?: (verdicts: Uint8Array) => void,
  ) {
    if (!Object.hasOwn(wanted, keep)) throw wrongType('keep', keep, "'new', 'seen' or 'none'")
    if (as !== 'line' && as !== 'key') throw wrongType('as', as, "'line' or 'key'")
    this.#steps = steps
    this.#kernel = steps.kernel()
    this.#wanted = wanted[keep]
    this.#keys = as === 'key'
    this.#onBatch = onBatch
  }

  /** Where to put the next bytes: a view of `bytes` bytes of the kernel's own memory, valid until the next call. */
  reserve(bytes: number): Uint8Array {
    this.#throwFailure()
    if (!Number.isSafeInteger(bytes) || bytes < 0)
      throw wrongType('bytes', bytes, 'a whole number of at least 0')
    this.#take()
    const need = this.#waiting + bytes
    const input = need > MOST_BYTES ? 0 : this.#kernel.call.reserveInput(need) >>> 0
    this.#kernel.refresh()
    if (input === 0) {
      throw new SieveError(
        'memory',
        `a line of over ${this.#waiting} bytes does not fit into the memory left`,
      )
    }
    this.#input = input
    const at = input + this.#waitingAt
    if (this.#stashed) this.#kernel.bytes.set(this.#stashed, input)
    else if (this.#waitingAt > 0) this.#kernel.bytes.copyWithin(input, at, at + this.#waiting)
    this.#stashed = null
    this.#waitingAt = 0
    this.#space = bytes
    const from = input + this.#waiting
    return this.#kernel.bytes.subarray(from, from + bytes)
  }

  /** Sifts the first `bytes` bytes of what `reserve` returned. Returns the kept lines: a view that is valid until the next call. */
  push(bytes: number): Uint8Array {
    this.#throwFailure()
    if (!Number.isSafeInteger(bytes) || bytes < 0 || bytes > this.#space) {
      throw new SieveError(
        'option',
        `push of ${bytes} bytes: expected at most the ${this.#space} that reserve returned`,
      )
    }
    if (bytes === 0) return NOTHING
    const { inputOwner } = this.#kernel
    if (this.#steps.kernel() !== this.#kernel || inputOwner !== this) {
      this.#space = 0
      throw new SieveError(
        'option',
        'another feed or clear() came between reserve and push: call reserve again',
      )
    }
    this.#space = 0
    return this.#run(bytes, false)
  }

  /** Sifts a last line that had no newline. */
  end(): Uint8Array {
    this.#throwFailure()
    this.#steps.kernel()
    if (this.#waiting === 0) return NOTHING
    this.reserve(0)
    const out = this.#run(0, true)
    this.#throwFailure()
    return out
  }

  /** How many bytes of an unfinished line there are. */
  get unfinished(): number {
    this.#throwFailure()
    return this.#waiting
  }

  /** The bytes of an unfinished line, which the feed gives up. */
  rest(): Uint8Array {
    this.stash()
    const rest = this.#waiting > 0 ? this.#stashed : null
    this.#waiting = 0
    this.#stashed = null
    return rest ?? NOTHING
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  // Makes the kernel's input buffer this feed's own. A sieve that was cleared has another kernel.
  #take(): void {
    const kernel = this.#steps.kernel()
    if (kernel !== this.#kernel) {
      if (this.#kernel.inputOwner === this) this.stash()
      this.#kernel = kernel
    }
    if (kernel.inputOwner === this) return
    kernel.inputOwner?.stash()
    kernel.inputOwner = this
  }

  /** Another feed takes the input buffer: keeps what waits there. */
  stash(): void {
    const at = this.#input + this.#waitingAt
    if (this.#waiting > 0 && !this.#stashed) this.#stashed = this.#kernel.bytes.slice(at, at + this.#waiting)
    this.#waitingAt = 0
  }

  #run(bytes: number, last: boolean): Uint8Array {
    const kernel = this.#kernel
    const { call } = kernel
    const input = this.#input
    const end = input + this.#waiting + bytes
    let from = input
    let searched = input + this.#waiting
    let kept = input
    const keys: Uint8Array[] = []
    call.keepFrom(input)
    try {
      for (;;) {
        const n = call.findLines(from, searched, end, last ? 1 : 0)
        const next = call.lineCursor.value >>> 0
        if (n === 0) {
          from = next
          break
        }
        this.#steps.prepare(n)
        if (this.#keys) this.#reserveKeys(n)
        const done = this.#steps.take(n)
        // Lines for which there was no memory are sifted again, which throws the reason.
        from = done < n ? kernel.lineStarts[done]! : next
        searched = from
        this.lines += done
        if (this.#keys) keys.push(this.#keptKeys(done))
        else if (this.#wanted < 2) kept = call.keepLines(done, this.#wanted) >>> 0
        this.#onBatch?.(kernel.verdicts.subarray(0, done))
        if (done === n && n < kernel.batchLines) break
      }
    } catch (error) {
      // What was sifted before is returned first; the next call throws the error.
      this.#failure = error
    }
    // The half line that is left is moved to the beginning by the next `reserve`: what was kept is there until then.
    this.#waiting = end - from
    this.#waitingAt = from - input
    if (this.#keys) return joinBytes(keys)
    return kept === input ? NOTHING : kernel.bytes.subarray(input, kept)
  }

  // Memory for the keys of all n lines, before any of them is marked.
  #reserveKeys(n: number): void {
    const kernel = this.#kernel
    kernel.verdicts.fill(this.#wanted, 0, n)
    const bytes = kernel.call.keptKeyBytes(n, this.#wanted) >>> 0
    const to = kernel.call.reserveOutput(bytes) >>> 0
    kernel.refresh()
    if (to === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of keys`)
  }

  #keptKeys(n: number): Uint8Array {
    const { call } = this.#kernel
    const bytes = call.keptKeyBytes(n, this.#wanted) >>> 0
    const to = call.reserveOutput(bytes) >>> 0
    this.#kernel.refresh()
    call.keepKeys(n, this.#wanted, to)
    return this.#kernel.bytes.slice(to, to + bytes)
  }
}
