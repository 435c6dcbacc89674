// A dataset that can be asked for words: the dictionary says whether it may hold them at all, the row filters which
// rows may. Made row by row; the words themselves are kept while it is made, and forgotten after.
// Errs towards "may hold"; a row that holds all the words is always among the answers.
import { Dictionary } from './dictionary.js';
import { RowFilters } from './row-filters.js';
import { WordHashes } from './word-hashes.js';
export const DEFAULT_DICTIONARY_RATE = 0.05;
export const DEFAULT_ROW_RATE = 0.001;
export class Dataset {
    counts;
    dictionary;
    rowFilters;
    #hashes;
    constructor(counts, dictionary, rowFilters, hashes) {
        this.counts = counts;
        this.dictionary = dictionary;
        this.rowFilters = rowFilters;
        this.#hashes = hashes;
    }
    get sizeBytes() {
        return this.dictionary.signatures.sizeBytes + this.rowFilters.sizeBytes;
    }
    /** Which rows may hold all of `words`, given as `wordsOf` makes them. Misses no row that does. */
    ask(words) {
        const stride = Math.max(this.dictionary.hashes, this.rowFilters.hashes);
        const hashes = this.#hashes.of(words, stride);
        const froms = words.map((_, i) => i * stride);
        const absent = words.filter((_, i) => !this.dictionary.has(hashes, froms[i]));
        if (absent.length > 0)
            return { mayHold: false, absent, rows: new Uint32Array(0) };
        const rows = this.rowFilters.holding(hashes, froms);
        return { mayHold: rows.length > 0, absent, rows };
    }
}
export class DatasetBuilder {
    #options;
    #hashes;
    #idOf = new Map();
    #rows = [];
    #rawBytes = 0;
    constructor(options, hashes) {
        this.#options = options;
        this.#hashes = hashes;
    }
    static async create(options = {}) {
        return new DatasetBuilder(options, await WordHashes.create());
    }
    /** The next row, by its distinct words. */
    add(words) {
        const ids = new Uint32Array(words.size);
        let at = 0;
        for (const word of words) {
            let id = this.#idOf.get(word);
            if (id === undefined) {
                id = this.#idOf.size;
                this.#idOf.set(word, id);
            }
            ids[at++] = id;
            this.#rawBytes += Buffer.byteLength(word) + 1;
        }
        this.#rows.push(ids);
    }
    finish() {
        const words = [...this.#idOf.keys()];
        const { dictionaryRate = DEFAULT_DICTIONARY_RATE, rowRate = DEFAULT_ROW_RATE, layers = 'all', } = this.#options;
        const dictionary = Dictionary.plan(layers, dictionaryRate, this.#hashes.of(words, 1));
        const rowFilters = RowFilters.plan(this.#rows.map((ids) => ids.length), rowRate);
        const stride = Math.max(dictionary.hashes, rowFilters.hashes);
        const hashes = this.#hashes.of(words, stride);
        for (let i = 0; i < words.length; i++)
            dictionary.add(i, hashes, i * stride);
        for (const { rows, signatures } of rowFilters.bands) {
            rows.forEach((row, filter) => {
                for (const id of this.#rows[row])
                    signatures.add(filter, hashes, id * stride);
            });
        }
        const counts = { rows: this.#rows.length, words: words.length, rawBytes: this.#rawBytes };
        return new Dataset(counts, dictionary, rowFilters, this.#hashes);
    }
}
