// `dedupe --threads`: the main thread begins alone while the others start; then they share the work. Half of the threads own a part
// of a table in memory each; the main thread owns all of a store or another filter. What is written is the same, byte for
// byte.

import { setFlagsFromString } from 'node:v8'
import type { Profile } from '../canonical/profiles.ts'
import { type Rule, type RuleName, rules } from '../canonical/rules.ts'
import { isAllocationFailure, SieveError } from '../errors.ts'
import type { Measure } from '../filters/filter.ts'
import type { Sieve } from '../index.ts'
import type { Delivered } from '../journal.ts'
import { type Counts as Known, STATE } from '../state.ts'
import { ThreadPool } from '../threads/thread-pool.ts'
import { Capacity, rateStats } from './capacity.ts'
import type { Counts, DedupeTarget, WriteKept } from './dedupe-run.ts'
import { deliverTo, type FeedRequest } from './dedupe-target.ts'
import type { DedupeThreadSetting, ThreadFailure } from './dedupe-worker.ts'
import { CommandError, EXIT, reason } from './exit.ts'
import { takeThread } from './idle-threads.ts'
import { readInput } from './input.ts'
import { inputError } from './input-size.ts'
import { ClosedPipe, type Output, writeStderr } from './output.ts'
import { stop } from './stop.ts'
import type { Threads } from './thread-count.ts'
import { threadPorts } from './thread-ports.ts'

const CHUNKS_PER_THREAD = 6
/** Adding to the table is about half of the work: half of the threads own a part of it. */
const THREADS_PER_PART = 2
const NOTHING = new Uint8Array(0)

