// The blocked Bloom filter: sizing by rate, by memory or by m and k. The blocks themselves are in the kernel.
import { fixedSizes } from '../options/filter-options.ts'
import { blockedHashes, blockedPlan, blockedRate } from '../sizing/blocked.ts'
import { bitPieces } from './bit-pieces.ts'
import { type FilterKind, noRoom, type SizeRequest, sizeMissing } from './filter.ts'

import { checkField, checkFollows, savedBits, shareBytes } from './saved-plan.ts'

const BLOCK_BITS = 512
const DEFAULT_RATE = 1e-6

function bitsAndHashes(request: SizeRequest): { bits: number; hashes: number } {
  const { expectedUrls: urls, hashes } = request
  const asked = request.bits ?? (request.sizeBytes === undefined ? undefined : request.sizeBytes * 8)
  if (asked !== undefined) {
    const bits = Math.max(1, Math.floor(asked / BLOCK_BITS)) * BLOCK_BITS
    if (hashes !== undefined) return { bits, hashes }
    if (urls === undefined) throw sizeMissing('blocked')
    return { bits, hashes: blockedHashes({ bits, urls }) }
  }
  if (urls === undefined) throw sizeMissing('blocked')
  return blockedPlan({ urls, rate: request.falsePositiveRate ?? DEFAULT_RATE })
}

/** Errs towards "seen", at most at the promised rate while it holds no more than the expected URLs. */
export const blocked = {
  name: 'blocked',
  does: 'a Bloom filter in 512-bit blocks: one cache miss per URL',
  source: 'Putze, Sanders, Singler 2007',
  errs: 'towards "seen", at the rate its fill gives; never towards "new"',
  exactness: 'approximate',
  options: fixedSizes,
  can: { delete: false, grow: false, under: false },
  takes: 'hashes',

  plan(request) {
    const { bits, hashes } = bitsAndHashes(request)
    const urls = request.expectedUrls ?? null
    const expectedRate = urls === null ? null : blockedRate({ bits, hashes, urls })
    return {
      filter: 'blocked',
      expectedUrls: urls,
      promisedRate: request.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: bits / 8,
      bits,
      hashes,
      bitsPerUrl: urls === null ? null : bits / urls,
    }
  },

  arrayBytes(plan, shards) {
    const { bits } = savedBits(plan)
    checkField('plan.bits', bits, bits % BLOCK_BITS === 0, `a multiple of ${BLOCK_BITS}`)
    checkFollows('plan.sizeBytes', plan.sizeBytes, bits / 8)
    return shareBytes((Math.ceil(bits / BLOCK_BITS / shards) * BLOCK_BITS) / 8, shards)
  },

  create(kernel, plan, shares) {
    const blocks = Math.ceil(plan.bits! / BLOCK_BITS / shares)
    const bits = blocks * BLOCK_BITS
    const hashes = plan.hashes!
    if (!kernel.call.blockedCreate(BigInt(blocks), hashes)) throw noRoom('blocked', bits / 8)
    kernel.refresh()
    // 1 − e^(−d·n/bits) of the bits are set, where d of a URL's k bits in a block are distinct.
    const each = -BLOCK_BITS * Math.expm1(hashes * Math.log1p(-1 / BLOCK_BITS))
    const distinct = () => {
      const fill = kernel.call.blockedOnes() / bits
      return (-Math.log1p(-Math.min(fill, 1 - 1e-12)) * bits) / each
    }
    return {
      add: kernel.call.blockedAdd,
      has: kernel.call.blockedHas,
      ...bitPieces(
        kernel,
        () => [
          {
            array: 0,
            name: 'bits',
            block: BLOCK_BITS,
            at: kernel.call.blockedBits() >>> 0,
            bytes: bits / 8,
            bits,
            ones: kernel.call.blockedOnes(),
          },
        ],
        (_, ones) => kernel.call.blockedSetOnes(ones),
        undefined,
        distinct,
      ),
      measure() {
        const fill = kernel.call.blockedOnes() / bits
        return { sizeBytes: bits / 8, fill, rate: blockedRate({ bits, hashes, urls: distinct() }) }
      },
    }
  },
} as const satisfies FilterKind
