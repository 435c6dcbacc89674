// How often an address of multilayer's XOR layer is set: the formula against draws.
import { describe, expect, it } from 'vitest'
import { keptHitRates, xorHitRates } from '../src/filters/xor-layer.ts'
import { randomFrom } from './support/random.mjs'

describe('the XOR layer’s addresses', () => {
  it.each([{ bits: 65_536 }, { bits: 70_000 }, { bits: 52_590 }, { bits: 100_003 }])(
    'hit as often as drawn ones do, m = $bits',
    ({ bits }) => {
      const random = randomFrom(bits)
      const depths = [500, 4000, 6000, 7000]
      const draw = (pieces: number) => {
        let x = 0
        for (let i = 0; i < pieces; i++) x ^= Math.floor(random() * bits)
        return x % bits
      }
      const set = new Uint8Array(bits)
      depths.forEach((n, c) => {
        for (let i = 0; i < 3 * n; i++) set[draw(c + 1)] = 1
      })
      const fill = set.reduce((sum, bit) => sum + bit, 0) / bits
      const rates = xorHitRates({ bits, fill, depths })
      const trials = 100_000
      depths.forEach((_, c) => {
        let hits = 0
        for (let i = 0; i < trials; i++) hits += set[draw(c + 1)]!
        // The array itself is one draw of many: its own spread is in the bound.
        expect(Math.abs(hits / trials - rates[c]!)).toBeLessThan(0.012)
      })
      if (bits === 65_536) for (const rate of rates) expect(rate).toBeCloseTo(fill, 9)
    },
  )

  it('is never hit when empty, always when full', () => {
    expect(xorHitRates({ bits: 1000, fill: 0, depths: [1, 2] })).toEqual([0, 0])
    expect(xorHitRates({ bits: 1000, fill: 1, depths: [1, 2] })).toEqual([1, 1])
    expect(xorHitRates({ bits: 1000, fill: 0.5, depths: [0, 0] })).toEqual([0, 0])
  })
})

it('is worked out once for the same counts, and again for others', () => {
  const rates = keptHitRates()
  const counts = { bits: 1000, fill: 0.2, depths: [10, 20, 5] }
  const first = rates(counts)
  expect(first).toEqual(xorHitRates(counts))
  expect(rates({ ...counts, depths: [10, 20, 5] })).toBe(first)
  expect(rates({ ...counts, fill: 0.3 })).toEqual(xorHitRates({ ...counts, fill: 0.3 }))
})
