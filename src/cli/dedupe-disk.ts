// `urlsieve dedupe --max-memory SIZE`: the same job where the URLs do not fit into memory. Hashes go to sorted runs in a
// temporary folder, and lines wait for their verdicts: see src/disk/disk-feed.ts.
import { tmpdir } from 'node:os'
import { type Profile, type ProfileName, resolveProfile } from '../canonical/profiles.ts'
import { DiskFeed, type WriteLines } from '../disk/disk-feed.ts'
import { DiskStore } from '../disk/disk-store.ts'
import { BufferWatch } from '../disk/garbage.ts'
import { shareLeft, shareOf } from '../disk/memory-limit.ts'
import type { Run } from '../disk/run.ts'
import { TempFiles } from '../disk/temp-files.ts'
import { chooseHash, type HashChoice } from '../hashes.ts'
import type { Delivered, Durability } from '../journal.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { Keyer } from '../keyer/keyer.ts'
import type { Counts, DedupeTarget, WriteKept } from './dedupe-run.ts'
import { isPlainFile, readInput } from './input.ts'

export interface DiskRequest {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
  /** Absent: that of the store. */
  readonly profile?: ProfileName
  /** The folder in which the hashes are kept after the run. */
  readonly state?: string
  readonly durability?: Durability
  /** Bytes, for the whole process. */
  readonly maxMemory: number
  /** The folder for temporary files; default: the system's. */
  readonly temp?: string
}

/** What of a sieve in memory its continuation on disk needs. */
export interface SieveParts {
  readonly module: WebAssembly.Module
  readonly profile: Profile
  readonly hash: HashChoice
}

export interface ContinuedRequest extends Pick<DiskRequest, 'keep' | 'as'> {
  /** Bytes, for the whole process. */
  readonly limitBytes: number
  readonly temp: TempFiles
}

export class DiskTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly #feed: DiskFeed
  readonly #store: DiskStore | undefined
  readonly #buffers = new BufferWatch()
  #bytes = 0
  #position = 0

  private constructor(feed: DiskFeed, store?: DiskStore) {
    this.#feed = feed
    this.#store = store
    this.outlivesRun = store !== undefined
  }

  static async open(request: DiskRequest): Promise<DiskTarget> {
    const module = await compileKernel()
    const { keep, as, maxMemory } = request
    const { kernelBytes, ...share } = shareOf(maxMemory, request.state !== undefined)
    const kernel = Kernel.create(module, kernelBytes)
    const temp = new TempFiles(request.temp ?? tmpdir())
    if (request.state === undefined) {
      const keyer = new Keyer(kernel, resolveProfile(request.profile ?? 'web'), chooseHash())
      return new DiskTarget(new DiskFeed(keyer, temp, { keep, as, ...share }))
    }
    const store = DiskStore.open(request.state, request)
    try {
      const keyer = new Keyer(kernel, store.profile, store.hash)
      const feed = new DiskFeed(keyer, temp, { keep, as, ...share, store })
      await feed.restore()
      return new DiskTarget(feed, store)
    } catch (error) {
      store.close()
      throw error
    }
  }

  /** Continues in the middle of a run: the hashes of what was delivered are in `runs`. */
  static async continueWith(
    runs: readonly Run[],
    { module, profile, hash }: SieveParts,
    { keep, as, limitBytes, temp }: ContinuedRequest,
  ): Promise<DiskTarget> {
    const { kernelBytes, ...share } = await shareLeft(limitBytes)
    const keyer = new Keyer(Kernel.create(module, kernelBytes), profile, hash)
    return new DiskTarget(new DiskFeed(keyer, temp, { keep, as, ...share, runs }))
  }

  async sift(path: string, write: WriteKept): Promise<void> {
    this.begin(path)
    await readInput(path, {
      reserve: (bytes) => this.reserve(bytes),
      push: (bytes, at) => this.push(bytes, at, write),
    })
    await this.endInput(write)
  }

  /** The steps of `sift`: an input begins, at a position of it, … */
  begin(path: string, position = 0): void {
    this.#position = position
    this.#feed.begin(isPlainFile(path) ? path : null, position)
  }

  reserve(bytes: number): Uint8Array {
    return this.#feed.reserve(bytes)
  }

  push(bytes: number, at: number, write: WriteKept): Promise<void> | undefined {
    this.#bytes += bytes
    this.#position = at
    this.#buffers.pass(bytes)
    const wait = this.#feed.push(bytes, this.#at(write))
    if (!wait) void write(NOTHING, at)
    return wait
  }

  /** … and has ended. */
  endInput(write: WriteKept): Promise<void> {
    return this.#feed.end(this.#at(write))
  }

  finish(write: WriteKept): Promise<void> {
    return this.#feed.finish(this.#at(write))
  }

  deliverTo(files: Delivered): void {
    if (this.#store) this.#store.delivered = files
  }

  #at(write: WriteKept): WriteLines {
    return (kept, isLater) => {
      this.#buffers.pass(kept.length)
      return write(kept, this.#position, isLater)
    }
  }

  counts(): Counts {
    const { lines, new: fresh, seen } = this.#feed
    return { lines, new: fresh, seen, bytes: this.#bytes }
  }

  async end() {
    const { invalid, sizeBytes, runs, waiting } = this.#feed
    const disk = {
      runs: runs.runs.length,
      runBytes: runs.bytes,
      writtenBytes: runs.writtenBytes + waiting.spilledBytes,
    }
    this.#feed.close()
    this.#store?.close()
    return { invalid, sizeBytes, disk }
  }
}

const NOTHING = new Uint8Array(0)
