import type { Experiment } from '../experiment.ts';
/** The words of a title as the kernel sees them: ASCII letters and digits, and whatever is not ASCII. */
export declare function wordsOf(title: string): string[];
/** The ways to read "layers = keywords ÷ hash count": keywords of a title on average, of the longest, of all titles. */
export declare function layerReadings(titles: readonly string[], hashes: number): {
    name: string;
    layers: number;
}[];
/** Absent titles made of the words of those that are there; `layers` is the number that same-layer swaps are for. */
export declare function madeOfKnownWords(titles: readonly string[], layers: number, random: () => number): {
    kind: string;
    absent: string[];
}[];
/** How many of all questions must be for titles that are there, at most, for precision to improve by `gain`. */
export declare function presentShare(single: number, layered: number, gain: number): number;
export declare const sharma: Experiment;
