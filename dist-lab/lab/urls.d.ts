import type { UrlList } from './experiment.ts';
/** A file of URLs that is missing, unreadable, damaged or too much; the system's error is the cause. */
export declare class UrlFileError extends Error {
    constructor(path: string, cause: unknown);
}
/** What an experiment was run over. */
export interface Data {
    readonly description: string;
    readonly files: readonly string[];
    readonly urls: number;
    readonly bytes: number;
    /** SHA-256 of the distinct URLs, each with its newline. */
    readonly sha256: string;
}
/** Distinct URLs, as many as are asked for and no more are read. */
export declare class UrlSource {
    #private;
    readonly description: string;
    readonly files: readonly string[];
    private constructor();
    /** Files of one URL a line, read one after the other as one stream; .gz files as such. */
    static fromFiles(paths: readonly string[]): Promise<UrlSource>;
    static fromSeed(seed: number): Promise<UrlSource>;
    /** The first `most` distinct URLs, or all when there are fewer. */
    first(most: number, reading?: (urls: number) => void): Promise<UrlList>;
    /** Says what the first `count` URLs are. */
    data(count: number): Data;
}
