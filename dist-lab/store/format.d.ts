import { SieveError } from '../errors.ts';
export declare const MAGIC = "URLSIEVE";
export declare const VERSION = 1;
/** Bytes before the header's JSON: magic, version, length of the JSON. */
export declare const PREFIX_BYTES = 16;
/** Tag, shard, array, zero, offset, length, CRC of these 32 bytes, CRC of the payload. */
export declare const CHUNK_HEADER_BYTES = 40;
/** No piece is longer: a damaged length is noticed before it is believed. */
export declare const MOST_PIECE_BYTES: number;
/** Says which file is damaged, where and how. */
export declare function damaged(path: string, at: number, what: string): SieveError;
export interface Chunk {
    readonly shard: number;
    readonly array: number;
    readonly offset: number;
    readonly length: number;
    readonly crc: number;
    /** The end of the file: its payload is JSON with the counts. */
    readonly isEnd: boolean;
}
/** The first bytes of a file: `header` as JSON. */
export declare function encodeHeader(header: unknown): Buffer;
/** How many bytes the whole header has, from its first 16. Refuses what is no sieve, or of a later version. */
export declare function headerBytes(path: string, prefix: Buffer): number;
export declare function decodeHeader(path: string, bytes: Buffer): unknown;
/** The header of a chunk that holds a piece of the filter; the payload follows it. */
export declare function encodePiece(shard: number, array: number, offset: number, payload: Uint8Array): Buffer;
/** The last chunk, with its payload. */
export declare function encodeEnd(counts: unknown): Buffer;
/** A chunk's header, from its 40 bytes at position `at` of the file. */
export declare function decodeChunk(path: string, bytes: Buffer, at: number): Chunk;
/** Throws unless a chunk's payload is what was written. */
export declare function checkPayload(path: string, chunk: Chunk, payload: Uint8Array, at: number): void;
