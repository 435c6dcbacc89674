// The program of url-caching: lines `ADD url` and `CHECK url`, answered in order. A CHECK sees exactly the ADDs
// before it: the keys of a batch are made and hashed together, then each run of one command goes to the filter.
import { SieveError } from './errors.ts'
import { Feed } from './feed.ts'
import { compileKernel, Kernel } from './kernel.ts'

/** The steps of a sieve on the entries of the kernel's batch. */
export interface CommandSteps {
  /** The kernel to use now. Throws when the sieve cannot be used at this moment. */
  kernel(): Kernel
  /** Keys and hashes of entries [0, n). */
  prepare(n: number): void
  /** Returns the entry behind the last that was added: n, or less when there is no room for the others. */
  add(from: number, n: number): number
  has(from: number, n: number): void
}

/** One run of the same command: entries [from, n) of the batch, with their verdicts (1 not there, 0 seen). */
export interface CommandRun {
  readonly isAdd: boolean
  readonly from: number
  readonly n: number
  readonly verdicts: Uint8Array
  /** The number of an entry's line, from 1. */
  line(entry: number): number
  /** An entry's URL as it came: a view that is good during the call. */
  url(entry: number): Uint8Array
}

/** Numbers of kernel/commands.ts. */
const ADD = 1

/** As much of a word that is no command as its error shows. */
const SHOWN_BYTES = 40
const FIRST_ROOM = 512 * 1024

const encoder = new TextEncoder()
const decoder = new TextDecoder()

// Finds the commands among the batch's lines; a byte order mark before the first line of all is no part of it.
function readCommands(kernel: Kernel, lines: number, isFirst: boolean): number {
  const { bytes, lineStarts, lineEnds } = kernel
  const start = lineStarts[0]!
  const mark = isFirst && lineEnds[0]! - start >= 3 && bytes[start] === 0xef
  if (mark && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) lineStarts[0] = start + 3
  return kernel.call.readCommands(lines)
}

// Room for the answers to the batch's first n commands, before any of them is done: with the same n it is there again
// afterwards, since the buffer only grows. Returns where it is.
function reserveAnswers(kernel: Kernel, n: number): number {
  if (n === 0) return 0
  const bytes = kernel.lineEnds[n - 1]! - kernel.lineStarts[0]! + n * kernel.answerBytes
  const to = kernel.call.reserveOutput(bytes) >>> 0
  kernel.refresh()
  if (to === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of answers`)
  return to
}

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
  readonly #steps: CommandSteps
  readonly #onRun: ((run: CommandRun) => void) | undefined
  readonly #feed: Feed
  #answers = new Uint8Array(FIRST_ROOM)
  #used = 0

  /** `onRun` sees every run of one command when it was done. */
  constructor(steps: CommandSteps, onRun?: (run: CommandRun) => void) {
    this.#steps = steps
    this.#onRun = onRun
    const ask = (lines: number) => {
      this.#batch(lines)
      return lines
    }
    this.#feed = new Feed({ kernel: () => steps.kernel(), prepare() {}, ask }, { keep: 'none' })
  }

  /** Lines read so far, commands or not. */
  get lines(): number {
    return this.#feed.lines
  }

  /** Where to put the next bytes: at least `bytes` of room, good until the next call. */
  room(bytes: number): Uint8Array {
    return this.#feed.room(bytes)
  }

  /** Does the commands that `room` was filled with. Gives back their answers: a view that is good until the next call. */
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
    const kernel = this.#steps.kernel()
    const n = readCommands(kernel, lines, this.lines === 0)
    reserveAnswers(kernel, n)
    let done = 0
    try {
      if (n > 0) this.#steps.prepare(n)
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
      to = this.#steps.add(from, to)
      this.adds += to - from
    } else {
      this.#steps.has(from, to)
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

/** The first pass of url-caching: counts the ADDs of a stream of commands. Does none of them. */
export class AddCounter {
  adds = 0
  readonly #feed: Feed

  private constructor(kernel: Kernel) {
    const ask = (lines: number) => {
      const n = readCommands(kernel, lines, this.lines === 0)
      const { commandOps } = kernel
      let adds = 0
      for (let i = 0; i < n; i++) if (commandOps[i] === ADD) adds++
      this.adds += adds
      return lines
    }
    this.#feed = new Feed({ kernel: () => kernel, prepare() {}, ask }, { keep: 'none' })
  }

  static async create(): Promise<AddCounter> {
    return new AddCounter(Kernel.create(await compileKernel()))
  }

  get lines(): number {
    return this.#feed.lines
  }

  room(bytes: number): Uint8Array {
    return this.#feed.room(bytes)
  }

  push(bytes: number): void {
    this.#feed.push(bytes)
  }

  end(): void {
    this.#feed.end()
  }
}
