import type { Experiment } from '../experiment.ts';
export declare const cen2010: Experiment;
