import type { FilterKind } from './filter.ts';
export declare const filters: {
    readonly fingerprint: FilterKind;
    readonly classic: FilterKind;
    readonly blocked: FilterKind;
    readonly multilayer: FilterKind;
    readonly 'prefix-layers': FilterKind;
    readonly eigenvalue: FilterKind;
    readonly 'keyword-layers': FilterKind;
    readonly scalable: FilterKind;
    readonly window: FilterKind;
    readonly 'hash-set': FilterKind;
    readonly 'sorted-array': FilterKind;
    readonly linear: FilterKind;
    readonly trie: FilterKind;
};
export type FilterName = keyof typeof filters;
/** Filters that can forget a URL. */
export type DeletingFilterName = 'fingerprint' | 'hash-set' | 'sorted-array' | 'linear' | 'trie';
/** Filters that remember the folders of their URLs. */
export type FolderFilterName = 'prefix-layers';
export declare const filterNames: FilterName[];
/** The filter of that name; one clear line when there is none. */
export declare function filterKind(name: string): FilterKind;
