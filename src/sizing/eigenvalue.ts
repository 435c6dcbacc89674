// The eigenvalue extension filter (jiang-eigenvalue): k hashes of the URL in a first region, d hashes of its
// features g(x) in a second. Three of the paper's six equations are misprinted and (4) forgets that the
// regions have their own sizes and loads; derived anew here, each function says from which.

import { classicFill, classicRate } from './classic.ts'

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

/** Section 2.3: the array grows by a third, so of the whole three quarters are for URLs, one for features. */
export function eigenvalueSplit({ bits }: { bits: number }): { urlBits: number; featureBits: number } {
  const featureBits = Math.floor(bits / 4)
  return { urlBits: bits - featureBits, featureBits }
}

/** Section 2.3: d/k = 1/3, rounded up so that there is at least one. */
export function eigenvalueHashes({ hashes }: { hashes: number }): number {
  return Math.ceil(hashes / 3)
}
