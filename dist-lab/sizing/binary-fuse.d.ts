export interface BinaryFuseShape {
    /** Cells of a segment: a power of two. */
    readonly segmentLength: number;
    /** Segments in which a key's first cell may be; its other cells may be in the two segments behind them as well. */
    readonly segments: number;
    /** Cells in all. */
    readonly cells: number;
}
/** The shape of a set of `urls`: 1.125 cells a key when there are many, more when there are few, none for none. */
export declare function binaryFuseShape({ urls }: {
    urls: number;
}): BinaryFuseShape;
/** Rate: a key that is not there has the right fingerprint by chance. Does not depend on how many are. */
export declare function binaryFuseRate({ bits }: {
    bits: number;
}): number;
