import type { Experiment } from '../experiment.ts';
export declare const termProject: Experiment;
