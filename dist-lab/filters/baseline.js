// The papers' baselines keep the keys themselves, in plain JavaScript: exact, for the lab and for whoever wants them.
// A baseline is a set of keys with three verbs; this file makes a filter of it.
import { SieveError } from '../errors.js';
import { checkSizes, noRoom } from './filter.js';
const latin1 = new TextDecoder('latin1');
/** A key as a string with one character a byte, so that different bytes stay different. */
export function keyText(key) {
    return latin1.decode(key);
}
/** A string made by `keyText`, as the bytes it was made from. */
export function keyBytes(text) {
    return Uint8Array.from(text, (c) => byteOf.get(c));
}
const byteOf = new Map(Array.from({ length: 256 }, (_, byte) => [latin1.decode(Uint8Array.of(byte)), byte]));
const PIECE_BYTES = 1024 * 1024;
/** Bytes of a key that plans assume, and the share of slots a baseline fills. */
const KEY_BYTES = 70;
/** A filter that asks the kernel's keys of a set, one after the other. Makes no error. */
export function baseline({ name, does, source, overheadBytes, comfortableUrls, make, }) {
    return {
        name,
        does,
        source,
        errs: 'not at all',
        can: { delete: true, grow: true, under: false },
        takes: 'keys',
        comfortableUrls,
        plan(options) {
            checkSizes(options);
            const urls = options.expectedUrls ?? null;
            return {
                filter: name,
                expectedUrls: urls,
                promisedRate: urls === null ? null : 0,
                expectedRate: urls === null ? null : 0,
                sizeBytes: (urls ?? 0) * (KEY_BYTES + overheadBytes),
                bits: null,
                hashes: null,
                bitsPerUrl: urls === null ? null : (KEY_BYTES + overheadBytes) * 8,
            };
        },
        create(kernel) {
            const set = make();
            return {
                add(from, n) {
                    try {
                        for (let i = from; i < n; i++)
                            kernel.verdicts[i] = set.add(keyAt(kernel, i)) ? 1 : 0;
                    }
                    catch (error) {
                        if (error instanceof SieveError || !(error instanceof RangeError))
                            throw error;
                        throw noRoom(name, set.sizeBytes); // a JavaScript Set holds no more than 16.7 million entries
                    }
                    return n;
                },
                has(from, n) {
                    for (let i = from; i < n; i++)
                        kernel.verdicts[i] = set.has(keyAt(kernel, i)) ? 0 : 1;
                },
                delete(n) {
                    for (let i = 0; i < n; i++)
                        kernel.verdicts[i] = set.delete(keyAt(kernel, i)) ? 0 : 1;
                },
                // A piece is some keys, each behind its length as a u32.
                *pieces() {
                    let offset = 0;
                    for (const bytes of packed(set.keys())) {
                        yield { array: 0, offset, bytes };
                        offset += bytes.length;
                    }
                },
                place: (_array, _offset, bytes) => new Uint8Array(bytes),
                placed(_array, _offset, room) {
                    for (const key of unpacked(room))
                        set.add(key);
                },
                restored() { },
                *keys() {
                    yield* set.keys();
                },
                measure: () => ({ sizeBytes: set.sizeBytes, fill: 1, rate: 0 }),
            };
        },
    };
}
/** Keys behind their lengths, some at a time. */
function* packed(keys) {
    let room = new Uint8Array(PIECE_BYTES);
    let used = 0;
    for (const key of keys) {
        if (used > 0 && used + 4 + key.length > PIECE_BYTES) {
            yield room.subarray(0, used);
            used = 0;
        }
        if (4 + key.length > room.length)
            room = new Uint8Array(4 + key.length);
        new DataView(room.buffer).setUint32(used, key.length, true);
        room.set(key, used + 4);
        used += 4 + key.length;
    }
    if (used > 0)
        yield room.subarray(0, used);
}
function* unpacked(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length;) {
        const end = at + 4 + view.getUint32(at, true);
        yield bytes.subarray(at + 4, end);
        at = end;
    }
}
function keyAt(kernel, i) {
    return kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i]);
}
