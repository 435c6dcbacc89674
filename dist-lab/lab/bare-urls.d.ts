import type { Lab, UrlList } from './experiment.ts';
/** URLs that lie anywhere in a buffer. */
export declare class BareUrls implements UrlList {
    readonly count: number;
    readonly bytes: Uint8Array;
    readonly starts: Uint32Array;
    readonly ends: Uint32Array;
    constructor(bytes: Uint8Array, starts: Uint32Array, ends: Uint32Array);
    at(i: number): string;
    lines(from: number, to: number): Uint8Array;
    /** The URLs for which `keep` says so, in order. */
    filter(keep: (i: number) => boolean): BareUrls;
    /** Only the first `count`. */
    first(count: number): BareUrls;
}
/** Up to `most` of the lab's URLs, without their scheme. */
export declare function bareUrls(lab: Lab, most: number): Promise<BareUrls>;
