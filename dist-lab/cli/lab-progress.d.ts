export declare class LabProgress {
    #private;
    constructor(experiments: number, terminal?: boolean, now?: () => number);
    started(name: string, number: number): void;
    progress(share: number, doing: string): void;
    text(share: number, doing: string): string;
    /** Takes the line away. */
    clear(): void;
}
