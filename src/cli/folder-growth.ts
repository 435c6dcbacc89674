// The folders of any number of URLs, at a promised rate: prefix-layers filters, each twice as large and half as wrong
// as the one before. The next filter is started when the fill leaves no space for another batch, so that the
// rates of all together stay below the promise, however many folders a URL brings.
import { type FolderSieve, Sieve } from '../index.ts'

/** With k folder hashes a fill of 1/2 gives a rate of 2^-k. A batch may still come after the last look. */
const MOST_FILL = 0.45
/** So large that a batch of short lines does not fill the rest. */
const LEAST_URLS = 500_000

/** Errs towards "yes", at most at the rate it was made with; never towards "no". */
export class FolderGrowth {
  invalid = 0
  readonly #filters: FolderSieve[] = []
  readonly #expectedUrls: number
  readonly #rate: number
  readonly #layers: number | undefined

  constructor(expectedUrls: number, rate: number, layers?: number) {
    this.#expectedUrls = Math.max(expectedUrls, LEAST_URLS)
    this.#rate = rate
    this.#layers = layers
  }

  /** Marks newline-separated lines, as `Sieve.addLines` does; at most some hundred kilobytes at a time. */
  async addLines(bytes: Uint8Array): Promise<Uint8Array> {
    const filter = await this.#open()
    const { invalid } = filter.stats()
    const verdicts = filter.addLines(bytes)
    this.invalid += filter.stats().invalid - invalid
    return verdicts
  }

  hasUnder(folder: string): boolean {
    return this.#filters.some((filter) => filter.hasUnder(folder))
  }

  async #open(): Promise<FolderSieve> {
    const newest = this.#filters.at(-1)
    if (newest && newest.stats().fill < MOST_FILL) return newest
    const number = this.#filters.length
    const rate = this.#rate / 2 ** (number + 1)
    const filter: FolderSieve = await Sieve.create({
      filter: 'prefix-layers',
      expectedUrls: this.#expectedUrls * 2 ** number,
      falsePositiveRate: rate,
      folderHashes: Math.ceil(-Math.log2(rate)),
      layers: this.#layers,
    })
    this.#filters.push(filter)
    return filter
  }
}
