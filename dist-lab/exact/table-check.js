// Whether LevelDB's files are what was written. As built into classic-level it does not check tables when it reads
// them, and leaves out damaged parts of a log in silence; so logs are checked before each opening, and tables when
// asked. Formats: doc/log_format.md and doc/table_format.md of LevelDB.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SieveError } from '../errors.js';
import { damaged } from '../store/format.js';
const LOG_BLOCK_BYTES = 32 * 1024;
/** CRC, length, kind. */
const LOG_HEADER_BYTES = 7;
const FOOTER_BYTES = 48;
const TABLE_MAGIC = 0xdb4775248b80fb57n;
/** Kind of compression, CRC: behind each block of a table. */
const TRAILER_BYTES = 5;
const table = Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let i = 0; i < 8; i++)
        c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
    return c >>> 0;
});
// CRC-32C as LevelDB stores it: turned and shifted, so that a CRC of CRCs is no trivial one.
function maskedCrc(bytes, start, end) {
    let c = 0xffffffff;
    for (let i = start; i < end; i++)
        c = table[(c ^ bytes[i]) & 255] ^ (c >>> 8);
    c = ~c >>> 0;
    return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0;
}
/** Throws when a log holds a damaged record. One that the file's end cuts short was never acknowledged: that is none. */
export function checkLog(path, bytes) {
    for (let at = 0; at < bytes.length;) {
        const left = LOG_BLOCK_BYTES - (at % LOG_BLOCK_BYTES);
        if (left < LOG_HEADER_BYTES) {
            at += left;
            continue;
        }
        if (at + LOG_HEADER_BYTES > bytes.length)
            return;
        const length = bytes.readUInt16LE(at + 4);
        const kind = bytes[at + 6];
        const end = at + LOG_HEADER_BYTES + length;
        // A file that grew but was not written before the power went is zero there.
        if (kind === 0 && length === 0 && isZero(bytes, at))
            return;
        if (kind < 1 || kind > 4 || LOG_HEADER_BYTES + length > left) {
            throw damaged(path, at, 'a record header that cannot be');
        }
        if (end > bytes.length)
            return;
        if (bytes.readUInt32LE(at) !== maskedCrc(bytes, at + 6, end)) {
            throw damaged(path, at, 'a record does not match its checksum');
        }
        at = end;
    }
}
function isZero(bytes, from) {
    for (let i = from; i < bytes.length; i++)
        if (bytes[i] !== 0)
            return false;
    return true;
}
/** Checks every log of a LevelDB folder. */
export function checkLogs(folder) {
    if (!existsSync(folder))
        return;
    for (const name of readdirSync(folder)) {
        if (name.endsWith('.log'))
            checkLog(join(folder, name), readFileSync(join(folder, name)));
    }
}
// A number in LevelDB's variable length, and where it ends.
function varint(bytes, at) {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
        const byte = bytes[at++];
        if (byte === undefined || scale > 2 ** 49)
            throw new RangeError('a number that does not end');
        value += (byte & 127) * scale;
        if (byte < 128)
            return [value, at];
    }
}
// Snappy, as written down in format_description.txt of the library.
function unsnapped(bytes) {
    let [size, at] = varint(bytes, 0);
    if (size > 2 ** 30)
        throw new RangeError(`a block of ${size} bytes`);
    const out = Buffer.alloc(size);
    let done = 0;
    while (at < bytes.length) {
        const tag = bytes[at++];
        let length = (tag >>> 2) + 1;
        if ((tag & 3) === 0) {
            if (length > 60) {
                const width = length - 60;
                length = bytes.readUIntLE(at, width) + 1;
                at += width;
            }
            done += bytes.copy(out, done, at, at + length);
            at += length;
            continue;
        }
        let back;
        if ((tag & 3) === 1) {
            length = ((tag >>> 2) & 7) + 4;
            back = ((tag >>> 5) << 8) | bytes[at++];
        }
        else {
            const width = (tag & 3) === 2 ? 2 : 4;
            back = bytes.readUIntLE(at, width);
            at += width;
        }
        if (back === 0 || back > done)
            throw new RangeError('a copy from before the beginning');
        for (let i = 0; i < length && done < size; i++, done++)
            out[done] = out[done - back];
    }
    if (done !== size)
        throw new RangeError(`a block of ${done} bytes, expected ${size}`);
    return out;
}
// The bytes of a table's block, checked.
function blockAt(path, bytes, offset, size) {
    const end = offset + size;
    if (end + TRAILER_BYTES > bytes.length)
        throw damaged(path, offset, 'a block past the end of the file');
    if (bytes.readUInt32LE(end + 1) !== maskedCrc(bytes, offset, end + 1)) {
        throw damaged(path, offset, 'a block does not match its checksum');
    }
    return bytes.subarray(offset, end);
}
/** Throws when a table is not what was written. */
export function checkTable(path, bytes) {
    const footer = bytes.length - FOOTER_BYTES;
    if (footer < 0 || bytes.readBigUInt64LE(bytes.length - 8) !== TABLE_MAGIC) {
        throw damaged(path, Math.max(0, footer), 'no end of a table');
    }
    let covered = 0;
    const read = (offset, size) => {
        const block = blockAt(path, bytes, offset, size);
        covered += size + TRAILER_BYTES;
        return bytes[offset + size] === 1 ? unsnapped(block) : block;
    };
    try {
        const metaOffset = varint(bytes, footer);
        const metaSize = varint(bytes, metaOffset[1]);
        const indexOffset = varint(bytes, metaSize[1]);
        const indexSize = varint(bytes, indexOffset[1]);
        for (let i = indexSize[1]; i < bytes.length - 8; i++) {
            if (bytes[i] !== 0)
                throw damaged(path, i, 'padding that is not zero');
        }
        for (const block of [read(indexOffset[0], indexSize[0]), read(metaOffset[0], metaSize[0])]) {
            for (const { offset, size } of handlesOf(block)) {
                blockAt(path, bytes, offset, size);
                covered += size + TRAILER_BYTES;
            }
        }
    }
    catch (error) {
        if (error instanceof SieveError)
            throw error;
        throw damaged(path, footer, error.message);
    }
    if (covered !== footer)
        throw damaged(path, footer, `blocks of ${covered} bytes, expected ${footer}`);
}
// The values of an index block: where other blocks lie.
function* handlesOf(block) {
    const end = block.length - 4 - 4 * block.readUInt32LE(block.length - 4);
    for (let at = 0; at < end;) {
        let unshared;
        let valueBytes;
        [, at] = varint(block, at);
        [unshared, at] = varint(block, at);
        [valueBytes, at] = varint(block, at);
        at += unshared;
        const [offset, next] = varint(block, at);
        const [size] = varint(block, next);
        yield { offset, size };
        at += valueBytes;
    }
}
/** Reads every log and table of an exact sieve's folder and checks all checksums. The sieve should not be open. */
export function verifyExact(folder) {
    const keys = join(folder, 'keys');
    const damages = [];
    let files = 0;
    let bytes = 0;
    for (const name of existsSync(keys) ? readdirSync(keys).sort() : []) {
        const check = name.endsWith('.ldb') ? checkTable : /\.log$|^MANIFEST-/.test(name) ? checkLog : null;
        if (!check)
            continue;
        const path = join(keys, name);
        const content = readFileSync(path);
        files++;
        bytes += content.length;
        try {
            check(path, content);
        }
        catch (error) {
            damages.push(error.message);
        }
    }
    return { files, bytes, damages };
}
