// The sleeve around the WebAssembly module: compiles it once, makes an instance with its memory, and keeps the
// typed views fresh when that memory has grown. No logic lives here.
import { kernelBytes } from './kernel-bytes.js';
/** The most that one instance can address; a filter larger than this is spread over several instances. */
export const INSTANCE_BYTES = 4 * 1024 ** 3 - 65536;
let compiled;
/** The module, compiled once for all instances. */
export function compileKernel() {
    compiled ??= WebAssembly.compile(Uint8Array.from(atob(kernelBytes), (c) => c.charCodeAt(0)));
    return compiled;
}
export class Kernel {
    call;
    /** Lines in one batch. */
    batchLines;
    /** The longest answer to a command is so much longer than its URL. */
    answerBytes;
    lineStarts;
    lineEnds;
    keyStarts;
    keyEnds;
    featureStarts;
    featureEnds;
    hashes;
    verdicts;
    unusual;
    commandOps;
    commandOffsets;
    badOffsets;
    badStarts;
    badEnds;
    #bytes;
    /** Who has half a line waiting in the input buffer. */
    inputOwner = null;
    #module;
    #memory;
    constructor(module, memory) {
        const instance = new WebAssembly.Instance(module, { env: { memory } });
        this.#module = module;
        this.call = instance.exports;
        this.#memory = memory;
        this.batchLines = this.#constant('batchLines');
        this.answerBytes = this.#constant('answerBytes');
        this.#view();
    }
    /** A new instance whose memory never exceeds `maximumBytes`. */
    static create(module, maximumBytes = INSTANCE_BYTES) {
        const maximum = Math.min(65536, Math.max(4, Math.ceil(maximumBytes / 65536)));
        const memory = new WebAssembly.Memory({ initial: 4, maximum });
        return new Kernel(module, memory);
    }
    /** Another instance of the same module. */
    sibling() {
        return Kernel.create(this.#module);
    }
    /** All of the memory. The view is good until the next call that may grow it: ask again after each call. */
    get bytes() {
        if (this.#bytes.length === 0)
            this.#view();
        return this.#bytes;
    }
    /** Call after anything that may have grown the memory, before touching the other views. */
    refresh() {
        if (this.#bytes.length === 0)
            this.#view();
    }
    #constant(name) {
        return this.call[name].value >>> 0;
    }
    #view() {
        const { buffer } = this.#memory;
        const n = this.batchLines;
        this.#bytes = new Uint8Array(buffer);
        this.lineStarts = new Uint32Array(buffer, this.#constant('lineStarts'), n);
        this.lineEnds = new Uint32Array(buffer, this.#constant('lineEnds'), n);
        this.keyStarts = new Uint32Array(buffer, this.#constant('keyStarts'), n);
        this.keyEnds = new Uint32Array(buffer, this.#constant('keyEnds'), n);
        this.featureStarts = new Uint32Array(buffer, this.#constant('featureStarts'), n);
        this.featureEnds = new Uint32Array(buffer, this.#constant('featureEnds'), n);
        this.hashes = new BigUint64Array(buffer, this.#constant('hashes'), n);
        this.verdicts = new Uint8Array(buffer, this.#constant('verdicts'), n);
        this.unusual = new Uint32Array(buffer, this.#constant('unusual'), n);
        this.commandOps = new Uint8Array(buffer, this.#constant('commandOps'), n);
        this.commandOffsets = new Uint32Array(buffer, this.#constant('commandOffsets'), n);
        this.badOffsets = new Uint32Array(buffer, this.#constant('badOffsets'), n);
        this.badStarts = new Uint32Array(buffer, this.#constant('badStarts'), n);
        this.badEnds = new Uint32Array(buffer, this.#constant('badEnds'), n);
    }
}
