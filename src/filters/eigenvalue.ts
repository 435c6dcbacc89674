// The eigenvalue-extension filter of jiang-eigenvalue: k hashes of the key in one region, d hashes of its feature
// g(key) in a second. Defaults as the paper suggests: d = ⌈k / 3⌉, and the second region a third of the first.

import type { Kernel } from '../kernel.ts'
import { featureHashes, features, fixedSizes } from '../options/filter-options.ts'
import { classicBits, classicPlan, classicRate, estimateDistinct, optimalHashes } from '../sizing/classic.ts'
import { eigenvalueHashes, eigenvalueSplit } from '../sizing/eigenvalue.ts'
import { bitPieces } from './bit-pieces.ts'
import { type FilterKind, type FilterOptions, noRoom, type Shaped, sizeMissing } from './filter.ts'
import { REST_COUNTS, restCounts, restShare } from './known-rest.ts'
import {
  checkField,
  checkFollows,
  savedBits,
  savedHashes,
  savedObject,
  savedSize,
  shareBytes,
} from './saved-plan.ts'

const DEFAULT_RATE = 1e-6

/** The feature functions by name (numbers of kernel/features.ts), and what they take of a URL. */
const builtIn = {
  'host-initials': {
    number: 0,
    does: 'the first character of each label of the host, without www and the last (the paper’s)',
  },
  'path-shape': { number: 1, does: 'the path with runs of letters as a and runs of digits as 0' },
  'last-segment': { number: 2, does: 'what follows the last slash of the path' },
  digits: { number: 3, does: 'every digit of the URL, in order' },
} as const

export type FeatureName = keyof typeof builtIn
export const featureNames = Object.keys(builtIn) as FeatureName[]

type Features = FeatureName | ((key: string) => string)

export interface EigenvalueShape {
  readonly urlBits: number
  readonly featureBits: number
  readonly featureHashes: number
  readonly features: Features
}

