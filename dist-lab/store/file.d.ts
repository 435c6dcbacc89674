/** Makes what happened to the names in a folder last. */
export declare function syncFolder(path: string): void;
export declare function writeFully(fd: number, bytes: Uint8Array): void;
/** Reads until `target` is full or the file ends; returns how many bytes there were. */
export declare function readFully(fd: number, target: Uint8Array, at: number): number;
/** A file that is there whole, under its name, or not at all: written beside it, synced, then renamed. */
export declare class AtomicFile {
    #private;
    readonly fd: number;
    constructor(path: string);
    /** Puts it in place. */
    commit(): void;
    /** Leaves no trace of it. */
    abandon(): void;
}
