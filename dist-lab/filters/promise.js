// A plan that keeps its promise, or one clear line: a rate and a size that do not go together are refused.
import { SieveError } from '../errors.js';
/** Formulas and whole numbers of bits leave this much between what is asked and what is planned. */
const TOLERANCE = 1.001;
/** The filter's plan for these options. */
export function planFor(kind, options) {
    if (kind.can.grow && options.sizeBytes !== undefined) {
        throw new SieveError('option', `sizeBytes ${options.sizeBytes}: filter '${kind.name}' grows as it needs; leave it out or take a filter of a fixed size`);
    }
    const plan = kind.plan(options);
    const { falsePositiveRate: asked, sizeBytes } = options;
    if (asked !== undefined && plan.expectedRate !== null && plan.expectedRate > asked * TOLERANCE) {
        const got = plan.expectedRate.toPrecision(2);
        const size = sizeBytes ?? plan.sizeBytes;
        throw new SieveError('option', `falsePositiveRate ${asked} with ${size} bytes: that size gives ${got}; leave one of the two out`);
    }
    return plan;
}
