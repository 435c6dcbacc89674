// The hash functions by name, and the key or seed they take.
import { SieveError } from './errors.ts'
import type { Kernel } from './kernel.ts'

export type HashName = 'siphash' | 'xxh64'

/** Numbers of kernel/hash.ts. */
const families: Readonly<Record<HashName, number>> = { siphash: 0, xxh64: 1 }

export const hashNames = Object.keys(families) as HashName[]

export interface HashChoice {
  readonly name: HashName
  /** 16 secret bytes. For `siphash` the key itself; `xxh64` takes its first 8 as the seed (0 unless given). */
  readonly key: Uint8Array
}

/** A hash with a fresh random key (`siphash`) or seed 0 (`xxh64`), unless `key` gives one. */
export function chooseHash(name: HashName = 'siphash', key?: Uint8Array): HashChoice {
  if (!Object.hasOwn(families, name)) {
    throw new SieveError('option', `unknown hash '${name}': expected one of ${hashNames.join(', ')}`)
  }
  if (key && key.length !== 16) {
    throw new SieveError('option', `key of ${key.length} bytes: expected 16 bytes`)
  }
  if (key) return { name, key: Uint8Array.from(key) }
  const fresh = new Uint8Array(16)
  return { name, key: name === 'siphash' ? crypto.getRandomValues(fresh) : fresh }
}

/** Tells an instance how to hash. */
export function applyHash(kernel: Kernel, { name, key }: HashChoice): void {
  const words = new DataView(key.buffer, key.byteOffset, 16)
  kernel.call.setKey(words.getBigUint64(0, true), words.getBigUint64(8, true))
  kernel.call.setHash(families[name], words.getBigUint64(0, true))
}
