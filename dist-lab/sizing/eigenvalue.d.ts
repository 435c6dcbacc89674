/** A filter of `bits` bits in all; `features` is the number of distinct g(x) among the `urls`. */
export interface EigenvalueLoad {
    bits: number;
    hashes: number;
    urls: number;
    features: number;
    /** d; a third of k, rounded up, unless given. */
    featureHashes?: number;
}
/** Share of zeros, eq. (1): (1 − 1/m)^(kn) ≈ e^(−kn/m). Printed as 1 − e^(−kn/m), which is the ones. */
export declare function eigenvalueZeros({ bits, hashes, urls, }: {
    bits: number;
    hashes: number;
    urls: number;
}): number;
/**
 * Bits a URL for a rate at k hashes, eq. (3): m/n = −k / ln(1 − e^(ln p / k)).
 * Printed with e^(−ln p / k), which is above 1, so that the logarithm has no value.
 */
export declare function eigenvalueBitsPerUrl({ rate, hashes }: {
    rate: number;
    hashes: number;
}): number;
/**
 * The paper's rate, eqs. (2), (4), (5), both regions taken as m bits with n keys. In the exponent of (6) the
 * logarithms add, e^(k ln(…) + d ln(…)); printed as a product, it is a "probability" above 1.
 */
export declare function eigenvaluePaperRate({ bits, hashes, urls, featureHashes, }: Omit<EigenvalueLoad, 'features'>): number;
/** Rates with each region's own size and load. */
export interface EigenvalueRates {
    /** Eqs. (4) to (6) as meant. */
    paper: number;
    /** A URL whose features are new as well. */
    corrected: number;
    /** A URL that shares its features with one held: only the first region is left to refuse it. */
    lookAlike: number;
}
export declare function eigenvalueRates({ bits, hashes, urls, features, featureHashes, }: EigenvalueLoad): EigenvalueRates;
/** The corrected rate alone; look-alikes fare worse, see `eigenvalueRates`. */
export declare function eigenvalueRate(load: EigenvalueLoad): number;
/** Section 2.3: the array grows by a third, so of the whole three quarters are for URLs, one for features. */
export declare function eigenvalueSplit({ bits }: {
    bits: number;
}): {
    urlBits: number;
    featureBits: number;
};
/** Section 2.3: d/k = 1/3, rounded up so that there is at least one. */
export declare function eigenvalueHashes({ hashes }: {
    hashes: number;
}): number;
