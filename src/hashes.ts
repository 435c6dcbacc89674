// The hash functions by name, and the key or seed they take. `siphash` and `xxh64` are wide: 64 bits, from which as
// many hashes as a filter wants are derived. The papers' functions are narrow: 32 bits, one for each j < k.
import { invalidOption, option, SieveError, wording } from './errors.ts'
import type { Kernel } from './kernel.ts'

/**
 * Numbers of kernel/hash.ts, and where each comes from. `even`: its values are spread evenly, so that two of them make 64 good
 * bits. `shifts`: its further functions are the first one plus a number that depends on the length alone.
 */
const families = {
  siphash: {
    number: 0,
    wide: true,
    even: true,
    shifts: false,
    does: 'SipHash-1-3 with a secret 128-bit key; safe where pages choose the URLs',
  },
  xxh64: {
    number: 1,
    wide: true,
    even: true,
    shifts: false,
    does: 'XXH64; for trusted input and interchange',
  },
  murmur3: {
    number: 2,
    wide: false,
    even: true,
    shifts: false,
    does: 'MurmurHash3 x86 32 with seeds 0 … k−1 (term-project, sharma-keywords)',
  },
  poly31: {
    number: 3,
    wide: false,
    even: false,
    shifts: true,
    does: 'polynomial rolling hash with 31 (url-caching)',
  },
  djb2: {
    number: 4,
    wide: false,
    even: false,
    shifts: true,
    does: 'Bernstein’s h · 33 + c from 5381 (url-caching)',
  },
  xor17: { number: 5, wide: false, even: false, shifts: false, does: 'shifts and XOR from 17 (url-caching)' },
  jenkins: {
    number: 6,
    wide: false,
    even: true,
    shifts: false,
    does: 'Jenkins’ one-at-a-time (jiang-eigenvalue)',
  },
  md5: {
    number: 7,
    wide: false,
    even: true,
    shifts: false,
    does: 'words of the MD5 digest (jiang-eigenvalue)',
  },
} as const

/** The hashes by name: `siphash` has a secret key and is the default; the others are for trusted input. */
export type HashName = keyof typeof families
/** The names of all hashes. */
export const hashNames = Object.keys(families) as HashName[]

/** Each hash function and what it is. */
export const hashDescriptions: Readonly<Record<HashName, string>> = Object.freeze(
  Object.fromEntries(hashNames.map((name) => [name, families[name].does])) as Record<HashName, string>,
)

/** Whether it gives 64 bits, from which more hashes are derived. */
export function isWideHash(name: HashName): boolean {
  return families[name].wide
}

/** Why a filter of 64-bit hashes cannot keep a rate with these functions; null: it can. */
export function hashFault(names: readonly HashName[]): string | null {
  const poor = names.find((name) => !families[name].even)
  return poor === undefined ? null : `hash '${poor}' has 32 bits, spread unevenly, where 64 are needed`
}

/** The same of a filter of `bits` bits that takes `hashes` functions of a key. */
export function functionsFault(names: readonly HashName[], bits: number, hashes: number): string | null {
  const [name] = names as readonly [HashName]
  if (families[name].wide) return null
  if (bits > 2 ** 32) return `hash '${names.join(',')}' has 32 bits: it reaches 2^32 of the ${bits} bits`
  return names.length === 1 && hashes > 1 && families[name].shifts
    ? `hash '${name}' gives ${hashes} functions that are not independent`
    : null
}

/** The most narrow functions that can take turns. */
const MOST_FAMILIES = 8

export interface HashChoice {
  /** One function, or several narrow ones that take turns: the j-th hash is by the (j mod length)-th of them. */
  readonly names: readonly HashName[]
  /** 16 bytes: the key of `siphash`; `xxh64` takes the first 8 as its seed; the others take none. */
  readonly key: Uint8Array
}

/** The functions of these names, with a fresh random key (`siphash`) or seed 0, unless `key` gives one. */
export function chooseHash(hash: HashName | readonly HashName[] = 'siphash', key?: Uint8Array): HashChoice {
  const names = typeof hash === 'string' ? [hash] : hash
  for (const name of names) {
    if (Object.hasOwn(families, name)) continue
    const expected = `one of ${hashNames.join(', ')}`
    throw new SieveError('option', `unknown hash '${name}': expected ${expected}`, {
      option: 'hash',
      got: name,
      expected,
    })
  }
  const wide = names.find((name) => families[name].wide)
  if (names.length < 1 || names.length > MOST_FAMILIES || (wide && names.length > 1)) {
    const expected = `one function, or up to ${MOST_FAMILIES} without siphash and xxh64`
    throw invalidOption('hash', names.join(','), expected)
  }
  if (key && key.length !== 16) {
    throw new SieveError('option', wording`${option('key')} of ${key.length} bytes: expected 16 bytes`, {
      option: 'key',
      got: key.length,
      expected: '16 bytes',
    })
  }
  if (key) return { names, key: Uint8Array.from(key) }
  const fresh = new Uint8Array(16)
  return { names, key: names[0] === 'siphash' ? crypto.getRandomValues(fresh) : fresh }
}

/** Tells an instance how to hash. */
export function applyHash(kernel: Kernel, { names, key }: HashChoice): void {
  const words = new DataView(key.buffer, key.byteOffset, 16)
  kernel.call.setKey(words.getBigUint64(0, true), words.getBigUint64(8, true))
  const packed = names.reduce((all, name, i) => all | (BigInt(families[name].number) << BigInt(8 * i)), 0n)
  kernel.call.setHash(packed, names.length, words.getBigUint64(0, true))
}
