// Newline-separated lines, written piece by piece into one growing buffer: what `addLines` and `hasLines` take.
const SLASH = 0x2f;
const NEWLINE = 0x0a;
export class LineWriter {
    /** Lines ended so far. */
    count = 0;
    #bytes;
    #used = 0;
    constructor(bytes = 1 << 16) {
        this.#bytes = new Uint8Array(bytes);
    }
    /** Appends bytes [from, to) of `source` to the line. */
    copy(source, from, to) {
        if (this.#used + to - from >= this.#bytes.length)
            this.#widen(to - from);
        const bytes = this.#bytes;
        let at = this.#used;
        for (let i = from; i < to; i++)
            bytes[at++] = source[i];
        this.#used = at;
        return this;
    }
    /** Appends a whole number's decimal digits. */
    number(value) {
        const digits = String(value);
        if (this.#used + digits.length >= this.#bytes.length)
            this.#widen(digits.length);
        for (let i = 0; i < digits.length; i++)
            this.#bytes[this.#used++] = digits.charCodeAt(i);
        return this;
    }
    slash() {
        if (this.#used + 1 >= this.#bytes.length)
            this.#widen(1);
        this.#bytes[this.#used++] = SLASH;
        return this;
    }
    end() {
        if (this.#used + 1 >= this.#bytes.length)
            this.#widen(1);
        this.#bytes[this.#used++] = NEWLINE;
        this.count++;
    }
    /** All lines written: a view, good until more is written. */
    get lines() {
        return this.#bytes.subarray(0, this.#used);
    }
    #widen(bytes) {
        const wider = new Uint8Array(Math.max(this.#used + bytes + 1, this.#bytes.length * 2));
        wider.set(this.#bytes.subarray(0, this.#used));
        this.#bytes = wider;
    }
}
/** The lines for which `keep` is not 0, as a buffer of their own. */
export function keptLines(lines, keep) {
    const kept = new Uint8Array(lines.length);
    let used = 0;
    let count = 0;
    let from = 0;
    for (let line = 0; line < keep.length; line++) {
        let end = lines.indexOf(NEWLINE, from);
        end = end < 0 ? lines.length : end + 1;
        if (keep[line]) {
            kept.set(lines.subarray(from, end), used);
            used += end - from;
            count++;
        }
        from = end;
    }
    return { lines: kept.subarray(0, used), count };
}
