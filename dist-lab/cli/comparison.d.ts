import type { Commands, Sieve } from '../index.ts';
export declare class Comparison {
    #private;
    /** The filter's commands; those of the hash set follow them chunk by chunk. */
    readonly commands: Commands;
    /** `exact` is a sieve of the same profile whose filter makes no error. */
    constructor(filter: Sieve, exact: Sieve);
    /** Does what was put into the room of `commands`; `room` is that room. */
    push(room: Uint8Array, bytes: number): Uint8Array;
    end(): Uint8Array;
    result(): {
        commands: number;
        adds: number;
        distinctAdds: number;
        checks: number;
        /** CHECKs of URLs that were not added before: only these can be false positives. */
        absentChecks: number;
        falsePositiveCount: number;
        falseNegativeCount: number;
        measuredRate: number | null;
        /** The mean, over those CHECKs, of the rate that the filter's formula gives at that moment. */
        predictedRate: number | null;
        /** The rate that the formula gives at the end. */
        finalRate: number;
        filter: {
            name: string;
            hash: string;
            profile: string;
            bits: number | null;
            hashes: number | null;
            sizeBytes: number;
            seconds: number;
        };
        hashSet: {
            sizeBytes: number;
            seconds: number;
        };
        falsePositives: {
            line: number;
            url: string;
        }[];
    };
    /** The result for people: every false positive, and the two side by side. */
    text(): Uint8Array;
}
