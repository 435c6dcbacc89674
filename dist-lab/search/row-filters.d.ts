import { Signatures } from './signatures.ts';
export interface Band {
    /** The rows, ascending: row `rows[f]` has filter f. */
    readonly rows: Uint32Array;
    readonly signatures: Signatures;
    /** Expected rate, mean over its rows. */
    readonly rate: number;
}
export declare class RowFilters {
    readonly bands: readonly Band[];
    constructor(bands: readonly Band[]);
    /** Empty filters for rows of so many distinct words each; rows of none have no filter. */
    static plan(wordsInRows: readonly number[], rate: number): RowFilters;
    get sizeBytes(): number;
    /** Hashes a word needs. */
    get hashes(): number;
    /** Expected rate, mean over the rows. */
    get rate(): number;
    /** The rows that may hold every one of the words whose hashes begin at `froms`, ascending. */
    holding(hashes: Uint32Array, froms: readonly number[]): Uint32Array;
}
