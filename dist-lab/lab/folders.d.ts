import type { Pieces } from './negatives.ts';
/** Names of the folders are kept as 53 bits of two hashes: this is for sums over folders, not for answers. */
export declare class Folders {
    #private;
    constructor(pieces: Pieces);
    /** Counts the URLs up to n. */
    reach(n: number): void;
    /**
     * False positives expected of one new page beside each URL. One address passes its own layer and the XOR layer
     * together when a page of its folder has it (chance a), else by either's chance: a + (fill − a) · xorHit.
     */
    expected({ bits, hashes, fills, xorHit }: ExpectedOf): number;
}
export interface ExpectedOf {
    /** m and k of every layer. */
    readonly bits: number;
    readonly hashes: number;
    /** Share of set bits in each layer. */
    readonly fills: readonly number[];
    /** The chance that one address of a new combination hits a set bit of the XOR layer. */
    readonly xorHit: number;
}
