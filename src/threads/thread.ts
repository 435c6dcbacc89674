// One of the threads that share the work of a run: reads chunks of the input in turn, makes their hashes, adds its own part of
// all hashes to its part of the table, and writes its chunks in turn.

import { resolveProfile } from '../canonical/profiles.ts'
import type { RuleName } from '../canonical/rules.ts'
import { SieveError } from '../errors.ts'
import type { Plan } from '../filters/filter.ts'
import type { HashChoice } from '../hashes.ts'
import { Kernel } from '../kernel.ts'
import { Keyer } from '../keyer/keyer.ts'
import { Chunk, type Wanted } from './chunk.ts'
import {
  BYTES,
  CARRIED,
  COUNTERS,
  CUT_OFF,
  DESCRIPTOR,
  ENDED,
  FILE,
  FRESH,
  INVALID,
  LINES,
  MAIN,
  NEXT,
  NO_SOURCE,
  RUNNING,
  type RunShape,
  type SharedRun,
  SOURCE,
  STARTED,
  STATUS,
  WRITTEN,
} from './shared-run.ts'
import type { OwnTable } from './table-part.ts'

/** What a thread is started with. */
export interface ThreadSetting {
  readonly index: number
  readonly shape: RunShape
  readonly buffer: SharedArrayBuffer
  readonly module: WebAssembly.Module
  /** The profile's rules: those that a store was made with may differ from its name's. */
  readonly rules: readonly RuleName[]
  readonly hash: HashChoice
  /** Of the filter that is divided; null: the main thread owns all of it. */
  readonly plan: Plan | null
  readonly wanted: Wanted
}

export interface ThreadPorts {
  /** Reads from a file; 0 is its end. */
  read(descriptor: number, buffer: Uint8Array): number
  /** The rest of the input cannot be read. */
  readFailed(error: unknown): void
  /** A promise: it is written when that resolves, and this thread does other work until then. */
  write(bytes: Uint8Array): Promise<void> | undefined
}

/** The most memory of an instance that makes keys: enough for a URL of 300 MB. */
const INSTANCE_BYTES = 1024 ** 3
/** Memory that it begins with, in chunks: enough for lines and keys of the usual length. */
const INITIAL_CHUNKS = 8

export class SieveThread {
  readonly #run: SharedRun
  readonly #index: number
  readonly #ports: ThreadPorts
  readonly #table: OwnTable | null
  /** The main thread owns the whole table, and adds no more before chunks are written. */
  readonly #wakesMain: boolean
  readonly #free: Chunk[] = []
  /** Makes chunk number `i` of this thread's. */
  readonly #newChunk: (i: number) => Chunk
  /** Chunks that were made, and the most that there may be. */
  #made = 0
  #most: number
  /** The chunk that is being read. */
  #reading: Chunk | null = null
  /** The first chunk under way is being written; why that failed. */
  #isWriting = false
  #failure: { readonly error: unknown } | null = null
  /** Chunks whose hashes are published, in input order. */
  readonly #underWay: Chunk[] = []
  /** The next chunk whose part is to be added. */
  #next = 0

