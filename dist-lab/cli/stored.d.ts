import { Sieve } from '../index.ts';
export declare function isFolder(path: string): boolean;
/** Opens it to be asked: a folder without a lock, a file into memory. */
export declare function openStored(path: string): Promise<Sieve>;
