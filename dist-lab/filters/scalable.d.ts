import { type FilterKind } from './filter.ts';
/** Errs towards "seen", at most at the promised rate in all, however many URLs it takes; never towards "new". */
export declare const scalable: FilterKind;
