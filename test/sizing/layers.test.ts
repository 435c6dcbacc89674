// The formulas of the layered filters and of eigenvalue: the papers’ as printed, ours, and simulation.
import { describe, expect, it } from 'vitest'
import { multilayerRates } from '../../src/filters/layers.ts'
import { clopperPearson } from '../../src/lab/interval.ts'
import { classicRate } from '../../src/sizing/classic.ts'
import { eigenvalueHashes, eigenvalueSplit } from '../../src/sizing/eigenvalue.ts'
import { keywordLayers } from '../../src/sizing/keyword-layers.ts'
import {
  eigenvalueBitsPerUrl,
  eigenvaluePaperRate,
  eigenvalueRate,
  eigenvalueRates,
  eigenvalueZeros,
  keywordPlan,
  multilayerPaperRate,
  multilayerRatesOfCounts,
  splitBudget,
} from '../oracles/formulas.ts'
import { expectNear } from '../support/near.ts'
import { numbers } from './numbers.ts'

/** The m of cen-2010. */
const CEN_BITS = 16_829_152
describe('layers', () => {
  it('gives the paper’s f^L', () => {
    const load = { bits: CEN_BITS, hashes: 3, urls: 3_500_000 }
    expectNear(multilayerPaperRate({ ...load, layers: 4 }), 1e-4, 1e-5)
    const rates = multilayerRatesOfCounts({ ...load, counts: [1e5, 1e6, 1e6, 2e6] })
    expectNear(rates.paper, 1e-4, 1e-5)
    expectNear(rates.recombined, 0.1, 1e-5)
    expectNear(rates.corrected, classicRate({ ...load, urls: 2e6 }) * classicRate(load), 1e-12)
  })

  it('corrected and recombined are what a filter in three layers does, f^L is not', () => {
    const bits = 2 ** 15
    const hashes = 3
    const next = numbers(2010)
    const segment = () => Array.from({ length: hashes }, () => next() >>> 17)
    const pools = [50, 200, 2000].map((count) => Array.from({ length: count }, segment))
    const layers = pools.map(() => new Uint8Array(bits))
    const xor = new Uint8Array(bits)
    const pick = () => pools.map((pool) => next() % pool.length)
    const joined = (path: number[][]) => path.reduce((sum, part) => sum.map((at, j) => at ^ part[j]!))
    const known = new Set<string>()
    while (known.size < 12_000) {
      const at = pick()
      known.add(at.join())
      const path = at.map((index, layer) => pools[layer]![index]!)
      for (const [layer, part] of path.entries()) for (const address of part) layers[layer]![address] = 1
      for (const address of joined(path)) xor[address] = 1
    }
    const share = (ones: Uint8Array) => ones.reduce((sum, one) => sum + one, 0) / bits
    const measured = multilayerRates({ fills: layers.map(share), xorFill: share(xor), hashes })
    const planned = multilayerRatesOfCounts({ counts: [50, 200, 2000], urls: 12_000, bits, hashes })
    expectNear(measured.recombined, planned.recombined, 0.03)
    expectNear(measured.corrected, planned.corrected, 0.1)

    const trials = 400_000
    let fresh = 0
    let recombined = 0
    for (let asked = 0; asked < trials; asked++) {
      const [host, folder] = pick()
      const page = segment()
      const seen = (ones: Uint8Array, addresses: number[]) =>
        addresses.every((address) => ones[address] === 1)
      if (seen(layers[2]!, page) && seen(xor, joined([pools[0]![host!]!, pools[1]![folder!]!, page]))) fresh++
      let at = pick()
      while (known.has(at.join())) at = pick()
      if (seen(xor, joined(at.map((index, layer) => pools[layer]![index]!)))) recombined++
    }
    const freshRate = clopperPearson({ hits: fresh, trials, confidence: 0.999 })
    expect(freshRate.lower).toBeLessThan(measured.corrected)
    expect(freshRate.upper).toBeGreaterThan(measured.corrected)
    expect(measured.paper).toBeGreaterThan(freshRate.upper)
    expectNear(recombined / trials, measured.recombined, 0.02)
  })

  it('sharma’s layers are keywords ÷ hashes, down, at least one, dealt round-robin', () => {
    expect(keywordLayers({ keywords: 3, hashes: 4 })).toBe(1)
    expect(keywordLayers({ keywords: 11, hashes: 4 })).toBe(2)
    const plan = keywordPlan({ keywords: 23, hashes: 4 })
    expect(plan.layers).toBe(5)
    expect(plan.counts).toEqual([5, 5, 5, 4, 4])
    for (const [layer, urls] of plan.counts.entries()) {
      expect(classicRate({ bits: plan.bits[layer]!, hashes: 4, urls })).toBeLessThanOrEqual(0.05)
    }
  })

  it('shares out every bit, in proportion', () => {
    expect(splitBudget({ counts: [1, 1, 2], bits: 403 })).toEqual([101, 101, 201])
    expect(splitBudget({ counts: [1, 1], bits: 302, weights: [1, 2] })).toEqual([101, 201])
    expect(splitBudget({ counts: [0, 10], bits: 100 })).toEqual([1, 99])
    expect(splitBudget({ counts: [0, 0], bits: 10 })).toEqual([5, 5])
    const parts = splitBudget({ counts: [7, 131, 997, 31_337], bits: 1_000_003 })
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(1_000_003)
    const rates = [997, 31_337].map((urls, i) => classicRate({ bits: parts[i + 2]!, hashes: 7, urls }))
    expectNear(rates[0]!, rates[1]!, 0.01)
  })
})

