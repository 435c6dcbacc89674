import type { Cell, Column } from './experiment.ts';
/** How many answers are 1. */
export declare function ones(answers: Uint8Array): number;
export declare const RATE_COLUMNS: readonly Column[];
/** The cells of RATE_COLUMNS. */
export declare function rateCells(hits: number, trials: number): Cell[];
