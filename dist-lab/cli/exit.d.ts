/** 0 done, 1 a question was answered with no, and: */
export declare const EXIT: {
    /** An option, or a combination of options, that cannot be. */
    readonly usage: 2;
    /** An input that is missing, unreadable, a folder, or damaged. */
    readonly input: 3;
    /** An output that cannot be written: full, read-only. What was written stays. */
    readonly output: 4;
    /** No memory for what was asked. */
    readonly room: 5;
    /** Some lines of the input could not be read; all others were done. */
    readonly lines: 6;
    /** A defect of urlsieve: please report it. */
    readonly defect: 70;
};
/** Ends the command with one line on stderr and an exit code. */
export declare class CommandError extends Error {
    readonly exitCode: number;
    constructor(exitCode: number, message: string);
}
/** What a system error means, in words. */
export declare function reason(error: unknown): string;
