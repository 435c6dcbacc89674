// URLs that are not in the set, of the kinds a filter may take for known: cen-2010's own, and the three that it left
// out. A URL's pieces are what a multi-layer filter gives its layers: segments, the rest joined into the last.
import { Sieve } from '../sieve.js';
import { LineWriter } from './line-writer.js';
const SLASH = 0x2f;
const CHUNK_URLS = 1 << 18;
/** cen-2010: URLs [from, to), each with its own number (from 1) appended. */
export function numberedLines(urls, from, to) {
    const writer = new LineWriter((to - from) * 80);
    for (let i = from; i < to; i++) {
        writer
            .copy(urls.bytes, urls.starts[i], urls.ends[i])
            .number(i + 1)
            .end();
    }
    return writer.lines;
}
/** Where each URL's pieces begin, `layers` numbers a URL, and how many it has. A piece ends before the next begins. */
export class Pieces {
    urls;
    layers;
    counts;
    #starts;
    constructor(urls, layers) {
        this.urls = urls;
        this.layers = layers;
        this.counts = new Uint8Array(urls.count);
        this.#starts = new Uint32Array(urls.count * layers);
        const { bytes, starts, ends } = urls;
        for (let i = 0; i < urls.count; i++) {
            const at = i * layers;
            this.#starts[at] = starts[i];
            let count = 1;
            for (let p = starts[i]; count < layers && p < ends[i]; p++) {
                if (bytes[p] === SLASH)
                    this.#starts[at + count++] = p + 1;
            }
            this.counts[i] = count;
        }
    }
    start(url, piece) {
        return this.#starts[url * this.layers + piece];
    }
    end(url, piece) {
        return piece + 1 < this.counts[url] ? this.start(url, piece + 1) - 1 : this.urls.ends[url];
    }
    isEmpty(url, piece) {
        return this.start(url, piece) === this.end(url, piece);
    }
    areEqual(url, piece, other) {
        const [from, to, start] = [this.start(url, piece), this.end(url, piece), this.start(url, other)];
        if (to - from !== this.end(url, other) - start)
            return false;
        const { bytes } = this.urls;
        for (let i = 0; i < to - from; i++)
            if (bytes[from + i] !== bytes[start + i])
                return false;
        return true;
    }
    /** Appends a piece to the writer's line. */
    write(writer, url, piece) {
        return writer.copy(this.urls.bytes, this.start(url, piece), this.end(url, piece));
    }
}
/** Every piece of URLs [from, to) as a line, behind the number of its layer. */
export function pieceLines(pieces, from, to) {
    const writer = new LineWriter((to - from) * 80);
    for (let i = from; i < to; i++) {
        for (let piece = 0; piece < pieces.counts[i]; piece++) {
            pieces.write(writer.number(piece).slash(), i, piece).end();
        }
    }
    return writer.lines;
}
/** The last piece of each numbered negative, behind the number of its layer. */
export function numberedPieceLines(pieces, from, to) {
    const writer = new LineWriter((to - from) * 40);
    for (let i = from; i < to; i++) {
        const last = pieces.counts[i] - 1;
        pieces
            .write(writer.number(last).slash(), i, last)
            .number(i + 1)
            .end();
    }
    return writer.lines;
}
/**
 * Recombined: the beginning of one URL and the rest of another that has as many pieces. Every piece is known in its
 * layer; some results may be URLs of the set, or come twice.
 */
export function recombinedLines(pieces, count, random) {
    const byCount = Array.from({ length: pieces.layers + 1 }, () => []);
    pieces.counts.forEach((n, url) => {
        if (n > 1)
            byCount[n].push(url);
    });
    const writer = new LineWriter(count * 80);
    const tries = count * 8; // one URL alone in its number of pieces would be tried for ever
    for (let i = 0; i < tries && writer.count < count; i++) {
        const url = Math.floor(random() * pieces.counts.length);
        const n = pieces.counts[url];
        if (n < 2)
            continue;
        const mates = byCount[n];
        const mate = mates[Math.floor(random() * mates.length)];
        const cut = 1 + Math.floor(random() * (n - 1));
        if (mate === url)
            continue;
        for (let piece = 0; piece < n; piece++) {
            if (piece > 0)
                writer.slash();
            pieces.write(writer, piece < cut ? url : mate, piece);
        }
        writer.end();
    }
    return writer.lines;
}
/** A set of pieces, for questions that must have an exact answer. */
async function pieceSet(lab, pieces, piece) {
    const set = await Sieve.create({ profile: 'raw', key: lab.key('pieces') });
    for (let from = 0; from < pieces.counts.length; from += CHUNK_URLS) {
        const writer = new LineWriter(CHUNK_URLS * 32);
        for (let i = from; i < Math.min(pieces.counts.length, from + CHUNK_URLS); i++) {
            if (pieces.counts[i] > piece)
                pieces.write(writer, i, piece).end();
        }
        set.addLines(writer.lines);
    }
    return set;
}
/**
 * Swapped and repeated, from what the URLs themselves hold. Swapped: /a/b as /b/a, where the second layer knows b and
 * the third knows a. Repeated: /x/x on a host that has some /y/y, where both layers know x. Up to `most` lines each;
 * some may be URLs of the set.
 */
export async function orderBlindLines(lab, pieces, most) {
    const [second, third] = [await pieceSet(lab, pieces, 1), await pieceSet(lab, pieces, 2)];
    const swapped = new LineWriter(1 << 20);
    const doubled = [];
    const shared = [];
    const asked = await Sieve.create({ profile: 'raw', key: lab.key('shared pieces') });
    const total = pieces.counts.length;
    for (let from = 0; from < total; from += CHUNK_URLS) {
        const urls = [];
        const [seconds, thirds] = [new LineWriter(CHUNK_URLS * 32), new LineWriter(CHUNK_URLS * 32)];
        for (let i = from; i < Math.min(total, from + CHUNK_URLS); i++) {
            if (pieces.counts[i] < 3 || pieces.isEmpty(i, 1) || pieces.isEmpty(i, 2))
                continue;
            urls.push(i);
            pieces.write(seconds, i, 1).end();
            pieces.write(thirds, i, 2).end();
        }
        const secondInThird = third.hasLines(seconds.lines);
        const thirdInSecond = second.hasLines(thirds.lines);
        const isFirst = asked.addLines(seconds.lines);
        urls.forEach((url, i) => {
            if (!secondInThird[i])
                return;
            if (isFirst[i])
                shared.push(url);
            if (pieces.areEqual(url, 1, 2)) {
                if (pieces.counts[url] === 3)
                    doubled.push(url);
            }
            else if (thirdInSecond[i] && swapped.count < most) {
                pieces.write(swapped, url, 0).slash();
                pieces.write(swapped, url, 2).slash();
                pieces.write(swapped, url, 1);
                if (pieces.counts[url] > 3)
                    pieces.write(swapped.slash(), url, 3);
                swapped.end();
            }
        });
    }
    const repeated = new LineWriter(1 << 20);
    if (doubled.length > 0) {
        shared.slice(0, most).forEach((url, i) => {
            pieces.write(repeated, doubled[i % doubled.length], 0).slash();
            pieces.write(repeated, url, 1).slash();
            pieces.write(repeated, url, 1).end();
        });
    }
    return { swapped: swapped.lines, repeated: repeated.lines };
}
