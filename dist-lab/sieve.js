// The sieve joins the steps: bytes → lines → key → hash → filter → verdict. It is the only file that knows all of
// them, and there is one way through: a single URL is a batch of one.
import { explainKey } from './canonical/explain.js';
import { resolveProfile } from './canonical/profiles.js';
import { Commands } from './commands.js';
import { SieveError } from './errors.js';
import { Feed } from './feed.js';
import { planFor } from './filters/promise.js';
import { filterKind, } from './filters/registry.js';
import { applyHash, chooseHash, isWideHash } from './hashes.js';
import { compileKernel } from './kernel.js';
import { Keys } from './keys.js';
import { unite } from './merge.js';
import { Shards } from './shards.js';
import { STATE, } from './state.js';
/** Room for one URL's bytes; longer ones ask the kernel for more. */
const SHORT_BYTES = 16 * 1024;
/** How much of a large `addLines` goes to the kernel at a time: small enough for the processor's cache. */
const CHUNK_BYTES = 256 * 1024;
const encoder = new TextEncoder();
/**
 * Answers "have I seen this URL?", and marks it, in one step. Errs as its filter does: never towards "new"; towards
 * "seen" at the filter's rate (`stats().expectedRate`) and where its profile's rules merge two pages.
 */
export class Sieve {
    plan;
    profile;
    #kind;
    #hash;
    #module;
    #instanceBytes;
    #isWide;
    #keys;
    #shards;
    #kernel;
    #journal = null;
    #keepsKeys = false;
    /** The filter takes 64-bit hashes of the keys. */
    #hashes;
    #urls = 0;
    #seen = 0;
    /** The kernel's buffer for URLs that come as strings. */
    #short;
    #shortAt;
    /** @internal Use `Sieve.create`. */
    constructor(module, options, saved) {
        this.#module = module;
        this.#instanceBytes = options.instanceBytes;
        this.#kind = saved?.kind ?? filterKind(options.filter ?? 'fingerprint');
        this.profile = saved?.profile ?? resolveProfile(options.profile ?? 'web');
        this.#hash = saved?.hash ?? chooseHash(options.hash, options.key);
        this.plan = saved?.plan ?? planFor(this.#kind, options);
        this.#isWide = this.#hash.names.every(isWideHash);
        const { takes } = this.#kind;
        this.#hashes = takes === 'hashes' || (takes === 'wide-hashes' && this.#isWide);
        this.#keys = new Keys(this.profile);
        this.#shards = this.#empty(saved?.froms);
        this.#kernel = this.#shards.front;
        this.#shortAt = 0;
        this.#short = this.#shortRoom();
    }
    #empty(froms) {
        const spreads = this.#hashes && this.#isWide;
        const shards = new Shards(this.#module, this.#kind, this.plan, spreads, this.#instanceBytes, froms);
        applyHash(shards.front, this.#hash);
        return shards;
    }
    /** A sieve in memory. Throws a SieveError, one line, for options that cannot be. */
    static async create(options = {}) {
        return (await makeSieve(options));
    }
    /**
     * A sieve that lives in a folder: made there with these options, or opened as it was. One writer at a time.
     * After `kill -9` at any moment nothing acknowledged is lost with durability `always` or `interval` (the default);
     * after power loss at most the last second with `interval`; a half-written record never counts.
     */
    static async open(folder, options = {}) {
        const { openStore } = await import('#store');
        return openStore(folder, options);
    }
    /** A sieve in memory, from a .sieve file. */
    static async load(path) {
        const { readSieve } = await import('#store');
        return (await readSieve(path)).sieve;
    }
    /** Marks a URL. True: it is new. False: it was seen, or the filter errs. */
    add(url) {
        this.#one(url);
        this.#add(0, 1);
        return this.#kernel.verdicts[0] === 1;
    }
    /** Whether a URL was seen. Marks nothing. */
    has(url) {
        this.#one(url);
        this.#has(0, 1);
        return this.#kernel.verdicts[0] === 0;
    }
    /** Marks many URLs: one verdict each, in order, 1 new and 0 seen; a repeat inside the list is seen. */
    addMany(urls) {
        return this.#many(urls, (n) => this.#add(0, n));
    }
    /** Asks for many URLs: one answer each, in order, 1 seen and 0 not. Marks nothing. */
    hasMany(urls) {
        return this.#many(urls, (n) => this.#has(0, n)).map((verdict) => 1 - verdict);
    }
    /** Marks newline-separated lines, no strings made: one verdict each, in order, 1 new and 0 seen. */
    addLines(bytes) {
        return this.#lines(bytes, (n) => this.#add(0, n));
    }
    /** Asks for newline-separated lines, no strings made: one answer each, in order, 1 seen and 0 not. Marks nothing. */
    hasLines(bytes) {
        return this.#lines(bytes, (n) => this.#has(0, n)).map((verdict) => 1 - verdict);
    }
    /** For streams of lines: bytes in, in any cuts; the new (or the seen) lines out. One feed at a time. */
    feed(options, onBatch) {
        return this.#feed((n) => this.#add(0, n), options, onBatch);
    }
    /** For streams of `ADD url` and `CHECK url` lines: bytes in, in any cuts; answers out, in order. One at a time. */
    commands(onRun) {
        return new Commands(this.#kernel, {
            prepare: (n) => this.#prepare(n),
            add: (from, n) => this.#add(from, n),
            has: (from, n) => this.#has(from, n),
        }, onRun);
    }
    /** The key, what each rule did, and the verdict an add would get. Marks nothing. */
    explain(url) {
        const { key, isUrl, steps } = explainKey(this.profile, url);
        const { invalid } = this.#keys;
        const verdict = this.has(url) ? 'seen' : 'new';
        this.#keys.invalid = invalid;
        return { url, key, isUrl, steps, verdict };
    }
    stats() {
        const { sizeBytes, fill, rate, layers, rates } = this.#shards.measure();
        const { expectedUrls, promisedRate } = this.plan;
        return {
            filter: this.plan.filter,
            profile: this.profile.name,
            hash: this.#hash.names.join(','),
            urls: this.#urls,
            seen: this.#seen,
            invalid: this.#keys.invalid,
            sizeBytes,
            bitsPerUrl: this.#urls === 0 ? null : (sizeBytes * 8) / this.#urls,
            fill,
            expectedRate: rate,
            promisedRate,
            pastCapacity: !this.#kind.can.grow && expectedUrls !== null && this.#urls > expectedUrls,
            ...(layers && { layers }),
            ...(rates && { rates }),
            ...(this.#journal && { store: this.#journal.info() }),
        };
    }
    /** Forgets everything. Not while a feed has taken half a line. */
    clear() {
        this.#shards = this.#empty();
        this.#kernel = this.#shards.front;
        this.#short = this.#shortRoom();
        this.#urls = 0;
        this.#seen = 0;
        this.#keys.invalid = 0;
        this.#journal?.cleared();
    }
    /**
     * Takes in all that another sieve remembers: of the same filter, parameters, profile and key. A stored sieve folds
     * it into its snapshot before the promise is kept. Errs afterwards as a filter that took the URLs of both.
     */
    async merge(other) {
        unite(this, other);
        await this.#journal?.save();
    }
    /** Of a stored sieve: puts all that was acknowledged on the disk, now. */
    sync() {
        this.#journal?.sync();
    }
    /** Of a stored sieve: puts everything on the disk and lets another process open it. It answers no more. */
    async close() {
        await this.#journal?.close();
    }
    /** Writes a .sieve file: whole, or not at all. Without a path, a stored sieve folds its log into its snapshot. */
    async save(path) {
        if (path === undefined) {
            if (!this.#journal)
                throw new SieveError('option', 'save() without a path is for a sieve opened with Sieve.open');
            return this.#journal.save();
        }
        const { writeSieve } = await import('#store');
        writeSieve(path, this[STATE]);
    }
    /** @internal For the modules that store and merge sieves. */
    get [STATE]() {
        const sieve = this;
        return {
            kind: sieve.#kind,
            plan: sieve.plan,
            profile: sieve.profile,
            hash: sieve.#hash,
            takesHashes: sieve.#hashes,
            get kernel() {
                return sieve.#kernel;
            },
            get shards() {
                return sieve.#shards;
            },
            get urls() {
                return sieve.#urls;
            },
            set urls(count) {
                sieve.#urls = count;
            },
            get seen() {
                return sieve.#seen;
            },
            set seen(count) {
                sieve.#seen = count;
            },
            get invalid() {
                return sieve.#keys.invalid;
            },
            set invalid(count) {
                sieve.#keys.invalid = count;
            },
            get journal() {
                return sieve.#journal;
            },
            set journal(journal) {
                sieve.#journal = journal;
            },
            get keepsKeys() {
                return sieve.#keepsKeys;
            },
            set keepsKeys(keeps) {
                sieve.#keepsKeys = keeps;
            },
            hashKeys(n) {
                if (sieve.#hashes)
                    sieve.#kernel.call.hashKeys(n);
            },
        };
    }
    /** Forgets a URL; only a DeletingSieve shows it. */
    forget(url) {
        this.#one(url);
        this.#shards.delete(1);
        const was = this.#kernel.verdicts[0] === 0;
        if (was) {
            this.#urls--;
            this.#journal?.deleted(1);
        }
        return was;
    }
    /** Whether anything is under a folder; only a FolderSieve shows it. */
    askUnder(folder) {
        const text = folder.includes('://') ? folder : `https://${folder}`;
        const { invalid } = this.#keys;
        this.#one(/[?#]/.test(text) || text.endsWith('/') ? text : `${text}/`);
        this.#keys.invalid = invalid;
        this.#shards.hasUnder(1);
        return this.#kernel.verdicts[0] === 0;
    }
    #has(from, n) {
        this.#shards.has(from, n);
        this.#journal?.amend(from, n);
    }
    #add(from, n) {
        this.#shards.add(from, n);
        this.#journal?.amend(from, n);
        const fresh = this.#kernel.call.countNew(from, n);
        this.#urls += fresh;
        this.#seen += n - from - fresh;
        try {
            this.#journal?.added(from, n);
        }
        catch (error) {
            this.#urls -= fresh;
            this.#seen -= n - from - fresh;
            throw error;
        }
    }
    // Keys and hashes of the n lines in the kernel's batch.
    #prepare(n) {
        this.#keys.make(this.#kernel, n);
        if (this.#hashes)
            this.#kernel.call.hashKeys(n);
    }
    #shortRoom(bytes = SHORT_BYTES) {
        this.#shortAt = this.#kernel.call.reserveUrls(bytes) >>> 0;
        this.#kernel.refresh();
        if (this.#shortAt === 0)
            throw new SieveError('room', `a URL of ${bytes} bytes does not fit into the memory left`);
        return this.#kernel.bytes.subarray(this.#shortAt, this.#shortAt + bytes);
    }
    // Makes a batch of one URL.
    #one(url) {
        const need = url.length * 3;
        if (need > this.#short.length)
            this.#short = this.#shortRoom(Math.max(need, SHORT_BYTES));
        const { written } = encoder.encodeInto(url, this.#short);
        const kernel = this.#kernel;
        kernel.lineStarts[0] = this.#shortAt;
        kernel.lineEnds[0] = this.#shortAt + written;
        this.#prepare(1);
    }
    #feed(ask, options, onBatch) {
        const sift = (n) => {
            this.#prepare(n);
            ask(n);
        };
        return new Feed(this.#kernel, sift, options, onBatch);
    }
    #lines(bytes, ask) {
        const parts = [];
        const feed = this.#feed(ask, { keep: 'none' }, (verdicts) => parts.push(verdicts.slice()));
        for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
            const chunk = bytes.subarray(at, at + CHUNK_BYTES);
            feed.room(chunk.length).set(chunk);
            feed.push(chunk.length);
        }
        feed.end();
        const all = new Uint8Array(feed.lines);
        let at = 0;
        for (const part of parts) {
            all.set(part, at);
            at += part.length;
        }
        return all;
    }
    #many(urls, ask) {
        const answers = new Uint8Array(urls.length);
        const kernel = this.#kernel;
        let done = 0;
        while (done < urls.length) {
            if (this.#short.length < CHUNK_BYTES)
                this.#short = this.#shortRoom(CHUNK_BYTES);
            const room = this.#short;
            let n = 0;
            let used = 0;
            while (n < kernel.batchLines && done + n < urls.length) {
                const url = urls[done + n];
                if (used + url.length * 3 > room.length)
                    break;
                const { written } = encoder.encodeInto(url, room.subarray(used));
                kernel.lineStarts[n] = this.#shortAt + used;
                used += written;
                kernel.lineEnds[n] = this.#shortAt + used;
                n++;
            }
            if (n === 0) {
                this.#short = this.#shortRoom(urls[done].length * 3);
                continue;
            }
            this.#prepare(n);
            ask(n);
            answers.set(kernel.verdicts.subarray(0, n), done);
            done += n;
        }
        return answers;
    }
}
/** @internal A sieve with the verbs its filter can do: a new one, or one that was saved, still to be filled. */
export async function makeSieve(options, saved) {
    const { can } = saved?.kind ?? filterKind(options.filter ?? 'fingerprint');
    const made = can.delete ? ForgettingSieve : can.under ? RememberingFolders : Sieve;
    return new made(await compileKernel(), options, saved);
}
class ForgettingSieve extends Sieve {
    delete(url) {
        return this.forget(url);
    }
}
class RememberingFolders extends Sieve {
    hasUnder(folder) {
        return this.askUnder(folder);
    }
}
