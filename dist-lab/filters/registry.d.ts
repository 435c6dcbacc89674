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
/** Filters that are made at once from another and only asked from then on: a file may hold one, `create` makes none. */
export declare const frozenFilters: {
    readonly 'binary-fuse': FilterKind;
};
export type FilterName = keyof typeof filters;
export type FrozenFilterName = keyof typeof frozenFilters;
/** Filters that can forget a URL. */
export type DeletingFilterName = 'fingerprint' | 'hash-set' | 'sorted-array' | 'linear' | 'trie';
/** Filters that remember the folders of their URLs. */
export type FolderFilterName = 'prefix-layers';
export declare const filterNames: FilterName[];
/** The filter of that name, frozen or not; one clear line when there is none. */
export declare function filterKind(name: string): FilterKind;
