import { type HashName } from '../hashes.ts';
import type { UrlList } from './experiment.ts';
export interface Hashed {
    /** The first 32 bits of each URL's hash: of the 64 of a wide function, the upper half. */
    readonly first: Uint32Array;
    /** For 64 bits of each URL, which is two hashes of a narrow function. */
    readonly nsPerUrl: number;
}
/** Hashes the first `count` URLs, each batch `repeats` times; the fastest of these counts. */
export declare function hashed(list: UrlList, count: number, hash: HashName, key: Uint8Array, repeats: number): Promise<Hashed>;
/** χ² of the counts in 2^16 buckets chosen by `shift`: 0 the low bits, 16 the high ones; as standard deviations. */
export declare function chiSquareZ(first: Uint32Array, shift: 0 | 16): number;
/** How many hashes are equal to one that came before, and how many random ones would be. */
export declare function collisions(first: Uint32Array): {
    found: number;
    expected: number;
};
