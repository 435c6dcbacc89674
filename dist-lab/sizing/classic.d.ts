/** A filter of `bits` bits that sets `hashes` of them per URL and holds `urls` distinct URLs. */
export interface ClassicLoad {
    bits: number;
    hashes: number;
    urls: number;
}
/** Expected share of ones: 1 − (1 − 1/m)^(kn), cen-2010 section III.B, without cancellation at low loads. */
export declare function classicFill({ bits, hashes, urls }: ClassicLoad): number;
/**
 * False-positive rate, cen-2010 eq. (1) in its exact first form (also jiang eq. (2)).
 * It is the k-th power of the mean fill; the mean of the k-th power is higher, at half full by about
 * 0.15·k(k−1)/m of itself: nothing for a crawl, but 0.6 % at a thousand bits and k = 7. For so small a filter
 * `blockedRate` with `blockBits: bits` is exact.
 */
export declare function classicRate(load: ClassicLoad): number;
/** The whole k, at least 1, with the lowest rate at this memory: beside cen-2010's ln 2 · m/n. */
export declare function optimalHashes({ bits, urls }: {
    bits: number;
    urls: number;
}): number;
/** The fewest bits that keep `rate` at `urls`, and the whole k that does it. */
export declare function classicPlan({ urls, rate }: {
    urls: number;
    rate: number;
}): {
    bits: number;
    hashes: number;
};
/**
 * The fewest bits that keep `rate` at `urls`; for the best whole k, or for `hashes` when given.
 *
 * cen-2010 says that its m = 16,829,152 (n = 3.5 M, f = 0.1, k = 3) follows from (2). It does not: (2) gives
 * 16,773,675. It is eq. (1) solved for m at k = 3, which is 16,829,147 (this function), rounded up to whole
 * bytes.
 */
export declare function classicBits({ urls, rate, hashes }: {
    urls: number;
    rate: number;
    hashes?: number;
}): number;
/** cen-2010 eq. (2) solved for m, as printed: n · ln f / ln 0.6185, for a fractional k = ln 2 · m/n. */
export declare function cenBits({ urls, rate }: {
    urls: number;
    rate: number;
}): number;
/** url-caching section 2.2.1: m = k · n / ln 2, half full. Its rate is 2^−k whatever was wanted. */
export declare function urlCachingBits({ urls, hashes }: {
    urls: number;
    hashes: number;
}): number;
/** No structure at all can answer with this rate in fewer bits a URL: log2(1/ε) (Carter et al. 1978). */
export declare function limitBitsPerUrl(rate: number): number;
/** How many distinct keys were added, from the count of ones: −m/k · ln(1 − X/m) (Swamidass & Baldi 2007). */
export declare function estimateDistinct({ fillOnes, bits, hashes, }: {
    fillOnes: number;
    bits: number;
    hashes: number;
}): number;
