import { Sieve, type SieveOptions, type Stats } from '../sieve.ts';
import type { Point } from './experiment.ts';
/** A counted share and the rates that the count does not refute. */
export interface MeasuredRate {
    readonly hits: number;
    readonly trials: number;
    readonly rate: number;
    readonly low: number;
    readonly high: number;
}
export declare function measuredRate(hits: number, trials: number): MeasuredRate;
/** The trials of several counts taken as one. */
export declare function pooled(rates: readonly MeasuredRate[]): MeasuredRate;
/** Whether two counts say that the first rate is the higher one: their intervals do not meet. */
export declare function isAbove(a: MeasuredRate, b: MeasuredRate): boolean;
/** Whether the interval holds a predicted rate. */
export declare function covers({ low, high }: MeasuredRate, rate: number): boolean;
/** A rate as a point with its interval. */
export declare function ratePoint(x: number, { rate, low, high }: MeasuredRate): Point;
/** Points that a logarithmic axis can show: those above zero. */
export declare function aboveZero(points: readonly Point[]): Point[];
/** How many of the lines the sieve answers "seen". Marks nothing. */
export declare function countSeen(sieve: Sieve, lines: Uint8Array): number;
export interface Trial {
    readonly falsePositives: MeasuredRate;
    readonly stats: Stats;
    readonly bits: number;
    readonly hashes: number;
}
/** Fills a new sieve with `members` and asks for `strangers`, `asked` lines of which none is among the members. */
export declare function trial(options: SieveOptions, members: Uint8Array, strangers: Uint8Array, asked: number): Promise<Trial>;
