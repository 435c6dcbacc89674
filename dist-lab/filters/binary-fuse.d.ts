import { SieveError } from '../errors.ts';
import type { Kernel } from '../kernel.ts';
import { type Filter, type FilterKind, type Plan } from './filter.ts';
/** Bits of a fingerprint: wrong once in 256, in 65,536, in 4.3 billion. */
export type FingerprintBits = 8 | 16 | 32;
export declare const fingerprintWidths: readonly FingerprintBits[];
/** Made of the kernel's memory while a set is made: 9 bytes a key and 13 a cell, and what the instance itself takes. */
export declare const buildBytes: (urls: number) => number;
export declare function frozen(): SieveError;
/** What a plan says of sets of these sizes, one an instance. */
export declare function binaryFusePlan(sizes: readonly number[], bits: FingerprintBits): Plan;
/** Errs towards "seen" at 2^−bits, however many URLs there are; never towards "new". */
export declare const binaryFuse: FilterKind;
/**
 * Makes a set of `urls` distinct hashes in `builder`, an instance to be thrown away, and puts it into `filter`, which is
 * still empty. `give` writes the hashes; it is asked again for each seed that is tried. The same hashes, in any order,
 * make the same set.
 */
export declare function buildBinaryFuse(builder: Kernel, filter: Filter, urls: number, bits: FingerprintBits, give: (room: BigUint64Array) => void): void;
