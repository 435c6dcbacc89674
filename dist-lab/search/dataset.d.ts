import { Dictionary, type LayerReading } from './dictionary.ts';
import { RowFilters } from './row-filters.ts';
import { WordHashes } from './word-hashes.ts';
export interface DatasetOptions {
    /** The chance that a word in no row passes the dictionary. Default 0.05, the paper's. */
    readonly dictionaryRate?: number | undefined;
    /** The chance that a row passes for a word it does not hold. Default 0.001. */
    readonly rowRate?: number | undefined;
    /** How the words are dealt to the dictionary's layers. Default `all`. */
    readonly layers?: LayerReading | undefined;
}
export declare const DEFAULT_DICTIONARY_RATE = 0.05;
export declare const DEFAULT_ROW_RATE = 0.001;
export interface DatasetCounts {
    readonly rows: number;
    /** Distinct words. */
    readonly words: number;
    /** The distinct words of each row with one byte between, in UTF-8: what the filters stand for. */
    readonly rawBytes: number;
}
export interface Answer {
    /** False: certainly no row holds all the words. */
    readonly mayHold: boolean;
    /** Words that the dataset certainly does not hold. */
    readonly absent: readonly string[];
    /** Rows that may hold all the words, ascending. */
    readonly rows: Uint32Array;
}
export declare class Dataset {
    #private;
    readonly counts: DatasetCounts;
    readonly dictionary: Dictionary;
    readonly rowFilters: RowFilters;
    constructor(counts: DatasetCounts, dictionary: Dictionary, rowFilters: RowFilters, hashes: WordHashes);
    get sizeBytes(): number;
    /** Which rows may hold all of `words`, given as `wordsOf` makes them. Misses no row that does. */
    ask(words: readonly string[]): Answer;
}
export declare class DatasetBuilder {
    #private;
    private constructor();
    static create(options?: DatasetOptions): Promise<DatasetBuilder>;
    /** The next row, by its distinct words. */
    add(words: ReadonlySet<string>): void;
    finish(): Dataset;
}
