// Reads a pipe, terminal or socket so that signals are heard while it is silent: what is there already immediately, else in another
// thread of the system.
import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { stop } from './stop.ts'

const MOST_BYTES = 64 * 1024
const RETRY_MS = 2

const readLater = promisify(read)

export class PipeReader {
  readonly #fd: number
  /** The same pipe, without waiting; null: the system has none. */
  readonly #now: number | null
  readonly #buffer = Buffer.allocUnsafeSlow(MOST_BYTES)

  constructor(fd: number) {
    this.#fd = fd
    this.#now = withoutWaiting(fd)
  }

  /** The next bytes, into a buffer; 0: the end; null: there are none yet. */
  tryRead(buffer: Uint8Array): number | null {
    if (this.#now === null) return null
    try {
      return readSync(this.#now, buffer, 0, buffer.length, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
      throw error
    }
  }

  /** Waits for the next bytes, at most that many, which are valid until the next call; none: the end. Throws `Stopped` after a signal. */
  async wait(most = MOST_BYTES): Promise<Buffer> {
    for (;;) {
      try {
        const call = readLater(this.#fd, this.#buffer, 0, Math.min(most, MOST_BYTES), null)
        return this.#buffer.subarray(0, (await stop.unlessStopped(call)).bytesRead)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EOF') return this.#buffer.subarray(0, 0)
        if (code !== 'EAGAIN') throw error
        await stop.unlessStopped(new Promise((resolve) => setTimeout(resolve, RETRY_MS)))
      }
    }
  }

  /** The next bytes, into a buffer, when they are there; 0: the end. */
  async read(buffer: Uint8Array): Promise<number> {
    const got = this.tryRead(buffer)
    if (got !== null) return got
    const bytes = await this.wait(buffer.length)
    buffer.set(bytes)
    return bytes.length
  }

  close(): void {
    if (this.#now !== null) closeSync(this.#now)
  }
}

// A pipe is opened a second time, with a mode of its own.
function withoutWaiting(fd: number): number | null {
  if (process.platform !== 'linux' || !fstatSync(fd).isFIFO()) return null
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return null
  }
}
