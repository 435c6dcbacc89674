export interface Sink {
    /** Room for at least that many bytes. */
    room(bytes: number): Uint8Array;
    /** So many bytes were put there; `consumed` is the position in the file on disk. */
    push(bytes: number, consumed: number): void;
}
/** Retries a call on a descriptor that is set to non-blocking and not ready. */
export declare function whenReady<T>(call: () => T): T;
/**
 * Sizes of the inputs together, or null when one of them has none (a pipe). Throws for the first that cannot be
 * read, so that nothing is written before that is known. A pipe is not opened: its writer would see it closed.
 */
export declare function totalBytes(paths: readonly string[]): number | null;
/** Throws when the output is one of the inputs: opening it would empty it before it was read. */
export declare function checkOutput(paths: readonly string[], output?: string): void;
/** Reads one input to its end. */
export declare function readInput(path: string, sink: Sink): Promise<void>;
