import type { UrlList } from './experiment.ts';
export interface Sites {
    readonly names: readonly string[];
    /** Site number of URL i. */
    readonly of: Uint32Array;
    /** URLs of each site. */
    readonly counts: readonly number[];
}
export declare function sitesOf({ bytes, starts, ends, count }: UrlList): Sites;
/** URL numbers of the site with the most URLs, in the list's order, and its name. */
export declare function largestSite(list: UrlList): {
    name: string;
    urls: Uint32Array;
};