export class ThreadTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly profile: Profile
  readonly #sieve: Sieve
  readonly #capacity: Capacity
  /** When the run began. */
  readonly #known: Known
  /** The threads may own parts of the table; else the main thread owns all of it. */
  readonly #isDivided: boolean
  readonly #parts: number
  readonly #feed: ReturnType<Sieve['feed']>
  readonly #request: FeedRequest
  readonly #threads: Threads
  #bytes = 0
  /** The hashes that are new in what the main thread has read. */
  #hashes: BigUint64Array[] = []
  #pool: ThreadPool<ThreadFailure> | null = null
  /** Of threads that are given up. */
  #ending: Promise<void> | undefined
  /** The threads share the work. */
  #isOn = false
  /** They could not be started. */
  #isOff = false

  constructor(sieve: Sieve, request: FeedRequest, threads: Threads) {
    const { keep, as, outlivesRun } = request
    this.outlivesRun = outlivesRun
    this.profile = sieve.profile
    this.#sieve = sieve
    const { urls, seen, invalid } = sieve[STATE]
    this.#known = { urls, seen, invalid }
    this.#capacity = new Capacity(sieve)
    this.#request = request
    this.#threads = threads
    this.#isDivided = sieve.plan.filter === 'fingerprint' && !outlivesRun
    this.#parts = this.#isDivided ? Math.floor(threads.count / THREADS_PER_PART) : 1
    this.#feed = sieve.feed({ keep, as, confirm: false }, (verdicts) => this.#note(verdicts.length))
  }

  /** Whether threads can make the keys and hashes of a sieve. */
  static canShare(sieve: Sieve): boolean {
    const { takesHashes, kind, keepsKeys, profile } = sieve[STATE]
    const hasOwnRules = profile.rules.some((rule) => (rules as Record<string, Rule>)[rule.name] !== rule)
    return takesHashes && !kind.hasOwnInstances && !keepsKeys && !hasOwnRules
  }

  async sift(path: string, write: WriteKept, output: Output): Promise<void> {
    let isFile = false
    const look = () => {
      // Signals end reading; what was read is still written.
      if (!stop.isStopped) void write(NOTHING)
    }
    try {
      if (!this.#isOff) this.#pool ??= this.#start(output)
      if (this.#threads.waits) await this.#wait()
      await readInput(path, {
        ready: () => (this.#isOn ? this.#pool!.emptied() : null),
        reserve: (size) => (this.#isOn ? this.#pool!.reserve() : this.#feed.reserve(size)),
        push: (size, at) => {
          if (this.#isOn) this.#pool!.push(size)
          else this.#bytes += size
          const wait = write(this.#isOn ? NOTHING : this.#feed.push(size), at)
          if (!this.#isOn) this.#capacity.watch()
          if (wait) return wait.then(() => this.#advance())
          this.#advance()
          return undefined
        },
        takeFile: (fd) => {
          isFile = this.#isOn
          return isFile ? this.#pool!.readFile(fd, look) : null
        },
      })
      stop.check()
      if (!this.#isOn) await write(this.#feed.end())
      else if (!isFile) await this.#pool!.endStream(false, look)
    } catch (error) {
      // What was read before is written.
      if (this.#isOn && !isFile && !this.#pool!.failure) await this.#pool!.endStream(true, look)
      throw error instanceof Unreadable ? inputError(path, error) : error
    } finally {
      if (this.#pool?.failure) await this.#giveUp(this.#pool)
    }
  }

  /** What the threads write is confirmed by the table. */
  confirm(): void {
    if (!this.#isOn) this.#sieve.confirm()
  }

  deliverTo(files: Delivered): void {
    deliverTo(this.#sieve, files)
    stop.onStop(() => this.#pool?.stop())
  }

  counts(): Counts {
    const { urls, seen } = this.#sieve[STATE]
    const theirs = this.#pool?.counts() ?? { lines: 0, fresh: 0, bytes: 0 }
    const apart = this.#isDivided ? theirs : { lines: 0, fresh: 0 }
    return {
      lines: this.#feed.lines + theirs.lines,
      new: urls - this.#known.urls + apart.fresh,
      seen: seen - this.#known.seen + apart.lines - apart.fresh,
      bytes: this.#bytes + theirs.bytes,
    }
  }

  async end() {
    const pool = this.#pool
    const isOver = pool === null || pool.failure !== null || !this.#isOn
    const parts = isOver ? [] : await pool.close()
    if (pool && !this.#isOn) await pool.abandon()
    await this.#ending
    await this.#sieve.close()
    const stats = this.#sieve.stats()
    const invalid = stats.invalid - this.#known.invalid
    const total = (of: (part: Measure) => number) =>
      parts.reduce((sum, part) => sum + (part ? of(part) : 0), 0)
    if (!this.#isDivided || !this.#isOn) return { invalid, sizeBytes: stats.sizeBytes, ...rateStats(stats) }
    return {
      invalid: invalid + pool!.counts().invalid,
      sizeBytes: total(({ sizeBytes }) => sizeBytes),
      ...rateStats({ ...stats, expectedRate: stats.expectedRate && total(({ rate }) => rate!) }),
    }
  }

  warn(): void {
    this.#capacity.summarise()
  }

  // Ends the threads. What they have written is confirmed where that is possible: else it comes again.
  async #giveUp(pool: ThreadPool<ThreadFailure>): Promise<void> {
    await pool.abandon()
    try {
      pool.confirm()
    } catch {
      // the run ends with the first error
    }
  }

  // Keeps the new hashes of a batch, for the other owners of parts.
  #note(n: number): void {
    if (this.#isOff || this.#parts === 1) return
    const { kernel } = this.#sieve[STATE]
    const to = kernel.call.reserveOutput(8 * n) >>> 0
    kernel.refresh()
    if (to === 0) {
      this.#goAlone(`no memory left for ${8 * n} bytes of hashes`)
      return
    }
    const fresh = kernel.call.writtenHashes(0, n, 1, to)
    this.#hashes.push(new BigUint64Array(kernel.bytes.buffer, to, fresh).slice())
  }

  // Shares the work with the threads when they have started.
  #advance(): void {
    const pool = this.#pool
    if (this.#isOn || this.#isOff || !pool) return
    if (pool.failure) this.#goAlone(pool.failure.message)
    else if (pool.isReady) this.#handOver(pool)
  }

  async #wait(): Promise<void> {
    const pool = this.#pool
    if (this.#isOn || this.#isOff || !pool) return
    try {
      await pool.ready()
      this.#handOver(pool)
    } catch (error) {
      if (!pool.failure) throw error
      this.#goAlone(pool.failure.message)
    }
  }

  // The threads end, and give their memory back.
  #goAlone(why: string): void {
    writeStderr(`urlsieve: warning: going on with one thread: ${why}\n`)
    this.#isOff = true
    this.#hashes = []
    this.#ending = this.#pool?.abandon()
    this.#pool = null
  }

  // Null: there is no memory for what they share, or the system allows no more threads.
  #start(output: Output): ThreadPool<ThreadFailure> | null {
    try {
      return this.#newPool(output)
    } catch (error) {
      if (!isOutOfMemory(error) && !isNoThread(error)) throw error
      this.#goAlone(error.message)
      return null
    }
  }

  #newPool(output: Output): ThreadPool<ThreadFailure> {
    const state = this.#sieve[STATE]
    const { count, chunkBytes } = this.#threads
    const { keep, as } = this.#request
    return new ThreadPool<ThreadFailure>({
      shape: {
        threads: count,
        parts: this.#parts,
        chunksPerThread: CHUNKS_PER_THREAD,
        chunkBytes,
      },
      state,
      ports: threadPorts(output.name, output.fd, this.outlivesRun),
      onStep: () => this.#capacity.watch(),
      newThread: takeThread,
      setting: {
        module: state.kernel.module,
        rules: state.profile.rules.map(({ name }) => name as RuleName),
        hash: state.hash,
        plan: this.#isDivided ? state.plan : null,
        wanted: { keep, as },
        outputFd: output.fd,
        outputName: output.name,
      } satisfies Omit<DedupeThreadSetting, 'index' | 'shape' | 'buffer'>,
      unreadable: (error) => new Unreadable(reason(error)),
      errorOf,
      endedEarly,
    })
  }

  // A line that is longer than a chunk is finished first.
  #handOver(pool: ThreadPool<ThreadFailure>): void {
    if (this.#feed.unfinished > this.#threads.chunkBytes) return
    let hashes: BigUint64Array
    try {
      hashes = joined(this.#hashes)
      pool.prepare()
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      this.#goAlone(error.message)
      return
    }
    this.#hashes = []
    optimiseLate()
    const rest = this.#feed.rest()
    this.#isOn = true
    pool.begin(hashes, rest)
  }
}

/** All hashes, in memory that threads share. */
function joined(parts: readonly BigUint64Array[]): BigUint64Array {
  const count = parts.reduce((sum, { length }) => sum + length, 0)
  const hashes = new BigUint64Array(new SharedArrayBuffer(8 * count))
  let at = 0
  for (const some of parts) {
    hashes.set(some, at)
    at += some.length
  }
  return hashes
}

function isOutOfMemory(error: unknown): error is Error {
  return isAllocationFailure(error) || (error instanceof SieveError && error.code === 'memory')
}

function isNoThread(error: unknown): error is Error {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_INIT_FAILED'
}

/** The V8 of Node 20; later ones do not have the flag, and print that. */
const V8_WITH_BUDGET = '11.'
/** Bytes of interpreted code that a function runs before the engine optimises it: 30 times as many as usual. */
const OPTIMISED_AFTER = 2_000_000

// The engine compiles on other threads, which would take the processors from ours, and the JavaScript between two calls of the kernel is
// short: 30 ms of compiling did not pay. What runs for each URL is still optimised, a little later. Not before the threads have started:
// the engine uses no prepared code of the platform's modules once a flag has changed.
function optimiseLate(): void {
  if (process.versions.v8?.startsWith(V8_WITH_BUDGET)) {
    setFlagsFromString(`--interrupt-budget=${OPTIMISED_AFTER}`)
  }
}

/** A file that a thread could not read to its end. */
class Unreadable extends Error {}

function errorOf(failure: ThreadFailure): Error {
  switch (failure.kind) {
    case 'closed-pipe':
      return new ClosedPipe()
    case 'command':
      return new CommandError(failure.exitCode, failure.message)
    case 'sieve':
      return new SieveError(failure.code, failure.message)
    case 'unreadable':
      return new Unreadable(failure.message)
    default:
      return endedEarly(new Error(failure.message))
  }
}

function endedEarly(error: unknown): CommandError {
  const isMemory = (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
  const why = isMemory ? 'no memory left' : error instanceof Error ? error.message : 'it was ended'
  const exitCode = isMemory ? EXIT.memory : EXIT.defect
  return new CommandError(
    exitCode,
    `a thread ended before its work was done: ${why}; the output is incomplete`,
  )
}
