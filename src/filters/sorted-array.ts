// The sorted array with binary search (term-project): every new key is inserted at its place. Exact.
import { baseline, type KeySet, keyBytes, keyText } from './baseline.ts'

/** A string's header and its place in the array. */
const OVERHEAD_BYTES = 24

export class SortedArray implements KeySet {
  /** Keys that were compared with one that was queried. */
  comparisons = 0
  readonly #keys: string[] = []
  #textBytes = 0

  get sizeBytes(): number {
    return this.#textBytes + this.#keys.length * OVERHEAD_BYTES
  }

  // The first place whose key is not before `text`.
  #place(text: string): number {
    const keys = this.#keys
    let low = 0
    let high = keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      this.comparisons++
      if (keys[middle]! < text) low = middle + 1
      else high = middle
    }
    return low
  }

  *keys(): Generator<Uint8Array> {
    for (const text of [...this.#keys]) yield keyBytes(text) // a copy: deletes may go on meanwhile
  }

  add(key: Uint8Array): boolean {
    const text = keyText(key)
    const at = this.#place(text)
    if (this.#keys[at] === text) return false
    this.#keys.splice(at, 0, text)
    this.#textBytes += key.length
    return true
  }

  restore(key: Uint8Array): void {
    const text = keyText(key)
    const last = this.#keys.at(-1)
    if (last !== undefined && text <= last)
      throw new RangeError('keys of a sorted array that are not in order')
    this.#keys.push(text)
    this.#textBytes += key.length
  }

  has(key: Uint8Array): boolean {
    const text = keyText(key)
    return this.#keys[this.#place(text)] === text
  }

  delete(key: Uint8Array): boolean {
    const text = keyText(key)
    const at = this.#place(text)
    if (this.#keys[at] !== text) return false
    this.#keys.splice(at, 1)
    this.#textBytes -= key.length
    return true
  }
}

/** Makes no error. */
export const sortedArray = baseline({
  name: 'sorted-array',
  does: 'a sorted array with binary search',
  source: 'term-project',
  overheadBytes: OVERHEAD_BYTES,
  comfortableUrls: 100_000,
  make: () => new SortedArray(),
})
