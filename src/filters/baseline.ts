// The papers' baselines keep the keys themselves, in plain JavaScript: exact, for the lab and for whoever wants them.
// A baseline is a set of keys with three verbs; this file makes a filter of it.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { checkSizes, type FilterKind, noRoom } from './filter.ts'

export interface KeySet {
  /** True when the key was not there. */
  add(key: Uint8Array): boolean
  has(key: Uint8Array): boolean
  delete(key: Uint8Array): boolean
  /** Bytes it holds, as far as it can know. */
  readonly sizeBytes: number
}

const latin1 = new TextDecoder('latin1')

/** A key as a string with one character a byte, so that different bytes stay different. */
export function keyText(key: Uint8Array): string {
  return latin1.decode(key)
}

/** Bytes of a key that plans assume, and the share of slots a baseline fills. */
const KEY_BYTES = 70

interface Description {
  readonly name: string
  readonly does: string
  readonly source: string
  /** Bytes for each URL besides its key. */
  readonly overheadBytes: number
  readonly comfortableUrls: number
  make(): KeySet
}

/** A filter that asks the kernel's keys of a set, one after the other. Makes no error. */
export function baseline({
  name,
  does,
  source,
  overheadBytes,
  comfortableUrls,
  make,
}: Description): FilterKind {
  return {
    name,
    does,
    source,
    errs: 'not at all',
    can: { delete: true, grow: true, under: false },
    takes: 'keys',
    comfortableUrls,
    plan(options) {
      checkSizes(options)
      const urls = options.expectedUrls ?? null
      return {
        filter: name,
        expectedUrls: urls,
        promisedRate: urls === null ? null : 0,
        expectedRate: urls === null ? null : 0,
        sizeBytes: (urls ?? 0) * (KEY_BYTES + overheadBytes),
        bits: null,
        hashes: null,
        bitsPerUrl: urls === null ? null : (KEY_BYTES + overheadBytes) * 8,
      }
    },
    create(kernel) {
      const set = make()
      return {
        add(from, n) {
          try {
            for (let i = from; i < n; i++) kernel.verdicts[i] = set.add(keyAt(kernel, i)) ? 1 : 0
          } catch (error) {
            if (error instanceof SieveError || !(error instanceof RangeError)) throw error
            throw noRoom(name, set.sizeBytes) // a JavaScript Set holds no more than 16.7 million entries
          }
          return n
        },
        has(n) {
          for (let i = 0; i < n; i++) kernel.verdicts[i] = set.has(keyAt(kernel, i)) ? 0 : 1
        },
        delete(n) {
          for (let i = 0; i < n; i++) kernel.verdicts[i] = set.delete(keyAt(kernel, i)) ? 0 : 1
        },
        measure: () => ({ sizeBytes: set.sizeBytes, fill: 1, rate: 0 }),
      }
    },
  }
}

function keyAt(kernel: Kernel, i: number): Uint8Array {
  return kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i])
}
