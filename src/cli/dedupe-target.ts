// The two ways of `dedupe` through a sieve: a sieve of this process takes the input straight into the kernel's memory; any
// other takes whole lines, a batch at a time, and answers later.
import type { Profile } from '../canonical/profiles.ts'
import type { AnySieve, DeletingSieve, Sieve } from '../index.ts'
import { keepLines } from '../lines/keep.ts'
import { siftLines } from '../lines/sift.ts'
import { type Counts as Known, STATE } from '../state.ts'
import { Capacity, rateStats } from './capacity.ts'
import type { Counts, DedupeTarget } from './dedupe-run.ts'
import type { Forget } from './delivery.ts'
import { readChunks, readInput } from './input.ts'

export interface FeedRequest {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
  readonly outlivesRun: boolean
}

/** Forgets a line that was not written; a key is not always its own key again. */
export function forgetOf(sieve: Sieve, as: 'line' | 'key'): Forget | undefined {
  const canForget = as === 'line' && 'delete' in sieve
  return canForget ? (url) => (sieve as DeletingSieve).delete(url) : undefined
}

export class FeedTarget implements DedupeTarget {
  readonly outlivesRun: boolean
  readonly profile: Profile
  readonly forget: Forget | undefined
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
    this.#feed = sieve.feed({ keep, as })
    this.#capacity = new Capacity(sieve)
    this.forget = forgetOf(sieve, as)
  }

  async sift(path: string, write: (kept: Uint8Array, position?: number) => void): Promise<void> {
    const feed = this.#feed
    let position = 0
    await readInput(path, {
      reserve: (size) => feed.reserve(size),
      push: (size, at) => {
        this.#bytes += size
        position = at
        write(feed.push(size), at)
        this.#capacity.watch()
      },
    })
    write(feed.end(), position)
    this.#capacity.watch()
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

export class LineTarget implements DedupeTarget {
  readonly outlivesRun = true
  readonly forget: Forget
  readonly #sieve: Pick<AnySieve, 'addLines'>
  readonly #keep: 'new' | 'seen'
  readonly #end: DedupeTarget['end']
  readonly #counts = { lines: 0, new: 0, seen: 0, bytes: 0 }

  constructor(
    sieve: Pick<AnySieve, 'addLines'>,
    keep: 'new' | 'seen',
    { forget, end }: { readonly forget: Forget; readonly end: DedupeTarget['end'] },
  ) {
    this.forget = forget
    this.#sieve = sieve
    this.#keep = keep
    this.#end = end
  }

  async sift(path: string, write: (kept: Uint8Array) => void): Promise<void> {
    const counts = this.#counts
    for await (const batch of siftLines(this.#sieve, readChunks(path))) {
      for (const verdict of batch.verdicts) {
        counts.new += Number(verdict === 1)
        counts.seen += Number(verdict === 0)
      }
      counts.lines += batch.verdicts.length
      counts.bytes += batch.lines.length
      write(keepLines(batch, this.#keep))
    }
  }

  counts(): Counts {
    return this.#counts
  }

  end(): ReturnType<DedupeTarget['end']> {
    return this.#end()
  }
}
