export interface Provenance {
    readonly date: string;
    readonly machine: {
        readonly processor: string;
        readonly cores: number;
        readonly memoryBytes: number;
        readonly system: string;
        readonly architecture: string;
    };
    readonly versions: Readonly<Record<string, string>>;
    /** The commit of urlsieve's own checkout; null for an installed package. */
    readonly commit: string | null;
}
export declare function provenance(now?: Date): Provenance;
/** The command line that repeats a run. */
export declare function commandLine(words: readonly string[]): string;
