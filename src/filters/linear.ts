// Linear search (cen-2010's simplest approach, term-project): every key is compared with every one before it. Exact.
import { baseline, type KeySet, keyBytes, keyText } from './baseline.ts'

/** A string's header and its place in the array. */
const OVERHEAD_BYTES = 24

export class LinearList implements KeySet {
  /** Keys that were compared with one that was queried. */
  comparisons = 0
  readonly #keys: string[] = []
  /** Those from a snapshot, while it is read. */
  readonly #restored = new Set<string>()
  #textBytes = 0

  get sizeBytes(): number {
    return this.#textBytes + this.#keys.length * OVERHEAD_BYTES
  }

  #find(text: string): number {
    const keys = this.#keys
    let i = 0
    while (i < keys.length && keys[i] !== text) i++
    const isFound = i < keys.length
    this.comparisons += isFound ? i + 1 : i
    return isFound ? i : -1
  }

  *keys(): Generator<Uint8Array> {
    for (const text of [...this.#keys]) yield keyBytes(text) // a copy: deletes may go on meanwhile
  }

  add(key: Uint8Array): boolean {
    const text = keyText(key)
    if (this.#find(text) >= 0) return false
    this.#keys.push(text)
    this.#textBytes += key.length
    return true
  }

  restore(key: Uint8Array): void {
    const text = keyText(key)
    if (this.#restored.has(text)) throw new RangeError('a list that has a key twice')
    this.#restored.add(text)
    this.#keys.push(text)
    this.#textBytes += key.length
  }

  restored(): void {
    this.#restored.clear()
  }

  has(key: Uint8Array): boolean {
    return this.#find(keyText(key)) >= 0
  }

  delete(key: Uint8Array): boolean {
    const at = this.#find(keyText(key))
    if (at < 0) return false
    this.#keys.splice(at, 1)
    this.#textBytes -= key.length
    return true
  }
}

/** Makes no error. */
export const linear = baseline({
  name: 'linear',
  does: 'a list, searched from the start',
  source: 'cen-2010, term-project',
  overheadBytes: OVERHEAD_BYTES,
  comfortableUrls: 10_000,
  make: () => new LinearList(),
})
