import type { Kernel } from './kernel.ts';
/** Numbers of kernel/hash.ts, and where each comes from. */
declare const families: {
    readonly siphash: {
        readonly number: 0;
        readonly wide: true;
        readonly does: 'SipHash-1-3 with a secret 128-bit key; safe where pages choose the URLs';
    };
    readonly xxh64: {
        readonly number: 1;
        readonly wide: true;
        readonly does: 'XXH64; for trusted input and interchange';
    };
    readonly murmur3: {
        readonly number: 2;
        readonly wide: false;
        readonly does: 'MurmurHash3 x86 32 with seeds 0 … k−1 (term-project, sharma-keywords)';
    };
    readonly poly31: {
        readonly number: 3;
        readonly wide: false;
        readonly does: 'polynomial rolling hash with 31 (url-caching)';
    };
    readonly djb2: {
        readonly number: 4;
        readonly wide: false;
        readonly does: 'Bernstein’s h · 33 + c from 5381 (url-caching)';
    };
    readonly xor17: {
        readonly number: 5;
        readonly wide: false;
        readonly does: 'shifts and XOR from 17 (url-caching)';
    };
    readonly jenkins: {
        readonly number: 6;
        readonly wide: false;
        readonly does: 'Jenkins’ one-at-a-time (jiang-eigenvalue)';
    };
    readonly md5: {
        readonly number: 7;
        readonly wide: false;
        readonly does: 'words of the MD5 digest (jiang-eigenvalue)';
    };
};
export type HashName = keyof typeof families;
export declare const hashNames: HashName[];
/** Each hash function and what it is. */
export declare const hashDescriptions: Readonly<Record<HashName, string>>;
/** Whether it gives 64 bits, from which more hashes are derived. */
export declare function isWideHash(name: HashName): boolean;
export interface HashChoice {
    /** One function, or several narrow ones that take turns: the j-th hash is by the (j mod length)-th of them. */
    readonly names: readonly HashName[];
    /** 16 bytes: the key of `siphash`; `xxh64` takes the first 8 as its seed; the others take none. */
    readonly key: Uint8Array;
}
/** The functions asked for, with a fresh random key (`siphash`) or seed 0, unless `key` gives one. */
export declare function chooseHash(hash?: HashName | readonly HashName[], key?: Uint8Array): HashChoice;
/** Tells an instance how to hash. */
export declare function applyHash(kernel: Kernel, { names, key }: HashChoice): void;
export {};
