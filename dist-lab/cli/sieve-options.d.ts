import { type Command } from 'commander';
import type { FilterName, HashName, ProfileName, SieveOptions } from '../index.ts';
export interface SieveFlags {
    filter: FilterName;
    profile: ProfileName;
    hash: HashName[];
    urls?: number;
    fpr?: number;
    memory?: number;
    bits?: number;
    hashes?: number;
    layers?: number;
    depth?: 'join' | 'grow';
    bitsPerLayer?: number;
    folderHashes?: number;
    keywords?: number;
    features?: string;
    featureHashes?: number;
    inner?: string;
    window?: {
        urls?: number;
        ms?: number;
    };
    generations?: number;
}
/** `defaults` for a command whose paper says otherwise. */
export declare function withSieveOptions(command: Command, defaults?: Partial<SieveFlags>): Command;
export declare function sieveOptions(flags: SieveFlags): SieveOptions;
