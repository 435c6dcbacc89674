/** Throws when a log holds a damaged record. One that the file's end cuts short was never acknowledged: that is none. */
export declare function checkLog(path: string, bytes: Buffer): void;
/** Checks every log of a LevelDB folder. */
export declare function checkLogs(folder: string): void;
/** Throws when a table is not what was written. */
export declare function checkTable(path: string, bytes: Buffer): void;
export interface Verification {
    readonly files: number;
    readonly bytes: number;
    /** One line for each damaged file; empty when all is well. */
    readonly damages: readonly string[];
}
/** Reads every log and table of an exact sieve's folder and checks all checksums. The sieve should not be open. */
export declare function verifyExact(folder: string): Verification;
