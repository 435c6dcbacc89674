/** Where a 32-bit hash falls in an array of `bits`. */
export declare function addressOf(hash: number, bits: number): number;
export interface SignatureShape {
    /** How many filters. */
    readonly filters: number;
    /** The papers' m, of each filter. */
    readonly bits: number;
    /** The papers' k. */
    readonly hashes: number;
}
export declare class Signatures {
    #private;
    readonly filters: number;
    readonly bits: number;
    readonly hashes: number;
    /** Column after column, each of `stride` words; filter f is bit f % 32 of word f / 32. */
    readonly columns: Uint32Array;
    constructor({ filters, bits, hashes }: SignatureShape, columns?: Uint32Array);
    get sizeBytes(): number;
    /** Marks a word in a filter. `from` is where its hashes begin. */
    add(filter: number, hashes: Uint32Array, from: number): void;
    /** Whether one filter may hold a word. */
    has(filter: number, hashes: Uint32Array, from: number): boolean;
    /** The filters that may hold every one of the words, at least one, whose hashes begin at `froms`; ascending. */
    holding(hashes: Uint32Array, froms: readonly number[]): number[];
    /** Share of ones in each filter. */
    fills(): Float64Array;
}
