/** Thrown when the reader of our output has gone: nothing more to do, and no error. */
export declare class ClosedPipe extends Error {
}
/** Says something on stderr. False: it could not be written. A reader that has gone is no failure. */
export declare function tell(text: string): boolean;
export declare class Output {
    #private;
    bytes: number;
    constructor(path?: string);
    write(bytes: Uint8Array): void;
    print(text: string): void;
    close(): void;
}
