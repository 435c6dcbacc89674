// A filter of a fixed size that is past its capacity drops new URLs as seen. A command that adds says so when it
// happens, and again at the end with the rate it came to.
import { filterKind } from '../filters/registry.ts'
import type { FilterName, Sieve, Stats } from '../index.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import { STATE } from '../state.ts'
import { writeStderr } from './output.ts'

export class Capacity {
  readonly #sieve: Sieve
  /** A filter that grows, or was sized without an expected number of URLs, has no capacity. */
  readonly #expectedUrls: number | null
  /** A file of an earlier version may have a hash that is too narrow for the filter. */
  readonly #fault: string | null
  #isWarned = false

  constructor(sieve: Sieve) {
    const { filter, expectedUrls } = sieve.plan
    this.#sieve = sieve
    this.#fault = sieve[STATE].hashFault
    this.#expectedUrls = filterKind(filter as FilterName).can.grow ? null : expectedUrls
  }

  /** Warns once, when the filter has gone past its capacity. Costs nothing for one that has none. */
  watch(): void {
    if (this.#isWarned || (this.#expectedUrls ?? this.#fault) === null) return
    if (!this.#sieve.stats().pastCapacity) return
    this.#isWarned = true
    const { filter } = this.#sieve.plan
    const what =
      this.#fault === null
        ? `filter '${filter}' is past its capacity of ${formatCounted(this.#expectedUrls!, 'URL')}: new URLs are dropped as seen; run again with a larger --urls, or with --filter fingerprint`
        : `filter '${filter}' keeps no rate, ${this.#fault}: new URLs are dropped as seen; make it again with --hash siphash`
    writeStderr(`urlsieve: warning: ${what}\n`)
  }

  /** At the end: how far past its capacity it is, and what that means. Nothing when it is not. */
  summarise(): void {
    const stats = this.#sieve.stats()
    if (!stats.pastCapacity || this.#expectedUrls === null || this.#fault !== null) return
    writeStderr(
      `urlsieve: warning: ${formatCounted(stats.urls, 'URL')} in a filter for ${formatCount(this.#expectedUrls)}: ${ratesOf(stats)}\n`,
    )
  }
}

const percent = (rate: number) => `${Number((rate * 100).toPrecision(2))} %`

function ratesOf({ expectedRate, promisedRate, noPromise }: Stats): string {
  if (expectedRate === null) return `no rate is promised, ${noPromise}`
  const now = `${percent(expectedRate)} of new URLs are dropped as seen now`
  return promisedRate === null ? now : `${now}, where ${percent(promisedRate)} was promised`
}

/** The filter's errors, for `--stats`. */
export function rateStats({ expectedRate, promisedRate, noPromise, pastCapacity }: Stats): object {
  return { expectedRate, promisedRate, ...(noPromise !== undefined && { noPromise }), pastCapacity }
}
