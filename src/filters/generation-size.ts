// The size of one generation as a snapshot has it, so that later formulas cannot change it: bits and hashes of its filter,
// and where the hashes of each of its shards begin.

import type { Plan } from './filter.ts'
import type { Shards } from './shards.ts'

/** Bytes of it for one shard; each of several takes four more. */
export const SIZE_BYTES = 16

export interface Size {
  readonly bits: number | null
  readonly hashes: number
  /** The first 32 bits of the first hash of each shard. */
  readonly froms: readonly number[]
}

// u64 bits and u32 hashes, 0 where the filter has none; u32 0; of several shards, the u32 where each begins.
export function encodeSize({ bits, hashes }: Plan, shards: Shards): Uint8Array {
  const froms = shards.count > 1 ? shards.all.map(({ from }) => from) : []
  const view = new DataView(new ArrayBuffer(SIZE_BYTES + 4 * froms.length))
  view.setBigUint64(0, BigInt(bits ?? 0), true)
  view.setUint32(8, hashes ?? 0, true)
  for (const [i, from] of froms.entries()) view.setUint32(SIZE_BYTES + 4 * i, from, true)
  return new Uint8Array(view.buffer)
}

export function decodeSize(bytes: Uint8Array): Size {
  const count = (bytes.length - SIZE_BYTES) / 4
  if (!Number.isInteger(count)) {
    throw new RangeError(`a size of ${bytes.length} bytes: expected ${SIZE_BYTES}, and 4 for each shard`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const froms = Array.from({ length: count }, (_, i) => view.getUint32(SIZE_BYTES + 4 * i, true))
  return {
    bits: Number(view.getBigUint64(0, true)) || null,
    hashes: view.getUint32(8, true),
    froms: count > 0 ? froms : [0],
  }
}

/** Of a table, whose bytes its size does not say, and of bits: an instance costs memory too. */
const MOST_SHARDS = 1024
const LEAST_SHARD_BYTES = 32 * 1024

/** Throws a RangeError for shards that no generation has. */
export function checkFroms({ bits, froms }: Size): void {
  const most = bits === null ? MOST_SHARDS : 1 + Math.ceil(bits / 8 / LEAST_SHARD_BYTES)
  if (froms.length > most)
    throw new RangeError(`a generation in ${froms.length} shards: expected at most ${most}`)
  if (froms[0] !== 0 || froms.some((from, i) => i > 0 && from <= froms[i - 1]!)) {
    throw new RangeError(
      `a generation whose shards begin at ${froms.slice(0, 4).join(', ')}: expected 0 and ascending`,
    )
  }
}
