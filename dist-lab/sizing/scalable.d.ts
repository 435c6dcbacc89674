/** Rate for sub-filter `index` (0 is the first): P(1 − r) · r^index, so that their sum never reaches P. */
export declare function scalableRate({ rate, index, tightening, }: {
    rate: number;
    index: number;
    tightening?: number;
}): number;
/** The chance that at least one of several filters errs: 1 − Π(1 − p), exact at small rates too. */
export declare function compoundRate(rates: number[]): number;
