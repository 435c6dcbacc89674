// A store: a folder with a snapshot and an append log of what is new since. One writer at a time; readers may open it
// read-only. Files: `snapshot-N.sieve` holds what was before `log-N` began; `lock` names the writer.
import { existsSync, mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SieveError } from '../errors.js';
import { makeSieve } from '../sieve.js';
import { STATE, } from '../state.js';
import { keySegmentPath, listKeySegments, writeKeySegment } from './key-segments.js';
import { listStore, logName, snapshotName } from './layout.js';
import { takeLock } from './lock.js';
import { diskError, encodeRecord, Log, OP, readLog } from './log.js';
import { headerOf, readSieve, writeSieve, writeSieveLater } from './snapshot.js';
const SYNC_MS = 1000;
/** The log is folded into a new snapshot when it outgrows the last one, and this. */
const LEAST_LOG_BYTES = 4 * 1024 * 1024;
/** Does to a sieve what a record says: entries into the kernel's batch, then add or delete. Idempotent. */
export function replay(state, record) {
    const { kernel } = state;
    const { op, payload } = record;
    for (const { filter } of state.shards.all)
        filter.setClock?.(record.time);
    const isDelete = op === OP.deleteHashes || op === OP.deleteKeys;
    const act = (n) => {
        if (isDelete)
            state.shards.delete(n);
        else
            state.shards.add(0, n);
        state.kernel.refresh();
    };
    if (op === OP.addHashes || op === OP.deleteHashes) {
        const copy = payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length);
        const hashes = new BigUint64Array(copy);
        for (let at = 0; at < hashes.length; at += kernel.batchLines) {
            const some = hashes.subarray(at, at + kernel.batchLines);
            kernel.hashes.set(some);
            act(some.length);
        }
    }
    else {
        for (let at = 0; at < payload.length;)
            at = takeKeys(state, payload, at, act);
    }
    state.urls += isDelete ? -record.entries : record.entries;
}
// Puts a batch of keys from `at` on into the kernel, acts on them, and returns where the next begin.
function takeKeys(state, payload, at, act) {
    const { kernel } = state;
    const text = kernel.call.reserveUrls(payload.length) >>> 0;
    kernel.refresh();
    if (text === 0)
        throw new SieveError('room', `no memory left for ${payload.length} bytes of keys`);
    kernel.bytes.set(payload, text);
    let n = 0;
    while (n < kernel.batchLines && at < payload.length) {
        const end = at + 4 + payload.readUInt32LE(at);
        kernel.keyStarts[n] = text + at + 4;
        kernel.keyEnds[n] = text + end;
        n++;
        at = end;
    }
    state.hashKeys(n);
    act(n);
    return at;
}
class Store {
    #folder;
    #state;
    #durability;
    #keepKeys;
    #release;
    #number;
    #log;
    #snapshotBytes;
    #snapshotting = null;
    #timer;
    #synced = performance.now();
    #trouble = null;
    #closed = false;
    /** Marked in the filter but not in the log, since the disk refused: still new to whoever asks. */
    #owed = new Set();
    constructor(folder, state, options, release, number, log) {
        this.#folder = folder;
        this.#state = state;
        this.#durability = options.durability;
        this.#keepKeys = options.keepKeys;
        this.#release = release;
        this.#number = number;
        this.#log = log;
        this.#snapshotBytes = statSync(join(folder, snapshotName(number))).size;
        if (this.#durability === 'interval') {
            this.#timer = setInterval(() => {
                this.#synced = performance.now();
                this.#log.syncLater((error) => {
                    this.#trouble = error;
                });
            }, SYNC_MS);
            this.#timer.unref();
        }
    }
    get #logsKeys() {
        return this.#keepKeys || !this.#state.takesHashes;
    }
    added(from, n) {
        this.#open();
        const record = this.#record(from, n, 1, this.#logsKeys ? OP.addKeys : OP.addHashes);
        if (record) {
            try {
                this.#append(record);
            }
            catch (error) {
                for (const name of this.#names(from, n, 1))
                    this.#owed.add(name);
                throw error;
            }
            if (this.#owed.size > 0)
                for (const name of this.#names(from, n, 1))
                    this.#owed.delete(name);
        }
        this.#foldWhenLong();
    }
    /** What the disk refused before is new again when it comes again, once a batch. */
    amend(from, n) {
        if (this.#owed.size === 0)
            return;
        const { verdicts } = this.#state.kernel;
        const met = new Set();
        for (let i = from; i < n; i++) {
            const name = this.#name(i);
            if (verdicts[i] === 0 && this.#owed.has(name) && !met.has(name))
                verdicts[i] = 1;
            met.add(name);
        }
    }
    deleted(n) {
        this.#open();
        if (this.#owed.size > 0)
            for (const name of this.#names(0, n, 0))
                this.#owed.delete(name);
        const record = this.#record(0, n, 0, this.#logsKeys ? OP.deleteKeys : OP.deleteHashes);
        if (record)
            this.#append(record);
    }
    cleared() {
        this.#open();
        this.#owed.clear();
        for (const segment of listKeySegments(this.#folder))
            unlinkSync(segment);
        this.#snapshot(false);
    }
    sync() {
        this.#open();
        this.#log.sync();
    }
    /** Folds the log into a new snapshot, now. */
    async save() {
        await this.#snapshotting;
        this.#open();
        this.#snapshot(true);
    }
    async close() {
        if (this.#closed)
            return;
        await this.#snapshotting;
        clearInterval(this.#timer);
        try {
            this.#log.sync();
        }
        finally {
            this.#closed = true;
            this.#log.close();
            this.#release();
        }
    }
    info() {
        return {
            path: this.#folder,
            durability: this.#durability,
            logBytes: this.#log.bytes,
            snapshotBytes: this.#snapshotBytes,
            snapshotting: this.#snapshotting !== null,
            keepKeys: this.#keepKeys,
        };
    }
    #open() {
        if (this.#closed)
            throw new SieveError('disk', `${this.#folder} is closed: open it again`);
        if (!this.#trouble)
            return;
        const trouble = this.#trouble;
        this.#trouble = null;
        throw trouble;
    }
    #append(record) {
        this.#log.append(record);
        // The timer does not run while a caller keeps the processor: then the second is kept here.
        const isLate = this.#durability === 'interval' && performance.now() - this.#synced > SYNC_MS;
        if (this.#durability !== 'always' && !isLate)
            return;
        this.#log.sync();
        this.#synced = performance.now();
    }
    // An entry as a word: its key, or its hash.
    #name(i) {
        const { kernel, takesHashes } = this.#state;
        if (takesHashes)
            return kernel.hashes[i].toString(36);
        return Buffer.from(kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i])).toString('latin1');
    }
    #names(from, n, wanted) {
        const { verdicts } = this.#state.kernel;
        const names = [];
        for (let i = from; i < n; i++)
            if (verdicts[i] === wanted)
                names.push(this.#name(i));
        return names;
    }
    #record(from, n, wanted, op) {
        const { kernel } = this.#state;
        const { call } = kernel;
        const isKeys = op === OP.addKeys || op === OP.deleteKeys;
        const bytes = isKeys ? call.writtenKeyBytes(from, n, wanted) >>> 0 : (n - from + 1) * 8;
        const to = call.reserveOutput(bytes) >>> 0;
        kernel.refresh();
        if (to === 0 && bytes > 0)
            throw new SieveError('room', `no memory left for ${bytes} bytes of log`);
        const entries = isKeys ? call.writtenKeys(from, n, wanted, to) : call.writtenHashes(from, n, wanted, to);
        if (entries === 0)
            return null;
        return encodeRecord(op, entries, kernel.bytes.subarray(to, to + (isKeys ? bytes : entries * 8)));
    }
    // A new log begins; what was before it goes into the next snapshot.
    #rotate() {
        const next = this.#number + 1;
        const old = this.#log;
        this.#log = new Log(join(this.#folder, logName(next)));
        return { next, old };
    }
    // The snapshot with that number is in place: what came before is not needed any more.
    #settle(next, old, keep) {
        if (this.#keepKeys && keep)
            writeKeySegment(keySegmentPath(this.#folder, this.#number), old.path);
        old.close();
        const before = this.#number;
        this.#number = next;
        this.#snapshotBytes = statSync(join(this.#folder, snapshotName(next))).size;
        for (const name of [logName(before), snapshotName(before)]) {
            const path = join(this.#folder, name);
            if (existsSync(path))
                unlinkSync(path);
        }
    }
    #snapshot(keep) {
        const { next, old } = this.#rotate();
        writeSieve(join(this.#folder, snapshotName(next)), this.#state, this.#keepKeys);
        this.#settle(next, old, keep);
    }
    // In the background, when the log has outgrown the snapshot.
    #foldWhenLong() {
        if (this.#snapshotting || this.#log.bytes < Math.max(LEAST_LOG_BYTES, this.#snapshotBytes))
            return;
        const { next, old } = this.#rotate();
        const path = join(this.#folder, snapshotName(next));
        const attempt = async () => {
            old.sync();
            while (!this.#closed) {
                if (await writeSieveLater(path, this.#state, this.#keepKeys, () => !this.#closed)) {
                    this.#settle(next, old, true);
                    return;
                }
            }
        };
        this.#snapshotting = attempt()
            .catch((error) => {
            this.#trouble = error instanceof SieveError ? error : diskError(path, error);
        })
            .finally(() => {
            this.#snapshotting = null;
        });
    }
}
// A stored sieve is what it is: options that say otherwise are a mistake, and named.
function checkSame(path, state, options) {
    const differ = (name, got, have) => {
        throw new SieveError('option', `${path} has ${name} '${have}', not '${got}': leave the option out, or use another folder`);
    };
    if (options.filter && options.filter !== state.kind.name)
        differ('filter', options.filter, state.kind.name);
    if (typeof options.profile === 'string' && options.profile !== state.profile.name) {
        differ('profile', options.profile, state.profile.name);
    }
    const hash = options.hash === undefined ? [] : [options.hash].flat();
    if (hash.length > 0 && hash.join() !== state.hash.names.join())
        differ('hash', hash.join(), state.hash.names.join());
}
/**
 * A sieve that lives in a folder: made there, or opened as it was. After `kill -9` nothing acknowledged is lost with
 * `always` or `interval`; after power loss at most the last second with `interval`; a half-written record never counts.
 */
export async function openStore(folder, options = {}) {
    const { durability = 'interval', readOnly = false } = options;
    if (!['always', 'interval', 'never'].includes(durability)) {
        throw new SieveError('option', `durability '${durability}': expected always, interval or never`);
    }
    const isNew = !existsSync(folder) || (statSync(folder).isDirectory() && listStore(folder).snapshots.length === 0);
    if (isNew && readOnly)
        throw new SieveError('disk', `cannot read ${folder}: there is no sieve`);
    if (!isNew && !statSync(folder).isDirectory()) {
        throw new SieveError('option', `${folder} is a file: expected a folder; Sieve.load reads a .sieve file`);
    }
    if (readOnly)
        return (await revive(folder, options)).sieve;
    try {
        mkdirSync(folder, { recursive: true });
    }
    catch (error) {
        throw diskError(folder, error);
    }
    const release = takeLock(join(folder, 'lock'));
    try {
        if (listStore(folder).snapshots.length === 0) {
            const fresh = await makeSieve(options);
            writeSieve(join(folder, snapshotName(1)), fresh[STATE], options.keepKeys ?? false);
        }
        const { sieve, number, logs, keepKeys } = await revive(folder, options);
        const state = sieve[STATE];
        sweep(folder, number, keepKeys);
        // Logs after the first are from a snapshot that was being made: fold them in, so that one log follows one snapshot.
        let current = number;
        let log;
        if (logs.length > 1) {
            current = logs.at(-1).number + 1;
            headerOf(state);
            if (keepKeys)
                for (const { number: n, path } of logs)
                    writeKeySegment(keySegmentPath(folder, n), path);
            log = new Log(join(folder, logName(current)));
            writeSieve(join(folder, snapshotName(current)), state, keepKeys);
            for (const { path } of logs)
                unlinkSync(path);
            for (const n of listStore(folder).snapshots)
                if (n < current)
                    unlinkSync(join(folder, snapshotName(n)));
        }
        else {
            log = new Log(join(folder, logName(number)), logs[0]?.bytes ?? 0);
        }
        state.journal = new Store(folder, state, { durability, keepKeys }, release, current, log);
        return sieve;
    }
    catch (error) {
        release();
        throw error;
    }
}
// What a crash left behind: drafts, and logs and snapshots older than the one that counts. Keys are kept first.
function sweep(folder, number, keepKeys) {
    const { snapshots, logs } = listStore(folder);
    for (const n of logs) {
        if (n >= number)
            continue;
        const path = join(folder, logName(n));
        if (keepKeys)
            writeKeySegment(keySegmentPath(folder, n), path);
        unlinkSync(path);
    }
    for (const n of snapshots)
        if (n < number)
            unlinkSync(join(folder, snapshotName(n)));
    for (const name of readdirSync(folder))
        if (name.includes('.draft-'))
            unlinkSync(join(folder, name));
}
// The newest snapshot, and every log from there on.
async function revive(folder, options) {
    const { snapshots, logs } = listStore(folder);
    const number = snapshots.at(-1);
    const { sieve, file } = await readSieve(join(folder, snapshotName(number)), {
        ...(options.instanceBytes && { instanceBytes: options.instanceBytes }),
    });
    const state = sieve[STATE];
    checkSame(folder, state, options);
    const replayed = [];
    for (const n of logs) {
        if (n < number)
            continue;
        const path = join(folder, logName(n));
        const { bytes } = readLog(path, (record) => replay(state, record));
        for (const { filter } of state.shards.all)
            filter.setClock?.(null);
        replayed.push({ number: n, path, bytes });
    }
    const keepKeys = file.header.keepKeys ?? false;
    state.keepsKeys = keepKeys;
    return { sieve, number, keepKeys, logs: replayed };
}
