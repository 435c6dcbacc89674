// The papers' baselines keep the keys themselves, in plain JavaScript: exact, for the lab and for whoever wants them.
// A baseline is a set of keys with three verbs; this file makes a filter of it.

import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { growingSizes } from '../options/filter-options.ts'
import { Coverage } from './coverage.ts'
import { type FilterKind, noRoom } from './filter.ts'
import { checkField } from './saved-plan.ts'

export interface KeySet {
  /** True when the key was not there. */
  add(key: Uint8Array): boolean
  has(key: Uint8Array): boolean
  delete(key: Uint8Array): boolean
  /** Adds a key from a snapshot, quickly: they come in the order of `keys`. Throws a RangeError when they cannot. */
  restore?(key: Uint8Array): void
  /** The last key from a snapshot was added. */
  restored?(): void
  /** Every key. */
  keys(): Iterable<Uint8Array>
  /** Bytes it holds, as far as it can know. */
  readonly sizeBytes: number
}

const latin1 = new TextDecoder('latin1')

/** A key as a string with one character a byte, so that different bytes stay different. */
export function keyText(key: Uint8Array): string {
  return latin1.decode(key)
}

/** A string made by `keyText`, as the bytes it was made from. */
export function keyBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => byteOf.get(c)!)
}

const byteOf = new Map(Array.from({ length: 256 }, (_, byte) => [latin1.decode(Uint8Array.of(byte)), byte]))

const PIECE_BYTES = 1024 * 1024

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
export function baseline({ name, does, source, overheadBytes, comfortableUrls, make }: Description) {
  return {
    name,
    does,
    source,
    errs: 'never',
    exactness: 'exact',
    options: growingSizes,
    can: { delete: true, grow: true, under: false },
    takes: 'keys',
    growth: {
      heldBytes: ({ sizeBytes }) => sizeBytes,
      growthBytes: (_plan, _held, urls) => urls * (KEY_BYTES + overheadBytes),
    },
    comfortableUrls,
    plan(options) {
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
    arrayBytes(plan) {
      checkField('plan.bits', plan.bits, plan.bits === null, 'null')
      checkField('plan.hashes', plan.hashes, plan.hashes === null, 'null')
      return 0
    },
    create(kernel) {
      const set = make()
      const given = new Coverage()
      return {
        add(from, n) {
          let done = from
          try {
            for (; done < n; done++) kernel.verdicts[done] = set.add(keyAt(kernel, done)) ? 1 : 0
          } catch (error) {
            if (error instanceof SieveError || !(error instanceof RangeError)) throw error
            // A JavaScript Set holds no more than 16.7 million entries.
            if (done === from) throw noRoom(name, set.sizeBytes)
          }
          return done
        },
        has(from, n) {
          for (let i = from; i < n; i++) kernel.verdicts[i] = set.has(keyAt(kernel, i)) ? 0 : 1
        },
        delete(n) {
          for (let i = 0; i < n; i++) kernel.verdicts[i] = set.delete(keyAt(kernel, i)) ? 0 : 1
        },
        // A piece is some keys, each behind its length as a u32.
        *pieces() {
          let offset = 0
          for (const bytes of packed(set.keys())) {
            yield { array: 0, offset, bytes }
            offset += bytes.length
          }
        },
        place(array, offset, bytes) {
          if (array !== 0) throw new RangeError(`a piece of array ${array}, which there is not`)
          given.take(0, offset, bytes, Number.MAX_SAFE_INTEGER)
          return new Uint8Array(bytes)
        },
        placed(_array, _offset, room) {
          checkPacked(room)
          for (const key of unpacked(room)) {
            if (set.restore) set.restore(key)
            else set.add(key)
          }
        },
        restored(_counts, isWhole = true) {
          if (isWhole) given.check(0, given.bytesOf(0))
          set.restored?.()
        },
        *keys() {
          yield* set.keys()
        },
        measure: () => ({ sizeBytes: set.sizeBytes, fill: 1, rate: 0 }),
      }
    },
  } as const satisfies FilterKind
}

/** Keys behind their lengths, some at a time. */
function* packed(keys: Iterable<Uint8Array>): Generator<Uint8Array> {
  let room = new Uint8Array(PIECE_BYTES)
  let used = 0
  for (const key of keys) {
    if (used > 0 && used + 4 + key.length > PIECE_BYTES) {
      yield room.subarray(0, used)
      used = 0
    }
    if (4 + key.length > room.length) room = new Uint8Array(4 + key.length)
    new DataView(room.buffer).setUint32(used, key.length, true)
    room.set(key, used + 4)
    used += 4 + key.length
  }
  if (used > 0) yield room.subarray(0, used)
}

// Throws unless the lengths fill the piece exactly.
function checkPacked(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at - 4
    const size = left < 0 ? 0 : view.getUint32(at, true)
    if (size > left) throw new RangeError(`a key of ${size} bytes where ${left} are left`)
    at += 4 + size
  }
}

function* unpacked(bytes: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + view.getUint32(at, true)
    yield bytes.subarray(at + 4, end)
    at = end
  }
}

function keyAt(kernel: Kernel, i: number): Uint8Array {
  return kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i])
}
