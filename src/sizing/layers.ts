// Filters in layers: cen-2010's and the term project's multilayer filter, sharma's keyword layers, and how to
// share out memory among layers that hold different numbers of things (our prefix-layers).

import { classicBits, classicFill, classicRate } from './classic.ts'

/** What a multilayer filter is said to err, and what it does err. */
export interface MultilayerRates {
  /** f^L, cen-2010 eq. (4): every layer an independent chance to refuse, each as full as n URLs make it. */
  paper: number
  /** A new page in a known folder: the last layer (its own load) and the XOR layer are all that differ. */
  corrected: number
  /** Known segments in a new combination: only the XOR layer is left. */
  recombined: number
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

/**
 * Rates from the measured share of ones per layer, first to last, and of the XOR layer. The XOR layer is the
 * one that holds n whole URLs, so its fill is the f of eq. (4). Give the layers down to the depth asked
 * about: the last of `fills` is where the URL's last segment goes. XOR addresses are taken as uniform; folded modulo
 * an m that is no power of two they are not, and orders and repeats of known segments pass for certain:
 * `corrected` and `recombined` are then too low.
 */
export function multilayerRates({
  fills,
  xorFill,
  hashes,
}: {
  fills: number[]
  xorFill: number
  hashes: number
}): MultilayerRates {
  const recombined = xorFill ** hashes
  return {
    paper: recombined ** fills.length,
    corrected: (fills.at(-1) ?? 1) ** hashes * recombined,
    recombined,
  }
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

/**
 * sharma-keywords section 6: layers = keywords ÷ hash count. The paper does not say how it rounds; its
 * program is Python with counts, so: down, and at least one.
 */
export function keywordLayers({ keywords, hashes }: { keywords: number; hashes: number }): number {
  return Math.max(1, Math.floor(keywords / hashes))
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
