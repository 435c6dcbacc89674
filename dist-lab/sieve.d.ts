import { type Step } from './canonical/explain.ts';
import { type Profile, type ProfileName } from './canonical/profiles.ts';
import type { Rule, RuleName } from './canonical/rules.ts';
import { type CommandRun, Commands } from './commands.ts';
import { Feed, type FeedOptions } from './feed.ts';
import type { FilterOptions, LayerMeasure, Plan } from './filters/filter.ts';
import { type DeletingFilterName, type FilterName, type FolderFilterName } from './filters/registry.ts';
import { type HashName } from './hashes.ts';
import { type StoreInfo, type StoreOptions } from './state.ts';
export interface SieveOptions<F extends FilterName = FilterName> extends FilterOptions {
    /** Default `fingerprint`: no capacity to choose, practically exact. */
    readonly filter?: F;
    /** How a URL becomes a key: a profile's name, or your own list of rules. Default `web`. */
    readonly profile?: ProfileName | readonly (RuleName | Rule)[] | Profile;
    /** Default `siphash`: keyed, since pages choose the URLs. The papers' functions are for trusted input only. */
    readonly hash?: HashName | readonly HashName[];
    /** 16 bytes. A random secret unless given; give one only to repeat a result. */
    readonly key?: Uint8Array;
    /** The most memory one WebAssembly instance may take; past it the filter is spread over several. Default 4 GiB. */
    readonly instanceBytes?: number;
}
export interface Stats {
    readonly filter: string;
    readonly profile: string;
    readonly hash: string;
    /** Distinct URLs marked: those answered "new". */
    readonly urls: number;
    /** URLs answered "seen" by an add. */
    readonly seen: number;
    /** Lines that were no URL; keyed as they stand. */
    readonly invalid: number;
    readonly sizeBytes: number;
    /** Null while there is no URL. */
    readonly bitsPerUrl: number | null;
    /** Share of bits or slots in use. */
    readonly fill: number;
    /** The chance that a new URL is answered "seen" now. */
    readonly expectedRate: number;
    /** The promise it was made with; null when made by m and k without expectedUrls. */
    readonly promisedRate: number | null;
    /** True when it holds more URLs than it was made for: the promise no longer holds. */
    readonly pastCapacity: boolean;
    /** Layered filters: fill and estimated distinct entries of each layer. */
    readonly layers?: readonly LayerMeasure[];
    /** Where a paper's formula and ours differ: further estimates of the rate, by name. */
    readonly rates?: Readonly<Record<string, number>>;
    /** Of a stored sieve: where and how. */
    readonly store?: StoreInfo;
}
export interface Explanation {
    readonly url: string;
    readonly key: string;
    /** False: the line is no URL, and its key is the line itself. */
    readonly isUrl: boolean;
    readonly steps: readonly Step[];
    /** What `add` would answer now. */
    readonly verdict: 'new' | 'seen';
}
/** A sieve whose filter can forget. */
export interface DeletingSieve extends Sieve {
    /** Forgets a URL: true when it was remembered. Errs as the filter does. */
    delete(url: string): boolean;
}
/** A sieve whose filter remembers the folders of its URLs. */
export interface FolderSieve extends Sieve {
    /**
     * Whether anything was seen under a host or folder, such as `example.com/blog/`. Errs towards "yes" at the
     * filter's rate, and for folders deeper than its layers, for which it answers as for the deepest it remembers.
     */
    hasUnder(folder: string): boolean;
}
export type SieveOf<F extends FilterName> = F extends DeletingFilterName ? DeletingSieve : F extends FolderFilterName ? FolderSieve : Sieve;
/**
 * Answers "have I seen this URL?", and marks it, in one step. Errs as its filter does: never towards "new"; towards
 * "seen" at the filter's rate (`stats().expectedRate`) and where its profile's rules merge two pages.
 */
export declare class Sieve {
    #private;
    readonly plan: Plan;
    readonly profile: Profile;
    /** A sieve in memory. Throws a SieveError, one line, for options that cannot be. */
    static create<F extends FilterName = 'fingerprint'>(options?: SieveOptions<F>): Promise<SieveOf<F>>;
    /**
     * A sieve that lives in a folder: made there with these options, or opened as it was. One writer at a time.
     * After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval` (the default);
     * after power loss at most the last second with `interval`; a half-written record never counts.
     */
    static open<F extends FilterName = 'fingerprint'>(folder: string, options?: SieveOptions<F> & StoreOptions): Promise<SieveOf<F>>;
    /** A sieve in memory, from a .sieve file. */
    static load(path: string): Promise<Sieve>;
    /** Marks a URL. True: it is new. False: it was seen, or the filter errs. */
    add(url: string): boolean;
    /** Whether a URL was seen. Marks nothing. */
    has(url: string): boolean;
    /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
    addMany(urls: readonly string[]): Uint8Array;
    /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
    hasMany(urls: readonly string[]): Uint8Array;
    /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. */
    addLines(bytes: Uint8Array): Uint8Array;
    /** Asks for newline-separated lines, no strings made: one answer each, in order, 1 seen and 0 not. Marks nothing. */
    hasLines(bytes: Uint8Array): Uint8Array;
    /** For streams of lines: bytes in, in any cuts; the new (or the seen) lines out. One feed at a time. */
    feed(options: FeedOptions, onBatch?: (verdicts: Uint8Array) => void): Feed;
    /** For streams of `ADD url` and `CHECK url` lines: bytes in, in any cuts; answers out, in order. One at a time. */
    commands(onRun?: (run: CommandRun) => void): Commands;
    /** The key, what each rule did, and the verdict an add would get. Marks nothing. */
    explain(url: string): Explanation;
    stats(): Stats;
    /** Forgets everything. Not while a feed has taken half a line. */
    clear(): void;
    /**
     * Takes in all that another sieve remembers: of the same filter, parameters, profile and key. A stored sieve folds
     * it into its snapshot before the promise is kept. Errs afterwards as a filter that took the URLs of both.
     */
    merge(other: Sieve): Promise<void>;
    /** Of a stored sieve: puts all that was acknowledged on the disk, now. */
    sync(): void;
    /** Of a stored sieve: puts everything on the disk and lets another process open it. It answers no more. */
    close(): Promise<void>;
    /** Writes a .sieve file: whole, or not at all. Without a path, a stored sieve folds its log into its snapshot. */
    save(path?: string): Promise<void>;
    /** Forgets a URL; only a DeletingSieve shows it. */
    protected forget(url: string): boolean;
    /** Whether anything is under a folder; only a FolderSieve shows it. */
    protected askUnder(folder: string): boolean;
}
