// The two ways of `dedupe` through a sieve: a sieve of this process takes the input straight into the kernel's memory; any
// other takes whole lines, a batch at a time, and answers later.
import type { Profile } from '../canonical/profiles.ts'
import type { AnySieve, Sieve } from '../index.ts'
import type { Delivered } from '../journal.ts'
import { keepLines } from '../lines/keep.ts'
import { siftLines } from '../lines/sift.ts'
import { type Counts as Known, STATE } from '../state.ts'
import { Capacity, rateStats } from './capacity.ts'
import type { Counts, DedupeTarget, WriteKept } from './dedupe-run.ts'
import { readChunks, readInput } from './input.ts'

/** A sieve that answers later, and what it confirms was delivered to. */
export type LineSieve = Pick<AnySieve, 'addLines' | 'confirm'> & { delivered?: Delivered | null }

export interface FeedRequest {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
  readonly outlivesRun: boolean
}

export class FeedTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly profile: Profile
  readonly #sieve: Sieve
  readonly #feed: ReturnType<Sieve['feed']>
  readonly #capacity: Capacity
  /** When the run began. */
  readonly #known: Known
  #bytes = 0

  constructor(sieve: Sieve, { keep, as, outlivesRun }: FeedRequest) {
    this.outlivesRun = outlivesRun
    this.profile = sieve.profile
    this.#sieve = sieve
    const { urls, seen, invalid } = sieve[STATE]
    this.#known = { urls, seen, invalid }
    this.#feed = sieve.feed({ keep, as, confirm: false })
    this.#capacity = new Capacity(sieve)
  }

  async sift(path: string, write: WriteKept): Promise<void> {
    const feed = this.#feed
    let position = 0
    await readInput(path, {
      reserve: (size) => feed.reserve(size),
      push: (size, at) => {
        this.#bytes += size
        position = at
        const wait = write(feed.push(size), at)
        this.#capacity.watch()
        return wait
      },
    })
    await write(feed.end(), position)
    this.#capacity.watch()
  }

  confirm(): void {
    this.#sieve.confirm()
  }

  deliverTo(files: Delivered): void {
    deliverTo(this.#sieve, files)
  }

  counts(): Counts {
    const { urls, seen } = this.#sieve[STATE]
    return {
      lines: this.#feed.lines,
      new: urls - this.#known.urls,
      seen: seen - this.#known.seen,
      bytes: this.#bytes,
    }
  }

  async end() {
    await this.#sieve.close()
    const stats = this.#sieve.stats()
    const { sizeBytes } = stats
    return { invalid: stats.invalid - this.#known.invalid, sizeBytes, ...rateStats(stats) }
  }

  warn(): void {
    this.#capacity.summarise()
  }
}

/** The store of a sieve confirms what is in these files. */
export function deliverTo(sieve: Sieve, files: Delivered): void {
  const { journal } = sieve[STATE]
  if (journal) journal.delivered = files
}

export class LineTarget implements DedupeTarget {
  readonly outlivesRun = true
  readonly #sieve: LineSieve
  readonly #keep: 'new' | 'seen'
  readonly #end: DedupeTarget['end']
  readonly #counts = { lines: 0, new: 0, seen: 0, bytes: 0 }

  constructor(sieve: LineSieve, keep: 'new' | 'seen', end: DedupeTarget['end']) {
    this.#sieve = sieve
    this.#keep = keep
    this.#end = end
  }

  async sift(path: string, write: WriteKept): Promise<void> {
    const counts = this.#counts
    for await (const batch of siftLines(this.#sieve, readChunks(path))) {
      for (const verdict of batch.verdicts) {
        counts.new += Number(verdict === 1)
        counts.seen += Number(verdict === 0)
      }
      counts.lines += batch.verdicts.length
      counts.bytes += batch.lines.length
      await write(keepLines(batch, this.#keep))
    }
  }

  confirm(): void | Promise<void> {
    return this.#sieve.confirm?.()
  }

  deliverTo(files: Delivered): void {
    this.#sieve.delivered = files
  }

  counts(): Counts {
    return this.#counts
  }

  end(): ReturnType<DedupeTarget['end']> {
    return this.#end()
  }
}
