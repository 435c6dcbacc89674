import { type FilterKind } from './filter.ts';
/**
 * Errs towards "seen" only when two keys share all 64 bits of a secret hash: 0.03 pages lost in a whole crawl of
 * a billion URLs. Needs no capacity; expectedUrls only tells how much memory to plan for.
 */
export declare const fingerprint: FilterKind;
