// A Bloom filter for every row, bit-sliced. Rows are put in bands by how many words they hold (1, 2, 3–4, 5–8, …),
// and each band has an m and k of its own, so that one long row does not make every row's filter long.
// Errs towards "may hold", on average over the rows at the rate it was made for.
import { countWords, planSignatures } from './signature-sizing.js';
import { Signatures } from './signatures.js';
export class RowFilters {
    bands;
    constructor(bands) {
        this.bands = bands;
    }
    /** Empty filters for rows of so many distinct words each; rows of none have no filter. */
    static plan(wordsInRows, rate) {
        const rowsOf = new Map();
        wordsInRows.forEach((words, row) => {
            if (words === 0)
                return;
            const band = 32 - Math.clz32(words - 1);
            const rows = rowsOf.get(band);
            if (rows)
                rows.push(row);
            else
                rowsOf.set(band, [row]);
        });
        const bands = [...rowsOf].sort(([a], [b]) => a - b).map(([, rows]) => rows);
        return new RowFilters(bands.map((rows) => {
            const plan = planSignatures(countWords(rows.map((row) => wordsInRows[row])), rate);
            const signatures = new Signatures({ filters: rows.length, ...plan });
            return { rows: Uint32Array.from(rows), signatures, rate: plan.rate };
        }));
    }
    get sizeBytes() {
        return this.bands.reduce((sum, { rows, signatures }) => sum + signatures.sizeBytes + rows.byteLength, 0);
    }
    /** Hashes a word needs. */
    get hashes() {
        return Math.max(1, ...this.bands.map(({ signatures }) => signatures.hashes));
    }
    /** Expected rate, mean over the rows. */
    get rate() {
        const rows = this.bands.reduce((sum, band) => sum + band.rows.length, 0);
        return rows ? this.bands.reduce((sum, band) => sum + band.rate * band.rows.length, 0) / rows : 0;
    }
    /** The rows that may hold every one of the words whose hashes begin at `froms`, ascending. */
    holding(hashes, froms) {
        const parts = this.bands.map(({ rows, signatures }) => {
            return signatures.holding(hashes, froms).map((filter) => rows[filter]);
        });
        return Uint32Array.from(parts.flat()).sort();
    }
}
