export interface LinkGraph {
    readonly pages: number;
    /** Links of page p are targets [starts[p], starts[p + 1]). */
    readonly starts: Uint32Array;
    readonly targets: Uint32Array;
}
export interface LinkGraphShape {
    /** Site number of each page. */
    readonly siteOf: Uint32Array;
    /** Share of all links that lead to a page already found: the rest, one for each page, leads to a new one. */
    readonly repeats: number;
    readonly random: () => number;
}
/** Page 0 is where a crawl starts; page p is first linked from a page before it. */
export declare function linkGraph({ siteOf, repeats, random }: LinkGraphShape): LinkGraph;
/** How many pages can be reached from the first: the truth that a crawl is measured by. */
export declare function reachable({ pages, starts, targets }: LinkGraph): number;
/** Links to each page. */
export declare function inLinks({ pages, targets }: LinkGraph): Uint32Array;
