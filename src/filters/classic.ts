// The classic Bloom filter: sizing by rate, by memory or by m and k. The bits themselves are in the kernel.
import { fixedSizes } from '../options/filter-options.ts'
import { classicBits, classicPlan, classicRate, estimateDistinct, optimalHashes } from '../sizing/classic.ts'
import { bitPieces } from './bit-pieces.ts'
import { type FilterKind, noRoom, type SizeRequest, sizeMissing } from './filter.ts'
import { checkFollows, savedBits, shareBytes } from './saved-plan.ts'

/** Default promise where only the number of URLs is known. */
const DEFAULT_RATE = 1e-6

function bitsAndHashes(request: SizeRequest): { bits: number; hashes: number } {
  const { expectedUrls: urls, hashes } = request
  const bits = request.bits ?? (request.sizeBytes === undefined ? undefined : request.sizeBytes * 8)
  if (bits !== undefined) {
    if (hashes !== undefined) return { bits, hashes }
    if (urls === undefined) throw sizeMissing('classic')
    return { bits, hashes: optimalHashes({ bits, urls }) }
  }
  if (urls === undefined) throw sizeMissing('classic')
  const rate = request.falsePositiveRate ?? DEFAULT_RATE
  if (hashes !== undefined) return { bits: Math.ceil(classicBits({ urls, rate, hashes })), hashes }
  return classicPlan({ urls, rate })
}

/** Errs towards "seen", at most at the promised rate while it holds no more than the expected URLs. */
export const classic = {
  name: 'classic',
  does: 'a bit array and k hashes of the whole key',
  source: 'Bloom 1970',
  errs: 'towards "seen", at the rate its fill gives; never towards "new"',
  exactness: 'approximate',
  options: fixedSizes,
  can: { delete: false, grow: false, under: false },
  takes: 'wide-hashes',

  plan(request) {
    const { bits, hashes } = bitsAndHashes(request)
    const urls = request.expectedUrls ?? null
    const expectedRate = urls === null ? null : classicRate({ bits, hashes, urls })
    return {
      filter: 'classic',
      expectedUrls: urls,
      promisedRate: request.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: Math.ceil(bits / 8),
      bits,
      hashes,
      bitsPerUrl: urls === null ? null : bits / urls,
    }
  },

  arrayBytes(plan, shards) {
    const { bits } = savedBits(plan)
    checkFollows('plan.sizeBytes', plan.sizeBytes, Math.ceil(bits / 8))
    return shareBytes(Math.ceil(Math.ceil(bits / shards) / 8), shards)
  },

  create(kernel, plan, shares) {
    const bits = Math.ceil(plan.bits! / shares)
    const hashes = plan.hashes!
    if (!kernel.call.classicCreate(BigInt(bits), hashes)) throw noRoom('classic', Math.ceil(bits / 8))
    kernel.refresh()
    return {
      add: kernel.call.classicAdd,
      has: kernel.call.classicHas,
      ...bitPieces(
        kernel,
        () => [
          {
            array: 0,
            name: 'bits',
            at: kernel.call.classicBits() >>> 0,
            bytes: Math.ceil(bits / 8),
            bits,
            ones: kernel.call.classicOnes(),
          },
        ],
        (_, ones) => kernel.call.classicSetOnes(ones),
        undefined,
        () => estimateDistinct({ fillOnes: kernel.call.classicOnes(), bits, hashes }),
      ),
      measure() {
        const fill = kernel.call.classicOnes() / bits
        return { sizeBytes: Math.ceil(bits / 8), fill, rate: fill ** hashes }
      },
    }
  },
} as const satisfies FilterKind
