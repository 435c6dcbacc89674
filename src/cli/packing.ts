// Packed inputs, known by their first bytes: gzip and, with a decoder of this Node or the system's own program, zstd,
// bzip2 and xz. What is certainly not text with one URL per line is refused with an error.
import { spawn } from 'node:child_process'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { CommandError, EXIT } from './exit.ts'
import type { Unpacked } from './gunzip.ts'

export type Packing = 'gzip' | 'zstd' | 'bzip2' | 'xz'

/** As many first bytes as the longest mark has. */
export const HEAD_BYTES = 6

const MARKS: readonly (readonly [Packing, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
]

const REFUSED: readonly (readonly [string, readonly number[]])[] = [
  ['a zip archive: unpack it first', [0x50, 0x4b, 0x03, 0x04]],
  ['an lz4 file: unpack it first', [0x04, 0x22, 0x4d, 0x18]],
  ['a 7z archive: unpack it first', [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ['a Parquet file: name its column, such as --field url', [0x50, 0x41, 0x52, 0x31]],
  ['UTF-16 text: convert it to UTF-8 first', [0xff, 0xfe]],
  ['UTF-16 text: convert it to UTF-8 first', [0xfe, 0xff]],
]

const startsWith = (head: Uint8Array, mark: readonly number[]) => mark.every((byte, i) => head[i] === byte)

/** How an input that begins with these bytes is packed; null: it is not. Throws for what is certainly not text. */
export function packingOf(name: string, head: Uint8Array): Packing | null {
  const refused = REFUSED.find(([, mark]) => startsWith(head, mark))
  if (refused) {
    throw new CommandError(EXIT.input, `cannot read ${name}: it is ${refused[0]}; expected one URL per line`)
  }
  return MARKS.find(([, mark]) => startsWith(head, mark))?.[0] ?? null
}

/** Unpacks by the decoder of this Node, or by the program named like the packing. What is readable of a damaged input comes before its error. */
export async function* unpackWith(
  packing: Exclude<Packing, 'gzip'>,
  packed: AsyncIterable<Buffer>,
): AsyncGenerator<Unpacked> {
  const position = { consumed: 0 }
  const counted = async function* () {
    for await (const bytes of packed) {
      position.consumed += bytes.length
      yield bytes
    }
  }
  // Since Node 22.15.
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: () => Transform }
  const unpacked =
    packing === 'zstd' && createZstdDecompress
      ? throughDecoder(createZstdDecompress(), counted())
      : throughProgram(packing, counted())
  for await (const bytes of unpacked) yield { bytes, consumed: position.consumed }
}

async function* throughDecoder(decoder: Transform, packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = Readable.from(packed)
  source.on('error', (error) => decoder.destroy(error))
  yield* source.pipe(decoder) as AsyncIterable<Buffer>
}

async function* throughProgram(program: string, packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const child = spawn(program, ['-dcq'], { stdio: ['pipe', 'pipe', 'pipe'] })
  const complaint: Buffer[] = []
  child.stderr.on('data', (bytes: Buffer) => complaint.push(bytes))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      reject(
        isMissing ? new Error(`it is packed with ${program}, and no ${program} program is installed`) : error,
      )
    })
  })
  ended.catch(() => {}) // awaited below
  let failure: unknown
  const readable = async function* () {
    try {
      yield* packed
    } catch (error) {
      failure = error
    }
  }
  const fed = pipeline(readable(), child.stdin).catch(() => {}) // it stopped reading: its exit code gives the reason
  try {
    yield* child.stdout as AsyncIterable<Buffer>
    const code = await ended
    await fed
    if (failure !== undefined) throw failure
    if (code !== 0) {
      const why = Buffer.concat(complaint).toString().trim().split('\n')[0]
      throw new Error(why || `${program} ended with exit code ${code}`)
    }
  } finally {
    child.kill()
  }
}
