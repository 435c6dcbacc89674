export declare class WordHashes {
    #private;
    private constructor();
    static create(): Promise<WordHashes>;
    /** `count` hashes of each word: those of word i from `i * count` on. */
    of(words: readonly string[], count: number): Uint32Array;
}
