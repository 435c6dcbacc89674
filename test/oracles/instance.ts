// One kernel instance under test: keys of any bytes at any address, their hashes, and what lies in its memory.
import { applyHash, chooseHash, type HashName } from '../../src/hashes.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import type { Random } from '../canonical/urls.ts'
import { randomFrom } from '../support/random.mjs'

/** Key bytes 00, 01, … 0f: what the published vectors use. */
export const countingKey = Uint8Array.from({ length: 16 }, (_, i) => i)

export function randomBytes(rng: Random, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, () => Math.floor(rng() * 256))
}

export async function openInstance(hash: HashName = 'siphash', key: Uint8Array = countingKey) {
  const kernel = Kernel.create(await compileKernel())
  applyHash(kernel, chooseHash(hash, key))
  return kernel
}

/**
 * Makes `keys` the batch's keys. Each lies at an address with the wanted rest modulo 16, among noise: whoever reads
 * past a key's end must not mind what is there.
 */
export function putKeys(kernel: Kernel, keys: readonly Uint8Array[], rests: readonly number[] = [0]): void {
  const bytes = keys.reduce((sum, key) => sum + key.length + 32, 0)
  const input = kernel.call.reserveInput(bytes + 16) >>> 0
  kernel.refresh()
  const memory = kernel.bytes
  const noise = randomFrom(bytes)
  for (let at = input; at < input + bytes; at++) memory[at] = noise() * 256
  let at = input
  for (const [i, key] of keys.entries()) {
    at = Math.ceil(at / 16) * 16 + rests[i % rests.length]!
    memory.set(key, at)
    kernel.keyStarts[i] = at
    at += key.length
    kernel.keyEnds[i] = at
  }
}

/** The kernel's hashes of the keys: the batch is hashed in one call. */
export function hashesOf(kernel: Kernel, keys: readonly Uint8Array[], rests?: readonly number[]): bigint[] {
  putKeys(kernel, keys, rests)
  kernel.call.hashKeys(keys.length)
  return [...kernel.hashes.subarray(0, keys.length)]
}

/** Runs over hashes a batch at a time: `ask` is called once they are in the kernel; gives back the verdicts. */
export function inBatches(
  kernel: Kernel,
  hashes: readonly bigint[],
  ask: (n: number) => void,
  batch = kernel.batchLines,
): number[] {
  const verdicts: number[] = []
  for (let at = 0; at < hashes.length; at += batch) {
    const part = hashes.slice(at, at + batch)
    kernel.refresh()
    kernel.hashes.set(part)
    ask(part.length)
    kernel.refresh()
    verdicts.push(...kernel.verdicts.subarray(0, part.length))
  }
  return verdicts
}

/** Bits as the kernel keeps them: eight to a byte, the first one lowest. */
export function packed(bits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (let i = 0; i < bits.length; i++) bytes[i >> 3]! |= bits[i]! << (i & 7)
  return bytes
}

/** A slot in use: its hash, and the number of its own bucket. */
export interface Slot {
  readonly hash: bigint
  readonly home: number
}

export interface Bucket {
  readonly slots: readonly Slot[]
  /** Eight bits: which of its hashes may be in their other bucket. */
  readonly marks: number
}

export interface Segment {
  readonly count: number
  readonly from: number
  readonly to: number
  readonly buckets: readonly Bucket[]
  readonly bytes: Uint8Array
}

/** A segment of the fingerprint table, decoded as docs/format.md describes it: of layout 0, 1 or 2. */
export function decodeSegment(bytes: Uint8Array, layout: number, directoryBits: number): Segment {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const word = (at: number) => view.getUint32(at, true)
  const count = bytes.length / 64 - 1
  const homeBits = BigInt(Math.log2(count))
  const extraBits = layout === 2 ? 0n : 16n - homeBits
  const start = BigInt(word(4)) << BigInt(64 - directoryBits)
  const buckets = Array.from({ length: count }, (_, index): Bucket => {
    const at = 64 * (index + 1)
    const state = word(at + 60)
    const slots: Slot[] = []
    for (let i = 0; i < 8 + layout; i++) {
      const isGuest = (state >> (10 + i)) & 1
      if (!isGuest && !((state >> i) & 1)) continue
      const low = view.getUint16(at + (layout === 1 ? 42 : 40) + 2 * i, true)
      const packed = layout === 1 ? (view.getBigUint64(at + 36, true) >> BigInt(5 * i)) & 31n : 0n
      const extra = layout === 0 ? BigInt(bytes[at + 32 + i]!) : packed
      const home = (index - (isGuest ? (low & 127) + 1 : 0) + count) % count
      let hash = (BigInt(word(at + 4 * i)) << (16n + extraBits)) | (extra << 16n) | BigInt(low)
      hash = (hash << homeBits) | BigInt(home)
      if (layout === 2) hash |= (start >> 59n) << 59n
      if (hash < start) hash += 1n << 59n
      slots.push({ hash, home })
    }
    return { slots, marks: (state >> 20) & 255 }
  })
  return { count: word(0), from: word(4), to: word(8), buckets, bytes }
}

/** The segments of a fingerprint filter in the order of their hashes. */
export function segmentsOf(kernel: Kernel): Segment[] {
  const { call } = kernel
  kernel.refresh()
  const bytes = call.fingerprintSegmentBytes() >>> 0
  const found: Segment[] = []
  for (let at = call.fingerprintFirst(); at < call.fingerprintLast(); ) {
    const ptr = call.fingerprintSegment(at) >>> 0
    const copy = kernel.bytes.slice(ptr, ptr + bytes)
    found.push(decodeSegment(copy, call.fingerprintLayout(), call.fingerprintDirectoryBits()))
    at = found.at(-1)!.to
  }
  return found
}
