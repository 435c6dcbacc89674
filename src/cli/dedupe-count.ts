// `urlsieve dedupe --count`: every URL once, with how often it came, in the order of first occurrence. The counts are in
// memory; the lines go to a temporary file where they are large.
import { writeSync } from 'node:fs'
import type { Profile } from '../canonical/profiles.ts'
import { defaultLimit } from '../disk/machine-memory.ts'
import type { RunFile } from '../disk/run.ts'
import { ReadAhead } from '../disk/sequential.ts'
import { TempFiles } from '../disk/temp-files.ts'
import { chooseHash } from '../hashes.ts'
import { Keyer } from '../keyer/keyer.ts'
import type { Counts, DedupeTarget } from './dedupe-run.ts'
import { HashCounts } from './hash-counts.ts'
import type { RecordInput } from './input-options.ts'
import { type Records, readRecords } from './record-input.ts'

/** As `uniq -c` sets them. */
const COUNT_WIDTH = 7
/** Before each row. */
const LENGTH_BYTES = 4
/** Rows in memory. */
const MEMORY_BYTES = 64 * 1024 ** 2
const NOTHING = new Uint8Array(0)

export interface CountRequest {
  readonly input: RecordInput
  /** Print only what came more than once. */
  readonly isRepeated: boolean
  readonly profile: Profile
  /** The folder for temporary files. */
  readonly temp: string
}

export class CountTarget implements DedupeTarget {
  readonly outlivesRun = false
  readonly #request: CountRequest
  readonly #keyer: Keyer
  readonly #counts = new HashCounts(defaultLimit())
  readonly #first: FirstRows
  /** The names of the columns, of the first input that has them. */
  #header: Uint8Array | undefined
  #lines = 0
  #bytes = 0
  #invalid = 0
  /** What ended the input early: thrown after the counts of what was read. */
  #failure: unknown

  private constructor(keyer: Keyer, request: CountRequest) {
    this.#keyer = keyer
    this.#request = request
    this.#first = new FirstRows(new TempFiles(request.temp))
  }

  static async open(request: CountRequest): Promise<CountTarget> {
    return new CountTarget(await Keyer.create(request.profile, chooseHash()), request)
  }

  async sift(path: string, write: (kept: Uint8Array) => void): Promise<void> {
    if (this.#failure !== undefined) return
    try {
      for await (const batch of readRecords(path, this.#request.input)) {
        this.#take(batch)
        write(NOTHING)
      }
    } catch (error) {
      this.#failure = error
    }
  }

  async finish(write: (kept: Uint8Array) => void): Promise<void> {
    const least = this.#request.isRepeated ? 2 : 1
    let place = 0
    if (this.#header) write(Buffer.concat([Buffer.from(' '.repeat(COUNT_WIDTH + 1)), this.#header]))
    for await (const block of this.#first.blocks()) {
      const parts: Uint8Array[] = []
      for (let at = 0; at < block.length; ) {
        const end = at + LENGTH_BYTES + block.readUInt32LE(at)
        const count = this.#counts.count(place++)
        if (count >= least) parts.push(countText(count), block.subarray(at + LENGTH_BYTES, end))
        at = end
      }
      write(Buffer.concat(parts))
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  counts(): Counts {
    const { size } = this.#counts
    return { lines: this.#lines, new: size, seen: this.#lines - size, bytes: this.#bytes }
  }

  async end() {
    return { invalid: this.#invalid, sizeBytes: this.#counts.sizeBytes }
  }

  #take({ header, rows, ends, urls, bytes, without }: Records): void {
    this.#bytes += bytes
    this.#header ??= header
    const { hashes, invalid } = this.#keyer.hashesOf({ lines: urls })
    const halves = new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length)
    // The profile `raw` takes any line for a URL.
    this.#invalid += Math.max(invalid, without)
    const block = Buffer.allocUnsafe(rows.length + LENGTH_BYTES * ends.length)
    let size = 0
    let from = 0
    for (let i = 0; i < ends.length; i++) {
      const end = ends[i]!
      if (this.#counts.add(halves[2 * i]!, halves[2 * i + 1]!)) {
        size = block.writeUInt32LE(end - from, size)
        block.set(rows.subarray(from, end), size)
        size += end - from
      }
      from = end
    }
    this.#lines += ends.length
    this.#first.add(Buffer.from(block.subarray(0, size)))
  }
}

/** Most counts are small. */
const usualCounts: Buffer[] = []

function countText(count: number): Buffer {
  const make = () => Buffer.from(`${String(count).padStart(COUNT_WIDTH)} `)
  if (count > 1000) return make()
  usualCounts[count] ??= make()
  return usualCounts[count]
}

/** Blocks of rows, each row after its length, in the order in which they were added; in a temporary file from 64 MiB on. */
class FirstRows {
  readonly #temp: TempFiles
  #file: RunFile | null = null
  /** Lengths of the blocks in the file. */
  #written: number[] = []
  /** In memory, before they go to the file. */
  #blocks: Buffer[] = []
  #bytes = 0

  constructor(temp: TempFiles) {
    this.#temp = temp
  }

  add(block: Buffer): void {
    if (block.length === 0) return
    this.#blocks.push(block)
    this.#bytes += block.length
    if (this.#bytes > MEMORY_BYTES) this.#spill()
  }

  async *blocks(): AsyncGenerator<Buffer> {
    if (this.#file !== null) {
      const bytes = this.#written.reduce((sum, length) => sum + length, 0)
      const reader = new ReadAhead(this.#file.fd, this.#file.path, 0, bytes)
      for (const length of this.#written) {
        const block = Buffer.allocUnsafe(length)
        if ((await reader.fill(block)) < length) throw this.#file.errorOf(new Error('it was shortened'))
        yield block
      }
    }
    yield* this.#blocks
  }

  #spill(): void {
    this.#file ??= this.#temp.create()
    try {
      for (const block of this.#blocks) {
        for (let at = 0; at < block.length; ) at += writeSync(this.#file.fd, block, at)
        this.#written.push(block.length)
      }
    } catch (error) {
      throw this.#file.errorOf(error)
    }
    this.#blocks = []
    this.#bytes = 0
  }
}
