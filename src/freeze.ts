// From a sieve that grows to one that is shipped: the 64-bit hashes of a fingerprint sieve become a binary fuse set, a
// third to a tenth of the size, that answers for the same URLs and takes no more.
import { invalidOption, SieveError } from './errors.ts'
import {
  binaryFuse,
  binaryFusePlan,
  buildBinaryFuse,
  buildBytes,
  type FingerprintBits,
  fingerprintWidths,
} from './filters/binary-fuse.ts'
import { isWideHash } from './hashes.ts'
import { checkNothingUnlogged } from './journal.ts'
import { compileKernel, INSTANCE_BYTES, Kernel } from './kernel.ts'
import { Sieve } from './sieve.ts'
import { SieveState, STATE } from './state.ts'

/** A sieve that is only queried: it has no add. Errs towards "seen" at 2^−bits, never towards "new". */
export type FrozenSieve = Pick<
  Sieve,
  'plan' | 'profile' | 'has' | 'hasMany' | 'hasLines' | 'explain' | 'stats' | 'save'
>

/** How small and how exact a frozen set is. */
export interface FreezeOptions {
  /**
   * Bits of a fingerprint. Default 32: a new URL is answered "seen" once in 4 billion, for 36 bits per URL; 16: once in
   * 65,536, for 18; 8: once in 256, for 9.
   */
  readonly bits?: FingerprintBits
  /** The most memory one WebAssembly instance may take. Making it takes about 24 bytes per URL. Default 4 GiB. */
  readonly instanceBytes?: number
}

/** Makes a frozen sieve of the URLs a fingerprint sieve has now; that one goes on as it was. */
export async function freeze(
  sieve: Sieve,
  { bits = 32, instanceBytes = INSTANCE_BYTES }: FreezeOptions = {},
): Promise<FrozenSieve> {
  const state = sieve[STATE]
  state.keyer.checkOpen()
  if (state.kind.name !== 'fingerprint') {
    throw new SieveError(
      'option',
      `filter '${state.kind.name}' cannot be frozen: expected 'fingerprint', which keeps the hashes`,
    )
  }
  if (!fingerprintWidths.includes(bits)) {
    throw invalidOption('bits', bits, `one of ${fingerprintWidths.join(', ')}`)
  }
  const module = await compileKernel()
  state.keyer.checkOpen()
  checkNothingUnlogged(state.journal, 'freeze this sieve')
  // From here on nothing waits, so that no URL is added meanwhile.
  const urls = state.shards.all.reduce((sum, { kernel }) => sum + kernel.call.fingerprintCount(), 0)
  const froms = sharesOf(state, urls, instanceBytes)
  const sizes = froms.length === 1 ? [urls] : countIn(state, froms)
  const { profile, hash } = state
  const plan = binaryFusePlan(sizes, bits)
  const target = new SieveState(module, { kind: binaryFuse, plan, profile, hash, froms }, instanceBytes)
  for (const [i, { filter, kernel }] of target.shards.all.entries()) {
    const builder = Kernel.create(module, instanceBytes)
    buildBinaryFuse(builder, filter, sizes[i]!, bits, (room) => {
      let at = 0
      eachHash(state, froms[i]!, froms[i + 1] ?? 2 ** 32, (hashes) => {
        room.set(hashes, at)
        at += hashes.length
      })
    })
    kernel.refresh()
  }
  target.urls = urls
  target.seen = state.seen
  target.invalid = state.invalid
  return new Sieve(target)
}

// The first 32 bits of the first hash of each instance: as few as can be made in the memory given.
function sharesOf(state: SieveState, urls: number, instanceBytes: number): number[] {
  let shares = 1
  // A tenth of the keys on top: hashes do not divide quite evenly.
  while (buildBytes(Math.ceil((urls / shares) * (shares > 1 ? 1.1 : 1))) > instanceBytes && shares < 4096)
    shares++
  if (shares > 1 && !state.hash.names.every(isWideHash)) {
    throw new SieveError(
      'memory',
      `${urls} URLs by hash '${state.hash.names.join(',')}' need ${buildBytes(urls)} bytes at once: expected at most ${instanceBytes}`,
    )
  }
  return Array.from({ length: shares }, (_, i) => Math.ceil((i * 2 ** 32) / shares))
}

// The hashes whose first 32 bits are in [from, to), some at a time: good until the next are given.
function eachHash(state: SieveState, from: number, to: number, take: (hashes: BigUint64Array) => void): void {
  const { all } = state.shards
  const isWhole = from === 0 && to === 2 ** 32
  for (const [i, shard] of all.entries()) {
    if (shard.from >= to || (all[i + 1]?.from ?? 2 ** 32) <= from) continue
    for (const hashes of shard.filter.hashes!()) {
      if (!isWhole) take(hashes.subarray(0, keepWithin(hashes, from, to)))
      else take(hashes)
    }
  }
}

// Moves the hashes whose first 32 bits are in [from, to) to the front; returns how many they are.
function keepWithin(hashes: BigUint64Array, from: number, to: number): number {
  const words = new Uint32Array(hashes.buffer, hashes.byteOffset, 2 * hashes.length)
  let kept = 0
  for (let i = 0; i < words.length; i += 2) {
    const top = words[i + 1]!
    if (top < from || top >= to) continue
    words[kept] = words[i]!
    words[kept + 1] = top
    kept += 2
  }
  return kept / 2
}

function countIn(state: SieveState, froms: readonly number[]): number[] {
  return froms.map((from, i) => {
    let count = 0
    eachHash(state, from, froms[i + 1] ?? 2 ** 32, (hashes) => {
      count += hashes.length
    })
    return count
  })
}
