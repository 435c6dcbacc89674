// One run on its way through memory, block by block in its order, for a comparison or a merge. Each block is checked.
import type { KernelExports } from '../kernel.ts'
import { damaged } from '../store/format.ts'
import type { Run, RunBuffers } from './run.ts'
import { BLOCK_BYTES, HEADER_BYTES, INDEX_BLOCKS } from './run-header.ts'
import { ReadAhead } from './sequential.ts'

export class RunSource {
  /** Addresses: the hashes of the block that was decoded last which are not used yet. */
  start = 0
  end = 0
  readonly #run: Run
  readonly #reader: ReadAhead
  readonly #decodedAt: number
  #blocks = 0
  #hashes = 0
  #last = 0n

  /** Blocks are decoded to `decodedAt`, and read into two buffers, whose length is a multiple of theirs. */
  constructor(run: Run, decodedAt: number, buffers: Buffer<ArrayBuffer>[]) {
    this.#run = run
    this.#decodedAt = decodedAt
    const { fd, path } = run.file
    const end = HEADER_BYTES + run.header.blocks * BLOCK_BYTES
    this.#reader = new ReadAhead(fd, path, HEADER_BYTES, end, buffers)
  }

  /** Decodes the next block. False: there is none. Wait for the promise, where there is one. */
  next({ kernel, blocksAt }: RunBuffers): boolean | Promise<boolean> {
    const { header, file } = this.#run
    if (this.#blocks === header.blocks) {
      if (this.#hashes === header.hashes) return false
      throw damaged(file.path, 16, `it has ${this.#hashes} hashes, expected ${header.hashes}`)
    }
    const block = kernel.bytes.subarray(blocksAt, blocksAt + BLOCK_BYTES)
    if (this.#reader.ready < BLOCK_BYTES) {
      return this.#reader.fill(block).then((got) => this.#decode(kernel.call, blocksAt, block, got))
    }
    return this.#decode(kernel.call, blocksAt, block, this.#reader.fillNow(block))
  }

  #decode(call: KernelExports, blockAt: number, block: Uint8Array, got: number): true {
    const { file, index } = this.#run
    const wrong = (what: string) => damaged(file.path, HEADER_BYTES + this.#blocks * BLOCK_BYTES, what)
    if (got < BLOCK_BYTES) throw wrong('it ends before its last block')
    const count = call.runDecode(blockAt, this.#decodedAt)
    const hashes = new BigUint64Array(block.buffer, this.#decodedAt, count)
    if (count === 0 || hashes[0]! <= this.#last) throw wrong('a block does not match its checksum')
    if (this.#blocks % INDEX_BLOCKS === 0 && hashes[0] !== index[this.#blocks / INDEX_BLOCKS]) {
      throw wrong('a block is not the one in the index')
    }
    this.#last = hashes[count - 1]!
    this.#hashes += count
    this.#blocks++
    this.start = this.#decodedAt
    this.end = this.#decodedAt + count * 8
    return true
  }

  /** Waits for the read that is under way. */
  close(): Promise<void> {
    return this.#reader.end()
  }
}