function regions(options: FilterOptions): { urlBits: number; featureBits: number; hashes: number } {
  const { expectedUrls: urls, hashes } = options
  const total = options.bits ?? (options.sizeBytes === undefined ? undefined : options.sizeBytes * 8)
  if (total !== undefined) {
    const split = eigenvalueSplit({ bits: total })
    if (hashes !== undefined) return { ...split, hashes }
    if (urls === undefined) throw sizeMissing('eigenvalue')
    return { ...split, hashes: optimalHashes({ bits: split.urlBits, urls }) }
  }
  if (urls === undefined) throw sizeMissing('eigenvalue')
  const rate = options.falsePositiveRate ?? DEFAULT_RATE
  // The first region alone keeps the promise: URLs that share a known feature pass the second for free.
  const plan =
    hashes === undefined ? classicPlan({ urls, rate }) : { bits: classicBits({ urls, rate, hashes }), hashes }
  const urlBits = Math.ceil(plan.bits)
  return { urlBits, featureBits: Math.ceil(urlBits / 3), hashes: plan.hashes }
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

// Features of keys [from, n) by the user's own function: each key as a string, and the feature back as bytes.
function makeOwnFeatures(kernel: Kernel, feature: (key: string) => string, from: number, n: number): boolean {
  const made: Uint8Array[] = []
  let bytes = 0
  for (let i = from; i < n; i++) {
    const key = decoder.decode(kernel.bytes.subarray(kernel.keyStarts[i], kernel.keyEnds[i]))
    const piece = encoder.encode(String(feature(key)))
    made.push(piece)
    bytes += piece.length
  }
  let at = kernel.call.reserveFeatures(bytes) >>> 0
  kernel.refresh()
  if (at === 0) return false
  for (let i = from; i < n; i++) {
    const piece = made[i - from]!
    kernel.bytes.set(piece, at)
    kernel.featureStarts[i] = at
    at += piece.length
    kernel.featureEnds[i] = at
  }
  return true
}

/**
 * Errs towards "seen" by its fill; for URLs that share their feature with a known one, as most of one site do, at the
 * rate of the first region alone. Never towards "new".
 */
export const eigenvalue = {
  name: 'eigenvalue',
  does: 'a second region for a feature of the URL, as in the paper',
  source: 'jiang-eigenvalue',
  isResearch: true,
  errs: 'towards "seen", at most at the rate of its first region; never towards "new"',
  exactness: 'approximate',
  options: [...fixedSizes, features(featureNames), featureHashes],
  can: { delete: false, grow: false, under: false },
  takes: 'keys',

  plan(options) {
    const { urlBits, featureBits, hashes } = regions(options)
    const urls = options.expectedUrls ?? null
    const expectedRate = urls === null ? null : classicRate({ bits: urlBits, hashes, urls })
    const bits = urlBits + featureBits
    return {
      filter: 'eigenvalue',
      expectedUrls: urls,
      promisedRate: options.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: Math.ceil(urlBits / 8) + Math.ceil(featureBits / 8),
      bits,
      hashes,
      bitsPerUrl: urls === null ? null : bits / urls,
      shape: {
        urlBits,
        featureBits,
        featureHashes: options.featureHashes ?? eigenvalueHashes({ hashes }),
        features: (options.features ?? 'host-initials') as Features,
      } satisfies EigenvalueShape,
    }
  },

  arrayBytes(plan) {
    const shape = savedObject('plan.shape', plan.shape)
    const { features } = shape
    const urlBits = savedSize('plan.shape.urlBits', shape.urlBits)
    const featureBits = savedSize('plan.shape.featureBits', shape.featureBits)
    savedHashes('plan.shape.featureHashes', shape.featureHashes)
    const isKnown = typeof features === 'string' && Object.hasOwn(builtIn, features)
    checkField('plan.shape.features', features, isKnown, `one of ${featureNames.join(', ')}`)
    savedBits(plan)
    checkFollows('plan.bits', plan.bits, urlBits + featureBits)
    const bytes = Math.ceil(urlBits / 8) + Math.ceil(featureBits / 8)
    checkFollows('plan.sizeBytes', plan.sizeBytes, bytes)
    return shareBytes(bytes, 1)
  },

  create(kernel, plan) {
    const { urlBits, featureBits, featureHashes, features } = plan.shape
    const { call } = kernel
    const hashes = plan.hashes!
    if (!call.eigenvalueCreate(BigInt(urlBits), BigInt(featureBits), hashes, featureHashes)) {
      throw noRoom('eigenvalue', plan.sizeBytes)
    }
    kernel.refresh()
    const prepare = (from: number, n: number): void => {
      const made =
        typeof features === 'function'
          ? makeOwnFeatures(kernel, features, from, n)
          : call.makeFeatures(builtIn[features].number, from, n) !== 0
      kernel.refresh()
      if (!made) throw noRoom('eigenvalue', plan.sizeBytes)
    }
    const region = (array: number, bits: number) => ({
      array,
      name: array === 0 ? 'region of URLs' : 'region of features',
      at: call.eigenvalueBits(array) >>> 0,
      bytes: Math.ceil(bits / 8),
      bits,
      ones: call.eigenvalueOnes(array),
    })
    return {
      add(from, n) {
        prepare(from, n)
        return call.eigenvalueAdd(from, n)
      },
      has(from, n) {
        prepare(from, n)
        call.eigenvalueHas(from, n)
      },
      ...bitPieces(
        kernel,
        () => [region(0, urlBits), region(1, featureBits)],
        (array, ones) => call.eigenvalueSetOnes(array, ones),
        {
          // Files of before have none.
          most: REST_COUNTS,
          read: () => [...restCounts(kernel)],
          write(i, count) {
            restCounts(kernel)[i] = count
          },
        },
        () => estimateDistinct({ fillOnes: call.eigenvalueOnes(0), bits: urlBits, hashes }),
      ),
      measure() {
        const urlFill = call.eigenvalueOnes(0) / urlBits
        const featureFill = call.eigenvalueOnes(1) / featureBits
        const lookAlike = urlFill ** hashes
        return {
          sizeBytes: plan.sizeBytes,
          fill: (call.eigenvalueOnes(0) + call.eigenvalueOnes(1)) / (urlBits + featureBits),
          rate: lookAlike * restShare(kernel, lookAlike),
          rates: { lookAlike, newFeature: lookAlike * featureFill ** featureHashes },
        }
      },
    }
  },
} as const satisfies FilterKind<Shaped<EigenvalueShape>>
