/** Rate of one filter that holds `words`: the chance that it says yes to a word it does not hold. */
export declare function filterRate({ bits, hashes, words }: {
    bits: number;
    hashes: number;
    words: number;
}): number;
/** How many filters hold so many words. */
export type WordCounts = ReadonlyMap<number, number>;
export declare function countWords(words: Iterable<number>): Map<number, number>;
export declare function meanRate(counts: WordCounts, bits: number, hashes: number): number;
export interface SignaturePlan {
    readonly bits: number;
    readonly hashes: number;
    /** Expected, mean over the filters. */
    readonly rate: number;
}
/** The fewest bits that keep `rate` on average over the filters, and the k that does it. */
export declare function planSignatures(counts: WordCounts, rate: number): SignaturePlan;
