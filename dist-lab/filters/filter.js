// What a filter is to the rest of the library: a plan (how large, how wrong) and, in one kernel instance, the
// batch operations. Verdicts are written by the kernel: 1 new, 0 seen.
import { SieveError } from '../errors.js';
const shown = (value) => (typeof value === 'number' ? String(value) : JSON.stringify(value));
export function checkNumber(name, value, ok, expected) {
    if (value === undefined)
        return;
    if (typeof value !== 'number' || Number.isNaN(value) || !ok(value)) {
        throw new SieveError('option', `${name} ${shown(value)}: expected ${expected}`);
    }
}
/** Throws one clear line for a size that cannot be; every plan starts with it. */
export function checkSizes(request) {
    const whole = (n) => Number.isSafeInteger(n) && n >= 1;
    checkNumber('expectedUrls', request.expectedUrls, whole, 'a whole number of at least 1');
    checkNumber('falsePositiveRate', request.falsePositiveRate, (p) => p > 0 && p < 1, 'a number between 0 and 1');
    checkNumber('sizeBytes', request.sizeBytes, (n) => whole(n) && n >= 64, 'a whole number of at least 64');
    checkNumber('bits', request.bits, (n) => whole(n) && n >= 8 && n < 2 ** 48, 'a whole number from 8 to 2^48');
    checkNumber('hashes', request.hashes, (n) => whole(n) && n <= 64, 'a whole number from 1 to 64');
    if (request.sizeBytes !== undefined && request.bits !== undefined) {
        throw new SieveError('option', 'both sizeBytes and bits are given: expected one of them');
    }
}
/** A whole number within bounds, or one clear line. */
export function checkWhole(name, value, least, most) {
    const ok = (n) => Number.isSafeInteger(n) && n >= least && n <= most;
    checkNumber(name, value, ok, `a whole number from ${least} to ${most}`);
}
/** The line every approximate filter answers with when its size does not follow from what it was given. */
export function sizeMissing(filter) {
    return new SieveError('option', `filter '${filter}' has a fixed size: give expectedUrls with falsePositiveRate or sizeBytes, or bits with hashes`);
}
export function noRoom(filter, bytes) {
    return new SieveError('room', `no memory for filter '${filter}': asked for ${bytes} bytes; use a smaller size`);
}
