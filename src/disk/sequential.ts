// Sequential reading and writing of large files in blocks of a megabyte, ahead of and behind the computation: the system's
// calls run in other threads meanwhile. Buffers are reused, so memory is bounded.
import { read, write } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { readError } from '../store/whole-file.ts'

/** Bytes per system call. */
export const IO_BYTES = 1024 * 1024

/** Two buffers for one reader or writer. */
export const twoBuffers = (bytes = IO_BYTES) => [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)]

const readLater = promisify(read)
const writeLater = promisify(write)

async function readBlock(fd: number, target: Uint8Array, at: number, path: string): Promise<number> {
  let got = 0
  try {
    while (got < target.length) {
      const { bytesRead } = await readLater(fd, target, got, target.length - got, at + got)
      if (bytesRead === 0) break
      got += bytesRead
    }
  } catch (error) {
    throw readError(path, error)
  }
  return got
}

/** Reads the bytes [from, to) of a file in order; the next block is being read while one is used. */
export class ReadAhead {
  readonly #fd: number
  readonly #path: string
  #at: number
  readonly #to: number
  #buffers: Buffer[]
  #next: Promise<number> | null = null
  #block: Buffer = Buffer.alloc(0)

  /** `buffers`: two of the same length, where others than a megabyte are to be used. */
  constructor(fd: number, path: string, from: number, to: number, buffers = twoBuffers()) {
    this.#fd = fd
    this.#path = path
    this.#at = from
    this.#to = to
    this.#buffers = buffers
    this.#begin()
  }

  #begin(): void {
    const size = Math.min(this.#buffers[0]!.length, this.#to - this.#at)
    if (size <= 0) return
    this.#next = readBlock(this.#fd, this.#buffers[0]!.subarray(0, size), this.#at, this.#path)
    // Reported by the call that uses the block.
    this.#next.catch(() => {})
    this.#at += size
  }

  /** The next block, valid until the next call; empty at the end, or where the file ends before `to`. */
  async block(): Promise<Buffer> {
    if (this.#next === null) return Buffer.alloc(0)
    const got = await this.#next
    const [block, other] = this.#buffers as [Buffer, Buffer]
    this.#buffers = [other, block]
    this.#next = null
    if (got > 0) this.#begin()
    return block.subarray(0, got)
  }

  /** Fills `target` with the next bytes. Returns how many there were. */
  async fill(target: Uint8Array): Promise<number> {
    let filled = 0
    while (filled < target.length) {
      if (this.#block.length === 0) this.#block = await this.block()
      if (this.#block.length === 0) break
      filled += this.fillNow(target.subarray(filled))
    }
    return filled
  }

  /** The same with the bytes that are in memory already. */
  fillNow(target: Uint8Array): number {
    const some = this.#block.subarray(0, target.length)
    target.set(some)
    this.#block = this.#block.subarray(some.length)
    return some.length
  }

  /** How many of the next bytes are in memory already. */
  get ready(): number {
    return this.#block.length
  }

  /** Waits for the read that is under way: the file may be closed after it. */
  async end(): Promise<void> {
    await this.#next?.catch(() => {})
    this.#next = null
  }
}

/** A descriptor that is set to non-blocking is asked again after this time. */
const RETRY_MS = 2

/** Writes all bytes at a position, or where the descriptor is now: null. */
export async function writeBlock(fd: number, block: Uint8Array, at: number | null): Promise<void> {
  for (let done = 0; done < block.length; ) {
    const position = at === null ? null : at + done
    try {
      done += (await writeLater(fd, block, done, block.length - done, position)).bytesWritten
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await setTimeout(RETRY_MS)
    }
  }
}

/** Writes bytes to a file in order; full blocks are written while the next is being filled. */
export class WriteBehind {
  readonly #fd: number
  readonly #errorOf: (error: unknown) => Error
  /** Where the next byte goes. */
  position: number
  /** A pipe has no positions, and other programs may write to the same file. */
  readonly #isStream: boolean
  readonly #buffers: Buffer[]
  #filled = 0
  /** What waits for a buffer. */
  #rest: Buffer = Buffer.alloc(0)
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #failure: Error | null = null

  /** `errorOf`: what to throw when the disk refuses. `position` null: where the descriptor is. */
  constructor(
    fd: number,
    errorOf: (error: unknown) => Error,
    position: number | null = 0,
    buffers = twoBuffers(),
  ) {
    this.#fd = fd
    this.#errorOf = errorOf
    this.position = position ?? 0
    this.#isStream = position === null
    this.#buffers = buffers
  }

  /** Takes bytes over. Wait for the promise, where there is one, before the next call. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#failure) throw this.#failure
    const space = IO_BYTES - this.#filled
    const some = bytes.subarray(0, space)
    this.#buffers[0]!.set(some, this.#filled)
    this.#filled += some.length
    this.position += some.length
    if (this.#filled < IO_BYTES) return undefined
    const rest = bytes.subarray(some.length)
    if (this.#isWriting) return this.#turn(rest)
    this.#begin()
    return rest.length > 0 ? this.write(rest) : undefined
  }

  async #turn(rest: Uint8Array): Promise<void> {
    // The caller may change its bytes after this call has begun to wait.
    if (this.#rest.length < rest.length) this.#rest = Buffer.allocUnsafeSlow(rest.length)
    this.#rest.set(rest)
    const copy = this.#rest.subarray(0, rest.length)
    await this.#writing
    if (this.#failure) throw this.#failure
    this.#begin()
    if (copy.length > 0) await this.write(copy)
    if (this.#rest.length > IO_BYTES) this.#rest = Buffer.alloc(0)
  }

  // Hands the filled block over; the other one is free.
  #begin(): void {
    const block = this.#buffers[0]!.subarray(0, this.#filled)
    const at = this.position - this.#filled
    this.#buffers.reverse()
    this.#filled = 0
    this.#isWriting = true
    this.#writing = (async () => {
      try {
        await writeBlock(this.#fd, block, this.#isStream ? null : at)
      } catch (error) {
        this.#failure = this.#errorOf(error)
      }
      this.#isWriting = false
    })()
  }

  /** Waits until nothing is being written: the file may be closed after it. */
  async settle(): Promise<void> {
    await this.#writing
  }

  /** Waits until all is written. Throws what went wrong. */
  async end(): Promise<void> {
    await this.#writing
    if (this.#failure === null && this.#filled > 0) {
      this.#begin()
      await this.#writing
    }
    if (this.#failure) throw this.#failure
  }
}
