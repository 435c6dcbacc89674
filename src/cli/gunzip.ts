// Unpacks a gzip file and passes on every byte that can be recovered, also of one that is damaged or followed by something
// else. zlib drops what it unpacked in the same step before the fault: that step is done again, a byte at a time.
import { fstatSync, readSync } from 'node:fs'
import { createGunzip, type Gunzip } from 'node:zlib'
import { whenReady } from './descriptor.ts'
import type { PipeReader } from './pipe-reader.ts'

/** Packed bytes of one step: few enough to be repeated singly, and their unpacked bytes few enough to be held in memory. */
const STEP_BYTES = 16 * 1024
const CHUNK_BYTES = 256 * 1024

export interface Unpacked {
  readonly bytes: Uint8Array
  /** Packed bytes read before those it comes from. */
  readonly consumed: number
}

/**
 * What a file unpacks to, piece by piece; then fails with zlib's error, which has a code Z_…, if it is damaged. `head` was
 * read before, of an input that is not a file, which is read through `pipe` where there is one.
 */
export async function* gunzip(
  fd: number,
  head: Uint8Array,
  pipe: PipeReader | null = null,
): AsyncGenerator<Unpacked> {
  let given = 0
  const progress = { position: 0 }
  try {
    for await (const piece of unpack(fd, head, Number.POSITIVE_INFINITY, progress, pipe)) {
      given += piece.bytes.length
      yield piece
    }
  } catch (error) {
    if (!isDamage(error)) throw error
    const { code } = error
    if (code === 'Z_BUF_ERROR') {
      throw Object.assign(new Error('the gzip file ends too early: it is truncated'), { code })
    }
    // A pipe cannot be read again: what zlib dropped of its last step is lost.
    if (head.length === 0 && fstatSync(fd).isFile()) yield* again(fd, progress.position, given)
    throw error
  }
}

const isDamage = (error: unknown): error is NodeJS.ErrnoException =>
  (error as NodeJS.ErrnoException).code?.startsWith('Z_') ?? false

// The same from the start, up to the fault behind `position`: gives out what follows the first `given` bytes.
async function* again(fd: number, position: number, given: number): AsyncGenerator<Unpacked> {
  let skip = given
  try {
    for await (const { bytes, consumed } of unpack(fd, new Uint8Array(0), position, { position: 0 })) {
      const from = Math.min(skip, bytes.length)
      skip -= from
      if (from < bytes.length) yield { bytes: bytes.subarray(from), consumed }
    }
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}

// Steps of STEP_BYTES, behind `singlyFrom` of one byte. `progress.position` is where the step began that failed.
async function* unpack(
  fd: number,
  head: Uint8Array,
  singlyFrom: number,
  progress: { position: number },
  pipe: PipeReader | null = null,
): AsyncGenerator<Unpacked> {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES })
  const packed = Buffer.alloc(STEP_BYTES)
  const isFile = head.length === 0 && fstatSync(fd).isFile()
  const unpacked: Buffer[] = []
  let failure: unknown
  stream.on('error', (error) => {
    failure = error
  })
  stream.on('data', (bytes: Buffer) => unpacked.push(bytes))
  try {
    for (;;) {
      const want = progress.position >= singlyFrom ? 1 : STEP_BYTES
      const isHead = progress.position === 0 && head.length > 0
      if (isHead) packed.set(head)
      let got = head.length
      if (!isHead && pipe) got = await pipe.read(packed.subarray(0, want))
      else if (!isHead)
        got = whenReady(() => readSync(fd, packed, 0, want, isFile ? progress.position : null))
      await step(stream, (done) => {
        if (got === 0) stream.end()
        else stream.write(Buffer.from(packed.subarray(0, got)), done)
      })
      for (const bytes of unpacked.splice(0)) yield { bytes, consumed: progress.position }
      if (failure) throw failure
      if (got === 0) return
      progress.position += got
    }
  } finally {
    stream.destroy()
  }
}

// One write, or the end: done when zlib calls back or the stream closes, as one that ended or failed does.
function step(stream: Gunzip, act: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('close', done)
      resolve()
    }
    stream.once('close', done)
    act(done)
  })
}