  /** `table`: what it owns of it. */
  constructor(run: SharedRun, setting: ThreadSetting, ports: ThreadPorts, table: OwnTable | null) {
    const { index, module, rules, hash, plan, wanted } = setting
    const { shape } = run
    this.#run = run
    this.#index = index
    this.#ports = ports
    this.#table = table
    this.#wakesMain = plan === null && index !== MAIN
    const profile = resolveProfile(rules)
    this.#newChunk = (i) => {
      const kernel = Kernel.create(module, INSTANCE_BYTES, INITIAL_CHUNKS * shape.chunkBytes)
      const keyer = new Keyer(kernel, profile, hash)
      return new Chunk(index * shape.chunksPerThread + i, keyer, shape.parts, wanted)
    }
    this.#most = shape.chunksPerThread
    this.#free.push(this.#newChunk(this.#made++))
    Atomics.add(this.#run.words, STARTED, 1)
    Atomics.notify(this.#run.words, STARTED)
  }

  /** Works until the run is closed or has failed. Sleeps when there is nothing to do. */
  work(): void {
    const run = this.#run
    for (;;) {
      const bell = run.bell(this.#index)
      if (run.load(STATUS) !== RUNNING) return
      if (!this.step()) run.sleep(this.#index, bell)
    }
  }

  /** Does one piece of work, first what others wait for; false: there is none now. */
  step(): boolean {
    return this.#write() || this.#add() || this.#read()
  }

  // The own part of the next chunk.
  #add(): boolean {
    const run = this.#run
    this.#table?.confirm?.()
    const place = this.#table ? run.placeOf(this.#next) : -1
    if (place < 0 || !this.#table!.add(this.#next, place)) return false
    this.#next = (this.#next + 1) | 0
    const reader = run.threadAt(place)
    if (run.partDone(place) && reader !== this.#index) run.wake(reader)
    return true
  }

  // The own first chunk, when it has all verdicts: joins its lines, and writes them when it is their turn.
  #write(): boolean {
    const run = this.#run
    const chunk = this.#underWay[0]
    if (this.#failure) throw this.#failure.error
    if (!chunk || this.#isWriting || !run.isJudged(chunk.place)) return false
    const isKept = chunk.kept !== null
    if (!isKept) chunk.keep(run)
    if (run.load(WRITTEN) !== chunk.number) return !isKept
    const wait = this.#ports.write(chunk.kept!)
    if (wait) this.#writeLater(chunk, wait)
    else this.#written(chunk)
    return true
  }

  #writeLater(chunk: Chunk, wait: Promise<void>): void {
    this.#isWriting = true
    const end = (act: () => void) => () => {
      this.#isWriting = false
      act()
      this.#run.wake(this.#index)
    }
    wait.then(
      end(() => this.#written(chunk)),
      (error) =>
        end(() => {
          this.#failure = { error }
        })(),
    )
  }

  #written(chunk: Chunk): void {
    const run = this.#run
    const counters = run.counters.subarray(this.#index * COUNTERS)
    counters[LINES]! += chunk.lines
    counters[FRESH]! += chunk.fresh
    counters[INVALID]! += chunk.invalid
    this.#underWay.shift()
    this.#free.push(chunk)
    run.store(WRITTEN, (chunk.number + 1) | 0)
    const next = run.placeOf((chunk.number + 1) | 0)
    if (next >= 0 && run.threadAt(next) !== this.#index) run.wake(run.threadAt(next))
    if (this.#wakesMain) run.wake(MAIN)
  }

  // The next bytes of the input; when they end a line, the chunk's hashes are published.
  #read(): boolean {
    const run = this.#run
    if (!this.#reading) {
      if (run.load(SOURCE) === NO_SOURCE || !this.#hasFree() || !run.takeTurn()) return false
      this.#reading = this.#free.pop()!
      this.#reading.begin(run.carry.subarray(0, run.load(CARRIED)), run.shape.chunkBytes)
    }
    const chunk = this.#reading
    const got = run.load(SOURCE) === FILE ? this.#fromFile(chunk) : this.#fromStream(chunk)
    if (got === null) {
      // Nothing to read yet: any thread may be the one that finds it, and all are woken then. A line that has begun stays here.
      if (chunk.bytes === run.load(CARRIED)) this.#passTurn(this.#free, chunk)
      return false
    }
    const rest = got === 0 ? 0 : chunk.push(got)
    if (rest < 0) return true
    if (got === 0 && run.load(ENDED) === CUT_OFF) chunk.cut(chunk.bytes)
    run.carry.set(chunk.cut(rest))
    Atomics.store(run.words, CARRIED, rest)
    chunk.number = run.load(NEXT)
    if (chunk.bytes > 0) run.store(NEXT, (chunk.number + 1) | 0)
    if (got === 0) run.store(SOURCE, NO_SOURCE)
    this.#passTurn(chunk.bytes > 0 ? this.#underWay : this.#free, chunk)
    run.wakeAll(this.#index)
    if (chunk.bytes > 0) this.#publish(chunk)
    return true
  }

  // Whether there is a chunk to read into. They are made when they are first needed: each takes some memory, and time at the start.
  #hasFree(): boolean {
    if (this.#free.length > 0) return true
    if (this.#made === this.#most) return false
    try {
      this.#free.push(this.#newChunk(this.#made))
      this.#made++
      return true
    } catch (error) {
      if (!(error instanceof SieveError) || error.code !== 'memory') throw error
      // Those that were made will do.
      this.#most = this.#made
      return false
    }
  }

  // The end of the turn to read; where the chunk goes.
  #passTurn(to: Chunk[], chunk: Chunk): void {
    this.#reading = null
    to.push(chunk)
    this.#run.passTurn()
  }

  #publish(chunk: Chunk): void {
    const run = this.#run
    const count = chunk.prepare(run)
    run.publish(chunk.number, chunk.place, count, chunk.invalid)
    run.wakeAll(this.#index)
  }

  // 0: it has ended.
  #fromFile(chunk: Chunk): number {
    const run = this.#run
    const { shape, counters, words } = run
    try {
      const got = this.#ports.read(words[DESCRIPTOR]!, chunk.reserve(shape.chunkBytes))
      counters[this.#index * COUNTERS + BYTES]! += got
      return got
    } catch (error) {
      this.#ports.readFailed(error)
      run.store(ENDED, CUT_OFF)
      return 0
    }
  }

  // 0: it has ended; null: there is nothing yet.
  #fromStream(chunk: Chunk): number | null {
    const run = this.#run
    const isEnded = run.load(ENDED) !== 0
    const bytes = run.next()
    if (bytes === null) return isEnded ? 0 : null
    const { length } = bytes
    chunk.reserve(length).set(bytes)
    run.empty()
    run.counters[this.#index * COUNTERS + BYTES]! += length
    return length
  }
}
