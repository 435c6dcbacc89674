// Inputs of a command: files, `-` or nothing for stdin; packed ones are unpacked. Bytes go straight to where the
// caller wants them; an input that is damaged or ends too early is an error, after all that is readable was passed on.
import {
  closeSync,
  fstatSync,
  open as openCallback,
  openSync,
  read,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { readFully } from '../store/whole-file.ts'
import { whenReady } from './descriptor.ts'
import { CommandError, EXIT } from './exit.ts'
import { gunzip, type Unpacked } from './gunzip.ts'
import { inputError, statOf } from './input-size.ts'
import { HEAD_BYTES, type Packing, packingOf, unpackWith } from './packing.ts'
import { PipeReader } from './pipe-reader.ts'
import { Stopped, stop } from './stop.ts'

/** Bytes read at a time: small enough that the batch's data stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024

/** Bytes by which an input is recognised; a pipe gives what it has. */
export const START_BYTES = 16 * 1024

const TURN_CHUNKS = 32
/** The same where signals are heard. */
const HEARING_CHUNKS = 4

export interface Sink {
  /** Absent: `lookForLines`. */
  readonly look?: Look | null
  /** A buffer for that many bytes; a sink that has to wait for buffers may have a shorter one. */
  reserve(bytes: number): Uint8Array
  /** That many bytes were put there; `consumed` is the position in the file on disk. A promise is waited for. */
  push(bytes: number, consumed: number): void | Promise<void>
  /** Resolves when `reserve` has a buffer: for a sink that may have to wait for one. Then reading does not block either. */
  ready?(): Promise<void> | null
  /** Reads the rest of a plain file from its descriptor; null: not now. */
  takeFile?(fd: number): Promise<void> | null
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
    return // not there yet, or opening it reports why not
  }
  if (!target.isFile()) return
  for (const path of paths) {
    const stat = statOf(path)
    if (stat.dev !== target.dev || stat.ino !== target.ino) continue
    const name = path === '-' ? 'stdin' : path
    throw new CommandError(EXIT.usage, `${name} is both input and output: expected another file to write to`)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw inputError(path, error)
  }
}

/** Looks at the first bytes of an input, unpacked. */
export type Look = (path: string, head: Uint8Array) => Promise<void> | undefined

/** One line on stderr where an input looks like something else than one URL per line. What says it is loaded for others only. */
export const lookForLines: Look = (path, head) => {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 4096)).toString('latin1')
  const isUsual = /^https?:\/\/[^\t]*$/i.test(text) && !/\.(?:csv|tsv|tab)(?:\.|$)/i.test(path)
  return isUsual || text === ''
    ? undefined
    : import('./line-looks.ts').then(({ warnOfLooks }) => warnOfLooks(path, head))
}

/** Reads one input to its end. */
export async function readInput(path: string, sink: Sink): Promise<void> {
  const { look = lookForLines } = sink
  const input = await openInput(path)
  try {
    if (input.packing !== null) {
      for await (const { bytes, consumed } of unpack(input, input.packing, look)) {
        for (let at = 0; at < bytes.length; ) {
          await sink.ready?.()
          const some = put(bytes.subarray(at), sink)
          const wait = sink.push(some, consumed)
          if (wait) await wait
          at += some
        }
      }
    } else {
      await look?.(path, input.start)
      await readPlain(input, sink)
    }
  } finally {
    closeInput(input)
  }
}

/** Whether an input is a plain file, not packed, whose bytes can be read again. */
export function isPlainFile(path: string): boolean {
  if (path === '-' || !statOf(path).isFile()) return false
  const fd = open(path)
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    return packingIn(path, head.subarray(0, readFully(fd, head, 0))) === null
  } finally {
    closeSync(fd)
  }
}

/** The same as chunks of bytes. While a pipe is silent, timers and sockets of this process go on. */
export async function* readChunks(
  path: string,
  look: Look | null = lookForLines,
): AsyncGenerator<Uint8Array> {
  const input = await openInput(path)
  try {
    if (input.packing !== null) {
      for await (const { bytes } of unpack(input, input.packing, look)) yield bytes
    } else {
      await look?.(path, input.start)
      yield* packedBytes(input)
    }
  } finally {
    closeInput(input)
  }
}

interface Input {
  readonly path: string
  readonly fd: number
  /** The first bytes. */
  readonly start: Buffer
  /** First bytes that were taken from a pipe, which cannot be read again; empty for a file. */
  readonly head: Buffer
  readonly packing: Packing | null
  /** Where signals are to be heard while it is silent. */
  readonly pipe: PipeReader | null
}

