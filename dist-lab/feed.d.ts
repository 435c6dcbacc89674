import type { Kernel } from './kernel.ts';
export interface FeedOptions {
    /** Which lines to give back. */
    readonly keep: 'new' | 'seen' | 'none';
    /** Give back the lines as they came, or their keys. */
    readonly as?: 'line' | 'key';
}
export declare class Feed {
    #private;
    /** Lines sifted so far. */
    lines: number;
    /** `sift` gives the batch's n lines their keys, hashes and verdicts. */
    constructor(kernel: Kernel, sift: (n: number) => void, { keep, as }: FeedOptions, onBatch?: (verdicts: Uint8Array) => void);
    /** Where to put the next bytes: at least `bytes` of room in the kernel's own memory, good until the next call. */
    room(bytes: number): Uint8Array;
    /** Sifts what `room` was filled with. Gives back the kept bytes: a view that is good until the next call. */
    push(bytes: number): Uint8Array;
    /** Sifts a last line that had no newline. */
    end(): Uint8Array;
    /** Another feed takes the input buffer: keeps what waits there. */
    stash(): void;
}
