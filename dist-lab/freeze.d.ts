import { type FingerprintBits } from './filters/binary-fuse.ts';
import { Sieve } from './sieve.ts';
/** A sieve that is only asked: it has no add. Errs towards "seen" at 2^−bits, never towards "new". */
export type FrozenSieve = Pick<Sieve, 'plan' | 'profile' | 'has' | 'hasMany' | 'hasLines' | 'explain' | 'stats' | 'save'>;
export interface FreezeOptions {
    /**
     * Bits of a fingerprint. Default 32: a new URL is answered "seen" once in 4 billion, for 36 bits a URL; 16: once in
     * 65,536, for 18; 8: once in 256, for 9.
     */
    readonly bits?: FingerprintBits;
    /** The most memory one WebAssembly instance may take. Making it takes about 24 bytes a URL. Default 4 GiB. */
    readonly instanceBytes?: number;
}
/** Makes a frozen sieve of the URLs a fingerprint sieve has now; that one goes on as it was. */
export declare function freeze(sieve: Sieve, { bits, instanceBytes }?: FreezeOptions): Promise<FrozenSieve>;
