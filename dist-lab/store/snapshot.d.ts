import type { Plan } from '../filters/filter.ts';
import type { HashName } from '../hashes.ts';
import { type Sieve, type SieveOptions } from '../sieve.ts';
import { type Saved, type SieveState } from '../state.ts';
/** The header's JSON. */
export interface SieveHeader {
    readonly filter: string;
    readonly plan: Plan;
    readonly profile: {
        readonly name: string;
        readonly rules: readonly string[];
    };
    readonly hash: {
        readonly names: readonly HashName[];
        readonly key: string;
    };
    /** The first 32 bits of the first hash of each shard. */
    readonly shards: readonly number[];
    /** The store keeps the keys themselves. */
    readonly keepKeys?: boolean;
}
/** The end's JSON. */
export interface SieveCounts {
    readonly urls: number;
    readonly seen: number;
    readonly invalid: number;
    /** Of each shard: counts that are not in its memory. */
    readonly counts: readonly (readonly number[])[];
    readonly chunks: number;
}
export interface SavedFile {
    readonly header: SieveHeader;
    readonly counts: SieveCounts;
    readonly bytes: number;
}
/** The header of a sieve; refuses what a file cannot hold: rules or feature functions of the user's own. */
export declare function headerOf(state: SieveState, keepKeys?: boolean): SieveHeader;
/** Writes a sieve to a file, at once. */
export declare function writeSieve(path: string, state: SieveState, keepKeys?: boolean): void;
/**
 * Writes a sieve to a file while it goes on taking URLs: what is added meanwhile may be in it or not. False when it was
 * given up, because the sieve was spread anew, cleared, or `isWanted` said so.
 */
export declare function writeSieveLater(path: string, state: SieveState, keepKeys: boolean, isWanted: () => boolean): Promise<boolean>;
/** What a header says, as what a sieve is made of. */
export declare function savedOf(header: SieveHeader): Saved;
/** Reads the header of a file. */
export declare function readHeader(path: string, fd: number): {
    header: SieveHeader;
    bytes: number;
};
/** Opens a file to read; one line when that cannot be. */
export declare function openFile(path: string): number;
/** A sieve from a file: one pass, each piece read straight into the kernel's memory. */
export declare function readSieve(path: string, options?: SieveOptions): Promise<{
    sieve: Sieve;
    file: SavedFile;
}>;
