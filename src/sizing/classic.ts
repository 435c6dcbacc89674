// The classic Bloom filter (Bloom 1970) as cen-2010 analyses it in section III, with k a whole number: the
// textbook optimum has a fractional k that no filter can use, and its m then breaks the promised rate.

/** A filter of `bits` bits that sets `hashes` of them per URL and holds `urls` distinct URLs. */
export interface ClassicLoad {
  bits: number
  hashes: number
  urls: number
}

/** Expected share of ones: 1 − (1 − 1/m)^(kn), cen-2010 section III.B, without cancellation at low loads. */
export function classicFill({ bits, hashes, urls }: ClassicLoad): number {
  return urls === 0 ? 0 : -Math.expm1(hashes * urls * Math.log1p(-1 / bits))
}

/**
 * False-positive rate, cen-2010 eq. (1) in its exact first form (also jiang eq. (2)).
 * It is the k-th power of the mean fill; the mean of the k-th power is higher, at half full by about
 * 0.15·k(k−1)/m of itself: nothing for a crawl, but 0.6 % at a thousand bits and k = 7. For so small a filter
 * `blockedRate` with `blockBits: bits` is exact.
 */
export function classicRate(load: ClassicLoad): number {
  return classicFill(load) ** load.hashes
}

/** The most hashes that a filter takes for one URL: past it more memory only makes it emptier. */
const MOST_HASHES = 64

/** The whole k, 1 … 64, with the lowest rate at this memory: beside cen-2010's ln 2 · m/n. */
export function optimalHashes({ bits, urls }: { bits: number; urls: number }): number {
  const ideal = (Math.LN2 * bits) / Math.max(urls, 1)
  const below = Math.min(MOST_HASHES - 1, Math.max(1, Math.floor(ideal)))
  const lower = classicRate({ bits, hashes: below, urls })
  return classicRate({ bits, hashes: below + 1, urls }) < lower ? below + 1 : below
}

/** The fewest bits that keep `rate` at `urls`, and the whole k, 1 … 64, that does it. */
export function classicPlan({ urls, rate }: { urls: number; rate: number }): {
  bits: number
  hashes: number
} {
  const ideal = Math.min(MOST_HASHES - 1, Math.max(1, Math.floor(limitBitsPerUrl(rate))))
  const few = bitsAtHashes(urls, rate, ideal)
  const more = bitsAtHashes(urls, rate, ideal + 1)
  return more < few ? { bits: more, hashes: ideal + 1 } : { bits: few, hashes: ideal }
}

/**
 * The fewest bits that keep `rate` at `urls`; for the best whole k, or for `hashes` when given.
 *
 * cen-2010 says that its m = 16,829,152 (n = 3.5 M, f = 0.1, k = 3) follows from (2). It does not: (2) gives
 * 16,773,675. It is eq. (1) solved for m at k = 3, which is 16,829,147 (this function), rounded up to whole
 * bytes.
 */
export function classicBits({ urls, rate, hashes }: { urls: number; rate: number; hashes?: number }): number {
  return hashes === undefined ? classicPlan({ urls, rate }).bits : bitsAtHashes(urls, rate, hashes)
}

/** url-caching section 2.2.1: m = k · n / ln 2, half full. Its rate is 2^−k whatever was wanted. */
export function urlCachingBits({ urls, hashes }: { urls: number; hashes: number }): number {
  return Math.ceil((hashes * urls) / Math.LN2)
}

/** No structure at all can answer with this rate in fewer bits per URL: log2(1/ε) (Carter et al. 1978). */
export function limitBitsPerUrl(rate: number): number {
  return -Math.log2(rate)
}

/** How many distinct keys were added, from the count of ones: −m/k · ln(1 − X/m) (Swamidass & Baldi 2007). */
export function estimateDistinct({
  fillOnes,
  bits,
  hashes,
}: {
  fillOnes: number
  bits: number
  hashes: number
}): number {
  return (-bits / hashes) * Math.log1p(-fillOnes / bits)
}

/** Eq. (1) solved for m; then at most a few steps up, for what rounding took away. */
function bitsAtHashes(urls: number, rate: number, hashes: number): number {
  const solved = -1 / Math.expm1(Math.log1p(-(rate ** (1 / hashes))) / (hashes * Math.max(urls, 1)))
  let bits = Math.max(1, Math.floor(solved) - 1)
  for (let step = 0; step < 64 && classicRate({ bits, hashes, urls }) > rate; step++) bits++
  return bits
}
