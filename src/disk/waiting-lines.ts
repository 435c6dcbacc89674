// Lines that wait for their verdicts, as the chunks in which they came: read again from the input where it is a plain file,
// else kept in a temporary file, which each batch overwrites from its beginning. Each chunk of a plain file has a checksum, so that
// an input that has changed meanwhile is noticed.
import { closeSync, openSync } from 'node:fs'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { readError } from '../store/file.ts'
import type { RunFile } from './run.ts'
import { ReadAhead, twoBuffers, WriteBehind } from './sequential.ts'
import type { TempFiles } from './temp-files.ts'

/** Consecutive chunks of one file. */
interface Section {
  readonly file: { readonly fd: number; readonly path: string }
  /** Where the first chunk begins. */
  readonly from: number
  readonly lengths: number[]
  /** Of a plain file, which others can change. */
  readonly checksums: bigint[]
  /** Behind the last chunk the input ends: a last line without a newline is a line too. */
  readonly isEnd: boolean
}

const NO_FILE = { fd: -1, path: '' }

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
  /** The plain file that chunks are from now, and those of earlier chunks. */
  #input: { fd: number; path: string } | null = null
  readonly #closing: number[] = []
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
      this.#input = { fd: openSync(path, 'r'), path }
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
    this.#sections.push({ file: NO_FILE, from: 0, lengths: [], checksums: [], isEnd: true })
    if (this.#input) this.#closing.push(this.#input.fd)
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
    for (const section of this.#sections) await this.#replaySection(section, sink)
    this.#sections = []
    this.#out = undefined
    for (const fd of this.#closing.splice(0)) closeSync(fd)
  }

  async #replaySection({ file, from, lengths, checksums, isEnd }: Section, sink: ChunkSink): Promise<void> {
    const to = lengths.reduce((sum, bytes) => sum + bytes, from)
    const reader = new ReadAhead(file.fd, file.path, from, to, this.#reading)
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
    }
    if (isEnd) await sink.end()
  }

  close(): void {
    if (this.#spill) closeSync(this.#spill.fd)
    if (this.#input) closeSync(this.#input.fd)
    for (const fd of this.#closing.splice(0)) closeSync(fd)
  }
}

/** The error for an input that is not what was read before. */
export function changed(path: string): SieveError {
  return new SieveError(
    'disk',
    `${path} has changed while it was read for the second time: expected a file that stays as it is; copy it, or pass it through a pipe`,
    { operation: 'read' },
  )
}
