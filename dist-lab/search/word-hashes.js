// The hashes of words, by the kernel: XXH64 with seeds 0, 1, 2, …, each giving two 32-bit hashes, low half first.
// Addresses in arrays of any size follow from them, so a word is hashed once for filters of every size.
import { applyHash, chooseHash } from '../hashes.js';
import { compileKernel, Kernel } from '../kernel.js';
const encoder = new TextEncoder();
export class WordHashes {
    #kernel;
    constructor(kernel) {
        this.#kernel = kernel;
    }
    static async create() {
        return new WordHashes(Kernel.create(await compileKernel()));
    }
    /** `count` hashes of each word: those of word i from `i * count` on. */
    of(words, count) {
        const hashes = new Uint32Array(words.length * count);
        const { batchLines } = this.#kernel;
        for (let from = 0; from < words.length; from += batchLines) {
            this.#batch(words.slice(from, from + batchLines), count, hashes.subarray(from * count));
        }
        return hashes;
    }
    #batch(words, count, to) {
        const kernel = this.#kernel;
        const room = words.reduce((sum, word) => sum + word.length * 3, 0);
        let at = kernel.call.reserveInput(room) >>> 0;
        kernel.refresh();
        for (let i = 0; i < words.length; i++) {
            kernel.keyStarts[i] = at;
            at += encoder.encodeInto(words[i], kernel.bytes.subarray(at)).written;
            kernel.keyEnds[i] = at;
        }
        for (let j = 0; j < count; j += 2) {
            const key = new Uint8Array(16);
            key[0] = j / 2;
            applyHash(kernel, chooseHash('xxh64', key));
            kernel.call.hashKeys(words.length);
            const halves = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, words.length * 2);
            for (let i = 0; i < words.length; i++) {
                to[i * count + j] = halves[2 * i];
                if (j + 1 < count)
                    to[i * count + j + 1] = halves[2 * i + 1];
            }
        }
    }
}
