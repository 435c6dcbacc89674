export declare class LineWriter {
    #private;
    /** Lines ended so far. */
    count: number;
    constructor(bytes?: number);
    /** Appends bytes [from, to) of `source` to the line. */
    copy(source: Uint8Array, from: number, to: number): this;
    /** Appends a whole number's decimal digits. */
    number(value: number): this;
    slash(): this;
    end(): void;
    /** All lines written: a view, good until more is written. */
    get lines(): Uint8Array;
}
/** The lines for which `keep` is not 0, as a buffer of their own. */
export declare function keptLines(lines: Uint8Array, keep: Uint8Array): {
    lines: Uint8Array;
    count: number;
};
