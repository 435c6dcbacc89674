// The formulas of classic, fingerprint and scalable: against the papers, against counting, and at their limits.
import { describe, expect, it } from 'vitest'
import { fingerprintRate } from '../../src/filters/fingerprint.ts'
import { compoundRate } from '../../src/filters/generations.ts'
import { scalableRate } from '../../src/filters/scalable.ts'
import { blockedRate } from '../../src/sizing/blocked.ts'
import {
  classicBits,
  classicFill,
  classicPlan,
  classicRate,
  estimateDistinct,
  limitBitsPerUrl,
  optimalHashes,
  urlCachingBits,
} from '../../src/sizing/classic.ts'
import { cenBits, fingerprintDrops } from '../oracles/formulas.ts'
import { expectNear } from '../support/near.ts'

/** The m of cen-2010. */
const CEN_BITS = 16_829_152
describe('classic', () => {
  it('gives the m of cen-2010, from eq. (1) at k = 3 in whole bytes and not from eq. (2)', () => {
    const bits = classicBits({ urls: 3_500_000, rate: 0.1, hashes: 3 })
    expectNear(bits, CEN_BITS, 1e-5)
    expect(Math.ceil(bits / 8) * 8).toBe(CEN_BITS)
    expect(Math.round(cenBits({ urls: 3_500_000, rate: 0.1 }))).toBe(16_773_675)
  })

  it.each([
    [1, 4_380],
    [1.5, 19_374],
    [2, 54_041],
    [2.5, 116_710],
    [3, 213_640],
    [3.5, 350_513],
  ])('expects the BF row of cen-2010 Fig. 5 at %d M', (million, falsePositives) => {
    const urls = million * 1e6
    expectNear(urls * classicRate({ bits: CEN_BITS, hashes: 3, urls }), falsePositives, 0.01)
  })

  it('with the memory of the paper’s MLBF expects about 34 false positives, not 350,513', () => {
    const bits = 5 * CEN_BITS
    const hashes = optimalHashes({ bits, urls: 3_500_000 })
    expectNear(3_500_000 * classicRate({ bits, hashes, urls: 3_500_000 }), 34, 0.02)
  })

  it.each([
    [1e-2, 6.6, 9.6],
    [1e-3, 10.0, 14.4],
    [1e-4, 13.3, 19.2],
    [1e-6, 19.9, 28.8],
    [1e-7, 23.3, 33.5],
  ])('at %d needs the known bits per key', (rate, limit, classic) => {
    expect(Math.abs(limitBitsPerUrl(rate) - limit)).toBeLessThanOrEqual(0.051)
    expect(Math.abs(classicBits({ urls: 1e7, rate }) / 1e7 - classic)).toBeLessThanOrEqual(0.051)
  })

  it('keeps the promise with the fewest bits, and no other whole k needs fewer', () => {
    for (const urls of [1, 10, 1000, 3_500_000, 1e9]) {
      for (const rate of [0.5, 0.3, 0.1, 0.05, 1e-2, 1e-3, 1e-6, 1e-7]) {
        const { bits, hashes } = classicPlan({ urls, rate })
        expect(classicRate({ bits, hashes, urls })).toBeLessThanOrEqual(rate)
        for (let k = 1; k <= 40; k++) {
          const others = classicBits({ urls, rate, hashes: k })
          expect(others).toBeGreaterThanOrEqual(bits)
          expect(classicRate({ bits: others, hashes: k, urls })).toBeLessThanOrEqual(rate)
          // Past 2^40 bits one bit more is lost in a double's rounding.
          if (others > 1 && others < 2 ** 40)
            expect(classicRate({ bits: others - 1, hashes: k, urls })).toBeGreaterThan(rate)
        }
      }
    }
  })

  it('chooses the k with the lowest rate', () => {
    for (const perUrl of [0.5, 1, 2.2, 4.8, 10, 24, 33.3]) {
      const load = { bits: Math.round(perUrl * 1e6), urls: 1e6 }
      const best = classicRate({ ...load, hashes: optimalHashes(load) })
      for (let hashes = 1; hashes <= 40; hashes++) {
        expect(classicRate({ ...load, hashes })).toBeGreaterThanOrEqual(best)
      }
    }
  })

  it('stays exact at low loads and ends whole', () => {
    expectNear(classicFill({ bits: 1e15, hashes: 1, urls: 1 }), 1e-15, 1e-12)
    expect(classicFill({ bits: 1, hashes: 3, urls: 0 })).toBe(0)
    expect(classicFill({ bits: 1, hashes: 3, urls: 1 })).toBe(1)
  })

  it('understates a small filter by about 0.15·k(k − 1)/m, as its comment says', () => {
    const load = { bits: 1000, hashes: 7, urls: 100 }
    const exact = blockedRate({ ...load, blockBits: 1000 })
    const excess = exact / classicRate(load) - 1
    expect(excess).toBeGreaterThan(0)
    expectNear(excess, (0.15 * 7 * 6) / 1000, 0.05)
  })

  it('url-caching’s m is half full, so its rate is 2^−k', () => {
    const bits = urlCachingBits({ urls: 100_000, hashes: 3 })
    expect(bits).toBe(432_809)
    expectNear(classicRate({ bits, hashes: 3, urls: 100_000 }), 1 / 8, 1e-4)
  })

  it('reads the number of keys back from the ones', () => {
    const fill = classicFill({ bits: 1e7, hashes: 7, urls: 1e6 })
    expectNear(estimateDistinct({ fillOnes: fill * 1e7, bits: 1e7, hashes: 7 }), 1e6, 1e-6)
    expect(estimateDistinct({ fillOnes: 0, bits: 100, hashes: 3 })).toBe(0)
  })
})

describe('fingerprint', () => {
  it('expects 0.03 wrong drops in 1e9 URLs at 64 bits, 2.7 in 1e10', () => {
    expect(fingerprintDrops({ urls: 1e9 }).toFixed(2)).toBe('0.03')
    expect(fingerprintDrops({ urls: 1e10 }).toFixed(1)).toBe('2.7')
    expectNear(fingerprintRate({ urls: 1e9 }), 1e9 / 2 ** 64, 1e-9)
    expectNear(fingerprintRate({ urls: 2 ** 8, bits: 8 }), 1 - (255 / 256) ** 256, 1e-12)
  })
})

describe('scalable', () => {
  it('keeps the promise however many filters there are', () => {
    for (const tightening of [0.5, 0.8, 0.9]) {
      const rates = Array.from({ length: 64 }, (_, index) => scalableRate({ rate: 1e-3, index, tightening }))
      expect(rates.reduce((sum, rate) => sum + rate, 0)).toBeLessThanOrEqual(1e-3)
      expect(compoundRate(rates)).toBeLessThan(1e-3)
      expect(compoundRate(rates)).toBeGreaterThan(0.99e-3)
    }
  })

  it('compounds small and large rates alike', () => {
    expectNear(compoundRate([0.5, 0.5]), 0.75, 1e-12)
    expectNear(compoundRate([1e-20, 2e-20]), 3e-20, 1e-12)
    expect(compoundRate([])).toBe(0)
    expect(compoundRate([1, 0.1])).toBe(1)
  })
})
