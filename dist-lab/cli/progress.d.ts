export interface Reading {
    readonly lines: number;
    readonly fresh: number;
    /** Bytes of the input read so far, of `totalBytes`. */
    readonly bytes: number;
}
/** 1:05 or 2:03:04. */
export declare function clock(seconds: number): string;
export declare class Progress {
    #private;
    /** `quiet` turns it off; so does a stderr that is no terminal. */
    constructor(totalBytes: number | null, quiet?: boolean, terminal?: boolean);
    tick(read: () => Reading): void;
    text({ lines, fresh, bytes }: Reading, seconds: number): string;
    /** Takes the line away. */
    done(): void;
}
