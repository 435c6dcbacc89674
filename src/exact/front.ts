// The filter in front of the disk: a sieve in memory whose "new" is certain and whose "seen" is a maybe. It makes the
// keys too, once, in the kernel. It may know more than the disk (what was deleted), never less: until it is filled
// again after a crash, everything is a maybe.
import { existsSync } from 'node:fs'
import type { Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { makeSieve, type Sieve, type SieveOptions } from '../sieve.ts'
import { type Journal, type SieveState, STATE } from '../state.ts'
import { readSieve, writeSieveNow } from '../store/snapshot.ts'
import { keyOfLayout } from './key-layout.ts'
import type { KeyStore } from './key-store.ts'

/** One new URL in a hundred is looked up in vain: about 11 bits per URL. */
const RATE = 0.01
const FIRST_URLS = 1_000_000
const BITS_PER_URL = 11

export interface FrontSize {
  readonly expectedUrls?: number | undefined
  readonly filterBytes?: number | undefined
}

/** Of a fixed size when its bytes are given; else it grows. */
function optionsOf(profile: Profile, { expectedUrls, filterBytes }: FrontSize): SieveOptions {
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

/** What it asks for each batch: entries [from, n) have their keys, hashes and the filter's verdicts in the kernel. */
export type OnBatch = (state: SieveState, from: number, n: number) => void

export class Front {
  readonly sieve: Sieve
  /** The filter knows every key on the disk: its "new" is certain. */
  isReady: boolean
  readonly #state: SieveState
  #onBatch: OnBatch = () => {}

  private constructor(sieve: Sieve, isReady: boolean) {
    this.sieve = sieve
    this.isReady = isReady
    this.#state = sieve[STATE]
    this.#state.journal = this.#journal()
  }

  static async create(profile: Profile, size: FrontSize, isReady: boolean): Promise<Front> {
    return new Front(await makeSieve(optionsOf(profile, size)), isReady)
  }

  /** The filter as it was saved, or null: there is none, it cannot be read, or another size is asked for. */
  static async restore(path: string, profile: Profile, size: FrontSize): Promise<Front | null> {
    if (!existsSync(path)) return null
    try {
      const { sieve } = await readSieve(path)
      if (size.expectedUrls !== undefined || size.filterBytes !== undefined) {
        const wanted = await makeSieve(optionsOf(profile, size))
        if (JSON.stringify(wanted.plan) !== JSON.stringify(sieve.plan)) return null
      }
      return new Front(sieve, true)
    } catch (error) {
      // It is only a copy of what the keys say: a damaged one is made anew.
      if (error instanceof SieveError && error.code !== 'memory') return null
      throw error
    }
  }

  /** Lines that were not URLs. */
  get invalid(): number {
    return this.#state.invalid
  }

  /** Runs a question through the sieve; each of its batches goes to `onBatch`. */
  ask(question: (sieve: Sieve) => void, onBatch: OnBatch): void {
    this.#onBatch = onBatch
    try {
      question(this.sieve)
    } finally {
      this.#onBatch = () => {}
    }
  }

  /** Takes in every key of the store, some at a time; `isWanted` is asked between. Returns how many there were. */
  async fill(store: KeyStore, isWanted: () => boolean): Promise<number | null> {
    let count = 0
    for await (const laid of store.keys()) {
      if (!isWanted()) return null
      this.#take(laid.map(keyOfLayout))
      count += laid.length
    }
    return isWanted() ? count : null
  }

  /** Writes the filter and the counts down. */
  save(path: string, counts: { urls: number; seen: number; invalid: number }): void {
    Object.assign(this.#state, counts)
    writeSieveNow(path, this.#state)
  }

  #take(keys: readonly Buffer[]): void {
    const { kernel, shards } = this.#state
    for (let from = 0; from < keys.length; from += kernel.batchLines) {
      const some = keys.slice(from, from + kernel.batchLines)
      const bytes = some.reduce((sum, key) => sum + key.length, 0)
      let at = kernel.call.reserveSpill(bytes) >>> 0
      kernel.refresh()
      if (at === 0 && bytes > 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of keys`)
      for (const [i, key] of some.entries()) {
        kernel.bytes.set(key, at)
        kernel.keyStarts[i] = at
        at += key.length
        kernel.keyEnds[i] = at
      }
      this.#state.hashKeys(some.length)
      shards.addAll(some.length)
      kernel.refresh()
    }
  }

  // The sieve tells its journal of every batch: that is where the keys are got.
  #journal(): Journal {
    return {
      amend: (from, n) => this.#onBatch(this.#state, from, n),
      added: () => {},
      deleted: () => {},
      cleared: () => {},
      sync: () => {},
      save: async () => {},
      close: async () => {},
      info: () => ({
        path: '',
        durability: 'never',
        logBytes: 0,
        snapshotBytes: 0,
        snapshotting: false,
        keepKeys: false,
      }),
    }
  }
}
