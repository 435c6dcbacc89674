// The output of a command: stdout or a file, written immediately and whole. A closed pipe is a normal end; a full
// device is an error, and what was written stays.
import { closeSync, openSync, writeSync } from 'node:fs'
import { formatCount } from '../quantities.ts'
import { whenReady } from './descriptor.ts'
import { CommandError, EXIT, reason } from './exit.ts'

/** Thrown when the reader of our output has gone: nothing more to do, and no error. */
export class ClosedPipe extends Error {}

/** Writes to stderr. False: it could not be written. A closed reader is not a failure. */
export function writeStderr(text: string): boolean {
  try {
    whenReady(() => writeSync(2, text))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE'
  }
}

/** A run's figures, one JSON object to stderr; the exit code shows when they could not be written. */
export function writeStats(stats: object): void {
  if (!writeStderr(`${JSON.stringify(stats)}\n`)) process.exitCode = EXIT.output
}

/** Fewer lines are no sample of the input. */
const SAMPLE_LINES = 10

/** When most lines were not URLs, the input is probably something else: a log, JSON, hosts without a scheme. */
export function warnOfNoUrls(lines: number, invalid: number): void {
  if (lines < SAMPLE_LINES || invalid * 2 <= lines) return
  writeStderr(
    `urlsieve: warning: ${formatCount(invalid)} of ${formatCount(lines)} lines are not URLs and were compared unchanged; expected one absolute URL per line, such as https://example.com/\n`,
  )
}

export class Output {
  bytes = 0
  /** Of the last `write`: bytes that were written before it failed. */
  written = 0
  readonly #fd: number
  readonly #name: string

  /** With `fd` it is open already: by another thread, which closes it. With `isAppended`, what is there stays. */
  constructor(path?: string, { fd, isAppended = false }: { fd?: number; isAppended?: boolean } = {}) {
    this.#name = path ?? 'stdout'
    try {
      this.#fd = fd ?? (path === undefined ? 1 : openSync(path, isAppended ? 'a' : 'w'))
    } catch (error) {
      throw this.#error(error)
    }
  }

  get fd(): number {
    return this.#fd
  }

  /** What messages call it. */
  get name(): string {
    return this.#name
  }

  write(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      this.written = at
      try {
        at += whenReady(() => writeSync(this.#fd, bytes, at, bytes.length - at))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EPIPE') throw new ClosedPipe()
        throw this.#error(error)
      }
    }
    this.bytes += bytes.length
  }

  print(text: string): void {
    this.write(Buffer.from(text))
  }

  close(): void {
    try {
      if (this.#fd !== 1) closeSync(this.#fd)
    } catch (error) {
      throw this.#error(error)
    }
  }

  #error(error: unknown): CommandError {
    return new CommandError(EXIT.output, `cannot write ${this.#name}: ${reason(error)}`)
  }
}
