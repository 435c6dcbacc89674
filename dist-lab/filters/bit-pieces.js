const PIECE_BYTES = 1024 * 1024;
/**
 * `arrays` says where they lie, and makes sure there is one of a number when given it; `restored` counts their bits
 * again and takes the counts that are not in them.
 */
export function bitPieces(kernel, arrays, restored, counts = () => []) {
    return {
        *pieces() {
            for (const { array, at, bytes } of arrays()) {
                for (let offset = 0; offset < bytes; offset += PIECE_BYTES) {
                    const end = Math.min(offset + PIECE_BYTES, bytes);
                    yield { array, offset, bytes: kernel.bytes.subarray(at + offset, at + end) };
                }
            }
        },
        place(array, offset, bytes) {
            const found = arrays(array).find((one) => one.array === array);
            if (!found || offset + bytes > found.bytes) {
                throw new RangeError(`no room for ${bytes} bytes at ${offset} of array ${array}`);
            }
            return kernel.bytes.subarray(found.at + offset, found.at + offset + bytes);
        },
        counts,
        restored,
        unite(other) {
            for (const { array, offset, bytes } of other.pieces()) {
                const copy = kernel.call.reserveOutput(bytes.length) >>> 0;
                if (copy === 0)
                    throw new RangeError('no memory left to unite two filters');
                kernel.bytes.set(bytes, copy);
                kernel.call.uniteBits(this.place(array, offset, bytes.length).byteOffset, copy, bytes.length);
            }
            const mine = counts();
            const theirs = other.counts?.() ?? [];
            restored(mine.map((count, i) => count + (theirs[i] ?? 0)));
        },
    };
}
