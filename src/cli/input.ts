// Inputs of a command: files, `-` or nothing for stdin, and .gz files read as such. Bytes go straight to where the
// caller wants them; a gzip that ends too early is an error, after what could be read was passed on.
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { CommandError, EXIT, reason } from './exit.ts'
import { gunzip, type Unpacked } from './gunzip.ts'

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
 * Sizes of the inputs together, or null when one of them has none (a pipe, stdin). Throws for the first that cannot be
 * read, so that nothing is written before that is known. A pipe is not opened: its writer would see it closed.
 */
export function totalBytes(paths: readonly string[]): number | null {
  let total: number | null = 0
  for (const path of paths) {
    const stat = statOf(path)
    if (stat.isDirectory()) throw inputError(path, Object.assign(new Error(), { code: 'EISDIR' }))
    const isSized = path !== '-' && stat.isFile()
    if (isSized) closeSync(open(path))
    total = total === null || !isSized ? null : total + stat.size
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
    const stat = statOf(path)
    if (stat.dev !== target.dev || stat.ino !== target.ino) continue
    const name = path === '-' ? 'stdin' : path
    throw new CommandError(EXIT.usage, `${name} is both input and output: expected another file to write to`)
  }
}

function statOf(path: string): Stats {
  try {
    return path === '-' ? fstatSync(0) : statSync(path)
  } catch (error) {
    throw inputError(path, error)
  }
}

export function inputError(path: string, error: unknown): CommandError {
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
  if (path.endsWith('.gz')) {
    for await (const { bytes, consumed } of unpacked(path)) {
      sink.room(bytes.length).set(bytes)
      sink.push(bytes.length, consumed)
    }
    return
  }
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

/** What a .gz file unpacks to. All that can be had of a damaged one comes before its error. */
export async function* unpacked(path: string): AsyncGenerator<Unpacked> {
  const fd = open(path)
  try {
    yield* gunzip(fd)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    throw code?.startsWith('Z_') || syscall === 'read' ? inputError(path, error) : error
  } finally {
    closeSync(fd)
  }
}
