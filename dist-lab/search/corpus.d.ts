import type { Bytes } from './bytes.ts';
import { type TableOptions } from './table.ts';
export interface Row {
    /** From 0. */
    readonly row: number;
    readonly fields: readonly string[];
    /** What is searched of it. */
    readonly text: string;
}
/** What has to be kept to find a row again. */
export interface CorpusShape {
    readonly columns: readonly string[];
    readonly places: Float64Array;
}
export interface Corpus {
    /** Files it is made of; their content decides whether an index still fits. */
    readonly paths: readonly string[];
    /** Calls back with each row's text, in order. */
    scan(onText: (text: string) => void): Promise<CorpusShape>;
    read(shape: CorpusShape, rows: Iterable<number>): AsyncIterable<Row> | Iterable<Row>;
    /** Which of the shape's columns are searched. */
    searched(shape: CorpusShape): number[];
    close(): void;
}
export declare function tableCorpus(path: string, bytes: Bytes, options: TableOptions & {
    readonly columns: readonly string[];
}): Corpus;
/** `open` gives a document's bytes. */
export declare function documentCorpus(paths: readonly string[], open: (path: string) => Promise<Bytes>): Corpus;
