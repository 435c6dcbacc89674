export interface Parts {
    scheme: string;
    authority: string;
    path: string;
    query: string;
    fragment: string;
}
export declare function split(key: string): Parts;
/**
 * The key with some of its parts replaced. An opaque path (`data:a #b`) may end in spaces only while a query or a
 * fragment follows: they go with the last of these, as when a URL object's `hash` is set to nothing.
 */
export declare function replaceParts(key: string, change: (parts: Parts) => Partial<Parts>): string;
