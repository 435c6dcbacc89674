import { type FilterKind } from './filter.ts';
/** Errs towards "seen", at most at the promised rate while it holds no more than the expected URLs. */
export declare const classic: FilterKind;
