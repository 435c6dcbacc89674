import type { Identity } from './bytes.ts';
import { Dataset } from './dataset.ts';
export declare const INDEX_VERSION = 1;
/** What an index was made from and how: it answers for nothing else. */
export interface Origin {
    /** Everything that shapes the index, as text to compare. */
    readonly settings: string;
    /** In the order of the command; their names do not matter. */
    readonly files: readonly Identity[];
}
export interface Index {
    readonly origin: Origin;
    readonly dataset: Dataset;
    /** Of a table: its columns, and where its rows lie. */
    readonly columns: readonly string[];
    readonly places: Float64Array;
}
export declare function encodeIndex({ origin, dataset, columns, places }: Index): Buffer;
/** Throws an InputError, one line, for what is no index, one of another version, or a damaged one. */
export declare function decodeIndex(name: string, file: Buffer): Promise<Index>;
/** The index at `path`; null when there is none. */
export declare function readIndex(path: string): Promise<Index | null>;
/** Written whole beside it, then put in its place: a reader sees the old one or the new one. */
export declare function writeIndex(path: string, index: Index): void;
