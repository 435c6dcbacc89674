// The program of url-caching: lines `ADD url` and `CHECK url`, answered in order. A CHECK sees exactly the ADDs
// before it: the keys of a batch are made and hashed together, then each run of one command goes to the filter.
import type { Kernel } from '../kernel.ts'
import { Feed } from '../lines/feed.ts'
import type { Sieve } from '../sieve.ts'
import { type SieveState, STATE } from '../state.ts'
import { ADD, readCommands, reserveAnswers } from './batch.ts'

/** One run of the same command: entries [from, n) of the batch, with their verdicts (1 not there, 0 seen). */
export interface CommandRun {
  /** ADD; else CHECK. */
  readonly isAdd: boolean
  /** Its first entry. */
  readonly from: number
  /** The entry behind its last. */
  readonly n: number
  /** Of the whole batch, by entry: 1 not there, 0 seen. */
  readonly verdicts: Uint8Array
  /** The number of an entry's line, from 1. */
  line(entry: number): number
  /** An entry's URL as it came: a view that is valid during the call. */
  url(entry: number): Uint8Array
}

/** How much of an unknown word an error shows. */
const SHOWN_BYTES = 40
const FIRST_BYTES = 512 * 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function complaint(word: Uint8Array): string {
  const text = decoder.decode(word.subarray(0, SHOWN_BYTES)).replace(/[\0-\x1f\x7f]/g, '\ufffd')
  if (/^(add|check)$/i.test(text)) return `${text.toUpperCase()} without a URL`
  return `unknown command '${text}${word.length > SHOWN_BYTES ? '…' : ''}': expected ADD or CHECK`
}

/**
 * Commands as bytes in, in any cuts; one line for each out. Errs as the sieve's filter does: `possibly-present` may
 * be wrong, `not-present` never is.
 */
export class Commands {
  /** ADDs done. */
  adds = 0
  /** CHECKs answered. */
  checks = 0
  /** Of them, answered `possibly-present`. */
  present = 0
  /** Lines that could not be read. */
  errors = 0
  readonly #state: SieveState
  readonly #onRun: ((run: CommandRun) => void) | undefined
  readonly #feed: Feed
  #answers = new Uint8Array(FIRST_BYTES)
  #used = 0

  /**
   * Commands on a sieve, one stream at a time. `onRun` gets every run of one command when it was done; it may not use the
   * sieve.
   */
  constructor(sieve: Sieve, onRun?: (run: CommandRun) => void) {
    const state = sieve[STATE]
    const { keyer } = state
    this.#state = state
    this.#onRun = onRun && ((run) => keyer.guard(() => onRun(run)))
    const take = (lines: number) => {
      this.#batch(lines)
      return lines
    }
    this.#feed = new Feed({ kernel: () => keyer.free(), prepare() {}, take }, { keep: 'none' })
  }

  /** Lines read so far, commands or not. */
  get lines(): number {
    return this.#feed.lines
  }

  /** Where to put the next bytes: a view of `bytes` bytes, valid until the next call. */
  reserve(bytes: number): Uint8Array {
    return this.#feed.reserve(bytes)
  }

  /** Does the commands in the first `bytes` bytes of what `reserve` returned. Returns their answers: a view that is valid until the next call. */
  push(bytes: number): Uint8Array {
    this.#used = 0
    this.#feed.push(bytes)
    return this.#answers.subarray(0, this.#used)
  }

  /** Does a last line that had no newline. */
  end(): Uint8Array {
    this.#used = 0
    this.#feed.end()
    return this.#answers.subarray(0, this.#used)
  }

  // A batch that is refused on the way has its first commands done, and answered.
  #batch(lines: number): void {
    const { keyer } = this.#state
    const kernel = keyer.free()
    const n = readCommands(kernel, lines, this.lines === 0)
    reserveAnswers(kernel, n)
    let done = 0
    try {
      if (n > 0) keyer.prepare(n)
      while (done < n) {
        const from = done
        done = this.#do(kernel, from, n)
        this.#onRun?.(this.#run(kernel, from, done))
      }
    } finally {
      this.#answer(kernel, done, n)
    }
  }

  // Does the run of one command that begins at `from`. Returns the entry behind the last that was done.
  #do(kernel: Kernel, from: number, n: number): number {
    const op = kernel.commandOps[from]
    let to = from + 1
    while (to < n && kernel.commandOps[to] === op) to++
    if (op === ADD) {
      to = this.#state.add(from, to)
      this.adds += to - from
    } else {
      this.#state.has(from, to)
      this.checks += to - from
      this.present += to - from - kernel.call.countNew(from, to)
    }
    return to
  }

  #run(kernel: Kernel, from: number, n: number): CommandRun {
    const first = this.lines + 1
    return {
      isAdd: kernel.commandOps[from] === ADD,
      from,
      n,
      verdicts: kernel.verdicts,
      line: (entry) => first + kernel.commandOffsets[entry]!,
      url: (entry) => kernel.bytes.subarray(kernel.lineStarts[entry], kernel.lineEnds[entry]),
    }
  }

  // A line for each of the first `done` of n commands and for each line before the next that could not be read, in the
  // order of the input.
  #answer(kernel: Kernel, done: number, n: number): void {
    const bad = kernel.call.badLines.value as number
    const end = done < n ? kernel.commandOffsets[done]! : Number.POSITIVE_INFINITY
    const to = reserveAnswers(kernel, n)
    let answered = 0
    const answerUpTo = (entry: number): void => {
      if (entry === answered) return
      const last = kernel.call.answerCommands(answered, entry, to) >>> 0
      this.#append(kernel.bytes.subarray(to, last))
      answered = entry
    }
    for (let i = 0; i < bad && kernel.badOffsets[i]! < end; i++) {
      const offset = kernel.badOffsets[i]!
      let entry = answered
      while (entry < done && kernel.commandOffsets[entry]! < offset) entry++
      answerUpTo(entry)
      const why = complaint(kernel.bytes.subarray(kernel.badStarts[i], kernel.badEnds[i]))
      this.#append(encoder.encode(`error line ${this.lines + 1 + offset}: ${why}\n`))
      this.errors++
    }
    answerUpTo(done)
  }

  #append(bytes: Uint8Array): void {
    const need = this.#used + bytes.length
    if (need > this.#answers.length) {
      const wider = new Uint8Array(Math.max(need, this.#answers.length * 2))
      wider.set(this.#answers.subarray(0, this.#used))
      this.#answers = wider
    }
    this.#answers.set(bytes, this.#used)
    this.#used = need
  }
}
