// Inputs of a command: files, `-` or nothing for stdin, and .gz files read as such. Bytes go straight to where the
// caller wants them; a gzip that ends too early is an error, after what could be read was passed on.
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { CommandError, EXIT, reason } from './exit.ts'
import { gunzip } from './gunzip.ts'

/** Bytes read at a time: small enough that the batch's data stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024

const TURN_CHUNKS = 32

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

/**
 * Sizes of the inputs together, or null when one of them has none (a pipe). Throws for the first that cannot be
 * read, so that nothing is written before that is known. A pipe is not opened: its writer would see it closed.
 */
export function totalBytes(paths: readonly string[]): number | null {
  let total: number | null = 0
  for (const path of paths) {
    const stat = path === '-' ? undefined : statOf(path)
    if (stat?.isDirectory()) throw inputError(path, Object.assign(new Error(), { code: 'EISDIR' }))
    if (stat?.isFile()) closeSync(open(path))
    total = total === null || !stat?.isFile() ? null : total + stat.size
  }
  return total
}

/** Throws when the output is one of the inputs: opening it would empty it before it was read. */
export function checkOutput(paths: readonly string[], output?: string): void {
  let target: Stats
  try {
    target = output === undefined ? fstatSync(1) : statSync(output)
  } catch {
    return // not there yet, or opening it will say why it cannot be
  }
  if (!target.isFile()) return
  for (const path of paths) {
    const stat = path === '-' ? fstatSync(0) : statOf(path)
    if (stat.dev !== target.dev || stat.ino !== target.ino) continue
    const name = path === '-' ? 'stdin' : path
    throw new CommandError(EXIT.usage, `${name} is both input and output: expected another file to write to`)
  }
}

function statOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw inputError(path, error)
  }
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
  let chunks = 0
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
      // Now and then the event loop gets its turn: a store writes its snapshots there.
      if (++chunks % TURN_CHUNKS === 0) await new Promise(setImmediate)
    }
  } finally {
    if (fd !== 0) closeSync(fd)
  }
}

async function readGzip(path: string, sink: Sink): Promise<void> {
  const fd = open(path)
  try {
    await gunzip(fd, (bytes, consumed) => {
      sink.room(bytes.length).set(bytes)
      sink.push(bytes.length, consumed)
    })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    // What the sink throws is no fault of the input.
    throw code?.startsWith('Z_') || syscall === 'read' ? inputError(path, error) : error
  } finally {
    closeSync(fd)
  }
}
