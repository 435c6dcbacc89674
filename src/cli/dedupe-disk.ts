// `urlsieve dedupe --max-memory SIZE`: the same job where the URLs do not fit into memory. Hashes go to sorted runs in a
// temporary folder, and lines wait for their verdicts: see src/disk/disk-feed.ts.
import { tmpdir } from 'node:os'
import { type ProfileName, resolveProfile } from '../canonical/profiles.ts'
import { DiskFeed } from '../disk/disk-feed.ts'
import { DiskStore } from '../disk/disk-store.ts'
import { shareOf } from '../disk/memory-limit.ts'
import { TempFiles } from '../disk/temp-files.ts'
import { chooseHash } from '../hashes.ts'
import type { Durability } from '../journal.ts'
import { compileKernel, Kernel } from '../kernel.ts'
import { Keyer } from '../keyer/keyer.ts'
import type { Counts, DedupeTarget } from './dedupe-run.ts'
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

export class DiskTarget implements DedupeTarget {
  readonly outlivesRun = false
  readonly #feed: DiskFeed
  readonly #store: DiskStore | undefined
  #bytes = 0
  #position = 0

  private constructor(feed: DiskFeed, store?: DiskStore) {
    this.#feed = feed
    this.#store = store
  }

  static async open(request: DiskRequest): Promise<DiskTarget> {
    const module = await compileKernel()
    const { keep, as, maxMemory } = request
    const { capacity, kernelBytes } = shareOf(maxMemory)
    const kernel = Kernel.create(module, kernelBytes)
    const temp = new TempFiles(request.temp ?? tmpdir())
    if (request.state === undefined) {
      const keyer = new Keyer(kernel, resolveProfile(request.profile ?? 'web'), chooseHash())
      return new DiskTarget(new DiskFeed(keyer, temp, { keep, as, capacity }))
    }
    const store = DiskStore.open(request.state, request)
    try {
      const keyer = new Keyer(kernel, store.profile, store.hash)
      const feed = new DiskFeed(keyer, temp, { keep, as, capacity, store })
      await feed.restore()
      return new DiskTarget(feed, store)
    } catch (error) {
      store.close()
      throw error
    }
  }

  async sift(path: string, write: (kept: Uint8Array, position?: number) => void): Promise<void> {
    const feed = this.#feed
    const writeAt = (kept: Uint8Array) => write(kept, this.#position)
    feed.begin(isPlainFile(path) ? path : null)
    await readInput(path, {
      room: (bytes) => feed.room(bytes),
      push: (bytes, at) => {
        this.#bytes += bytes
        this.#position = at
        const wait = feed.push(bytes, writeAt)
        write(NOTHING, at)
        return wait
      },
    })
    await feed.end(writeAt)
  }

  finish(write: (kept: Uint8Array) => void): Promise<void> {
    return this.#feed.finish(write)
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
