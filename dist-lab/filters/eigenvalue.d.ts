import { type FilterKind } from './filter.ts';
/** The feature functions by name (numbers of kernel/features.ts), and what they take of a URL. */
declare const builtIn: {
    readonly 'host-initials': {
        readonly number: 0;
        readonly does: 'the first character of each label of the host, without www and the last (the paper’s)';
    };
    readonly 'path-shape': {
        readonly number: 1;
        readonly does: 'the path with runs of letters as a and runs of digits as 0';
    };
    readonly 'last-segment': {
        readonly number: 2;
        readonly does: 'what follows the last slash of the path';
    };
    readonly digits: {
        readonly number: 3;
        readonly does: 'every digit of the URL, in order';
    };
};
export type FeatureName = keyof typeof builtIn;
export declare const featureNames: FeatureName[];
/**
 * Errs towards "seen" by its fill; for URLs that share their feature with a known one, as most of one site do, at the
 * rate of the first region alone. Never towards "new".
 */
export declare const eigenvalue: FilterKind;
export {};
