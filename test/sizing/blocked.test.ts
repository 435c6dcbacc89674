// The formulas of blocked: against the occupancy chain written plainly, and against simulation.
import { describe, expect, it } from 'vitest'
import { clopperPearson } from '../../src/lab/interval.ts'
import { blockedHashes, blockedPlan, blockedRate } from '../../src/sizing/blocked.ts'
import { classicRate } from '../../src/sizing/classic.ts'
import { expectNear } from '../support/near.ts'
import { numbers } from './numbers.ts'

describe('blocked', () => {
  /** The occupancy chain over all 512 states and the Poisson's terms, as a textbook has them. */
  function plainRate(hashes: number, perBlock: number, most: number): number {
    let states = new Float64Array(513)
    states[0] = 1
    let poisson = Math.exp(-perBlock)
    let rate = 0
    for (let keys = 1; keys <= most; keys++) {
      for (let thrown = 0; thrown < hashes; thrown++) {
        const next = new Float64Array(513)
        for (let ones = 0; ones <= 512; ones++) {
          next[ones]! += states[ones]! * (ones / 512)
          if (ones < 512) next[ones + 1]! += states[ones]! * (1 - ones / 512)
        }
        states = next
      }
      poisson *= perBlock / keys
      for (let ones = 1; ones <= 512; ones++) rate += poisson * states[ones]! * (ones / 512) ** hashes
    }
    return rate
  }

  it.each([
    [1, 5],
    [1, 300],
    [3, 100],
    [6, 51],
    [9, 33],
    [16, 13],
    [24, 3],
    [24, 60],
  ])('equals the plain sum over all states: k = %d, %d keys a block', (hashes, perBlock) => {
    const blocks = 1e9
    const got = blockedRate({ bits: 512 * blocks, hashes, urls: perBlock * blocks })
    const most = Math.ceil(perBlock + 14 * Math.sqrt(perBlock) + 30)
    expectNear(got, plainRate(hashes, perBlock, most), 1e-6)
  })

  it('of one block is exact: three URLs, one hash', () => {
    expectNear(blockedRate({ bits: 512, hashes: 1, urls: 3 }), 1 - (511 / 512) ** 3, 1e-14)
    expectNear(blockedRate({ bits: 512, hashes: 1, urls: 2.2 }), 1 - (511 / 512) ** 3, 1e-14)
    // k = 2, one URL: both probes in {one cell} or in {two cells}.
    const two = (1 / 512) * (1 / 512) ** 2 + (511 / 512) * (2 / 512) ** 2
    expectNear(blockedRate({ bits: 512, hashes: 2, urls: 1 }), two, 1e-14)
  })

  it.each([
    [1e-2, 10.0],
    [1e-3, 15.5],
    [1e-4, 22],
    [1e-6, 38.8],
    [1e-7, 49.5],
  ])('at %d needs the known bits per key', (rate, bitsPerUrl) => {
    const plan = blockedPlan({ urls: 1e8, rate })
    expectNear(plan.bits / 1e8, bitsPerUrl, 0.01)
    expect(plan.rate).toBeLessThanOrEqual(rate)
  })

  it('stays under 10.2 bits per URL at 1e-2 and 40 at 1e-6', () => {
    expect(blockedPlan({ urls: 1e6, rate: 1e-2 }).bits / 1e6).toBeLessThanOrEqual(10.2)
    expect(blockedPlan({ urls: 1e6, rate: 1e-6 }).bits / 1e6).toBeLessThanOrEqual(40)
  })

  it('plans the fewest blocks: one fewer breaks the promise for every k', () => {
    for (const urls of [1, 50, 1000, 1e6, 1e9]) {
      for (const rate of [0.5, 0.1, 1e-2, 1e-4, 1e-7]) {
        const plan = blockedPlan({ urls, rate })
        expect(plan.bits).toBe(plan.blocks * 512)
        expect(plan.rate).toBe(blockedRate({ ...plan, urls }))
        expect(plan.rate).toBeLessThanOrEqual(rate)
        if (plan.blocks === 1) continue
        for (let hashes = 1; hashes <= 24; hashes++) {
          expect(blockedRate({ bits: plan.bits - 512, hashes, urls })).toBeGreaterThan(rate)
        }
      }
    }
  })

  it('chooses the best k at a given memory', () => {
    for (const perUrl of [1, 4, 10, 20, 40]) {
      const load = { bits: 512 * Math.round((perUrl * 1e6) / 512), urls: 1e6 }
      const best = blockedRate({ ...load, hashes: blockedHashes(load) })
      for (let hashes = 1; hashes <= 24; hashes++) {
        expect(blockedRate({ ...load, hashes })).toBeGreaterThanOrEqual(best)
      }
    }
  })

  it('holds at extreme loads', () => {
    expect(blockedRate({ bits: 512, hashes: 8, urls: 1e12 })).toBe(1)
    expectNear(blockedRate({ bits: 512_000, hashes: 24, urls: 1e9 }), 1, 1e-12)
    expectNear(blockedRate({ bits: 512e6, hashes: 1, urls: 500e6 }), -Math.expm1(-500 / 512), 1e-6)
    expect(blockedRate({ bits: 512, hashes: 8, urls: 0 })).toBe(0)
    expect(blockedPlan({ urls: 1e12, rate: 1e-12 }).rate).toBeLessThanOrEqual(1e-12)
    for (const rate of [0, 1, -1, Number.NaN])
      expect(() => blockedPlan({ urls: 10, rate })).toThrow(RangeError)
  })

  it.each([
    [1e-1, 400_000],
    [1e-2, 1_000_000],
    [1e-3, 4_000_000],
    [1e-4, 16_000_000],
  ])('keeps %d in simulation', (rate, trials) => {
    const urls = 100_000
    const filters = 8
    const plan = blockedPlan({ urls, rate })
    const next = numbers(0x5eed + 1 / rate)
    let hits = 0
    for (let filter = 0; filter < filters; filter++) {
      const ones = new Uint8Array(plan.bits)
      for (let url = 0; url < urls; url++) {
        const block = (next() % plan.blocks) * 512
        for (let probe = 0; probe < plan.hashes; probe++) ones[block + (next() >>> 23)] = 1
      }
      for (let asked = 0; asked < trials / filters; asked++) {
        const block = (next() % plan.blocks) * 512
        let probe = 0
        while (probe < plan.hashes && ones[block + (next() >>> 23)] === 1) probe++
        if (probe === plan.hashes) hits++
      }
    }
    const { lower, upper } = clopperPearson({ hits, trials, confidence: 0.999 })
    expect(lower).toBeLessThanOrEqual(plan.rate)
    expect(upper).toBeGreaterThanOrEqual(plan.rate)
    expect(plan.rate).toBeLessThanOrEqual(rate)
    // The test can fail: the classic formula at the same memory is refuted where blocks matter.
    if (rate < 1e-2) expect(classicRate({ ...plan, urls })).toBeLessThan(lower)
  })
})
