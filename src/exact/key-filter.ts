// The filter in memory before the keys on the disk: its "new" is certain, its "seen" is a maybe. It may know more keys than
// the disk (those deleted since), never fewer: until it is filled again after a crash, everything is a maybe.
import { existsSync } from 'node:fs'
import type { Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { compileKernel } from '../kernel.ts'
import type { Keyer } from '../keyer/keyer.ts'
import { identityOf, type SieveOptions } from '../sieve-options.ts'
import { type Counts, SieveState, STATE } from '../state.ts'
import { readSieve, writeSieveNow } from '../store/snapshot.ts'
import { keyOfLayout } from './key-layout.ts'
import type { KeyStore } from './key-store.ts'

/** One new URL in a hundred is looked up in vain: about 11 bits per URL. */
const RATE = 0.01
const FIRST_URLS = 1_000_000
const BITS_PER_URL = 11

export interface KeyFilterSize {
  readonly expectedUrls?: number | undefined
  readonly filterBytes?: number | undefined
}

/** Of a fixed size when its bytes are given; else it grows. */
function optionsOf(profile: Profile, { expectedUrls, filterBytes }: KeyFilterSize): SieveOptions {
  if (filterBytes === undefined) {
    return {
      profile,
      filter: 'scalable',
      expectedUrls: expectedUrls ?? FIRST_URLS,
      falsePositiveRate: RATE,
    }
  }
  const urls = expectedUrls ?? Math.max(1, Math.round((filterBytes * 8) / BITS_PER_URL))
  return { profile, filter: 'blocked', sizeBytes: filterBytes, expectedUrls: urls }
}

export class KeyFilter {
  readonly keyer: Keyer
  /** The filter knows every key on the disk: its "new" is certain. */
  isReady: boolean
  readonly #state: SieveState

  private constructor(state: SieveState, isReady: boolean) {
    this.isReady = isReady
    this.#state = state
    this.keyer = state.keyer
  }

  static async create(profile: Profile, size: KeyFilterSize, isReady: boolean): Promise<KeyFilter> {
    return new KeyFilter(new SieveState(await compileKernel(), identityOf(optionsOf(profile, size))), isReady)
  }

  /** The filter as it was saved; null when there is none, it cannot be read, or another size is wanted. */
  static async restore(path: string, profile: Profile, size: KeyFilterSize): Promise<KeyFilter | null> {
    if (!existsSync(path)) return null
    try {
      const { sieve } = await readSieve(path)
      if (size.expectedUrls !== undefined || size.filterBytes !== undefined) {
        const { plan } = identityOf(optionsOf(profile, size))
        if (JSON.stringify(plan) !== JSON.stringify(sieve.plan)) return null
      }
      return new KeyFilter(sieve[STATE], true)
    } catch (error) {
      // It is only a copy of what the keys say: a damaged one is rebuilt.
      if (error instanceof SieveError && error.code !== 'memory') return null
      throw error
    }
  }

  /** As they were saved with it. */
  get savedCounts(): Counts {
    const { urls, seen, invalid } = this.#state
    return { urls, seen, invalid }
  }

  get stats(): { filter: string; sizeBytes: number; rate: number } {
    const { sizeBytes, rate } = this.#state.shards.measure()
    return { filter: this.#state.plan.filter, sizeBytes, rate: rate! }
  }

  /** Marks entries [0, n) of the keyer's batch. Returns how many it marked: fewer than n when it is full. */
  add(n: number): number {
    return this.#state.add(0, n)
  }

  /** Gives entries [0, n) of the keyer's batch their verdicts. Marks nothing. */
  has(n: number): number {
    this.#state.has(0, n)
    return n
  }

  /** The verdict of entry i of the batch is "new", and that is certain. */
  isCertainlyNew(i: number): boolean {
    return this.isReady && this.#state.kernel.verdicts[i] === 1
  }

  clear(): void {
    this.#state.replace(this.#state.emptyShards(), { urls: 0, seen: 0, invalid: 0 })
    this.isReady = true
  }

  /** Takes in every key of the store, some at a time; `isWanted` is called between. Returns how many there were. */
  async fill(store: KeyStore, isWanted: () => boolean): Promise<number | null> {
    let count = 0
    for await (const laid of store.keys()) {
      if (!isWanted()) return null
      this.#addKeys(laid.map(keyOfLayout))
      count += laid.length
    }
    return isWanted() ? count : null
  }

  /** Writes the filter and the counts to a file. */
  save(path: string, counts: Counts): void {
    Object.assign(this.#state, counts)
    writeSieveNow(path, this.#state)
  }

  #addKeys(keys: readonly Buffer[]): void {
    const { kernel, shards } = this.#state
    for (let from = 0; from < keys.length; from += kernel.batchLines) {
      const some = keys.slice(from, from + kernel.batchLines)
      this.keyer.takeKeys(some)
      shards.addAll(some.length)
      kernel.refresh()
    }
  }
}
