export interface Interval {
    lower: number;
    upper: number;
}
export interface Counted {
    hits: number;
    trials: number;
    /** 0.99 unless given. An interval leaves half of the rest on either side, a bound all of it on one. */
    confidence?: number;
}
/** The rates that `hits` in `trials` do not refute. Covers at least `confidence`, never less. */
export declare function clopperPearson({ hits, trials, confidence }: Counted): Interval;
/** One-sided: with `confidence`, the true rate is at most this. */
export declare function upperBound({ hits, trials, confidence }: Counted): number;
/** One-sided: with `confidence`, the true rate is at least this. */
export declare function lowerBound({ hits, trials, confidence }: Counted): number;
/** The score interval: narrower, right on average rather than always. */
export declare function wilson({ hits, trials, confidence }: Counted): Interval;
/** P(at most `hits` in `trials`). */
export declare function binomialCdf({ hits, trials, rate }: {
    hits: number;
    trials: number;
    rate: number;
}): number;
/** The smallest count that at least `probability` of all runs stay at or below. */
export declare function binomialQuantile({ trials, rate, probability, }: {
    trials: number;
    rate: number;
    probability: number;
}): number;
