// Room in the kernel's memory for strings, written there as UTF-8. Many strings go there as one: a call for each would
// cost twice as much.
const encoder = new TextEncoder()

export class TextRoom {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** 0 once the memory has grown: the room is to be asked for again. */
  get length(): number {
    return this.#bytes.length
  }

  /** Writes a string, whose UTF-8 must fit. Returns its bytes. */
  write(text: string, at: number): number {
    return encoder.encodeInto(text, at === 0 ? this.#bytes : this.#bytes.subarray(at)).written
  }

  /** Writes a string of ASCII that fits: a byte a letter. False for any other; then what is here is of no use. */
  writeAscii(text: string): boolean {
    const { read, written } = encoder.encodeInto(text, this.#bytes)
    return read === text.length && written === text.length
  }

  set(bytes: Uint8Array): void {
    this.#bytes.set(bytes)
  }
}
