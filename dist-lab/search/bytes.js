// The bytes of a table: a file read where it is needed, or a whole input in memory (a pipe, a .gz).
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
const CHUNK_BYTES = 256 * 1024;
/** All of it, in pieces. */
export function* chunksOf(bytes) {
    for (let at = 0; at < bytes.sizeBytes; at += CHUNK_BYTES) {
        yield bytes.read(at, Math.min(at + CHUNK_BYTES, bytes.sizeBytes));
    }
}
export function memoryBytes(buffer) {
    return { sizeBytes: buffer.length, read: (from, to) => buffer.subarray(from, to), close() { } };
}
/** Throws the system's error when there is no such file; `EISDIR` for a folder. */
export function fileBytes(path) {
    const fd = openSync(path, 'r');
    const stat = fstatSync(fd);
    if (stat.isDirectory()) {
        closeSync(fd);
        throw Object.assign(new Error('is a folder'), { code: 'EISDIR' });
    }
    return {
        sizeBytes: stat.size,
        read(from, to) {
            const buffer = Buffer.allocUnsafe(to - from);
            let got = 0;
            while (got < buffer.length) {
                const more = readSync(fd, buffer, got, buffer.length - got, from + got);
                if (more === 0)
                    break;
                got += more;
            }
            return buffer.subarray(0, got);
        },
        close: () => closeSync(fd),
    };
}
/** Of the file at `path` as it is on disk. Take it before reading: a change after that is then noticed. */
export function identify(path) {
    const { size, mtimeMs } = statSync(path);
    return { sizeBytes: size, modifiedMs: mtimeMs, sha256: contentHash(path) };
}
/** Whether the file still has the content it was indexed with; read only where its time of change differs. */
export function isUnchanged(path, known) {
    const { size, mtimeMs } = statSync(path);
    if (size !== known.sizeBytes)
        return false;
    return mtimeMs === known.modifiedMs || contentHash(path) === known.sha256;
}
function contentHash(path) {
    const bytes = fileBytes(path);
    try {
        const hash = createHash('sha256');
        for (const chunk of chunksOf(bytes))
            hash.update(chunk);
        return hash.digest('hex');
    }
    finally {
        bytes.close();
    }
}
