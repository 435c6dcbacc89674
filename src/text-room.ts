// Room in the kernel's memory for strings, written there as UTF-8. TextEncoder is the fastest at the start of the room;
// further on it needs a view for each string, and Node's Buffer, which takes an offset, is faster.
const encoder = new TextEncoder()
const NodeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer

export class TextRoom {
  readonly #bytes: Uint8Array
  readonly #buffer: Buffer | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#buffer = NodeBuffer?.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** 0 once the memory has grown: the room is to be asked for again. */
  get length(): number {
    return this.#bytes.length
  }

  /** Writes a string, whose UTF-8 must fit. Returns its bytes. */
  write(text: string, at: number): number {
    if (at === 0) return encoder.encodeInto(text, this.#bytes).written
    return this.#buffer?.write(text, at) ?? encoder.encodeInto(text, this.#bytes.subarray(at)).written
  }

  set(bytes: Uint8Array): void {
    this.#bytes.set(bytes)
  }
}
