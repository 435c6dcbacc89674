import type { Sieve } from '../sieve.ts';
import type { UrlList } from './experiment.ts';
import type { LinkGraph } from './link-graph.ts';
export interface Crawl {
    /** Pages fetched. */
    readonly fetched: number;
    /** Pages that a link led to; those not fetched are lost directly. */
    readonly asked: number;
    /** Links followed. */
    readonly links: number;
    /** How many pages the sieve's own rate says it loses directly, added up as the rate grew. */
    readonly expectedLosses: number;
}
/** Crawls from page 0. Page p has URL p of the list. */
export declare function crawl({ pages, starts, targets }: LinkGraph, list: UrlList, sieve: Sieve): Crawl;
