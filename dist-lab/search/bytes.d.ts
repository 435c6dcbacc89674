/** What tells whether a file is still the one that was indexed. */
export interface Identity {
    readonly sizeBytes: number;
    readonly modifiedMs: number;
    readonly sha256: string;
}
export interface Bytes {
    readonly sizeBytes: number;
    /** The bytes [from, to). */
    read(from: number, to: number): Buffer;
    close(): void;
}
/** All of it, in pieces. */
export declare function chunksOf(bytes: Bytes): Generator<Buffer>;
export declare function memoryBytes(buffer: Buffer): Bytes;
/** Throws the system's error when there is no such file; `EISDIR` for a folder. */
export declare function fileBytes(path: string): Bytes;
/** Of the file at `path` as it is on disk. Take it before reading: a change after that is then noticed. */
export declare function identify(path: string): Identity;
/** Whether the file still has the content it was indexed with; read only where its time of change differs. */
export declare function isUnchanged(path: string, known: Identity): boolean;
