// The output of a command: stdout or a file, written at once and whole. A closed pipe is a normal end; a full
// device is an error, and what was written stays.
import { closeSync, openSync, writeSync } from 'node:fs';
import { CommandError, EXIT, reason } from './exit.js';
import { whenReady } from './input.js';
/** Thrown when the reader of our output has gone: nothing more to do, and no error. */
export class ClosedPipe extends Error {
}
/** Says something on stderr. False: it could not be written. A reader that has gone is no failure. */
export function tell(text) {
    try {
        whenReady(() => writeSync(2, text));
        return true;
    }
    catch (error) {
        return error.code === 'EPIPE';
    }
}
export class Output {
    bytes = 0;
    #fd;
    #name;
    constructor(path) {
        this.#name = path ?? 'stdout';
        try {
            this.#fd = path === undefined ? 1 : openSync(path, 'w');
        }
        catch (error) {
            throw this.#error(error);
        }
    }
    write(bytes) {
        let at = 0;
        while (at < bytes.length) {
            try {
                at += whenReady(() => writeSync(this.#fd, bytes, at, bytes.length - at));
            }
            catch (error) {
                if (error.code === 'EPIPE')
                    throw new ClosedPipe();
                throw this.#error(error);
            }
        }
        this.bytes += bytes.length;
    }
    print(text) {
        this.write(Buffer.from(text));
    }
    close() {
        try {
            if (this.#fd !== 1)
                closeSync(this.#fd);
        }
        catch (error) {
            throw this.#error(error);
        }
    }
    #error(error) {
        return new CommandError(EXIT.output, `cannot write ${this.#name}: ${reason(error)}`);
    }
}
