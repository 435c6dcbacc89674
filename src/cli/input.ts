// Inputs of a command: files, `-` or nothing for stdin, and .gz files read as such. Bytes go straight to where the
// caller wants them; a gzip that ends too early is an error, after what could be read was passed on.
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { CommandError, EXIT, reason } from './exit.ts'

/** Bytes read at a time: small enough that the batch's data stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024

export interface Sink {
  /** Room for at least that many bytes. */
  room(bytes: number): Uint8Array
  /** So many bytes were put there; `consumed` is the position in the file on disk. */
  push(bytes: number, consumed: number): void
}

const nap = new Int32Array(new SharedArrayBuffer(4))

/** Retries a call on a descriptor that is set to non-blocking and not ready. */
export function whenReady<T>(call: () => T): T {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(nap, 0, 0, 2)
    }
  }
}

/** Sizes of the inputs together, or null when one of them has none (a pipe). */
export function totalBytes(paths: readonly string[]): number | null {
  let total = 0
  for (const path of paths) {
    if (path === '-') return null
    const fd = open(path)
    try {
      const stat = fstatSync(fd)
      if (stat.isDirectory()) throw inputError(path, Object.assign(new Error(), { code: 'EISDIR' }))
      if (!stat.isFile()) return null
      total += stat.size
    } finally {
      closeSync(fd)
    }
  }
  return total
}

function inputError(path: string, error: unknown): CommandError {
  return new CommandError(EXIT.input, `cannot read ${path === '-' ? 'stdin' : path}: ${reason(error)}`)
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw inputError(path, error)
  }
}

/** Reads one input to its end. */
export async function readInput(path: string, sink: Sink): Promise<void> {
  if (path.endsWith('.gz')) return readGzip(path, sink)
  const fd = path === '-' ? 0 : open(path)
  let consumed = 0
  try {
    for (;;) {
      const room = sink.room(CHUNK_BYTES)
      let got: number
      try {
        got = whenReady(() => readSync(fd, room, 0, room.length, null))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EOF') return
        throw inputError(path, error)
      }
      if (got === 0) return
      consumed += got
      sink.push(got, consumed)
    }
  } finally {
    if (fd !== 0) closeSync(fd)
  }
}

async function readGzip(path: string, sink: Sink): Promise<void> {
  closeSync(open(path))
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  file.on('error', (error) => gunzip.destroy(error))
  file.pipe(gunzip)
  const chunks = gunzip[Symbol.asyncIterator]()
  for (;;) {
    let next: IteratorResult<Buffer>
    try {
      next = await chunks.next()
    } catch (error) {
      const truncated = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
      throw inputError(path, truncated ? new Error('the gzip file ends too early: it is truncated') : error)
    }
    if (next.done) return
    sink.room(next.value.length).set(next.value)
    sink.push(next.value.length, file.bytesRead)
  }
}