describe('eigenvalue', () => {
  const load = { bits: 32_000_000, hashes: 9, urls: 1_000_000 }

  it('(1) and (3) in their right form; as printed (3) has no value', () => {
    expectNear(eigenvalueZeros(load), Math.exp(-9 / 32), 1e-6)
    const perUrl = eigenvalueBitsPerUrl({ rate: 1e-4, hashes: 9 })
    expectNear(classicRate({ bits: perUrl * 1e6, hashes: 9, urls: 1e6 }), 1e-4, 1e-5)
    expect(-9 / Math.log(1 - Math.exp(-Math.log(1e-4) / 9))).toBeNaN()
  })

  it('(6) is (2) × (4); as printed it is above 1', () => {
    const first = (1 - Math.exp(-9 / 32)) ** 9
    const second = (1 - Math.exp(-3 / 32)) ** 3
    expectNear(eigenvaluePaperRate(load), first * second, 1e-12)
    const printed = Math.exp(9 * 3 * Math.log(1 - Math.exp(-9 / 32)) * Math.log(1 - Math.exp(-3 / 32)))
    expect(printed).toBeGreaterThan(1)
  })

  it('splits three to one, with a third of the hashes', () => {
    expect(eigenvalueSplit({ bits: 32 })).toEqual({ urlBits: 24, featureBits: 8 })
    expect(eigenvalueSplit({ bits: 35 })).toEqual({ urlBits: 27, featureBits: 8 })
    expect([1, 3, 4, 9, 10].map((hashes) => eigenvalueHashes({ hashes }))).toEqual([1, 1, 2, 3, 4])
  })

  it('with distinct features equals a classic filter of k + d hashes; look-alikes have only the first region', () => {
    const rates = eigenvalueRates({ ...load, features: load.urls })
    expectNear(rates.corrected, classicRate({ ...load, hashes: 12 }), 1e-5)
    expect(eigenvalueRate({ ...load, features: load.urls })).toBe(rates.corrected)
    expectNear(rates.lookAlike, classicRate({ bits: 24_000_000, hashes: 9, urls: 1e6 }), 1e-12)
    expect(rates.paper).toBeLessThan(rates.corrected)
  })
})
