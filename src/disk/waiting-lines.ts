// Lines that wait for their verdicts, as the chunks in which they came: read again from the input where it is a plain file,
// else kept in a temporary file, which each batch overwrites from its beginning. A plain file is opened again for that, so that any
// number of them can wait; it has to be the same file, and each chunk has a checksum, so that one that has changed is noticed.
import { type BigIntStats, closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { readError } from '../store/file.ts'
import type { RunFile } from './run.ts'
import { ReadAhead, twoBuffers, WriteBehind } from './sequential.ts'
import type { TempFiles } from './temp-files.ts'

/** Consecutive chunks of one file. */
interface Section {
  readonly file: PlainFile | RunFile | null
  /** Where the first chunk begins. */
  readonly from: number
  readonly lengths: number[]
  /** Of a plain file, which others can change. */
  readonly checksums: bigint[]
  /** Behind the last chunk the input ends: a last line without a newline is a line too. */
  readonly isEnd: boolean
}

/** A plain file that is opened when it is read. */
interface PlainFile {
  readonly path: string
  readonly stat: BigIntStats
}

/** What is done with a chunk. */
export interface ChunkSink {
  /** Where to put the next bytes, in the kernel's memory. */
  reserve(bytes: number): Uint8Array
  /** Waits for the promise, where there is one. */
  push(bytes: number): Promise<void> | undefined
  end(): Promise<void> | undefined
}

export class WaitingLines {
  readonly #kernel: () => Kernel
  readonly #temp: TempFiles
  #spill: RunFile | undefined
  #out: WriteBehind | undefined
  readonly #reading = twoBuffers()
  readonly #writing = twoBuffers()
  #sections: Section[] = []
  /** The plain file that chunks are from now. */
  #input: PlainFile | null = null
  /** Bytes written to the temporary file. */
  spilledBytes = 0

  constructor(kernel: () => Kernel, temp: TempFiles) {
    this.#kernel = kernel
    this.#temp = temp
  }

  /** Chunks come from this input now: a plain file, or null for any other. */
  begin(path: string | null): void {
    if (path === null) return
    try {
      this.#input = { path, stat: statSync(path, { bigint: true }) }
    } catch (error) {
      throw readError(path, error)
    }
  }

  /** The input is a plain file, which can be read again. */
  get isReadAgain(): boolean {
    return this.#input !== null
  }

  /** The chunk of `bytes` bytes at `address`, which was read from `position` of the plain file. */
  note(address: number, bytes: number, position: number): void {
    this.#append(this.#input!, position, bytes).checksums.push(this.#checksum(address, bytes))
  }

  /** Keeps a chunk in the temporary file. Wait for the promise, where there is one. */
  spill(chunk: Uint8Array): Promise<void> | undefined {
    if (chunk.length === 0) return undefined
    this.#spill ??= this.#temp.create()
    this.#out ??= new WriteBehind(this.#spill.fd, this.#spill.errorOf, 0, this.#writing)
    this.#append(this.#spill, this.#out.position, chunk.length)
    this.spilledBytes += chunk.length
    return this.#out.write(chunk)
  }

  /** The input has ended. */
  end(): void {
    // Half a line of an earlier batch may wait for it, so it has a section of its own.
    this.#sections.push({ file: null, from: 0, lengths: [], checksums: [], isEnd: true })
    this.#input = null
  }

  #checksum(address: number, bytes: number): bigint {
    return this.#kernel().call.checksum(address, bytes)
  }

  #append(file: Section['file'], position: number, bytes: number): Section {
    let section = this.#sections.at(-1)
    if (section?.file !== file || section.isEnd) {
      section = { file, from: position, lengths: [], checksums: [], isEnd: false }
      this.#sections.push(section)
    }
    section.lengths.push(bytes)
    return section
  }

  get isEmpty(): boolean {
    return this.#sections.length === 0
  }

  /** Passes all chunks to the sink again, in order, and forgets them. */
  async replay(sink: ChunkSink): Promise<void> {
    await this.#out?.end()
    for (const section of this.#sections) {
      if (section.file) await this.#replaySection(section, section.file, sink)
      if (section.isEnd) await sink.end()
    }
    this.#sections = []
    this.#out = undefined
  }

  async #replaySection({ from, lengths, checksums }: Section, file: PlainFile | RunFile, sink: ChunkSink) {
    const to = lengths.reduce((sum, bytes) => sum + bytes, from)
    const fd = 'fd' in file ? file.fd : reopened(file)
    const reader = new ReadAhead(fd, file.path, from, to, this.#reading)
    try {
      for (const [i, bytes] of lengths.entries()) {
        const target = sink.reserve(bytes)
        const got = reader.ready >= bytes ? reader.fillNow(target) : await reader.fill(target)
        const isSame = checksums[i] === undefined || this.#checksum(target.byteOffset, bytes) === checksums[i]
        if (got < bytes || !isSame) throw changed(file.path)
        const wait = sink.push(bytes)
        if (wait) await wait
      }
    } finally {
      await reader.end()
      if (!('fd' in file)) closeSync(fd)
    }
  }

  close(): void {
    if (this.#spill) closeSync(this.#spill.fd)
  }
}

/** What was written behind its end since then is not read. */
function reopened({ path, stat }: PlainFile): number {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ENOENT' ? changed(path) : readError(path, error)
  }
  const { dev, ino, size } = fstatSync(fd, { bigint: true })
  if (dev === stat.dev && ino === stat.ino && size >= stat.size) return fd
  closeSync(fd)
  throw changed(path)
}

/** The error for an input that is not what was read before. */
export function changed(path: string): SieveError {
  return new SieveError(
    'disk',
    `${path} has changed while it was read for the second time: expected a file that stays as it is; copy it, or pass it through a pipe`,
    { operation: 'read' },
  )
}
