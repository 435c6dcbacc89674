/** A count: 1000000, 1e6, 10M, 1_000_000. */
export declare function count(option: string): (text: string) => number;
/** A rate: 0.001, 1e-6, 0.1%. */
export declare function rate(option: string): (text: string) => number;
/** A size in bytes: 64M, 1.5GiB, 500KB, 1048576. */
export declare function size(option: string): (text: string) => number;
/** 1.8 GiB. */
export declare function readableBytes(bytes: number): string;
/** Names with commas between them; which names there are is the library's to say. */
export declare function list<T extends string>(text: string): T[];
/** A window: so many URLs (1000000, 1e6) or a time (30d, 12h, 90min, 45s, 2w). */
export declare function windowOf(option: string): (text: string) => {
    urls?: number;
    ms?: number;
};
