import { SieveError } from '../errors.ts';
/** Magic, operation, entries, payload length, time in milliseconds, CRC of these 24 bytes. */
export declare const RECORD_HEADER_BYTES = 28;
/** What a record says of its entries. Owed: the snapshot's filter has them, but the disk had refused them. */
export declare const OP: {
    readonly addHashes: 1;
    readonly addKeys: 2;
    readonly deleteHashes: 3;
    readonly deleteKeys: 4;
    readonly oweHashes: 5;
    readonly oweKeys: 6;
};
export type Op = (typeof OP)[keyof typeof OP];
export interface LogRecord {
    readonly op: Op;
    readonly entries: number;
    /** Hashes: 8 bytes each. Keys: a u32 length each, then their bytes. */
    readonly payload: Buffer;
    /** When it was written, in milliseconds since 1970. */
    readonly time: number;
}
export interface LogEnd {
    readonly records: number;
    /** Bytes of whole records. */
    readonly bytes: number;
    /** Bytes of a last record that was cut short: never acknowledged, left out. */
    readonly tornBytes: number;
}
export declare function encodeRecord(op: Op, entries: number, payload: Uint8Array, time?: number): Buffer;
/** Reads a log from its start, gives each record to `take`, and says where whole records end. */
export declare function readLog(path: string, take: (record: LogRecord) => void): LogEnd;
/** Reads what can still be read of a damaged log: bad records are passed over. */
export declare function salvageLog(path: string, take: (record: LogRecord) => void): LogEnd;
export declare class Log {
    #private;
    readonly path: string;
    /** Bytes of whole records. */
    bytes: number;
    /** Opens a log for writing, from the end of its whole records on. */
    constructor(path: string, bytes?: number);
    /** Hands a record to the system. When that fails nothing of it stays, and the next append starts clean. */
    append(record: Uint8Array): void;
    /** Takes back the last record, of `bytes` bytes: it was not acknowledged. */
    retract(bytes: number): void;
    /** Makes the system put it on the disk, now. */
    sync(): void;
    /** The same, without waiting. */
    syncLater(onError: (error: SieveError) => void): void;
    close(): void;
}
/** One line for a disk that is full, read-only or broken. */
export declare function diskError(path: string, error: unknown): SieveError;
