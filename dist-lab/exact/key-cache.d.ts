export declare class KeyCache {
    #private;
    readonly capacity: number;
    /** All its memory, from the beginning. */
    readonly sizeBytes: number;
    constructor(entries: number);
    /** Whether the key at [start, end) of `bytes` is here, by its hash and then by its bytes. */
    has(low: number, high: number, bytes: Uint8Array, start: number, end: number): boolean;
    /** Remembers a key; one that is here already, or too long, is let pass. */
    put(low: number, high: number, bytes: Uint8Array, start: number, end: number): void;
    delete(low: number, high: number, bytes: Uint8Array, start: number, end: number): void;
    clear(): void;
}
