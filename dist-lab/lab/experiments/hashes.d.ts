import type { Experiment } from '../experiment.ts';
/** Standard deviation of the share of ones after `thrown` bits were set in m. */
export declare function fillDeviation(bits: number, thrown: number): number;
export declare const hashes: Experiment;
