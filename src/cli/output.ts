// The output of a command: stdout or a file, written immediately and whole, or while the caller goes on. A closed pipe is a normal
// end; a full device is an error, and what was written stays.
import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { WriteBehind, writeBlock } from '../disk/sequential.ts'
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

const dataLater = promisify(fdatasync)

export class Output {
  bytes = 0
  readonly #fd: number
  readonly isFile: boolean
  /** Writing to it may wait for a reader. */
  readonly #hasReader: boolean
  /** A plain file, whatever names it has; null: it is none. */
  readonly #identity: string | null
  /** It goes on with a file that has records. */
  readonly isContinued: boolean
  readonly #name: string
  #behind: WriteBehind | null = null

  /** With `fd` it is open already: by another thread, which closes it. With `isAppended`, what is there stays. */
  constructor(path?: string, { fd, isAppended = false }: { fd?: number; isAppended?: boolean } = {}) {
    this.#name = path ?? 'stdout'
    try {
      this.#fd = fd ?? (path === undefined ? 1 : openSync(path, isAppended ? 'a' : 'w'))
    } catch (error) {
      throw this.#error(error)
    }
    const stat = fstatSync(this.#fd)
    this.isFile = stat.isFile()
    this.#hasReader = stat.isFIFO() || stat.isSocket() || isatty(this.#fd)
    this.isContinued = isAppended && this.isFile && stat.size > 0
    this.#identity = this.isFile ? `${stat.dev} ${stat.ino}` : null
  }

  /** Both write to one plain file: each would write over the other. */
  isSame(other: Output): boolean {
    return this.#identity !== null && this.#identity === other.#identity
  }

  get fd(): number {
    return this.#fd
  }

  /** What messages call it. */
  get name(): string {
    return this.#name
  }

  write(bytes: Uint8Array): undefined {
    let at = 0
    while (at < bytes.length) {
      try {
        at += whenReady(() => writeSync(this.#fd, bytes, at, bytes.length - at))
      } catch (error) {
        throw this.#failure(error)
      }
    }
    this.bytes += bytes.length
    return undefined
  }

  /** Writes bytes, and keeps nobody waiting but the caller, for the promise: signals are heard while a pipe is full. */
  deliver(bytes: Uint8Array): Promise<void> | undefined {
    if (!this.#hasReader || bytes.length === 0) {
      this.write(bytes)
      return undefined
    }
    this.bytes += bytes.length
    // The memory of the bytes may be given up meanwhile.
    return writeBlock(this.#fd, bytes.slice(), null).catch((error) => {
      throw this.#failure(error)
    })
  }

  /** Puts what was written to a file on the disk. */
  sync(): void {
    if (!this.isFile) return
    try {
      fdatasyncSync(this.#fd)
    } catch (error) {
      throw this.#error(error)
    }
  }

  /** The same, without keeping this process waiting. */
  async syncLater(): Promise<void> {
    if (!this.isFile) return
    try {
      await dataLater(this.#fd)
    } catch (error) {
      throw this.#error(error)
    }
  }

  /**
   * Writes bytes while the caller goes on. Wait for the promise, where there is one, before the next call. A call without bytes waits
   * until all are written, which must be so before `write` is called.
   */
  writeBehind(bytes: Uint8Array): Promise<void> | undefined {
    this.bytes += bytes.length
    this.#behind ??= new WriteBehind(this.#fd, (error) => this.#failure(error), null)
    return bytes.length > 0 ? this.#behind.write(bytes) : this.#behind.end()
  }

  print(text: string): void {
    this.write(Buffer.from(text))
  }

  /** Waits until nothing is being written. */
  async settle(): Promise<void> {
    await this.#behind?.settle()
  }

  close(): void {
    try {
      if (this.#fd !== 1) closeSync(this.#fd)
    } catch (error) {
      throw this.#error(error)
    }
  }

  #failure(error: unknown): Error {
    return (error as NodeJS.ErrnoException).code === 'EPIPE' ? new ClosedPipe() : this.#error(error)
  }

  #error(error: unknown): CommandError {
    return new CommandError(EXIT.output, `cannot write ${this.#name}: ${reason(error)}`)
  }
}
