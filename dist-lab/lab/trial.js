// A trial: a sieve filled with some URLs and asked for others that it never saw. What it answers "seen" is wrong, and
// the count comes with the exact interval (Clopper–Pearson, 99 %) of the rate behind it.
import { clopperPearson } from '../interval.js';
import { Sieve } from '../sieve.js';
export function measuredRate(hits, trials) {
    const { lower, upper } = clopperPearson({ hits, trials });
    return { hits, trials, rate: trials === 0 ? 0 : hits / trials, low: lower, high: upper };
}
/** The trials of several counts taken as one. */
export function pooled(rates) {
    return measuredRate(rates.reduce((sum, { hits }) => sum + hits, 0), rates.reduce((sum, { trials }) => sum + trials, 0));
}
/** Whether two counts say that the first rate is the higher one: their intervals do not meet. */
export function isAbove(a, b) {
    return a.low > b.high;
}
/** Whether the interval holds a predicted rate. */
export function covers({ low, high }, rate) {
    return low <= rate && rate <= high;
}
/** A rate as a point with its interval. */
export function ratePoint(x, { rate, low, high }) {
    return { x, y: rate, low, high };
}
/** Points that a logarithmic axis can show: those above zero. */
export function aboveZero(points) {
    return points.filter(({ y }) => y > 0);
}
/** How many of the lines the sieve answers "seen". Marks nothing. */
export function countSeen(sieve, lines) {
    let seen = 0;
    for (const answer of sieve.hasLines(lines))
        seen += answer;
    return seen;
}
/** Fills a new sieve with `members` and asks for `strangers`, `asked` lines of which none is among the members. */
export async function trial(options, members, strangers, asked) {
    const sieve = await Sieve.create({ profile: 'raw', ...options });
    sieve.addLines(members);
    const falsePositives = measuredRate(countSeen(sieve, strangers), asked);
    const { bits, hashes, sizeBytes } = sieve.plan;
    return { falsePositives, stats: sieve.stats(), bits: bits ?? sizeBytes * 8, hashes: hashes ?? 1 };
}
