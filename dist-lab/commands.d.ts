import { Kernel } from './kernel.ts';
/** The steps of a sieve on the entries of the kernel's batch. */
export interface CommandSteps {
    /** Keys and hashes of entries [0, n). */
    prepare(n: number): void;
    add(from: number, n: number): void;
    has(from: number, n: number): void;
}
/** One run of the same command: entries [from, n) of the batch, with their verdicts (1 not there, 0 seen). */
export interface CommandRun {
    readonly isAdd: boolean;
    readonly from: number;
    readonly n: number;
    readonly verdicts: Uint8Array;
    /** The number of an entry's line, from 1. */
    line(entry: number): number;
    /** An entry's URL as it came: a view that is good during the call. */
    url(entry: number): Uint8Array;
}
/**
 * Commands as bytes in, in any cuts; one line for each out. Errs as the sieve's filter does: `possibly-present` may
 * be wrong, `not-present` never is.
 */
export declare class Commands {
    #private;
    /** ADDs done. */
    adds: number;
    /** CHECKs answered. */
    checks: number;
    /** Of them, answered `possibly-present`. */
    present: number;
    /** Lines that could not be read. */
    errors: number;
    /** `onRun` sees every run of one command when it was done. */
    constructor(kernel: Kernel, steps: CommandSteps, onRun?: (run: CommandRun) => void);
    /** Lines read so far, commands or not. */
    get lines(): number;
    /** Where to put the next bytes: at least `bytes` of room, good until the next call. */
    room(bytes: number): Uint8Array;
    /** Does the commands that `room` was filled with. Gives back their answers: a view that is good until the next call. */
    push(bytes: number): Uint8Array;
    /** Does a last line that had no newline. */
    end(): Uint8Array;
}
/** The first pass of url-caching: counts the ADDs of a stream of commands. Does none of them. */
export declare class AddCounter {
    #private;
    adds: number;
    private constructor();
    static create(): Promise<AddCounter>;
    get lines(): number;
    room(bytes: number): Uint8Array;
    push(bytes: number): void;
    end(): void;
}
