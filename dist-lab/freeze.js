// From a sieve that grows to one that is shipped: the 64-bit hashes of a fingerprint sieve become a binary fuse set, a
// third to a tenth of the size, that answers for the same URLs and takes no more.
import { SieveError } from './errors.js';
import { binaryFuse, binaryFusePlan, buildBinaryFuse, buildBytes, fingerprintWidths, } from './filters/binary-fuse.js';
import { isWideHash } from './hashes.js';
import { compileKernel, INSTANCE_BYTES, Kernel } from './kernel.js';
import { Sieve } from './sieve.js';
import { STATE } from './state.js';
/** Makes a frozen sieve of the URLs a fingerprint sieve has now; that one goes on as it was. */
export async function freeze(sieve, { bits = 32, instanceBytes = INSTANCE_BYTES } = {}) {
    const state = sieve[STATE];
    if (state.kind.name !== 'fingerprint') {
        throw new SieveError('option', `filter '${state.kind.name}' cannot be frozen: expected 'fingerprint', which keeps the hashes`);
    }
    if (!fingerprintWidths.includes(bits)) {
        throw new SieveError('option', `bits ${bits}: expected one of ${fingerprintWidths.join(', ')}`);
    }
    const module = await compileKernel();
    // From here on nothing waits, so that no URL is added meanwhile.
    const urls = state.shards.all.reduce((sum, { kernel }) => sum + kernel.call.fingerprintCount(), 0);
    const froms = sharesOf(state, urls, instanceBytes);
    const sizes = froms.length === 1 ? [urls] : countIn(state, froms);
    const frozen = new Sieve(module, { instanceBytes }, { ...identityOf(state), plan: binaryFusePlan(sizes, bits), froms });
    const target = frozen[STATE];
    for (const [i, { filter, kernel }] of target.shards.all.entries()) {
        const builder = Kernel.create(module, instanceBytes);
        buildBinaryFuse(builder, filter, sizes[i], bits, (room) => {
            let at = 0;
            eachHash(state, froms[i], froms[i + 1] ?? 2 ** 32, (hashes) => {
                room.set(hashes, at);
                at += hashes.length;
            });
        });
        kernel.refresh();
    }
    target.urls = urls;
    target.seen = state.seen;
    target.invalid = state.invalid;
    return frozen;
}
const identityOf = ({ profile, hash }) => ({ kind: binaryFuse, profile, hash });
// The first 32 bits of the first hash of each instance: as few as can be made in the memory given.
function sharesOf(state, urls, instanceBytes) {
    let shares = 1;
    // A tenth of the keys on top: hashes do not divide quite evenly.
    while (buildBytes(Math.ceil((urls / shares) * (shares > 1 ? 1.1 : 1))) > instanceBytes && shares < 4096)
        shares++;
    if (shares > 1 && !state.hash.names.every(isWideHash)) {
        throw new SieveError('room', `${urls} URLs by hash '${state.hash.names.join(',')}' need ${buildBytes(urls)} bytes at once: expected at most ${instanceBytes}`);
    }
    return Array.from({ length: shares }, (_, i) => Math.ceil((i * 2 ** 32) / shares));
}
// The hashes whose first 32 bits are in [from, to), some at a time: good until the next are given.
function eachHash(state, from, to, take) {
    const { all } = state.shards;
    const isWhole = from === 0 && to === 2 ** 32;
    for (const [i, shard] of all.entries()) {
        if (shard.from >= to || (all[i + 1]?.from ?? 2 ** 32) <= from)
            continue;
        for (const hashes of shard.filter.hashes()) {
            if (!isWhole)
                take(hashes.subarray(0, keepWithin(hashes, from, to)));
            else
                take(hashes);
        }
    }
}
// Moves the hashes whose first 32 bits are in [from, to) to the front; returns how many they are.
function keepWithin(hashes, from, to) {
    const words = new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length);
    let kept = 0;
    for (let i = 0; i < words.length; i += 2) {
        const top = words[i + 1];
        if (top < from || top >= to)
            continue;
        words[kept] = words[i];
        words[kept + 1] = top;
        kept += 2;
    }
    return kept / 2;
}
function countIn(state, froms) {
    return froms.map((from, i) => {
        let count = 0;
        eachHash(state, from, froms[i + 1] ?? 2 ** 32, (hashes) => {
            count += hashes.length;
        });
        return count;
    });
}
