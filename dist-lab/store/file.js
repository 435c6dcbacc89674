// Files as a store needs them: written whole or not at all, read straight to where the bytes belong.
import { closeSync, fsyncSync, openSync, readSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { diskError } from './log.js';
/** Makes what happened to the names in a folder last. */
export function syncFolder(path) {
    const fd = openSync(path, 'r');
    try {
        fsyncSync(fd);
    }
    finally {
        closeSync(fd);
    }
}
export function writeFully(fd, bytes) {
    for (let at = 0; at < bytes.length;)
        at += writeSync(fd, bytes, at, bytes.length - at);
}
/** Reads until `target` is full or the file ends; returns how many bytes there were. */
export function readFully(fd, target, at) {
    let got = 0;
    while (got < target.length) {
        const n = readSync(fd, target, got, target.length - got, at + got);
        if (n === 0)
            break;
        got += n;
    }
    return got;
}
/** A file that is there whole, under its name, or not at all: written beside it, synced, then renamed. */
export class AtomicFile {
    fd;
    #path;
    #draft;
    constructor(path) {
        this.#path = path;
        this.#draft = `${path}.draft-${process.pid}`;
        try {
            this.fd = openSync(this.#draft, 'w');
        }
        catch (error) {
            throw diskError(path, error);
        }
    }
    /** Puts it in place. */
    commit() {
        try {
            fsyncSync(this.fd);
            closeSync(this.fd);
            renameSync(this.#draft, this.#path);
            syncFolder(dirname(this.#path));
        }
        catch (error) {
            throw diskError(this.#path, error);
        }
    }
    /** Leaves no trace of it. */
    abandon() {
        for (const step of [() => closeSync(this.fd), () => unlinkSync(this.#draft)]) {
            try {
                step();
            }
            catch {
                // already closed, or never there
            }
        }
    }
}
