import type { Experiment } from './experiment.ts';
export declare const experiments: readonly Experiment[];
/** The experiments of these names, in the order named; all of them for no names. */
export declare function choose(names: readonly string[], from?: readonly Experiment[]): Experiment[];
