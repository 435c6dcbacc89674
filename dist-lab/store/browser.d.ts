declare function noDisk(): never;
export declare const readSieve: typeof noDisk;
export declare const writeSieve: typeof noDisk;
export declare const openStore: typeof noDisk;
export {};
