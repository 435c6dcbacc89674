// Growth by adding filters (Almeida, Baquero, Preguiça, Hutchison 2007): each new one is stricter, so that
// however many there will be, together they keep the promise made for the first.
/** Rate for sub-filter `index` (0 is the first): P(1 − r) · r^index, so that their sum never reaches P. */
export function scalableRate({ rate, index, tightening = 0.5, }) {
    return rate * (1 - tightening) * tightening ** index;
}
/** The chance that at least one of several filters errs: 1 − Π(1 − p), exact at small rates too. */
export function compoundRate(rates) {
    return Math.abs(Math.expm1(rates.reduce((sum, rate) => sum + Math.log1p(-rate), 0)));
}
