import { describe, expect, it } from 'vitest'
import {
  binomialCdf,
  binomialQuantile,
  clopperPearson,
  lowerBound,
  upperBound,
} from '../../src/lab/interval.ts'
import { expectNear } from '../support/near.ts'

describe('binomialCdf', () => {
  // mpmath at 40 digits, the sum of the terms; rounded to 15.
  it.each([
    [3, 20, 0.3, 0.107086804503731],
    [0, 1000, 1e-3, 0.367695424770964],
    [150, 170, 0.77, 0.99993738061296],
    [900, 1_000_000, 1e-3, 0.000694015462286855],
    [50, 100_000, 1e-3, 2.37118266249764e-8],
    [1_000_000, 1_000_000_000, 1e-3, 0.500265961519554],
    [3, 1_000_000_000, 1.097747743757171e-8, 0.00500000005261988],
  ])('at most %d of %d at %d', (hits, trials, rate, expected) => {
    expectNear(binomialCdf({ hits, trials, rate }), expected, 1e-12)
  })

  it('agrees with adding up the terms', () => {
    for (const trials of [1, 2, 7, 20, 60]) {
      for (const rate of [1e-6, 0.001, 0.1, 0.5, 0.77, 0.99]) {
        let term = (1 - rate) ** trials
        let sum = 0
        for (let hits = 0; hits < trials; hits++) {
          sum += term
          expectNear(binomialCdf({ hits, trials, rate }), sum, 1e-11)
          term *= ((trials - hits) / (hits + 1)) * (rate / (1 - rate))
        }
      }
    }
  })

  it('is whole at the ends', () => {
    expect(binomialCdf({ hits: -1, trials: 5, rate: 0.3 })).toBe(0)
    expect(binomialCdf({ hits: 5, trials: 5, rate: 0.3 })).toBe(1)
    expect(binomialCdf({ hits: 2, trials: 5, rate: 0 })).toBe(1)
    expect(binomialCdf({ hits: 2, trials: 5, rate: 1 })).toBe(0)
  })
})

describe('clopperPearson', () => {
  // scipy 1.17 beta.ppf; its upper bound for 3 of 1e9 is off in the ninth digit (mpmath), so not taken.
  it.each([
    [0, 100, 0.95, 0, 0.03621669264517641],
    [10, 100, 0.95, 0.04900468922148596, 0.17622259774002266],
    [100, 100, 0.95, 0.9637833073548235, 1],
    [499, 1000, 0.999, 0.4466371501079012, 0.5513781034847425],
    [1_000_000, 1_000_000_000, 0.99, 0.0009974273325075405, 0.0010025774158625685],
  ])('%d of %d at %d', (hits, trials, confidence, lower, upper) => {
    const interval = clopperPearson({ hits, trials, confidence })
    if (lower === 0) expect(interval.lower).toBe(0)
    else expectNear(interval.lower, lower, 1e-12)
    expectNear(interval.upper, upper, 1e-12)
  })

  it('no error in n trials leaves a rate up to 1 − (1 − confidence)^(1/n)', () => {
    expectNear(
      upperBound({ hits: 0, trials: 1000, confidence: 0.95 }),
      -Math.expm1(Math.log(0.05) / 1000),
      1e-12,
    )
    expect(lowerBound({ hits: 0, trials: 1000 })).toBe(0)
    expect(upperBound({ hits: 1000, trials: 1000 })).toBe(1)
  })

  it('covers what it says, counted exactly over every outcome', () => {
    for (const [trials, rate] of [
      [50, 0.1],
      [200, 0.01],
      [30, 0.5],
    ] as const) {
      let covered = 0
      for (let hits = 0; hits <= trials; hits++) {
        const chance = binomialCdf({ hits, trials, rate }) - binomialCdf({ hits: hits - 1, trials, rate })
        const exact = clopperPearson({ hits, trials, confidence: 0.95 })
        if (exact.lower <= rate && rate <= exact.upper) covered += chance
      }
      expect(covered).toBeGreaterThanOrEqual(0.95)
    }
  })
})

describe('binomialQuantile', () => {
  // scipy 1.17 binom.ppf
  it.each([
    [20, 0.3, 0.5, 6],
    [1_000_000, 1e-3, 0.999, 1099],
    [1_000_000_000, 1e-3, 0.999, 1_003_090],
    [100, 0.01, 0.0001, 0],
  ])('%d at %d, %d', (trials, rate, probability, expected) => {
    expect(binomialQuantile({ trials, rate, probability })).toBe(expected)
  })
})
