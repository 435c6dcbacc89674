// The hash set of the papers: JavaScript's own Set of strings. Exact; about 100 bytes per URL besides its text.
import { baseline, type KeySet, keyBytes, keyText } from './baseline.ts'

/** V8: a string's header and its entry in the table of a Set that is between half and wholly full. */
const OVERHEAD_BYTES = 48

class HashSet implements KeySet {
  readonly #keys = new Set<string>()
  #textBytes = 0

  get sizeBytes(): number {
    return this.#textBytes + this.#keys.size * OVERHEAD_BYTES
  }

  *keys(): Generator<Uint8Array> {
    for (const text of this.#keys) yield keyBytes(text)
  }

  add(key: Uint8Array): boolean {
    const before = this.#keys.size
    this.#keys.add(keyText(key))
    const isNew = this.#keys.size > before
    if (isNew) this.#textBytes += key.length
    return isNew
  }

  has(key: Uint8Array): boolean {
    return this.#keys.has(keyText(key))
  }

  delete(key: Uint8Array): boolean {
    const was = this.#keys.delete(keyText(key))
    if (was) this.#textBytes -= key.length
    return was
  }
}

/** Makes no error. */
export const hashSet = baseline({
  name: 'hash-set',
  does: 'JavaScript’s Set of strings; at most 16.7 million',
  source: 'url-caching, term-project',
  overheadBytes: OVERHEAD_BYTES,
  comfortableUrls: 10_000_000,
  make: () => new HashSet(),
})
