// Every approximate filter of the registry keeps its promised rate, and is no larger or better than its formulas say.
// Seeds and trial counts are fixed; bounds are binomial at 1 − 1e-6. URLSIEVE_FULL=1 runs the whole grid, for classic
// and blocked with 200 expected errors in every cell; without it, cells of rare errors get fewer trials.
import { describe, expect, it } from 'vitest'
import type { FilterKind, Plan } from '../../src/filters/filter.ts'
import type { FilterName } from '../../src/filters/registry.ts'
import { binomialCdf, binomialQuantile, clopperPearson, lowerBound } from '../../src/lab/interval.ts'
import { Sieve } from '../../src/sieve.ts'
import { isApproximate, kinds, planOrNull } from '../conformance/sizes.ts'
import { openFilter } from './numbered-keys.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const CONFIDENCE = 1 - 1e-6
const RATES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
const SIZES = [1e3, 1e4, 1e5, 1e6]
/** So many errors are to be expected in a cell, at the promised rate, for a filter twice as bad to be found out. */
const EXPECTED_HITS = 200
const LEAST_TRIALS = 20_000
const timeout = FULL ? 3_600_000 : 120_000

/** Those that promise no rate have none to keep. */
const approximate = kinds.filter((kind) => isApproximate(kind) && kind.noPromise === undefined)
/** A fixed size, and a rate that depends on the key's hash alone: the formula can be held to from both sides. */
const isByHashAlone = (kind: FilterKind) => kind.takes !== 'keys' && !kind.can.grow
/** A filter that grows is filled to so many times what it was begun for. */
const GROWN = 10

/** Trials of a cell. Filters that look into their keys, or ask several of their kind, are slower and get fewer. */
function trialsFor(kind: FilterKind, rate: number): number {
  const wanted = Math.max(LEAST_TRIALS, EXPECTED_HITS / rate)
  const [quick, full] = isByHashAlone(kind) ? [2e6, Number.POSITIVE_INFINITY] : [2e5, 2e7]
  return Math.min(wanted, FULL ? full : quick)
}

function cellsOf(kind: FilterKind): { urls: number; rate: number }[] {
  const all = SIZES.flatMap((urls) => RATES.map((rate) => ({ urls, rate })))
  if (FULL) return all
  return all.filter(
    ({ urls, rate }) => urls < 1e6 || (isByHashAlone(kind) && (rate === 1e-2 || rate === 1e-6)),
  )
}

interface Measured {
  readonly hits: number
  readonly trials: number
  readonly fill: number
  /** Bits or slots of one filter. */
  readonly cells: number
  /** What the filter itself says of its rate. */
  readonly ownRate: number
}

/** Fills filters to their capacity and asks for keys never added. Small ones vary, so several share the trials. */
async function measure(kind: FilterKind, plan: Plan, urls: number, trials: number): Promise<Measured> {
  const count = Math.max(1, Math.min(20, Math.floor(2e4 / urls)))
  let hits = 0
  let fill = 0
  let cells = 0
  let ownRate = 0
  const each = Math.ceil(trials / count)
  for (let i = 0; i < count; i++) {
    const measured = await openFilter(kind, plan, 1000 * urls + i)
    measured.add('a', kind.can.grow ? GROWN * urls : urls)
    hits += measured.seen('b', each)
    const now = measured.filter.measure()
    cells = measured.filter.cells?.().reduce((sum, array) => sum + array.cells, 0) ?? 0
    fill += now.fill / count
    ownRate += now.rate! / count
  }
  return { hits, trials: each * count, fill, cells, ownRate }
}

