// The .sieve file (docs/format.md): header, chunks of payload, end. Little-endian; everything under a CRC-32; readable
// in one pass. This file knows bytes only: what a chunk means is the filter's to say.
import { crc32 } from 'node:zlib';
import { SieveError } from '../errors.js';
export const MAGIC = 'URLSIEVE';
export const VERSION = 1;
/** Bytes before the header's JSON: magic, version, length of the JSON. */
export const PREFIX_BYTES = 16;
/** Tag, shard, array, zero, offset, length, CRC of these 32 bytes, CRC of the payload. */
export const CHUNK_HEADER_BYTES = 40;
const PIECE = tag('PIEC');
const END = tag('END.');
/** More JSON than any header has: a damaged length must not ask for gigabytes. */
const MOST_JSON_BYTES = 16 * 1024 * 1024;
/** No piece is longer: a damaged length is noticed before it is believed. */
export const MOST_PIECE_BYTES = 8 * 1024 * 1024;
function tag(text) {
    return Buffer.from(text, 'latin1').readUInt32LE(0);
}
/** Says which file is damaged, where and how. */
export function damaged(path, at, what) {
    return new SieveError('corrupt', `${path} is damaged at byte ${at}: ${what}; see \`urlsieve verify\``);
}
/** The first bytes of a file: `header` as JSON. */
export function encodeHeader(header) {
    const json = Buffer.from(JSON.stringify(header));
    const bytes = Buffer.alloc(PREFIX_BYTES + json.length + 4);
    bytes.write(MAGIC, 0, 'latin1');
    bytes.writeUInt32LE(VERSION, 8);
    bytes.writeUInt32LE(json.length, 12);
    json.copy(bytes, PREFIX_BYTES);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
    return bytes;
}
/** How many bytes the whole header has, from its first 16. Refuses what is no sieve, or of a later version. */
export function headerBytes(path, prefix) {
    if (prefix.length < PREFIX_BYTES || prefix.toString('latin1', 0, 8) !== MAGIC) {
        const got = JSON.stringify(prefix.toString('latin1', 0, Math.min(8, prefix.length)));
        throw new SieveError('corrupt', `${path} is no sieve: it begins with ${got}, expected "${MAGIC}"`);
    }
    const version = prefix.readUInt32LE(8);
    if (version !== VERSION) {
        throw new SieveError('version', `${path} has format version ${version}: this urlsieve reads version ${VERSION}`);
    }
    const length = prefix.readUInt32LE(12);
    if (length > MOST_JSON_BYTES)
        throw damaged(path, 12, `a header of ${length} bytes`);
    return PREFIX_BYTES + length + 4;
}
export function decodeHeader(path, bytes) {
    const end = bytes.length - 4;
    if (bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end))) {
        throw damaged(path, end, 'the header does not match its checksum');
    }
    return JSON.parse(bytes.toString('utf8', PREFIX_BYTES, end));
}
function encodeChunkHeader(kind, shard, array, offset, payload) {
    const bytes = Buffer.alloc(CHUNK_HEADER_BYTES);
    bytes.writeUInt32LE(kind, 0);
    bytes.writeUInt32LE(shard, 4);
    bytes.writeUInt32LE(array, 8);
    bytes.writeBigUInt64LE(BigInt(offset), 16);
    bytes.writeBigUInt64LE(BigInt(payload.length), 24);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 32)), 32);
    bytes.writeUInt32LE(crc32(payload), 36);
    return bytes;
}
/** The header of a chunk that holds a piece of the filter; the payload follows it. */
export function encodePiece(shard, array, offset, payload) {
    return encodeChunkHeader(PIECE, shard, array, offset, payload);
}
/** The last chunk, with its payload. */
export function encodeEnd(counts) {
    const json = Buffer.from(JSON.stringify(counts));
    return Buffer.concat([encodeChunkHeader(END, 0, 0, 0, json), json]);
}
/** A chunk's header, from its 40 bytes at position `at` of the file. */
export function decodeChunk(path, bytes, at) {
    if (bytes.length < CHUNK_HEADER_BYTES)
        throw damaged(path, at, 'the file ends in the middle: its end is missing');
    if (bytes.readUInt32LE(32) !== crc32(bytes.subarray(0, 32))) {
        throw damaged(path, at, 'a chunk header does not match its checksum');
    }
    const kind = bytes.readUInt32LE(0);
    if (kind !== PIECE && kind !== END)
        throw damaged(path, at, `a chunk of unknown kind ${kind}`);
    const length = Number(bytes.readBigUInt64LE(24));
    if (length > Math.max(MOST_PIECE_BYTES, MOST_JSON_BYTES))
        throw damaged(path, at, `a chunk of ${length} bytes`);
    return {
        shard: bytes.readUInt32LE(4),
        array: bytes.readUInt32LE(8),
        offset: Number(bytes.readBigUInt64LE(16)),
        length,
        crc: bytes.readUInt32LE(36),
        isEnd: kind === END,
    };
}
/** Throws unless a chunk's payload is what was written. */
export function checkPayload(path, chunk, payload, at) {
    if (payload.length < chunk.length)
        throw damaged(path, at, 'the file ends in the middle of a chunk');
    if (crc32(payload) !== chunk.crc)
        throw damaged(path, at, 'a chunk does not match its checksum');
}
