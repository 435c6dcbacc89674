// The cuckoo filter: fingerprints of a chosen width in buckets of four. It deletes, in a quarter of the memory of the
// fingerprint filter. Sizing by rate or by memory; the slots themselves are in the kernel.
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { slotSizes } from '../options/filter-options.ts'
import { bitPieces } from './bit-pieces.ts'
import { type Filter, type FilterKind, noRoom, type Shaped, type SizeRequest, sizeMissing } from './filter.ts'
import { checkField, checkFollows, savedBits, savedObject, savedWhole, shareBytes } from './saved-plan.ts'

const DEFAULT_RATE = 1e-6
const BUCKET_SLOTS = 4
/** Share of the slots in use at capacity. Buckets of four take 98 % before an insertion fails. */
const LOAD = 0.95
/** A few URLs spread less evenly over few buckets: these are on top. */
const SPARE_BUCKETS = 16
/** Bits of a fingerprint. With fewer, too few buckets go together for a large filter to fill up. */
const LEAST_BITS = 7
const MOST_BITS = 40
const PIECE_BYTES = 1024 * 1024

export interface CuckooShape {
  readonly fingerprintBits: number
}

/** Rate: up to eight fingerprints are compared with the key's own, which has 2^bits − 1 values. */
export function cuckooRate({ load, fingerprintBits }: { load: number; fingerprintBits: number }): number {
  return -Math.expm1(2 * BUCKET_SLOTS * load * Math.log1p(-1 / (2 ** fingerprintBits - 1)))
}

const leastBuckets = (urls: number) => Math.ceil(urls / (BUCKET_SLOTS * LOAD)) + SPARE_BUCKETS

// The narrowest fingerprints that keep the rate, or the widest that the memory has room for; what is left are more slots.
function sizesFor(request: SizeRequest): { buckets: number; fingerprintBits: number } {
  const { expectedUrls: urls, falsePositiveRate: rate = DEFAULT_RATE } = request
  if (urls === undefined) throw sizeMissing('cuckoo')
  const least = leastBuckets(urls)
  const total = request.bits ?? (request.sizeBytes === undefined ? undefined : request.sizeBytes * 8)
  if (total !== undefined) {
    const widest = Math.floor(total / (BUCKET_SLOTS * least))
    const fingerprintBits = Math.min(MOST_BITS, Math.max(LEAST_BITS, widest))
    return { fingerprintBits, buckets: Math.max(least, Math.floor(total / (BUCKET_SLOTS * fingerprintBits))) }
  }
  const load = urls / (BUCKET_SLOTS * least)
  let fingerprintBits = LEAST_BITS
  while (fingerprintBits < MOST_BITS && cuckooRate({ load, fingerprintBits }) > rate) fingerprintBits++
  return { fingerprintBits, buckets: least }
}

/**
 * Errs towards "seen", at most at the promised rate while it holds no more than the expected URLs. Errs towards "new"
 * only after a delete: URLs with one fingerprint are one to it, the first of them was new and the others were answered
 * "seen" by chance, and deleting any of them, also one that was never added, makes all of them new. When it is full it
 * refuses further URLs.
 */
