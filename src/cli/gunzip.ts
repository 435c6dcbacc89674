// Unpacks a gzip file and passes on every byte that can be had, also of one that is damaged or followed by something
// else. zlib drops what it unpacked in the same step before the fault: that step is done again, a byte at a time.
import { fstatSync, readSync } from 'node:fs'
import { createGunzip, type Gunzip } from 'node:zlib'

/** Packed bytes of one step: few enough to be done again singly. */
const STEP_BYTES = 16 * 1024
const CHUNK_BYTES = 256 * 1024

type Take = (bytes: Uint8Array, consumed: number) => void

/** Unpacks what `take` gets piece by piece; fails with zlib's error, which has a code Z_… */
export async function gunzip(fd: number, take: Take): Promise<void> {
  let given = 0
  const progress = { position: 0 }
  try {
    await unpack(fd, Number.POSITIVE_INFINITY, progress, (bytes, consumed) => {
      given += bytes.length
      take(bytes, consumed)
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!code?.startsWith('Z_')) throw error
    if (code === 'Z_BUF_ERROR') {
      throw Object.assign(new Error('the gzip file ends too early: it is truncated'), { code })
    }
    // A pipe cannot be read again: what zlib dropped of its last step is lost.
    if (fstatSync(fd).isFile()) await again(fd, progress.position, given, take)
    throw error
  }
}

// The same from the start, up to the fault behind `position`: gives out what follows the first `given` bytes.
async function again(fd: number, position: number, given: number, take: Take): Promise<void> {
  let skip = given
  try {
    await unpack(fd, position, { position: 0 }, (bytes, consumed) => {
      const from = Math.min(skip, bytes.length)
      skip -= from
      if (from < bytes.length) take(bytes.subarray(from), consumed)
    })
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error
  }
}

// Steps of STEP_BYTES, behind `singlyFrom` of one byte. `progress.position` is where the step began that failed.
async function unpack(
  fd: number,
  singlyFrom: number,
  progress: { position: number },
  take: Take,
): Promise<void> {
  const stream = createGunzip({ chunkSize: CHUNK_BYTES })
  const packed = Buffer.alloc(STEP_BYTES)
  const isFile = fstatSync(fd).isFile()
  let failure: unknown
  stream.on('error', (error) => {
    failure = error
  })
  stream.on('data', (bytes: Buffer) => {
    try {
      take(bytes, progress.position)
    } catch (error) {
      stream.destroy()
      failure = error
    }
  })
  for (;;) {
    const want = progress.position >= singlyFrom ? 1 : STEP_BYTES
    const got = readSync(fd, packed, 0, want, isFile ? progress.position : null)
    if (got === 0) break
    await step(stream, (done) => stream.write(Buffer.from(packed.subarray(0, got)), done))
    if (failure) throw failure
    progress.position += got
  }
  await step(stream, () => stream.end())
  if (failure) throw failure
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
