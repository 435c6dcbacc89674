// `urlsieve dedupe` in memory, without a limit given: when the process has used its share of the memory that there is, the hashes
// become runs on disk and the run continues with those, instead of being ended by the system.
import { tmpdir } from 'node:os'
import { defaultLimit } from '../disk/machine-memory.ts'
import type { TempFiles } from '../disk/temp-files.ts'
import { isWideHash } from '../hashes.ts'
import type { Sieve } from '../index.ts'
import { formatBytes } from '../quantities.ts'
import { STATE } from '../state.ts'
import { rateStats } from './capacity.ts'
import type { DiskTarget, SieveParts } from './dedupe-disk.ts'
import type { Counts, DedupeTarget, WriteKept } from './dedupe-run.ts'
import { readInput } from './input.ts'
import { writeStderr } from './output.ts'

export interface SpillRequest {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
  /** Bytes, for the whole process; default: a share of what there is. */
  readonly limitBytes?: number
  /** The folder for temporary files; default: the system's. */
  readonly temp?: string
}

/** Memory is looked at once per this much input. */
const CHECK_BYTES = 16 * 1024 ** 2
/** The memory of a smaller table would not help. */
const LEAST_TABLE_BYTES = 8 * 1024 ** 2

interface InMemory {
  readonly sieve: Sieve
  readonly feed: ReturnType<Sieve['feed']>
}

export class SpillingTarget implements DedupeTarget {
  readonly outlivesRun = false
  readonly profile: Sieve['profile']
  readonly #request: SpillRequest
  readonly #limitBytes: number
  /** Until the run continues on disk: nothing else may refer to it, so that its memory becomes free. */
  #memory: InMemory | null
  #disk: DiskTarget | null = null
  /** What was counted in memory, when the run has left it. */
  #before: Counts & { readonly invalid: number } = { lines: 0, new: 0, seen: 0, bytes: 0, invalid: 0 }
  #bytes = 0
  #nextCheck = CHECK_BYTES

  constructor(sieve: Sieve, request: SpillRequest) {
    const { keep, as } = request
    this.profile = sieve.profile
    this.#request = request
    this.#limitBytes = request.limitBytes ?? defaultLimit()
    this.#memory = { sieve, feed: sieve.feed({ keep, as }) }
  }

  /** Whether runs can take over: they are of 64-bit hashes that are evenly spread. */
  static canSpill(sieve: Sieve): boolean {
    return sieve.plan.filter === 'fingerprint' && sieve[STATE].hash.names.every(isWideHash)
  }

  async sift(path: string, write: WriteKept): Promise<void> {
    if (this.#disk) return this.#disk.sift(path, write)
    let position = 0
    await readInput(path, {
      reserve: (size) => (this.#disk ?? this.#memory!.feed).reserve(size),
      push: (size, at) => {
        position = at
        if (this.#disk) return this.#disk.push(size, at, write)
        this.#bytes += size
        void write(this.#memory!.feed.push(size), at)
        if (this.#bytes < this.#nextCheck) return undefined
        this.#nextCheck = this.#bytes + CHECK_BYTES
        return this.#isFull ? this.#spill(path, at, write) : undefined
      },
    })
    if (this.#disk) await (this.#disk as DiskTarget).endInput(write)
    else void write(this.#memory!.feed.end(), position)
  }

  async finish(write: WriteKept): Promise<void> {
    await this.#disk?.finish(write)
  }

  counts(): Counts {
    const before = this.#memory ? this.#counted(this.#memory) : this.#before
    const { lines, new: fresh, seen, bytes } = this.#disk?.counts() ?? NONE
    return {
      lines: before.lines + lines,
      new: before.new + fresh,
      seen: before.seen + seen,
      bytes: before.bytes + bytes,
    }
  }

  async end() {
    if (this.#memory) {
      const { sieve } = this.#memory
      await sieve.close()
      const stats = sieve.stats()
      return { invalid: stats.invalid, sizeBytes: stats.sizeBytes, ...rateStats(stats) }
    }
    // Null where the change to disk has failed.
    const ended = await this.#disk?.end()
    return {
      ...(ended ?? { sizeBytes: null }),
      invalid: this.#before.invalid + (ended?.invalid ?? 0),
    }
  }

  get #isFull(): boolean {
    if (process.memoryUsage.rss() < this.#limitBytes) return false
    return this.#memory!.sieve.stats().sizeBytes >= LEAST_TABLE_BYTES
  }

  #counted({ sieve, feed }: InMemory): Counts & { readonly invalid: number } {
    const { urls, seen, invalid } = sieve.stats()
    return { lines: feed.lines, new: urls, seen, invalid, bytes: this.#bytes }
  }

  // Input up to `at` was sifted, but for half a line.
  async #spill(path: string, at: number, write: WriteKept): Promise<void> {
    const folder = this.#request.temp ?? tmpdir()
    const used = formatBytes(process.memoryUsage.rss())
    writeStderr(
      `urlsieve: ${used} of memory are in use, the most without --max-memory: continuing with temporary files in ${folder}\n`,
    )
    const { DiskTarget } = await import('./dedupe-disk.ts')
    const { TempFiles } = await import('../disk/temp-files.ts')
    const temp = new TempFiles(folder)
    const { runs, rest, parts } = await this.#leaveMemory(temp)
    const { keep, as } = this.#request
    this.#disk = await DiskTarget.continueWith(runs, parts, { keep, as, limitBytes: this.#limitBytes, temp })
    this.#disk.begin(path, at - rest.length)
    if (rest.length === 0) return
    this.#disk.reserve(rest.length).set(rest)
    // These bytes are counted already.
    this.#before = { ...this.#before, bytes: this.#before.bytes - rest.length }
    await this.#disk.push(rest.length, at, write)
  }

  // Writes the hashes to runs and gives the sieve up. Its memory is free when this has returned: no caller has a part of it.
  async #leaveMemory(temp: TempFiles) {
    const { writeSieveRuns } = await import('../disk/sieve-runs.ts')
    const { sieve, feed } = this.#memory!
    const { kernel, shards, urls, profile, hash } = sieve[STATE]
    function* hashes(): Generator<BigUint64Array> {
      for (const { filter } of shards.all) yield* filter.hashes!()
    }
    const runs = await writeSieveRuns(kernel.module, temp, hashes(), urls)
    const rest = Uint8Array.from(feed.rest())
    this.#before = this.#counted(this.#memory!)
    this.#memory = null
    const parts: SieveParts = { module: kernel.module, profile, hash }
    return { runs, rest, parts }
  }
}

const NONE: Counts = { lines: 0, new: 0, seen: 0, bytes: 0 }
