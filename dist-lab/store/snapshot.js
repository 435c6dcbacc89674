// A sieve as a .sieve file and back: its identity in the header, its filter's memory in chunks, its counts at the end.
// Written at once, or in the background a piece at a time while adds go on: those are in the log as well.
import { closeSync, openSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { resolveProfile } from '../canonical/profiles.js';
import { rules } from '../canonical/rules.js';
import { SieveError } from '../errors.js';
import { filterKind } from '../filters/registry.js';
import { makeSieve } from '../sieve.js';
import { STATE } from '../state.js';
import { AtomicFile, readFully, writeFully } from './file.js';
import { CHUNK_HEADER_BYTES, checkPayload, damaged, decodeChunk, decodeHeader, encodeEnd, encodeHeader, encodePiece, headerBytes, PREFIX_BYTES, } from './format.js';
import { diskError } from './log.js';
/** The header of a sieve; refuses what a file cannot hold: rules or feature functions of the user's own. */
export function headerOf(state, keepKeys = false) {
    const own = state.profile.rules.find((rule) => rules[rule.name] !== rule);
    if (own)
        throw new SieveError('option', `rule '${own.name}' is a function of yours: a file cannot hold it`);
    if (typeof state.plan.shape?.features === 'function') {
        throw new SieveError('option', 'the feature function is one of yours: a file cannot hold it');
    }
    return {
        filter: state.kind.name,
        plan: state.plan,
        profile: { name: state.profile.name, rules: state.profile.rules.map((rule) => rule.name) },
        hash: { names: state.hash.names, key: Buffer.from(state.hash.key).toString('hex') },
        shards: state.shards.all.map((shard) => shard.from),
        ...(keepKeys && { keepKeys }),
    };
}
function countsOf(state) {
    return { urls: state.urls, seen: state.seen, invalid: state.invalid };
}
// Header and payload of every chunk, the payload a view that is good until the next is asked for.
function* chunksOf(state) {
    for (const [shard, { filter }] of state.shards.all.entries()) {
        for (const { array, offset, bytes } of filter.pieces()) {
            yield [encodePiece(shard, array, offset, bytes), bytes];
        }
    }
}
function endOf(state, counts, chunks) {
    return encodeEnd({
        ...counts,
        counts: state.shards.all.map(({ filter }) => filter.counts?.() ?? []),
        chunks,
    });
}
/** Writes a sieve to a file, at once. */
export function writeSieve(path, state, keepKeys = false) {
    const header = encodeHeader(headerOf(state, keepKeys));
    const file = new AtomicFile(path);
    try {
        writeFully(file.fd, header);
        let chunks = 0;
        for (const [head, payload] of chunksOf(state)) {
            writeFully(file.fd, head);
            writeFully(file.fd, payload);
            chunks++;
        }
        writeFully(file.fd, endOf(state, countsOf(state), chunks));
        file.commit();
    }
    catch (error) {
        file.abandon();
        throw error instanceof SieveError ? error : diskError(path, error);
    }
}
const writeLater = promisify(write);
/**
 * Writes a sieve to a file while it goes on taking URLs: what is added meanwhile may be in it or not. False when it was
 * given up, because the sieve was spread anew, cleared, or `isWanted` said so.
 */
export async function writeSieveLater(path, state, keepKeys, isWanted) {
    const { shards } = state;
    const spread = shards.count;
    const counts = countsOf(state);
    const header = encodeHeader(headerOf(state, keepKeys));
    const file = new AtomicFile(path);
    const isSame = () => isWanted() && state.shards === shards && shards.count === spread;
    try {
        await writeLater(file.fd, header);
        let chunks = 0;
        for (const [head, payload] of chunksOf(state)) {
            const bytes = Buffer.concat([head, payload]);
            for (let at = 0; at < bytes.length;)
                at += (await writeLater(file.fd, bytes, at)).bytesWritten;
            chunks++;
            if (!isSame()) {
                file.abandon();
                return false;
            }
        }
        await writeLater(file.fd, endOf(state, counts, chunks));
        file.commit();
        return true;
    }
    catch (error) {
        file.abandon();
        throw error instanceof SieveError ? error : diskError(path, error);
    }
}
/** What a header says, as what a sieve is made of. */
export function savedOf(header) {
    const known = resolveProfile(header.profile.rules);
    return {
        kind: filterKind(header.filter),
        plan: header.plan,
        profile: { ...known, name: header.profile.name },
        hash: { names: header.hash.names, key: new Uint8Array(Buffer.from(header.hash.key, 'hex')) },
        froms: header.shards,
    };
}
/** Reads the header of a file. */
export function readHeader(path, fd) {
    const prefix = Buffer.alloc(PREFIX_BYTES);
    const all = Buffer.alloc(headerBytes(path, prefix.subarray(0, readFully(fd, prefix, 0))));
    if (readFully(fd, all, 0) < all.length)
        throw damaged(path, all.length, 'the file ends in its header');
    return { header: decodeHeader(path, all), bytes: all.length };
}
/** Opens a file to read; one line when that cannot be. */
export function openFile(path) {
    try {
        return openSync(path, 'r');
    }
    catch (error) {
        const { code, message } = error;
        throw new SieveError('disk', `cannot read ${path}: ${code === 'ENOENT' ? 'no such file' : message}`);
    }
}
/** A sieve from a file: one pass, each piece read straight into the kernel's memory. */
export async function readSieve(path, options = {}) {
    const fd = openFile(path);
    try {
        const { header, bytes } = readHeader(path, fd);
        const sieve = await makeSieve(options, savedOf(header));
        const state = sieve[STATE];
        const shards = state.shards.all;
        const head = Buffer.alloc(CHUNK_HEADER_BYTES);
        let at = bytes;
        let chunks = 0;
        for (;;) {
            const chunk = decodeChunk(path, head.subarray(0, readFully(fd, head, at)), at);
            at += CHUNK_HEADER_BYTES;
            if (chunk.isEnd) {
                const json = Buffer.alloc(chunk.length);
                checkPayload(path, chunk, json.subarray(0, readFully(fd, json, at)), at);
                const counts = JSON.parse(json.toString());
                if (counts.chunks !== chunks)
                    throw damaged(path, at, `${chunks} chunks, expected ${counts.chunks}`);
                for (const [i, shard] of shards.entries()) {
                    shard.filter.restored(counts.counts[i] ?? []);
                    shard.kernel.refresh();
                }
                state.urls = counts.urls;
                state.seen = counts.seen;
                state.invalid = counts.invalid;
                return { sieve, file: { header, counts, bytes: at + chunk.length } };
            }
            const shard = shards[chunk.shard];
            if (!shard)
                throw damaged(path, at, `a chunk of shard ${chunk.shard}: there are ${shards.length}`);
            let room;
            try {
                room = shard.filter.place(chunk.array, chunk.offset, chunk.length);
            }
            catch (error) {
                if (error instanceof RangeError)
                    throw damaged(path, at, error.message);
                throw error;
            }
            checkPayload(path, chunk, room.subarray(0, readFully(fd, room, at)), at);
            shard.filter.placed?.(chunk.array, chunk.offset, room);
            at += chunk.length;
            chunks++;
        }
    }
    finally {
        closeSync(fd);
    }
}
