// The keys of a store that keeps them: from its key segments and the logs after them, without those deleted since.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SieveError } from '../errors.js';
import { STATE } from '../state.js';
import { keySegmentPath, listKeySegments, readKeySegment } from './key-segments.js';
import { listStore, logName } from './layout.js';
import { OP, readLog } from './log.js';
function* entriesOfLog(path) {
    const entries = [];
    readLog(path, ({ op, payload }) => {
        if (op !== OP.addKeys && op !== OP.deleteKeys)
            return;
        for (let at = 0; at < payload.length;) {
            const end = at + 4 + payload.readUInt32LE(at);
            entries.push({ key: payload.subarray(at + 4, end), isDelete: op === OP.deleteKeys });
            at = end;
        }
    });
    yield* entries;
}
// Every entry there ever was, in order: of each number the segment, or the log when that was not folded yet.
function* entries(folder) {
    const segments = listKeySegments(folder).map((path) => Number(/(\d{8})/.exec(basename(path))[1]));
    const numbers = [...new Set([...segments, ...listStore(folder).logs])].sort((a, b) => a - b);
    for (const number of numbers) {
        const segment = keySegmentPath(folder, number);
        if (existsSync(segment))
            yield* readKeySegment(segment);
        else
            yield* entriesOfLog(join(folder, logName(number)));
    }
}
/** Every key that is remembered, each once, in the order in which they came. */
export function* storedKeys(folder) {
    const lastDelete = new Map();
    let index = 0;
    for (const { key, isDelete } of entries(folder)) {
        if (isDelete)
            lastDelete.set(key.toString('latin1'), index);
        index++;
    }
    index = 0;
    for (const { key, isDelete } of entries(folder)) {
        const isGone = lastDelete.size > 0 && (lastDelete.get(key.toString('latin1')) ?? -1) > index;
        if (!isDelete && !isGone)
            yield key;
        index++;
    }
}
/** Refuses, in one line, a sieve that has no keys to give. */
export function checkKeepsKeys(folder, sieve) {
    if (sieve.stats().store?.keepKeys || sieve[STATE].keepsKeys)
        return;
    throw new SieveError('option', `${folder} keeps no keys, only what its filter needs: make it with keepKeys (--keep-keys)`);
}
