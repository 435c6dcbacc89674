export interface FileReport {
    readonly file: string;
    readonly bytes: number;
    /** Chunks of a snapshot, records of a log. */
    readonly parts: number;
    readonly urls: number | null;
    /** What is wrong, one line each; none: all is well. */
    readonly damage: readonly string[];
}
/** Every file of a stored sieve, checked. */
export declare function verifySieve(path: string): FileReport[];
/**
 * Makes a store whole again: what its snapshot and logs still say goes into a new snapshot. Errs towards "new": URLs
 * of damaged chunks and records are forgotten. Damaged files are kept beside, with `.damaged` behind their names.
 */
export declare function repairStore(folder: string): Promise<FileReport[]>;
