import type { Experiment } from '../experiment.ts';
export declare const urlCache: Experiment;
