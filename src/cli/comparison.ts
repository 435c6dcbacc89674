// The comparison of url-caching, section 3: the same commands by the filter and by a hash set, which makes no error.
// Finds every false positive, and what the filter's own formula expected at the moment of each CHECK.

import { type CommandRun, Commands, type Sieve } from '../index.ts'
import { formatBytes } from '../quantities.ts'
import { table } from './table.ts'

/** The filter's rate is measured again when it has taken this share of URLs more: measuring it for each CHECK is slow. */
const RATE_STEP = 1 / 1024

interface FalsePositive {
  readonly line: number
  /** The bytes of the URL, a character each: half of the memory of text. */
  readonly url: string
}

export class Comparison {
  /** The filter's commands; those of the hash set follow them chunk by chunk. */
  readonly commands: Commands
  readonly #exactCommands: Commands
  readonly #filter: Sieve
  readonly #exact: Sieve
  /** The filter's verdicts and rates for the CHECKs of this chunk. */
  #verdicts: number[] = []
  #rates: (number | null)[] = []
  #answered = 0
  #adds = 0
  #rate: number | null = 0
  #rateAdds = -1
  #absent = 0
  /** Null: the filter reports no rate. */
  #expected: number | null = 0
  #falseNegatives = 0
  #filterMs = 0
  #exactMs = 0
  readonly #falsePositives: FalsePositive[] = []

  /** `exact` is a sieve of the same profile whose filter makes no error. */
  constructor(filter: Sieve, exact: Sieve) {
    this.#filter = filter
    this.#exact = exact
    this.commands = new Commands(filter, (run) => this.#filterRun(run))
    this.#exactCommands = new Commands(exact, (run) => this.#exactRun(run))
  }

  /** Runs the commands in the first bytes of `buffer`, which is the buffer that `commands` gave out. */
  push(buffer: Uint8Array, bytes: number): Uint8Array {
    this.#exactCommands.reserve(bytes).set(buffer.subarray(0, bytes))
    return this.#both(
      () => this.commands.push(bytes),
      () => this.#exactCommands.push(bytes),
    )
  }

  end(): Uint8Array {
    return this.#both(
      () => this.commands.end(),
      () => this.#exactCommands.end(),
    )
  }

  #both(filter: () => Uint8Array, exact: () => Uint8Array): Uint8Array {
    this.#verdicts = []
    this.#rates = []
    this.#answered = 0
    const start = performance.now()
    const answers = filter()
    const middle = performance.now()
    exact()
    this.#filterMs += middle - start
    this.#exactMs += performance.now() - middle
    return answers
  }

  #filterRun({ isAdd, from, n, verdicts }: CommandRun): void {
    if (isAdd) {
      this.#adds += n - from
      return
    }
    if (this.#adds > this.#rateAdds * (1 + RATE_STEP)) {
      this.#rate = this.#filter.stats().expectedRate
      this.#rateAdds = this.#adds
    }
    for (let i = from; i < n; i++) {
      this.#verdicts.push(verdicts[i]!)
      this.#rates.push(this.#rate)
    }
  }

  #exactRun({ isAdd, from, n, verdicts, line, url }: CommandRun): void {
    if (isAdd) return
    for (let i = from; i < n; i++) {
      const at = this.#answered++
      const isSeen = this.#verdicts[at] === 0
      if (verdicts[i] === 0) {
        if (!isSeen) this.#falseNegatives++
        continue
      }
      this.#absent++
      const rate = this.#rates[at]!
      this.#expected = this.#expected === null || rate === null ? null : this.#expected + rate
      if (isSeen) this.#falsePositives.push({ line: line(i), url: Buffer.from(url(i)).toString('latin1') })
    }
  }

  result() {
    const { plan } = this.#filter
    const filter = this.#filter.stats()
    const exact = this.#exact.stats()
    const wrong = this.#falsePositives.length
    const share = (count: number) => (this.#absent === 0 ? null : count / this.#absent)
    return {
      commands: this.commands.adds + this.commands.checks,
      adds: this.commands.adds,
      distinctAdds: exact.urls,
      checks: this.commands.checks,
      /** CHECKs of URLs that were not added before: only these can be false positives. */
      absentChecks: this.#absent,
      falsePositiveCount: wrong,
      falseNegativeCount: this.#falseNegatives,
      measuredRate: share(wrong),
      /** The mean, over those CHECKs, of the rate that the filter's formula gives at that moment. */
      predictedRate: this.#expected === null ? null : share(this.#expected),
      /** The rate that the formula gives at the end. */
      finalRate: filter.expectedRate,
      filter: {
        name: filter.filter,
        hash: filter.hash,
        profile: filter.profile,
        bits: plan.bits,
        hashes: plan.hashes,
        sizeBytes: filter.sizeBytes,
        seconds: this.#filterMs / 1000,
      },
      hashSet: { sizeBytes: exact.sizeBytes, seconds: this.#exactMs / 1000 },
      falsePositives: this.#falsePositives.map(({ line, url }) => ({
        line,
        url: Buffer.from(url, 'latin1').toString(),
      })),
    }
  }

  /** The result for people: every false positive, and the two side by side. */
  text(): Uint8Array {
    const { filter, hashSet, falsePositiveCount, absentChecks, ...rates } = this.result()
    const row = (name: string, { sizeBytes, seconds }: Cost, wrong: number) => [
      name,
      formatBytes(sizeBytes),
      `${seconds.toFixed(2)} s`,
      wrong,
    ]
    const sides = table(
      ['structure', 'memory', 'time', 'false positives'],
      [row(filter.name, filter, falsePositiveCount), row('hash-set', hashSet, 0)],
    )
    const { measuredRate, predictedRate, finalRate } = rates
    const verdict =
      measuredRate === null
        ? 'No URL was checked that had not been added before: no rate.\n'
        : `${falsePositiveCount} of ${absentChecks} checks of URLs not added before: rate ${percent(measuredRate)} ` +
          `measured, ${percent(predictedRate)} predicted; ${percent(finalRate)} predicted at the end.\n`
    const lines = this.#falsePositives.map(({ line, url }) => `false positive line ${line}: ${url}\n`)
    return Buffer.concat([...lines.map((line) => Buffer.from(line, 'latin1')), Buffer.from(sides + verdict)])
  }
}

interface Cost {
  readonly sizeBytes: number
  readonly seconds: number
}

const percent = (rate: number | null): string =>
  rate === null ? 'none' : `${Number((rate * 100).toPrecision(3))} %`