describe.each(approximate)('$name', (kind) => {
  if (!planOrNull(kind, { expectedUrls: 1000, falsePositiveRate: 0.01 })) {
    it.skip(`${kind.name} cannot be sized by rate`, () => {})
    return
  }

  it.each(cellsOf(kind))('keeps $rate with $urls URLs', { timeout }, async ({ urls, rate }) => {
    const plan = kind.plan({ expectedUrls: urls, falsePositiveRate: rate })
    expect(plan.promisedRate).toBe(rate)
    expect(plan.expectedRate).toBeLessThanOrEqual(rate)
    const { hits, trials, fill, cells, ownRate } = await measure(kind, plan, urls, trialsFor(kind, rate))
    const said = `${hits} of ${trials} wrong`

    // The promise: the count does not refute it.
    expect(lowerBound({ hits, trials, confidence: CONFIDENCE }), said).toBeLessThanOrEqual(rate)
    if (trials * rate >= EXPECTED_HITS) {
      const limit = binomialQuantile({ trials, rate, probability: CONFIDENCE })
      expect(binomialCdf({ hits: limit, trials, rate: 2 * rate }), 'twice the rate would pass').toBeLessThan(
        1e-3,
      )
    }
    if (!isByHashAlone(kind)) return

    // And no better than the formula says, which a filter of twice the size would be by far.
    const expected = plan.expectedRate!
    const { lower, upper } = clopperPearson({ hits, trials, confidence: CONFIDENCE })
    expect(expected, said).toBeGreaterThanOrEqual(0.95 * lower)
    expect(expected, said).toBeLessThanOrEqual(1.05 * upper)

    if (kind.can.delete) {
      // A slot for each URL, but for those that it took for others.
      expect(fill * cells).toBeLessThanOrEqual(urls)
      expect(fill * cells).toBeGreaterThanOrEqual(urls * (1 - 1.1 * rate) - 6 * Math.sqrt(urls * rate))
      expect(ownRate / expected, 'its own estimate').toBeGreaterThan(0.9)
      expect(ownRate / expected, 'its own estimate').toBeLessThan(1.07)
      return
    }

    // Share of ones: 1 − e^(−kn/m). In a block a URL's bits may fall together, which sets up to k²/1024 fewer.
    const load = (plan.hashes! * urls) / plan.bits!
    const fuller = -Math.expm1(-load)
    const spread = 6 * Math.sqrt(fuller / plan.bits!)
    expect(fill).toBeLessThanOrEqual(fuller + spread)
    expect(fill).toBeGreaterThanOrEqual(-Math.expm1(-load * (1 - plan.hashes! / 1024)) - spread)

    // What it says of itself, from its ones, is what the formula said before.
    expect(ownRate / expected, 'its own estimate').toBeGreaterThan(0.97)
    expect(ownRate / expected, 'its own estimate').toBeLessThan(1.07)
  })

  it('takes no fewer bits than any structure needs, and says so in its plan', () => {
    for (const urls of SIZES) {
      for (const rate of RATES) {
        const plan = kind.plan({ expectedUrls: urls, falsePositiveRate: rate })
        expect(plan.bitsPerUrl).toBeCloseTo(plan.bits! / urls, 6)
        expect(plan.bitsPerUrl).toBeGreaterThan(-Math.log2(rate))
        expect(plan.sizeBytes * 8).toBeGreaterThanOrEqual(plan.bits!)
      }
    }
  })

  it('a sieve of it keeps the rate by every way in', async () => {
    const [urls, rate, trials] = [20_000, 1e-2, 60_000]
    const sieve = await Sieve.create({
      filter: kind.name as FilterName,
      expectedUrls: urls,
      falsePositiveRate: rate,
      key: new Uint8Array(16).fill(3),
    })
    const named = (letter: string, n: number) =>
      Array.from({ length: n }, (_, i) => `https://example.com/shop/${letter}${i}`)
    if (kind.can.grow) sieve.addMany(named('more', GROWN * urls))
    sieve.addMany(named('a', urls / 2))
    sieve.addLines(new TextEncoder().encode(named('b', urls / 2).join('\n')))
    const unknown = named('c', trials)
    const seen = sieve.hasMany(unknown)
    expect([...seen.subarray(0, 1000)]).toEqual(unknown.slice(0, 1000).map((url) => Number(sieve.has(url))))
    const hits = seen.reduce((sum, answer) => sum + answer, 0)
    expect(lowerBound({ hits, trials, confidence: CONFIDENCE })).toBeLessThanOrEqual(rate)
    if (isByHashAlone(kind)) {
      const { upper } = clopperPearson({ hits, trials, confidence: CONFIDENCE })
      expect(upper).toBeGreaterThan(0.9 * (kind.can.delete ? sieve.plan.expectedRate! : rate))
    }
  })
})

describe('bits per URL', () => {
  const bitsPerUrl = (name: string, rate: number, urls = 1e6) =>
    kinds.find((kind) => kind.name === name)!.plan({ expectedUrls: urls, falsePositiveRate: rate })
      .bitsPerUrl!

  it.each(RATES)('classic: within a fiftieth of 1.44 log2(1/ε), for a whole k, at %d', (rate) => {
    const best = Math.log2(1 / rate) / Math.LN2
    expect(bitsPerUrl('classic', rate)).toBeGreaterThanOrEqual(best)
    expect(bitsPerUrl('classic', rate)).toBeLessThan(1.02 * best)
  })

  it('blocked: at most 10.2 at 1e-2 and 40 at 1e-6', () => {
    expect(bitsPerUrl('blocked', 1e-2)).toBeLessThanOrEqual(10.2)
    expect(bitsPerUrl('blocked', 1e-6)).toBeLessThanOrEqual(40)
    for (const rate of RATES) expect(bitsPerUrl('blocked', rate)).toBeGreaterThan(bitsPerUrl('classic', rate))
  })
})
