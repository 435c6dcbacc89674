/** Whether a text holds all the words: what decides in the end. */
export declare function holdsAll(text: string, words: readonly string[]): boolean;
/** A row ready for `scanPrepared`: its words with a space before and after each. */
export declare function prepare(words: Iterable<string>): string;
/** Cuts every row's text into words and compares: a scan that has prepared nothing. */
export declare function scanTexts(texts: readonly string[], words: readonly string[]): number[];
/** Looks for the words in rows already cut, normalised and lower-cased: the fairest rival, and the faster one. */
export declare function scanPrepared(prepared: readonly string[], words: readonly string[]): number[];
