import { type Profile, type ProfileName } from '../canonical/profiles.ts';
import type { Rule, RuleName } from '../canonical/rules.ts';
import { type Durability } from '../store/store.ts';
export interface ExactOptions {
    /** How a URL becomes a key: a profile's name, or a list of built-in rules. Default `web`; kept in the folder. */
    readonly profile?: ProfileName | readonly (RuleName | Rule)[] | Profile;
    /** When an acknowledged URL is safe; default `interval`. */
    readonly durability?: Durability;
    /** Sizes the filter's first part; it grows past it. Default a million. */
    readonly expectedUrls?: number;
    /** Gives the filter a fixed size: past it, more new URLs are looked up on disk. */
    readonly filterBytes?: number;
    /** How many keys the cache holds, at 150 bytes each. Default 50,000: in crawls they answer almost 80 % of tests. */
    readonly cacheEntries?: number;
    /** Opens a damaged folder and keeps what can be kept. */
    readonly repair?: boolean;
}
export interface ExactStats {
    readonly filter: 'exact';
    readonly profile: string;
    /** Distinct URLs remembered; null while they are counted, after a crash. */
    readonly urls: number | null;
    /** URLs answered "seen" by an add. */
    readonly seen: number;
    /** Lines that were no URL; keyed as they stand. */
    readonly invalid: number;
    /** Always 0: it never errs. */
    readonly expectedRate: 0;
    /** Who answered, since it was opened. `disk` cost a read. */
    readonly answers: {
        readonly filter: number;
        readonly cache: number;
        readonly disk: number;
    };
    readonly front: {
        readonly filter: string;
        /** False while it is filled again, after a crash: until then every URL that the cache lacks is a read. */
        readonly isReady: boolean;
        readonly sizeBytes: number;
        /** The share of new URLs that cost a read in vain. */
        readonly rate: number;
    };
    readonly cache: {
        readonly entries: number;
        readonly sizeBytes: number;
    };
    readonly store: {
        readonly path: string;
        readonly durability: Durability;
    };
}
/**
 * Answers "have I seen this URL?", and marks it, without error in either direction; only its profile's rules merge
 * pages. After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval`; after
 * power loss at most the last second with `interval`. Verbs take effect in the order they are called, one at a time:
 * two calls in flight never both get "new". A call that fails has marked nothing.
 */
export declare class ExactSieve {
    #private;
    readonly profile: Profile;
    private constructor();
    /** Opens the exact sieve of a folder, or makes one there. One process at a time. */
    static open(folder: string, options?: ExactOptions): Promise<ExactSieve>;
    /** Marks a URL. True: it is new. False: it was seen. Adds that are called together share one write. */
    add(url: string): Promise<boolean>;
    /** Whether a URL was seen. Marks nothing. */
    has(url: string): Promise<boolean>;
    /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. All or none. */
    addMany(urls: readonly string[]): Promise<Uint8Array>;
    /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
    hasMany(urls: readonly string[]): Promise<Uint8Array>;
    /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. All or none. */
    addLines(bytes: Uint8Array): Promise<Uint8Array>;
    /** Forgets a URL: true when it was remembered. */
    delete(url: string): Promise<boolean>;
    /**
     * Forgets every URL under a host or folder, such as `example.com/` or `example.com/blog/`; returns how many there
     * were. With a scheme in front, only those with it. A crash on the way may leave some of them.
     */
    forgetUnder(folder: string): Promise<number>;
    /** Forgets everything. A crash on the way may leave some of it. */
    clear(): Promise<void>;
    /** Every key, by host and path. What is added meanwhile may be left out; bytes that are no UTF-8 are replaced. */
    keys(): AsyncGenerator<string>;
    /** The same, as the bytes they are. */
    keyBytes(): AsyncGenerator<Buffer>;
    stats(): ExactStats;
    /** Waits until the filter knows every key again, after a crash. Verdicts are right before; they cost more. */
    filled(): Promise<void>;
    /** Puts all that was acknowledged on the disk, now. */
    sync(): Promise<void>;
    /** Puts everything on the disk, keeps the filter for the next opening, and lets another process open it. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
