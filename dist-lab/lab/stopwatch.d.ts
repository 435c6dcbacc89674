export declare class Stopwatch {
    seconds: number;
    /** Does the work, adds the time it took, and gives back its result. */
    time<T>(work: () => T): T;
    /** Nanoseconds for each of `count`. */
    nsEach(count: number): number;
}