async function openInput(path: string): Promise<Input> {
  const fd = path === '-' ? 0 : await openSoon(path)
  let pipe: PipeReader | null = null
  try {
    const isFile = fstatSync(fd).isFile()
    if (stop.isListening && !isFile) pipe = new PipeReader(fd)
    const first = Buffer.allocUnsafeSlow(START_BYTES)
    let got = 0
    for (let more = 1; more > 0 && got < HEAD_BYTES; got += more) {
      const rest = first.subarray(got)
      if (pipe) more = await readPipe(path, pipe, rest)
      else more = readSome(path, fd, rest, isFile && path !== '-' ? got : null)
    }
    const start = first.subarray(0, got)
    const head = isFile && path !== '-' ? Buffer.alloc(0) : start
    return { path, fd, start, head, packing: packingIn(path, start), pipe }
  } catch (error) {
    pipe?.close()
    if (fd !== 0) closeSync(fd)
    throw error
  }
}

function packingIn(path: string, head: Buffer): Packing | null {
  return path.endsWith('.gz') ? 'gzip' : packingOf(path === '-' ? 'stdin' : path, head)
}

const openLater = promisify(openCallback)

// Opening a pipe waits for its writer.
async function openSoon(path: string): Promise<number> {
  if (!stop.isListening || !statOf(path).isFIFO()) return open(path)
  try {
    return await stop.unlessStopped(openLater(path, 'r'))
  } catch (error) {
    throw error instanceof Stopped ? error : inputError(path, error)
  }
}

function closeInput({ fd, pipe }: Input): void {
  pipe?.close()
  if (fd !== 0) closeSync(fd)
}

async function readPipe(path: string, pipe: PipeReader, buffer: Uint8Array): Promise<number> {
  try {
    return await pipe.read(buffer)
  } catch (error) {
    throw error instanceof Stopped ? error : inputError(path, error)
  }
}

/** Reads from a descriptor, blocking; 0: the end. */
function readSome(path: string, fd: number, buffer: Uint8Array, position: number | null): number {
  try {
    return whenReady(() => readSync(fd, buffer, 0, buffer.length, position))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EOF') return 0
    throw inputError(path, error)
  }
}

// As many of the bytes as the sink takes; returns how many. A sink may give its memory up while it is waited for: then no
// function that waits may have a view of it.
function put(bytes: Uint8Array, sink: Sink): number {
  const room = sink.reserve(bytes.length)
  const some = bytes.subarray(0, room.length)
  room.set(some)
  return some.length
}

function readInto(sink: Sink, path: string, fd: number): number {
  return readSome(path, fd, sink.reserve(CHUNK_BYTES), null)
}

async function readPlain({ path, fd, head, pipe }: Input, sink: Sink): Promise<void> {
  let consumed = 0
  let chunks = 0
  const turn = stop.isListening ? HEARING_CHUNKS : TURN_CHUNKS
  const isFile = fstatSync(fd).isFile()
  for (;;) {
    const rest = isFile && consumed >= head.length ? sink.takeFile?.(fd) : null
    if (rest) return rest
    const later = sink.ready?.() ?? null
    await later
    let got: number
    if (consumed < head.length) got = put(head.subarray(consumed), sink)
    else if (pipe) got = await fromPipe(path, pipe, sink)
    else if (later) got = await readSoon(path, fd, sink.reserve(CHUNK_BYTES))
    else got = readInto(sink, path, fd)
    if (got === 0) return
    consumed += got
    const wait = sink.push(got, consumed)
    if (wait) await wait
    // Now and then the event loop gets its turn: a store writes its snapshots there.
    if (++chunks % turn === 0) await new Promise(setImmediate)
  }
}

// What is there already straight to the sink; what has to be waited for not, since its memory may be given up meanwhile.
async function fromPipe(path: string, pipe: PipeReader, sink: Sink): Promise<number> {
  try {
    return pipe.tryRead(sink.reserve(CHUNK_BYTES)) ?? put(await pipe.wait(), sink)
  } catch (error) {
    throw error instanceof Stopped ? error : inputError(path, error)
  }
}

const readLater = promisify(read)

/** Reads from a descriptor without blocking this process; 0: the end. */
async function readSoon(path: string, fd: number, buffer: Uint8Array): Promise<number> {
  for (;;) {
    try {
      return (await readLater(fd, buffer, 0, buffer.length, null)).bytesRead
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw inputError(path, error)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
}

// The bytes as they are, read without blocking this process.
async function* packedBytes({ path, fd, head, pipe }: Input): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    const got = pipe ? await readPipe(path, pipe, buffer) : await readSoon(path, fd, buffer)
    if (got === 0) return
    yield buffer.subarray(0, got)
  }
}

// All that is readable of a damaged input comes before its error.
async function* unpack(input: Input, packing: Packing, look: Look | null): AsyncGenerator<Unpacked> {
  let isFirst = true
  try {
    const pieces =
      packing === 'gzip' ? gunzip(input.fd, input.head, input.pipe) : unpackWith(packing, packedBytes(input))
    for await (const piece of pieces) {
      if (isFirst) await look?.(input.path, piece.bytes)
      isFirst = false
      yield piece
    }
  } catch (error) {
    throw error instanceof CommandError || error instanceof Stopped ? error : inputError(input.path, error)
  }
}
