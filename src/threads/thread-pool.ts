// The threads of one run as the main thread sees them: it starts the others, hands the input to all, does its own share, waits
// until everything is written, and learns when a thread has failed. Its event loop goes on meanwhile.
import type { Worker } from 'node:worker_threads'
import type { Measure } from '../filters/filter.ts'
import type { SieveState } from '../state.ts'
import { MainTable } from './main-table.ts'
import {
  AT_END,
  BYTES,
  CARRIED,
  CLOSING,
  COUNTERS,
  CUT_OFF,
  DESCRIPTOR,
  EMPTIED,
  ENDED,
  FAILED,
  FILE,
  FILLED,
  FRESH,
  INVALID,
  LINES,
  MAIN,
  NEXT,
  NO_SOURCE,
  type RunShape,
  SharedRun,
  SOURCE,
  STARTED,
  STATUS,
  STREAM,
  WRITTEN,
} from './shared-run.ts'
import { TablePart } from './table-part.ts'
import { SieveThread, type ThreadPorts, type ThreadSetting } from './thread.ts'

/** How often the main thread looks up while it waits. */
const LOOK_MS = 100
/** Pieces of work that the main thread does without a break. */
const TURN_STEPS = 32

/** What follows a thread's setting when its work begins: hashes that are seen already. */
export interface Beginning {
  readonly hashes: BigUint64Array
}

/** What a thread reports: how its part of the table is at the end; or why it, or reading, failed. */
export type Report<F> =
  | { readonly measure: Measure | null }
  | { readonly failure: F }
  | { readonly unreadable: F }

export interface PoolOptions<F> {
  readonly shape: RunShape
  /** Starts another thread, which waits for its setting. */
  newThread(): Worker
  /** What each thread begins with. */
  readonly setting: Omit<ThreadSetting, 'index' | 'shape' | 'buffer'> & Readonly<Record<string, unknown>>
  /** The sieve that the main thread adds to: all hashes, or those of its part. */
  readonly state: SieveState
  /** Of the main thread. */
  readonly ports: Pick<ThreadPorts, 'read' | 'write'>
  /** The main thread has done a piece of its work. */
  onStep?(): void
  /** The error of an input that the main thread could not read. */
  unreadable(error: unknown): Error
  /** The error that a thread's report stands for. */
  errorOf(failure: F): Error
  /** The error of a thread that has ended without a report. */
  endedEarly(error: unknown): Error
}

/** A promise and what resolves it. */
function signal<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((given) => {
    resolve = given
  })
  return { promise, resolve }
}

export class ThreadPool<F> {
  readonly #run: SharedRun
  readonly #workers: Worker[] = []
  readonly #measures: (Measure | null)[] = []
  /** What the main thread owns: a part of the table, or all of it. */
  #part: TablePart | null = null
  #table: MainTable | null = null
  /** The main thread as one of the threads. */
  #own: SieveThread | null = null
  #working: Promise<void> | null = null
  #isClosing = false
  readonly #options: PoolOptions<F>
  #failure: Error | null = null
  /** Why a file could not be read to its end. */
  readonly #unreadable = signal<Error>()
  /** All other threads have reported, or one has failed. */
  readonly #ended = signal<void>()

