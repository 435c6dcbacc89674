import type { Row } from '../search/corpus.ts';
import type { Answer } from '../search/dataset.ts';
import type { Index } from '../search/index-file.ts';
import type { Made, SearchFlags } from './search.ts';
/** What the linear scans found and took. */
export interface Scans {
    readonly rows: number;
    /** Cutting every row's text into words. */
    readonly textsMs: number;
    /** Over words prepared before the clock started. */
    readonly preparedMs: number;
}
export interface Search {
    readonly flags: SearchFlags;
    readonly words: readonly string[];
    readonly index: Index;
    /** Indices of the columns searched. */
    readonly searched: readonly number[];
    readonly answer: Answer;
    readonly rows: readonly Row[];
    readonly filterMs: number;
    readonly readMs: number;
    readonly made: Made;
    readonly scans: Scans | null;
}
export declare function printSearch(search: Search): void;
/** One line of CSV (RFC 4180), quoted where it has to be. */
export declare function csvLine(fields: readonly string[]): string;