export const cuckoo = {
  name: 'cuckoo',
  does: 'fingerprints of a chosen width in buckets of four; deletes; refuses URLs when full',
  source: 'Fan et al. 2014',
  errs: 'towards "seen", at the rate its fill gives; towards "new" after deletes, for URLs that share a deleted fingerprint',
  exactness: 'approximate',
  refusesWhenFull: true,
  options: slotSizes,
  can: { delete: true, grow: false, under: false },
  takes: 'hashes',

  plan(request) {
    const { buckets, fingerprintBits } = sizesFor(request)
    const urls = request.expectedUrls!
    const slots = buckets * BUCKET_SLOTS
    const expectedRate = cuckooRate({ load: urls / slots, fingerprintBits })
    return {
      filter: 'cuckoo',
      expectedUrls: urls,
      promisedRate: request.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: Math.ceil((slots * fingerprintBits) / 8),
      bits: slots * fingerprintBits,
      hashes: 2,
      bitsPerUrl: (slots * fingerprintBits) / urls,
      shape: { fingerprintBits } satisfies CuckooShape,
    }
  },

  rateAt(plan, urls) {
    const { fingerprintBits } = plan.shape
    return cuckooRate({ load: Math.min(1, (urls * fingerprintBits) / plan.bits!), fingerprintBits })
  },

  arrayBytes(plan, shards) {
    const { bits } = savedBits(plan)
    const shape = savedObject('plan.shape', plan.shape)
    const fingerprintBits = savedWhole(
      'plan.shape.fingerprintBits',
      shape.fingerprintBits,
      LEAST_BITS,
      MOST_BITS,
    )
    const bucketBits = BUCKET_SLOTS * fingerprintBits
    checkField('plan.bits', bits, bits % bucketBits === 0, `a multiple of ${bucketBits}`)
    checkFollows('plan.hashes', plan.hashes, 2)
    checkFollows('plan.sizeBytes', plan.sizeBytes, Math.ceil(bits / 8))
    return shareBytes(Math.ceil((Math.ceil(bits / bucketBits / shards) * bucketBits) / 8), shards)
  },

  create(kernel, plan, shares) {
    const { fingerprintBits } = plan.shape
    const buckets = Math.ceil(plan.bits! / (BUCKET_SLOTS * fingerprintBits) / shares)
    return inKernel(kernel, buckets, fingerprintBits)
  },
} as const satisfies FilterKind<Shaped<CuckooShape>>

function inKernel(kernel: Kernel, buckets: number, fingerprintBits: number): Filter {
  const { call } = kernel
  const slots = buckets * BUCKET_SLOTS
  const bytes = Math.ceil((slots * fingerprintBits) / 8)
  if (!call.cuckooCreate(BigInt(buckets), fingerprintBits)) throw noRoom('cuckoo', bytes)
  kernel.refresh()
  const array = () => ({
    array: 0,
    name: 'slots',
    at: call.cuckooSlots() >>> 0,
    bytes,
    bits: slots * fingerprintBits,
    ones: call.cuckooCount(),
  })
  // The fingerprints in use are counted when all of them are in place.
  const pieces = bitPieces(
    kernel,
    () => [array()],
    () => {},
  )
  return {
    ...pieces,
    add: call.cuckooAdd,
    has: call.cuckooHas,
    delete: call.cuckooDelete,
    // Of a copy: an add may move a fingerprint from a part that is not written yet to one that is.
    *pieces() {
      const { at } = array()
      const copy = kernel.bytes.slice(at, at + bytes)
      for (let offset = 0; offset < bytes; offset += PIECE_BYTES) {
        const piece = copy.subarray(offset, offset + PIECE_BYTES)
        if (piece.some((byte) => byte !== 0)) yield { array: 0, offset, bytes: piece }
        else yield { array: 0, offset, bytes: piece.subarray(0, 0), zeros: piece.length }
      }
    },
    // Fingerprint by fingerprint.
    unite(other) {
      const from = call.reserveOutput(bytes) >>> 0
      if (from === 0) throw noRoom('cuckoo', bytes)
      kernel.refresh()
      kernel.bytes.fill(0, from, from + bytes)
      for (const { offset, bytes: piece } of other.pieces()) kernel.bytes.set(piece, from + offset)
      const count = call.cuckooCount()
      if (call.cuckooUnite(from)) return call.cuckooCount() - count
      throw new SieveError(
        'full',
        `filter 'cuckoo' of ${slots} slots has no room for all URLs of both sieves: merge into a larger one`,
      )
    },
    restored(counts, isWhole) {
      pieces.restored(counts, isWhole)
      if (!call.cuckooIsSound()) throw new RangeError('a fingerprint that is twice in its buckets')
    },
    cells() {
      const set = new Uint8Array(Math.ceil(slots / 8))
      for (let slot = 0; slot < slots; slot++) {
        if (call.cuckooPrint(BigInt(slot)) !== 0n) set[slot >> 3]! |= 1 << (slot & 7)
      }
      return [{ array: 0, name: 'slots', cells: slots, set, bucket: BUCKET_SLOTS }]
    },
    find(hash) {
      kernel.hashes[0] = hash
      const cell = Number(call.cuckooFind())
      return cell < 0 ? null : { array: 0, cell }
    },
    measure() {
      const fill = call.cuckooCount() / slots
      return { sizeBytes: bytes, fill, rate: cuckooRate({ load: fill, fingerprintBits }) }
    },
  }
}
