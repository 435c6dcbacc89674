const NEWLINE = 10;
/** Lines go to the sieve in pieces of at least so many bytes: each piece is one write. */
const PIECE_BYTES = 256 * 1024;
/** Sifts a stream of newline-separated bytes, a batch of lines at a time, in order. */
export async function* siftLines(sieve, chunks) {
    let waiting = [];
    let bytes = 0;
    for await (const chunk of chunks) {
        waiting.push(chunk);
        bytes += chunk.length;
        if (bytes < PIECE_BYTES || !chunk.includes(NEWLINE))
            continue;
        const all = Buffer.concat(waiting);
        const end = all.lastIndexOf(NEWLINE) + 1;
        const lines = all.subarray(0, end);
        waiting = end < all.length ? [all.subarray(end)] : [];
        bytes = all.length - end;
        yield { lines, verdicts: await sieve.addLines(lines) };
    }
    if (bytes > 0) {
        const lines = Buffer.concat(waiting);
        yield { lines, verdicts: await sieve.addLines(lines) };
    }
}
/** The lines of a batch with the verdict that is wanted, each with a newline. */
export function keptLines({ lines, verdicts }, keep) {
    const wanted = keep === 'new' ? 1 : 0;
    const kept = Buffer.allocUnsafe(lines.length + 1);
    let at = 0;
    let size = 0;
    for (const verdict of verdicts) {
        const newline = lines.indexOf(NEWLINE, at);
        const end = newline < 0 ? lines.length : newline;
        if (verdict === wanted) {
            kept.set(lines.subarray(at, end), size);
            size += end - at;
            kept[size++] = NEWLINE;
        }
        at = end + 1;
    }
    return kept.subarray(0, size);
}
