import { type FilterKind } from './filter.ts';
/** Errs towards "seen" as `multilayer` does: by its fill, and for certain where words change places. */
export declare const keywordLayers: FilterKind;
