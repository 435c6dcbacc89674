// An exact set beside a sieve with false positives: a URL that the sieve reports as seen and the set does not is a lost
// page, and is reported immediately.
import type { SeenUrls } from './seen-urls.ts'

export interface AuditCounts {
  /** Distinct URLs. */
  readonly asked: number
  /** Of those, reported as seen the first time. */
  readonly lost: number
  /** The losses that the sieve's own rate predicts, summed as the rate grew. Null when it has no rate. */
  readonly expectedLosses: number | null
}

export class Audit implements SeenUrls {
  readonly #sieve: SeenUrls
  readonly #truth: SeenUrls
  readonly #rate: (() => number) | null
  readonly #onLost: (url: string) => void
  #asked = 0
  #lost = 0
  #expected = 0

  /** `truth` is exact; `rate` returns the sieve's current false-positive rate. */
  constructor(sieve: SeenUrls, truth: SeenUrls, rate: (() => number) | null, onLost: (url: string) => void) {
    this.#sieve = sieve
    this.#truth = truth
    this.#rate = rate
    this.#onLost = onLost
  }

  counts(): AuditCounts {
    return { asked: this.#asked, lost: this.#lost, expectedLosses: this.#rate && this.#expected }
  }

  async hasMany(urls: readonly string[]): Promise<Uint8Array> {
    if (!this.#sieve.hasMany) return new Uint8Array(urls.length)
    const seen = await this.#sieve.hasMany(urls)
    const claimed = urls.filter((_, i) => seen[i] === 1)
    const fresh = await this.#truth.addMany(claimed)
    this.#count(claimed, fresh, new Uint8Array(claimed.length))
    return seen
  }

  // The exact set first: a crash between the two does not count as a loss.
  async addMany(urls: readonly string[]): Promise<Uint8Array> {
    const fresh = await this.#truth.addMany(urls)
    const rate = this.#rate?.() ?? 0
    const verdicts = await this.#sieve.addMany(urls)
    this.#count(urls, fresh, verdicts, rate)
    return verdicts
  }

  /** Closes the exact set; the caller closes the sieve. */
  async close(): Promise<void> {
    await this.#truth.close?.()
  }

  #count(urls: readonly string[], fresh: Uint8Array, verdicts: Uint8Array, rate = this.#rate?.() ?? 0): void {
    for (const [i, url] of urls.entries()) {
      if (fresh[i] === 0) continue
      this.#asked++
      this.#expected += rate
      if (verdicts[i] === 1) continue
      this.#lost++
      this.#onLost(url)
    }
  }
}
