// The index file of a search, little-endian: 8 bytes of magic, u32 version, u32 length of a JSON head, the head, then
// the arrays it names, each begun at a multiple of 8 bytes; at the end the SHA-256 of all before it (docs/search.md).
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { Dataset } from './dataset.js';
import { Dictionary } from './dictionary.js';
import { InputError } from './input-error.js';
import { RowFilters } from './row-filters.js';
import { Signatures } from './signatures.js';
import { WordHashes } from './word-hashes.js';
/** The first byte is no text, and the last three suffer in a transfer as text. */
const MAGIC = Buffer.from('\x89USIX\r\n\x1a', 'latin1');
export const INDEX_VERSION = 1;
const FIXED_BYTES = 16;
const SUM_BYTES = 32;
const shapeOf = ({ filters, bits, hashes }) => ({ filters, bits, hashes });
const padded = (bytes) => Math.ceil(bytes / 8) * 8;
/** On a big-endian machine, the bytes of the other order; else the array's own. */
function littleEndian(array) {
    const own = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    if (endianness() === 'LE')
        return own;
    return array.BYTES_PER_ELEMENT === 4 ? Buffer.from(own).swap32() : Buffer.from(own).swap64();
}
export function encodeIndex({ origin, dataset, columns, places }) {
    const { dictionary, rowFilters } = dataset;
    const head = {
        origin,
        counts: dataset.counts,
        columns,
        places: places.length,
        dictionary: { reading: dictionary.reading, ...shapeOf(dictionary.signatures) },
        bands: rowFilters.bands.map(({ signatures, rate }) => ({ ...shapeOf(signatures), rate })),
    };
    const json = Buffer.from(JSON.stringify(head));
    const fixed = Buffer.alloc(FIXED_BYTES);
    MAGIC.copy(fixed);
    fixed.writeUInt32LE(INDEX_VERSION, 8);
    fixed.writeUInt32LE(json.length, 12);
    const arrays = [
        places,
        dictionary.signatures.columns,
        ...rowFilters.bands.flatMap(({ rows, signatures }) => [rows, signatures.columns]),
    ];
    const parts = [fixed, json, ...arrays.map(littleEndian)].flatMap((part) => [
        part,
        Buffer.alloc(padded(part.length) - part.length),
    ]);
    const body = Buffer.concat(parts);
    return Buffer.concat([body, createHash('sha256').update(body).digest()]);
}
/** Throws an InputError, one line, for what is no index, one of another version, or a damaged one. */
export async function decodeIndex(name, file) {
    checkStart(name, file);
    const damaged = (what) => new InputError(`index ${name} is damaged: ${what}; delete it to have it made again`);
    if (file.length < FIXED_BYTES + SUM_BYTES)
        throw damaged(`${file.length} bytes, which is too short`);
    const body = file.subarray(0, file.length - SUM_BYTES);
    if (!createHash('sha256').update(body).digest().equals(file.subarray(body.length))) {
        throw damaged('its checksum does not fit its content');
    }
    const headBytes = body.readUInt32LE(12);
    const head = JSON.parse(body.toString('utf8', FIXED_BYTES, FIXED_BYTES + headBytes));
    let at = FIXED_BYTES + padded(headBytes);
    const take = (bytes) => {
        // A copy: aligned, and free of the file's buffer.
        const part = Uint8Array.prototype.slice.call(body, at, at + bytes);
        if (part.length !== bytes)
            throw damaged('it ends before its arrays do');
        at += padded(bytes);
        return part;
    };
    const words = (length) => {
        const part = take(length * 4);
        if (endianness() === 'BE')
            Buffer.from(part.buffer).swap32();
        return new Uint32Array(part.buffer);
    };
    const placesPart = take(head.places * 8);
    if (endianness() === 'BE')
        Buffer.from(placesPart.buffer).swap64();
    const places = new Float64Array(placesPart.buffer);
    const signatures = (shape) => new Signatures(shape, words(Math.ceil(shape.filters / 32) * shape.bits));
    const dictionary = new Dictionary(head.dictionary.reading, signatures(head.dictionary));
    const bands = head.bands.map((band) => ({
        rows: words(band.filters),
        signatures: signatures(band),
        rate: band.rate,
    }));
    const dataset = new Dataset(head.counts, dictionary, new RowFilters(bands), await WordHashes.create());
    return { origin: head.origin, dataset, columns: head.columns, places };
}
/** The index at `path`; null when there is none. */
export async function readIndex(path) {
    let start;
    try {
        const fd = openSync(path, 'r');
        try {
            start = Buffer.alloc(FIXED_BYTES);
            start = start.subarray(0, readSync(fd, start, 0, FIXED_BYTES, 0));
        }
        finally {
            closeSync(fd);
        }
    }
    catch (error) {
        if (error.code === 'ENOENT')
            return null;
        throw error;
    }
    checkStart(path, start);
    return decodeIndex(path, readFileSync(path));
}
/** Written whole beside it, then put in its place: a reader sees the old one or the new one. */
export function writeIndex(path, index) {
    const beside = `${path}.${process.pid}.tmp`;
    try {
        writeFileSync(beside, encodeIndex(index));
        renameSync(beside, path);
    }
    catch (error) {
        rmSync(beside, { force: true });
        throw error;
    }
}
// Not even an attempt to read, or to replace, a file that is something else.
function checkStart(name, file) {
    if (!file.subarray(0, MAGIC.length).equals(MAGIC)) {
        throw new InputError(`${name} is no search index: expected it to begin with ${MAGIC.toString('hex')}, got ` +
            `${file.subarray(0, MAGIC.length).toString('hex') || 'nothing'}; it is left as it is`);
    }
    const version = file.length >= 12 ? file.readUInt32LE(8) : Number.NaN;
    if (version !== INDEX_VERSION) {
        throw new InputError(`index ${name} has version ${version}: this urlsieve reads version ${INDEX_VERSION}; delete it to have it made again`);
    }
}
