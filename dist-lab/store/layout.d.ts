/** Holds what was before the log of the same number began. */
export declare const snapshotName: (n: number) => string;
export declare const logName: (n: number) => string;
/** Numbers of the snapshots and logs there, ascending. */
export declare function listStore(folder: string): {
    snapshots: number[];
    logs: number[];
};
