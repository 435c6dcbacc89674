import { type FilterKind } from './filter.ts';
/**
 * Errs towards "seen" at the rate its fill gives, the same for recombined and swapped segments as for any other new
 * key; never towards "new". `hasUnder` errs towards "yes".
 */
export declare const prefixLayers: FilterKind;
