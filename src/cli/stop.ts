// The end by SIGINT, SIGTERM or SIGHUP of a run that remembers: what is under way is written and confirmed first. A second signal,
// or a reader that takes nothing for a while, ends the process immediately: what was not confirmed is new in the next run.
import { writeSync } from 'node:fs'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** How long what is under way may take. */
const GRACE_MS = 5000

/** Thrown where nothing is under way. */
export class Stopped extends Error {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`)
    this.signal = signal
  }

  get exitCode(): number {
    return 128 + constants.signals[this.signal]
  }
}

const report = (text: string) => {
  try {
    writeSync(2, `urlsieve: ${text}\n`)
  } catch {
    // nobody reads it
  }
}

class Stop {
  #signal: NodeJS.Signals | null = null
  #isListening = false
  /** Calls that other threads of the system have not returned from: the process cannot exit meanwhile. */
  #blocked = 0
  /** What a signal ends. */
  readonly #waiting = new Set<(error: Stopped) => void>()

  /** Signals are heard: everything that may wait for long must not keep the event loop waiting. */
  get isListening(): boolean {
    return this.#isListening
  }

  listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    for (const signal of SIGNALS) process.on(signal, () => this.#take(signal))
  }

  get isStopped(): boolean {
    return this.#signal !== null
  }

  /** Throws when a signal has come. */
  check(): void {
    if (this.#signal) throw new Stopped(this.#signal)
  }

  /** Waits for a call of the system, but not after a signal. */
  async unlessStopped<T>(call: Promise<T>): Promise<T> {
    this.#blocked++
    // Not a race with one promise for all: that would keep every call of a long run.
    return new Promise<T>((resolve, reject) => {
      const end = (act: () => void) => {
        this.#blocked--
        this.#waiting.delete(reject)
        act()
      }
      call.then(
        (value) => end(() => resolve(value)),
        (error) => end(() => reject(error)),
      )
      if (this.#signal) reject(new Stopped(this.#signal))
      else this.#waiting.add(reject)
    })
  }

  /** Calls back when a signal comes. */
  onStop(act: () => void): void {
    if (this.#signal) act()
    else this.#waiting.add(act)
  }

  /** Before the process exits: where a call has not returned, only the signal itself ends it. */
  async end(): Promise<void> {
    // A call that has returned is noticed in the next turn.
    if (this.#signal && this.#blocked > 0) await new Promise(setImmediate)
    if (this.#signal && this.#blocked > 0) this.#die(this.#signal)
  }

  #take(signal: NodeJS.Signals): void {
    const late = 'what was not confirmed comes again in the next run'
    if (this.#signal) {
      report(`ended by a second ${signal}: ${late}`)
      this.#die(signal)
    }
    this.#signal = signal
    for (const end of this.#waiting) end(new Stopped(signal))
    this.#waiting.clear()
    setTimeout(() => {
      report(`ended by ${signal}, the output was not taken in ${GRACE_MS / 1000} s: ${late}`)
      this.#die(signal)
    }, GRACE_MS).unref()
  }

  #die(signal: NodeJS.Signals): void {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }
}

/** Of this process. */
export const stop = new Stop()
