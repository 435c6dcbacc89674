import { type FilterKind } from './filter.ts';
/**
 * Errs towards "new" by design: it forgets the oldest. A URL is remembered for at least (G − 1) / G of the window and
 * never longer than the window. Within it, errs towards "seen" as its inner filter does, all generations together.
 */
export declare const window: FilterKind;