  constructor(options: PoolOptions<F>) {
    const { shape } = options
    this.#options = options
    this.#run = new SharedRun(shape)
    const all = Array.from({ length: shape.threads }, (_, index) => index)
    try {
      for (const index of all) if (index !== MAIN) this.#workers.push(this.#start(index))
    } catch (error) {
      for (const worker of this.#workers) void worker.terminate()
      throw error
    }
  }

  /** Why a thread has ended early; null while all is well. */
  get failure(): Error | null {
    return this.#failure
  }

  /** All other threads have started. */
  get isReady(): boolean {
    return this.#failure === null && this.#run.load(STARTED) >= this.#workers.length
  }

  /** Resolves when all other threads have started. */
  async ready(): Promise<void> {
    while (!this.isReady) await this.#wait(STARTED, this.#run.load(STARTED))
  }

  /** Makes what the main thread needs to do its share. Throws when there is no memory for it. */
  prepare(): void {
    this.#own = this.#mainThread()
  }

  /** After `prepare`: the threads begin. These hashes are seen, and the input goes on after this unfinished line. */
  begin(hashes: BigUint64Array, carry: Uint8Array): void {
    this.carry(carry)
    for (const worker of this.#workers) worker.postMessage({ hashes } satisfies Beginning)
    this.#working = this.#work(this.#own!)
  }

  /** An unfinished line, to go before what is read next. It is not longer than a chunk. */
  carry(bytes: Uint8Array): void {
    this.#run.carry.set(bytes)
    this.#run.store(CARRIED, bytes.length)
  }

  /** What was done so far. */
  counts(): {
    readonly lines: number
    readonly fresh: number
    readonly invalid: number
    readonly bytes: number
  } {
    const { counters, shape } = this.#run
    const total = (counter: number) => {
      let sum = 0
      for (let i = 0; i < shape.threads; i++) sum += counters[i * COUNTERS + counter]!
      return sum
    }
    return { lines: total(LINES), fresh: total(FRESH), invalid: total(INVALID), bytes: total(BYTES) }
  }

  /** The threads read the rest of a plain file. Resolves when all of it is written; `onWait` is called now and then. */
  async readFile(descriptor: number, onWait: () => void): Promise<void> {
    const run = this.#run
    // What was read of it before is taken first.
    for (let at = run.load(EMPTIED); at !== run.load(FILLED); at = run.load(EMPTIED))
      await this.#wait(EMPTIED, at)
    run.store(ENDED, 0)
    run.store(DESCRIPTOR, descriptor)
    run.store(SOURCE, FILE)
    run.wakeAll()
    await this.#finish(onWait)
    if (run.load(ENDED) === CUT_OFF) throw await this.#unreadable.promise
  }

  /** Of a stream: a buffer for the next bytes, after `emptied`. */
  reserve(): Uint8Array {
    this.#check()
    const run = this.#run
    if (run.load(SOURCE) === NO_SOURCE) {
      run.store(ENDED, 0)
      run.store(SOURCE, STREAM)
    }
    return run.space()
  }

  /** Of a stream: resolves when there is a buffer to fill. */
  async emptied(): Promise<void> {
    for (;;) {
      const emptied = this.#run.load(EMPTIED)
      if (this.#run.hasSpace()) return
      await this.#wait(EMPTIED, emptied)
    }
  }

  /** That many bytes are in the buffer that `reserve` returned. */
  push(bytes: number): void {
    this.#run.fill(bytes)
    this.#run.wakeAll()
  }

  /** Of a stream: it has ended, or `isCutOff`, the rest cannot be read. Resolves when all of it is written. */
  async endStream(isCutOff: boolean, onWait: () => void): Promise<void> {
    const run = this.#run
    if (run.load(SOURCE) === NO_SOURCE) run.store(SOURCE, STREAM)
    run.store(ENDED, isCutOff ? CUT_OFF : AT_END)
    run.wakeAll()
    await this.#finish(onWait)
  }

  /** Ends the threads when all is written. Returns how each thread's part of the table is; null where it has none. */
  async close(): Promise<readonly (Measure | null)[]> {
    this.#isClosing = true
    this.#stop(CLOSING)
    await this.#working
    await this.#ended.promise
    this.#check()
    return this.#part ? [...this.#measures, this.#part.measure()] : this.#measures
  }

  /** Ends the threads, whatever they do. What is not written is not written. */
  async abandon(): Promise<void> {
    this.#failure ??= this.#options.endedEarly(null)
    this.#stop(FAILED)
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
    await this.#working
  }

  /** What was written is confirmed. */
  confirm(): void {
    this.#table?.confirm()
  }

  /** Nothing more is read of a file. */
  stop(): void {
    const run = this.#run
    if (run.load(SOURCE) === FILE) run.store(SOURCE, NO_SOURCE)
    run.wakeAll()
  }

  #start(index: number): Worker {
    const { newThread, errorOf, endedEarly } = this.#options
    const worker = newThread()
    worker.postMessage(this.#settingOf(index))
    let hasReported = false
    worker.on('message', (report: Report<F>) => {
      if ('unreadable' in report) {
        this.#unreadable.resolve(errorOf(report.unreadable))
        return
      }
      hasReported = true
      if ('measure' in report) {
        this.#measures.push(report.measure)
        if (this.#measures.length === this.#workers.length) this.#ended.resolve()
      } else {
        this.#fail(errorOf(report.failure))
      }
    })
    worker.on('error', (error) => this.#fail(endedEarly(error)))
    worker.on('exit', () => {
      if (!hasReported) this.#fail(endedEarly(null))
    })
    return worker
  }

  #settingOf(index: number): ThreadSetting {
    const { setting, shape } = this.#options
    return { ...setting, index, shape, buffer: this.#run.buffer }
  }

  #mainThread(): SieveThread {
    const { setting, state, ports, unreadable } = this.#options
    const run = this.#run
    const readFailed = (error: unknown) => this.#unreadable.resolve(unreadable(error))
    if (setting.plan === null) this.#table = new MainTable(state, run)
    else this.#part = new TablePart(run, MAIN, state.shards)
    return new SieveThread(run, this.#settingOf(MAIN), { ...ports, readFailed }, this.#table ?? this.#part)
  }

  // The main thread's own work, until the end. Other work of this thread gets its turn between the pieces.
  async #work(own: SieveThread): Promise<void> {
    const run = this.#run
    try {
      for (let steps = 1; !this.#isClosing && !this.#failure; ) {
        const bell = run.bell(MAIN)
        if (own.step()) {
          this.#options.onStep?.()
          if (++steps % TURN_STEPS === 0) await new Promise(setImmediate)
        } else if (!run.isWokenSoon(MAIN, bell)) await this.#wait(run.bellOf(MAIN), bell)
      }
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  // All that was read is written.
  async #finish(onWait: () => void): Promise<void> {
    const run = this.#run
    while (run.load(SOURCE) !== NO_SOURCE) {
      await this.#wait(SOURCE, run.load(SOURCE))
      onWait()
    }
    for (;;) {
      const written = run.load(WRITTEN)
      if (written === run.load(NEXT)) break
      await this.#wait(WRITTEN, written)
      onWait()
    }
    this.confirm()
  }

  // Until a word has another value than this one, or some time has passed. The timer keeps the process alive when the
  // last thread has ended.
  async #wait(word: number, value: number): Promise<void> {
    this.#check()
    const waiting = Atomics.waitAsync(this.#run.words, word, value, LOOK_MS)
    if (waiting.async) {
      const timer = setInterval(() => {}, LOOK_MS)
      await waiting.value
      clearInterval(timer)
    }
    this.#check()
  }

  #check(): void {
    if (this.#failure) throw this.#failure
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#ended.resolve()
    this.#stop(FAILED)
  }

  #stop(status: number): void {
    const run = this.#run
    run.store(STATUS, status)
    run.wakeAll()
    for (const word of [SOURCE, WRITTEN, EMPTIED, STARTED]) Atomics.notify(run.words, word)
  }
}
