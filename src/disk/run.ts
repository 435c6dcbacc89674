// A run: ascending hashes in one file, written in one pass and read in one pass. The kernel codes and decodes blocks
// (kernel/runs.ts); the index, one entry per 64 blocks, is in memory, and the filter where there is memory for it.
import { closeSync, fstatSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { openFile, readError, readFully, removeQuietly, writeFully } from '../store/file.ts'
import { damaged } from '../store/format.ts'
import type { RunFilter } from './run-filter.ts'
import {
  BLOCK_BYTES,
  decodeRunHeader,
  encodeRunHeader,
  filterAt,
  HEADER_BYTES,
  INDEX_BLOCKS,
  indexEntries,
  type RunHeader,
  runBytes,
} from './run-header.ts'
import { IO_BYTES, ReadAhead, twoBuffers, WriteBehind } from './sequential.ts'

/** Hashes that go to or come from the kernel's coder together. */
export const SOME_HASHES = 16_384
/** The most hashes of one block. */
export const BLOCK_HASHES = 4096

/** Memory of a kernel instance, and of Node, for all runs that are read and written with it, one at a time. */
export class RunBuffers {
  readonly kernel: Kernel
  /** Addresses: hashes to be coded, and blocks. */
  readonly hashesAt: number
  readonly blocksAt: number
  readonly reading = twoBuffers()
  readonly writing = twoBuffers()

  constructor(kernel: Kernel) {
    this.kernel = kernel
    this.hashesAt = allocate(kernel, SOME_HASHES * 8)
    this.blocksAt = allocate(kernel, IO_BYTES)
  }
}

/** Memory of the kernel for as long as it lives. */
export function allocate(kernel: Kernel, bytes: number): number {
  const at = kernel.call.runBuffer(bytes) >>> 0
  kernel.refresh()
  if (at === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of runs`)
  return at
}

/** A file that a run is written to. */
export interface RunFile {
  readonly fd: number
  readonly path: string
  /** The error for a disk that refuses. */
  errorOf(error: unknown): Error
}

export class Run {
  readonly file: RunFile
  readonly header: RunHeader
  readonly index: BigUint64Array
  /** Null: it is not in memory. */
  #filter: RunFilter | null

  constructor(file: RunFile, header: RunHeader, index: BigUint64Array, filter: RunFilter | null = null) {
    this.file = file
    this.header = header
    this.index = index
    this.#filter = filter
  }

  /** Opens a run that was written before; its blocks are checked when they are read. */
  static open(path: string, set?: bigint): Run {
    const fd = openFile(path)
    try {
      const { size } = fstatSync(fd)
      const head = Buffer.alloc(Math.min(HEADER_BYTES, size))
      readFully(fd, head, 0)
      const header = decodeRunHeader(path, head, size)
      if (set !== undefined && header.set !== set) {
        throw damaged(path, 40, 'it belongs to another store')
      }
      const at = HEADER_BYTES + header.blocks * BLOCK_BYTES
      const index = new BigUint64Array(indexEntries(header.blocks))
      const bytes = Buffer.from(index.buffer)
      readFully(fd, bytes, at)
      if (crc32(bytes) !== header.indexChecksum) {
        throw damaged(path, at, 'its index does not match its checksum')
      }
      const errorOf = (error: unknown) => readError(path, error)
      return new Run({ fd, path, errorOf }, header, index)
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  get bytes(): number {
    return runBytes(this.header)
  }

  get filter(): RunFilter | null {
    return this.#filter
  }

  /** Reads the filter of the file into this one, which is empty and has as many blocks. When it throws, it is released. */
  readFilter(filter: RunFilter): void {
    const { fd, path } = this.file
    let at = filterAt(this.header)
    let checksum = 0
    try {
      for (const bytes of filter.bytes()) {
        readFully(fd, bytes, at)
        at += bytes.length
        checksum = crc32(bytes, checksum)
      }
      if (checksum !== this.header.filterChecksum) {
        throw damaged(path, filterAt(this.header), 'its filter does not match its checksum')
      }
    } catch (error) {
      filter.release()
      throw error
    }
    this.#filter = filter
  }

  /** Gives the filter's memory back. */
  dropFilter(): void {
    this.#filter?.release()
    this.#filter = null
  }

  /** Reads and checks all blocks in order; `compare` marks their hashes in the pending table of the same kernel. */
  async scan({ kernel, blocksAt, reading }: RunBuffers, step: 'compare' | 'check'): Promise<void> {
    const { fd, path } = this.file
    const { blocks, hashes } = this.header
    const { call } = kernel
    const reader = new ReadAhead(fd, path, HEADER_BYTES, HEADER_BYTES + blocks * BLOCK_BYTES, reading)
    call.runScan()
    try {
      for (let done = 0; done < blocks; ) {
        const bytes = await reader.block()
        const some = Math.floor(bytes.length / BLOCK_BYTES)
        const at = HEADER_BYTES + done * BLOCK_BYTES
        if (some === 0) throw damaged(path, at, 'it ends before its last block')
        for (let i = (INDEX_BLOCKS - (done % INDEX_BLOCKS)) % INDEX_BLOCKS; i < some; i += INDEX_BLOCKS) {
          const isSame = bytes.readBigUInt64LE(i * BLOCK_BYTES) === this.index[(done + i) / INDEX_BLOCKS]
          if (!isSame) throw damaged(path, at + i * BLOCK_BYTES, 'a block is not the one in the index')
        }
        kernel.bytes.set(bytes, blocksAt)
        const sound = step === 'compare' ? call.runCompare(blocksAt, some) : call.runCheck(blocksAt, some)
        if (sound < some) throw damaged(path, at + sound * BLOCK_BYTES, 'a block does not match its checksum')
        done += some
      }
    } finally {
      await reader.end()
    }
    const count = call.scannedCount.value as number
    if (count !== hashes) throw damaged(path, 16, `it has ${count} hashes, expected ${hashes}`)
  }

  /** Reads the block in which `hash` is, if it is in the run, and decodes it to `to`. Returns the number of its hashes; 0: in none. */
  find(kernel: Kernel, hash: bigint, blockAt: number, to: number): number {
    const { index } = this
    let low = 0
    let high = index.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (index[middle]! <= hash) low = middle
      else high = middle
    }
    if (index.length === 0 || index[0]! > hash) return 0
    const from = low * INDEX_BLOCKS
    const most = Math.min(this.header.blocks - from, INDEX_BLOCKS)
    const end = index[low + 1] ?? 2n ** 64n
    // Hashes are evenly spread: the block is where the share of the range says, or next to it.
    let block = Number(((hash - index[low]!) * BigInt(most)) / (end - index[low]!))
    let isBehind = false
    for (;;) {
      const count = this.#decode(kernel, from + block, blockAt, to)
      const hashes = new BigUint64Array(kernel.bytes.buffer, to, count)
      if (hash < hashes[0]!) {
        // Between two blocks: in none.
        if (isBehind || block === 0) return 0
        block--
      } else if (hash > hashes[count - 1]! && block + 1 < most) {
        isBehind = true
        block++
      } else return count
    }
  }

  #decode(kernel: Kernel, block: number, blockAt: number, to: number): number {
    const { fd, path } = this.file
    const at = HEADER_BYTES + block * BLOCK_BYTES
    let got = 0
    try {
      got = readSync(fd, kernel.bytes, blockAt, BLOCK_BYTES, at)
    } catch (error) {
      throw readError(path, error)
    }
    const count = got === BLOCK_BYTES ? kernel.call.runDecode(blockAt, to) : 0
    if (count === 0) throw damaged(path, at, 'a block does not match its checksum')
    return count
  }

  close(): void {
    this.dropFilter()
    closeSync(this.file.fd)
  }
}

/** Writes one run. One at a time per kernel. */
export class RunWriter {
  readonly #buffers: RunBuffers
  readonly #file: RunFile
  readonly #out: WriteBehind
  readonly #index: bigint[] = []
  readonly #filter: RunFilter | null
  #blocks = 0
  #hashes = 0

  /** `expected` hashes, about: their code depends on it. `filter` is an empty one for them; without it the run has none. */
  constructor(buffers: RunBuffers, file: RunFile, expected: number, filter: RunFilter | null = null) {
    this.#buffers = buffers
    this.#file = file
    this.#filter = filter
    this.#out = new WriteBehind(file.fd, file.errorOf, HEADER_BYTES, buffers.writing)
    buffers.kernel.call.runBegin(expected)
  }

  /** How many hashes the run will have, about, as is known now. */
  expect(hashes: number): void {
    this.#buffers.kernel.call.runExpect(hashes)
  }

  /** Appends the `n` ascending hashes at `hashesAt`, at most `SOME_HASHES`. Wait for the promise, where there is one. */
  append(n: number): Promise<void> | undefined {
    const { kernel, hashesAt, blocksAt } = this.#buffers
    this.#hashes += n
    this.#filter?.add(new Uint32Array(kernel.bytes.buffer, hashesAt, 2 * n))
    return this.#write(kernel.call.runAppend(hashesAt, n, blocksAt))
  }

  #write(blocks: number): Promise<void> | undefined {
    if (blocks === 0) return undefined
    const { kernel, blocksAt } = this.#buffers
    const bytes = kernel.bytes.subarray(blocksAt, blocksAt + blocks * BLOCK_BYTES)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < blocks; i++) {
      if ((this.#blocks + i) % INDEX_BLOCKS === 0) this.#index.push(view.getBigUint64(i * BLOCK_BYTES, true))
    }
    this.#blocks += blocks
    return this.#out.write(bytes)
  }

  /** After a failure: nothing is left of the file. */
  async abandon(): Promise<void> {
    this.#filter?.release()
    await this.#out.settle()
    closeSync(this.#file.fd)
    removeQuietly(this.#file.path)
  }

  /** Completes the file. It is not synced. */
  async end(set: bigint, level: number): Promise<Run> {
    await this.#write(this.#buffers.kernel.call.runEnd(this.#buffers.blocksAt))
    const index = BigUint64Array.from(this.#index)
    const bytes = Buffer.from(index.buffer)
    await this.#out.write(bytes)
    const filter = this.#filter
    let filterChecksum = 0
    for (const page of filter?.bytes() ?? []) {
      await this.#out.write(page)
      filterChecksum = crc32(page, filterChecksum)
    }
    await this.#out.end()
    const header = {
      hashes: this.#hashes,
      blocks: this.#blocks,
      indexChecksum: crc32(bytes),
      set,
      level,
      filterBlocks: filter?.blocks ?? 0,
      filterChecksum,
    }
    try {
      writeFully(this.#file.fd, encodeRunHeader(header), 0)
    } catch (error) {
      throw this.#file.errorOf(error)
    }
    return new Run(this.#file, header, index, filter)
  }
}
