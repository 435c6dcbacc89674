// Sieves of every filter of the registry for the conformance suites, and the URLs they are filled with.
import type { FilterKind } from '../../src/filters/filter.ts'
import type { FilterName } from '../../src/filters/registry.ts'
import { Sieve, type SieveOptions } from '../../src/sieve.ts'
import { ampleSize } from './sizes.ts'

const key = Uint8Array.from({ length: 16 }, (_, i) => 7 * i)

/** Two thousand URLs that share nothing but their scheme and the last label. */
export const plain = Array.from(
  { length: 2000 },
  (_, i) => `https://host${i}.example/folder${i}/page${i}?id=${i}`,
)

/** A sieve of that kind, with a fixed key and keys that are the lines themselves. */
export function create(kind: FilterKind, options: SieveOptions = {}): Promise<Sieve> {
  return Sieve.create({ filter: kind.name as FilterName, key, profile: 'raw', ...options })
}

/** The same, large enough that it is next to never wrong. */
export function make(kind: FilterKind, urls = 10_000, options: SieveOptions = {}): Promise<Sieve> {
  return create(kind, { ...ampleSize(kind, urls), ...options })
}
