// A filter that grows: when its newest sub-filter is full it adds a larger and tighter one, so that the compound rate
// of all of them stays under the promise (Almeida, Baquero, Preguiça, Hutchison 2007).
import { SieveError } from '../errors.js';
import { scalableRate } from '../sizing.js';
import { blocked } from './blocked.js';
import { classic } from './classic.js';
import { checkSizes } from './filter.js';
import { Generations } from './generations.js';
const inners = { blocked, classic };
const DEFAULT_URLS = 10_000;
const DEFAULT_RATE = 1e-6;
/** Each sub-filter holds this many times as many URLs as the one before. */
const GROWTH = 2;
const MOST_GENERATIONS = 60;
function innerOf(options) {
    const inner = options.inner ?? 'blocked';
    if (Object.hasOwn(inners, inner))
        return inner;
    throw new SieveError('option', `inner '${inner}': expected one of ${Object.keys(inners).join(', ')}`);
}
function planOf({ inner, firstUrls, rate }, index) {
    return inners[inner].plan({
        expectedUrls: firstUrls * GROWTH ** index,
        falsePositiveRate: scalableRate({ rate, index }),
    });
}
/** Errs towards "seen", at most at the promised rate in all, however many URLs it takes; never towards "new". */
export const scalable = {
    name: 'scalable',
    does: 'grows by ever tighter sub-filters; the promise is for all of them together',
    source: 'Almeida et al. 2007',
    errs: 'towards "seen", at most at the promised compound rate; never towards "new"',
    can: { delete: false, grow: true, under: false },
    takes: 'hashes',
    plan(options) {
        checkSizes(options);
        const firstUrls = options.expectedUrls ?? DEFAULT_URLS;
        const rate = options.falsePositiveRate ?? DEFAULT_RATE;
        const shape = { inner: innerOf(options), firstUrls, rate };
        const first = planOf(shape, 0);
        return {
            filter: 'scalable',
            expectedUrls: firstUrls,
            promisedRate: rate,
            expectedRate: first.expectedRate,
            sizeBytes: first.sizeBytes,
            bits: first.bits,
            hashes: first.hashes,
            bitsPerUrl: first.bitsPerUrl,
            shape: { ...shape },
        };
    },
    create: (kernel, plan) => new Generations(kernel, succession(plan.shape), false),
    revive: (kernel, plan) => new Generations(kernel, succession(plan.shape), true),
};
function succession(shape) {
    return {
        kind: inners[shape.inner],
        most: MOST_GENERATIONS,
        plan: (index) => planOf(shape, index),
        room: ({ plan, urls }) => plan.expectedUrls - urls,
    };
}
