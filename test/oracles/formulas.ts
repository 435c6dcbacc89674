// The papers' formulas that no filter is sized by, beside the corrected ones: what the tests compare measurements with.
import { type MultilayerRates, multilayerRates } from '../../src/filters/layers.ts'
import { classicBits, classicFill, classicRate } from '../../src/sizing/classic.ts'
import { eigenvalueHashes, eigenvalueSplit } from '../../src/sizing/eigenvalue.ts'
import { keywordLayers } from '../../src/sizing/keyword-layers.ts'

/** cen-2010 eq. (2) solved for m, as printed: n · ln f / ln 0.6185, for a fractional k = ln 2 · m/n. */
export function cenBits({ urls, rate }: { urls: number; rate: number }): number {
  return (urls * Math.log(rate)) / Math.log(0.6185)
}

/** A filter of `bits` bits in all; `features` is the number of distinct g(x) among the `urls`. */
export interface EigenvalueLoad {
  bits: number
  hashes: number
  urls: number
  features: number
  /** d; a third of k, rounded up, unless given. */
  featureHashes?: number
}

/** Share of zeros, eq. (1): (1 − 1/m)^(kn) ≈ e^(−kn/m). Printed as 1 − e^(−kn/m), which is the ones. */
export function eigenvalueZeros({
  bits,
  hashes,
  urls,
}: {
  bits: number
  hashes: number
  urls: number
}): number {
  return 1 - classicFill({ bits, hashes, urls })
}

/**
 * Bits per URL for a rate at k hashes, eq. (3): m/n = −k / ln(1 − e^(ln p / k)).
 * Printed with e^(−ln p / k), which is above 1, so that the logarithm has no value.
 */
export function eigenvalueBitsPerUrl({ rate, hashes }: { rate: number; hashes: number }): number {
  return -hashes / Math.log1p(-Math.exp(Math.log(rate) / hashes))
}

/**
 * The paper's rate, eqs. (2), (4), (5), both regions taken as m bits with n keys. In the exponent of (6) the
 * logarithms add, e^(k ln(…) + d ln(…)); printed as a product, it is a "probability" above 1.
 */
export function eigenvaluePaperRate({
  bits,
  hashes,
  urls,
  featureHashes = eigenvalueHashes({ hashes }),
}: Omit<EigenvalueLoad, 'features'>): number {
  const ones = (k: number) => Math.log(-Math.expm1((-k * urls) / bits))
  return Math.exp(hashes * ones(hashes) + featureHashes * ones(featureHashes))
}

/** Rates with each region's own size and load. */
export interface EigenvalueRates {
  /** Eqs. (4) to (6) as meant. */
  paper: number
  /** A URL whose features are new as well. */
  corrected: number
  /** A URL that shares its features with one held: only the first region is left to refuse it. */
  lookAlike: number
}

export function eigenvalueRates({
  bits,
  hashes,
  urls,
  features,
  featureHashes = eigenvalueHashes({ hashes }),
}: EigenvalueLoad): EigenvalueRates {
  const { urlBits, featureBits } = eigenvalueSplit({ bits })
  const lookAlike = classicRate({ bits: urlBits, hashes, urls })
  const unlike = classicRate({ bits: featureBits, hashes: featureHashes, urls: features })
  return {
    paper: eigenvaluePaperRate({ bits, hashes, urls, featureHashes }),
    corrected: lookAlike * unlike,
    lookAlike,
  }
}

/** The corrected rate alone; look-alikes fare worse, see `eigenvalueRates`. */
export function eigenvalueRate(load: EigenvalueLoad): number {
  return eigenvalueRates(load).corrected
}

/** Expected pages lost over a whole crawl of `urls` distinct URLs: n² / 2^(b+1); an upper bound. */
export function fingerprintDrops({ urls, bits = 64 }: { urls: number; bits?: number }): number {
  return urls ** 2 / 2 ** (bits + 1)
}

/** cen-2010 eqs. (3) and (4): f(k, m, n)^L. The XOR layer is not in it. */
export function multilayerPaperRate({
  bits,
  hashes,
  urls,
  layers,
}: {
  bits: number
  hashes: number
  urls: number
  layers: number
}): number {
  return classicRate({ bits, hashes, urls }) ** layers
}

/** The same before anything is built: `counts` are distinct segments per layer, `bits` is each layer's m. */
export function multilayerRatesOfCounts({
  counts,
  urls,
  bits,
  hashes,
}: {
  counts: number[]
  urls: number
  bits: number
  hashes: number
}): MultilayerRates {
  const fill = (held: number) => classicFill({ bits, hashes, urls: held })
  return multilayerRates({ fills: counts.map(fill), xorFill: fill(urls), hashes })
}

/** Words per layer when they are dealt round-robin (section 5), and its bits at `rate` (paper: 0.05). */
export function keywordPlan({
  keywords,
  hashes,
  rate = 0.05,
}: {
  keywords: number
  hashes: number
  rate?: number
}): { layers: number; counts: number[]; bits: number[] } {
  const layers = keywordLayers({ keywords, hashes })
  const counts = Array.from({ length: layers }, (_, layer) => Math.ceil((keywords - layer) / layers))
  return { layers, counts, bits: counts.map((urls) => classicBits({ urls, rate, hashes })) }
}

/**
 * Shares out `bits` in proportion to what the layers hold, which gives every layer the same rate. A weight
 * above 1 buys its layer a lower one: with b bits per key, w times as many bits raise the rate to the power w.
 * The parts add up to `bits` exactly; every layer gets at least one bit as long as there are that many.
 */
export function splitBudget({
  counts,
  bits,
  weights,
}: {
  counts: number[]
  bits: number
  weights?: number[]
}): number[] {
  const shares = counts.map((count, layer) => count * (weights?.[layer] ?? 1))
  const total = shares.reduce((sum, share) => sum + share, 0)
  const spare = Math.max(0, bits - counts.length)
  const exact = shares.map((share) => (total > 0 ? share / total : 1 / counts.length) * spare)
  const parts = exact.map((part) => Math.floor(part) + (bits >= counts.length ? 1 : 0))
  let left = bits - parts.reduce((sum, part) => sum + part, 0)
  const byFraction = exact.map((part, layer) => ({ layer, fraction: part - Math.floor(part) }))
  byFraction.sort((a, b) => b.fraction - a.fraction)
  for (const { layer } of byFraction) if (left-- > 0) parts[layer]! += 1
  return parts
}
