/** The words of a text in order, with repeats: `Amélie's 2ⁿᵈ` gives amélie, s, 2nd. */
export declare function wordsOf(text: string): string[];
/** The distinct words of a text, in order of appearance, without `stopWords`. */
export declare function distinctWords(text: string, stopWords?: ReadonlySet<string>): Set<string>;
/** Words too common in English to tell documents apart: the whole list of `english`. */
export declare const englishStopWords: ReadonlySet<string>;
