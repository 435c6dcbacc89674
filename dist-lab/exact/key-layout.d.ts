/** What is no key of a URL, since it has no mark: where the store keeps what it knows of itself. Below every key. */
export declare const META_KEY: Buffer;
/** The layout of the key at [start, end) of `bytes`. */
export declare function layOut(bytes: Uint8Array, start?: number, end?: number): Buffer;
/** The scheme of a key, from its layout; empty when it has none. */
export declare function schemeOf(laid: Buffer): string;
/** The key itself, from its layout. */
export declare function keyOfLayout(laid: Buffer): Buffer;
/** A range of keys: from `gte`, up to but without `lt`. */
export interface KeyRange {
    readonly gte: Buffer;
    readonly lt: Buffer;
}
/**
 * The ranges of what is under a folder, by the folder's own key. A profile that drops the slash at the end of a path
 * makes `host/blog` the key of the folder itself and `host/blog?page=2` that of a page in it: these belong to it.
 */
export declare function rangesUnder(folderKey: Buffer): {
    ranges: KeyRange[];
    scheme: string;
};
