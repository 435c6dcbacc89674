/** A filter of `bits` bits in blocks of `blockBits`, `hashes` bits set per URL, `urls` distinct URLs held. */
export interface BlockedLoad {
    bits: number;
    hashes: number;
    urls: number;
    blockBits?: number;
}
/** What to build: `blocks` of `blockBits`, and the `rate` this gives at the expected URLs. */
export interface BlockedPlan {
    blocks: number;
    bits: number;
    hashes: number;
    rate: number;
}
/**
 * Exact false-positive rate at `urls`: the mean of `blockTable` over the keys in the asked block, which
 * are binomial (n, 1/blocks); for many blocks that is the usual Poisson.
 */
export declare function blockedRate({ bits, hashes, urls, blockBits }: BlockedLoad): number;
/** The k, 1 … 24, with the lowest rate at this memory; of equals the smaller. */
export declare function blockedHashes({ bits, urls, blockBits, }: Omit<BlockedLoad, 'hashes'>): number;
/** The fewest blocks that keep `rate` at `urls` with any k, 1 … 24, and the smallest such k. */
export declare function blockedPlan({ urls, rate, blockBits, }: {
    urls: number;
    rate: number;
    blockBits?: number;
}): BlockedPlan;
