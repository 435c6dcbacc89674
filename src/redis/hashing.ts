// From URLs to the 64-bit hashes that go to the cluster, in the kernel: a sieve whose filter stays empty is asked, and
// what it tells its journal of each batch is all that is wanted.
import type { Profile } from '../canonical/profiles.ts'
import { SieveError } from '../errors.ts'
import { makeSieve, type Sieve } from '../sieve.ts'
import { type Journal, type SieveState, STATE } from '../state.ts'

const wrong = (): never => {
  throw new SieveError('option', 'a sieve that only hashes remembers nothing')
}

export class UrlHashes {
  /** Answers nothing of use itself; it explains URLs and counts the lines that are none. */
  readonly sieve: Sieve
  readonly #state: SieveState
  #hashes = new BigUint64Array(1024)
  #count = 0

  private constructor(sieve: Sieve) {
    this.sieve = sieve
    this.#state = sieve[STATE]
    const journal: Journal = {
      amend: (from, n) => this.#take(from, n),
      added: wrong,
      deleted: wrong,
      cleared: wrong,
      sync: wrong,
      save: wrong,
      close: wrong,
      info: () => undefined,
    }
    this.#state.journal = journal
  }

  static async create(profile: Profile, key: Uint8Array): Promise<UrlHashes> {
    return new UrlHashes(await makeSieve({ profile, key, hash: 'siphash', filter: 'fingerprint' }))
  }

  /** The hashes of the URLs that a question is about, in order. A copy. A list whose getters hash others is safe. */
  of(question: (sieve: Sieve) => void): BigUint64Array {
    const from = this.#count
    const { invalid } = this.#state
    try {
      question(this.sieve)
      return this.#hashes.slice(from, this.#count)
    } catch (error) {
      this.#state.invalid = invalid
      // What was hashed has no verdict: nothing was sent.
      if (error instanceof SieveError) delete error.answered
      throw error
    } finally {
      this.#count = from
    }
  }

  /** Takes back what a call counted that was not answered: so many lines that are not URLs. */
  uncount(invalid: number): void {
    this.#state.invalid -= invalid
  }

  #take(from: number, n: number): void {
    const count = this.#count + n - from
    if (count > this.#hashes.length) {
      const wider = new BigUint64Array(Math.max(count, 2 * this.#hashes.length))
      wider.set(this.#hashes)
      this.#hashes = wider
    }
    this.#hashes.set(this.#state.kernel.hashes.subarray(from, n), this.#count)
    this.#count = count
  }
}
