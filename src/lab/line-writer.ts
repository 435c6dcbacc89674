// Newline-separated lines, written piece by piece into one growing buffer: what `addLines` and `hasLines` take.
import { keepLines } from '../lines/keep.ts'

const SLASH = 0x2f
const NEWLINE = 0x0a

export class LineWriter {
  /** Lines ended so far. */
  count = 0
  #bytes: Uint8Array
  #used = 0

  constructor(bytes = 1 << 16) {
    this.#bytes = new Uint8Array(bytes)
  }

  /** Appends bytes [from, to) of `source` to the line. */
  copy(source: Uint8Array, from: number, to: number): this {
    if (this.#used + to - from >= this.#bytes.length) this.#widen(to - from)
    const bytes = this.#bytes
    let at = this.#used
    for (let i = from; i < to; i++) bytes[at++] = source[i]!
    this.#used = at
    return this
  }

  /** Appends a whole number's decimal digits. */
  number(value: number): this {
    const digits = String(value)
    if (this.#used + digits.length >= this.#bytes.length) this.#widen(digits.length)
    for (let i = 0; i < digits.length; i++) this.#bytes[this.#used++] = digits.charCodeAt(i)
    return this
  }

  slash(): this {
    if (this.#used + 1 >= this.#bytes.length) this.#widen(1)
    this.#bytes[this.#used++] = SLASH
    return this
  }

  end(): void {
    if (this.#used + 1 >= this.#bytes.length) this.#widen(1)
    this.#bytes[this.#used++] = NEWLINE
    this.count++
  }

  /** All lines written: a view, good until more is written. */
  get lines(): Uint8Array {
    return this.#bytes.subarray(0, this.#used)
  }

  #widen(bytes: number): void {
    const wider = new Uint8Array(Math.max(this.#used + bytes + 1, this.#bytes.length * 2))
    wider.set(this.#bytes.subarray(0, this.#used))
    this.#bytes = wider
  }
}

/** The lines with verdict 1, as a buffer of their own. */
export function keptLines(lines: Uint8Array, verdicts: Uint8Array): { lines: Uint8Array; count: number } {
  const count = verdicts.reduce((sum, verdict) => sum + Number(verdict !== 0), 0)
  return { lines: keepLines({ lines, verdicts }, 'new'), count }
}
