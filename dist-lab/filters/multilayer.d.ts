import type { FilterKind } from './filter.ts';
/**
 * Errs towards "seen": by its fill; on recombined segments of known URLs by its XOR layer alone; and for certain on
 * swapped segments (`/a/b` after `/b/a`) and doubled ones (`/x/x` after `/y/y`), once the layers know them.
 */
export declare const multilayer: FilterKind;
