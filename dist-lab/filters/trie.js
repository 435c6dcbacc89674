// The trie of Igloo (in cen-2010): one node a byte, prefixes shared; children are a list of siblings. Exact.
import { baseline } from './baseline.js';
/** Words of a node: its byte and whether a key ends here, its next sibling, its first child. */
const WORDS = 3;
const ENDS = 256;
class Trie {
    #nodes = new Uint32Array(WORDS * 1024);
    /** Words in use; node 0 is the root. */
    #used = WORDS;
    get sizeBytes() {
        return this.#nodes.byteLength;
    }
    #node(byte, sibling) {
        if (this.#used + WORDS > this.#nodes.length) {
            const wider = new Uint32Array(Math.ceil(this.#nodes.length / WORDS / 2) * 3 * WORDS);
            wider.set(this.#nodes);
            this.#nodes = wider;
        }
        const node = this.#used;
        this.#used += WORDS;
        this.#nodes[node] = byte;
        this.#nodes[node + 1] = sibling;
        return node;
    }
    // The node where the key ends, or -1 when its path is not there.
    #find(key) {
        const nodes = this.#nodes;
        let node = 0;
        for (const byte of key) {
            let child = nodes[node + 2];
            while (child !== 0 && (nodes[child] & 255) !== byte)
                child = nodes[child + 1];
            if (child === 0)
                return -1;
            node = child;
        }
        return node;
    }
    add(key) {
        let node = 0;
        for (const byte of key) {
            let child = this.#nodes[node + 2];
            while (child !== 0 && (this.#nodes[child] & 255) !== byte)
                child = this.#nodes[child + 1];
            if (child === 0) {
                child = this.#node(byte, this.#nodes[node + 2]);
                this.#nodes[node + 2] = child;
            }
            node = child;
        }
        if (this.#nodes[node] & ENDS)
            return false;
        this.#nodes[node] |= ENDS;
        return true;
    }
    *keys() {
        // Depth first: each open node with the length of the key up to it.
        const nodes = this.#nodes;
        const path = [];
        const open = [[0, 0]];
        while (open.length > 0) {
            const [node, depth] = open.pop();
            path.length = depth;
            if (node !== 0)
                path[depth - 1] = nodes[node] & 255;
            if (nodes[node] & ENDS)
                yield Uint8Array.from(path);
            for (let child = nodes[node + 2]; child !== 0; child = nodes[child + 1])
                open.push([child, depth + 1]);
        }
    }
    has(key) {
        const node = this.#find(key);
        return node >= 0 && (this.#nodes[node] & ENDS) !== 0;
    }
    delete(key) {
        if (!this.has(key))
            return false;
        this.#nodes[this.#find(key)] &= ~ENDS;
        return true;
    }
}
/** Makes no error. */
export const trie = baseline({
    name: 'trie',
    does: 'a tree of bytes with shared prefixes',
    source: 'Igloo, in cen-2010',
    overheadBytes: 300,
    comfortableUrls: 1_000_000,
    make: () => new Trie(),
});
