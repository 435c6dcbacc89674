// Prefix layers, our repair of the multi-layer filter: layer i remembers the folder a1/…/ai/ under hashes of its own,
// and the whole key decides. One bit array serves all layers, so that each takes just what it holds.
import { fixedSizes, folderHashes, layers } from '../options/filter-options.ts'
import { wholeNumber } from '../options/option.ts'
import { classicRate, estimateDistinct } from '../sizing/classic.ts'
import { bitPieces } from './bit-pieces.ts'
import { type FilterKind, type FilterOptions, noRoom, type Shaped, sizeMissing } from './filter.ts'
import { REST_COUNTS, restCounts, restShare } from './known-rest.ts'
import { checkFollows, savedBits, savedHashes, savedObject, savedWhole, shareBytes } from './saved-plan.ts'

const DEFAULT_RATE = 1e-6
const DEFAULT_LAYERS = 4
const MOST_LAYERS = 63
/** A folder is asked for rarely, and a wrong "yes" there loses no page. */
const DEFAULT_FOLDER_HASHES = 3
/** New folders a URL, counted on real link streams (docs/filters.md); sizes are planned with it. */
const FOLDERS_PER_URL = 0.5

export interface PrefixShape {
  readonly layers: number
  readonly folderHashes: number
}

// The rate at which a whole key passes, with the folders' bits in the same array.
function rateOf(bits: number, hashes: number, folderHashes: number, urls: number): number {
  const perUrl = hashes + folderHashes * FOLDERS_PER_URL
  return classicRate({ bits, hashes: 1, urls: urls * perUrl }) ** hashes
}

function bestHashes(bits: number, folderHashes: number, urls: number): number {
  let best = 1
  for (let k = 2; k <= 40; k++) {
    if (rateOf(bits, k, folderHashes, urls) < rateOf(bits, best, folderHashes, urls)) best = k
  }
  return best
}

function bitsAndHashes(options: FilterOptions, folderHashes: number): { bits: number; hashes: number } {
  const { expectedUrls: urls, hashes } = options
  const asked = options.bits ?? (options.sizeBytes === undefined ? undefined : options.sizeBytes * 8)
  if (asked !== undefined && hashes !== undefined) return { bits: asked, hashes }
  if (urls === undefined) throw sizeMissing('prefix-layers')
  if (asked !== undefined) return { bits: asked, hashes: bestHashes(asked, folderHashes, urls) }
  const rate = options.falsePositiveRate ?? DEFAULT_RATE
  let [low, high] = [8, Math.max(64, urls * 8)]
  const enough = (bits: number) =>
    rateOf(bits, hashes ?? bestHashes(bits, folderHashes, urls), folderHashes, urls) <= rate
  while (!enough(high)) high *= 2
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (enough(middle)) high = middle
    else low = middle + 1
  }
  return { bits: high, hashes: hashes ?? bestHashes(high, folderHashes, urls) }
}

const SLASH = 0x2f
const decoder = new TextDecoder()

// Where the folders a1/…/ai/ of a key end, the host's first.
function folderEnds(key: Uint8Array, most: number): number[] {
  const text = decoder.decode(key)
  const scheme = /^[^/:]*:\/\//.exec(text)?.[0].length ?? 0
  const query = key.indexOf(0x3f)
  const path = query < 0 ? key : key.subarray(0, query)
  const ends: number[] = []
  for (
    let at = path.indexOf(SLASH, scheme);
    at >= 0 && ends.length < most;
    at = path.indexOf(SLASH, at + 1)
  ) {
    ends.push(at + 1)
  }
  return ends
}

/**
 * Errs towards "seen" at the rate its fill gives, the same for recombined and swapped segments as for any other new
 * key; never towards "new". `hasUnder` errs towards "yes" at `stats().rates.folder`: with the default of three folder
 * hashes one new folder in eight at capacity.
 */
export const prefixLayers = {
  name: 'prefix-layers',
  does: 'remembers every folder of a URL and the URL itself: no recombination',
  source: 'our repair of cen-2010',
  errs: 'towards "seen", at the rate its fill gives; never towards "new"',
  exactness: 'approximate',
  options: [...fixedSizes, { ...layers, kind: wholeNumber(1, MOST_LAYERS), default: '4' }, folderHashes],
  can: { delete: false, grow: false, under: true },
  takes: 'keys',

  plan(options) {
    const layers = options.layers ?? DEFAULT_LAYERS
    const folderHashes = options.folderHashes ?? DEFAULT_FOLDER_HASHES
    const { bits, hashes } = bitsAndHashes(options, folderHashes)
    const urls = options.expectedUrls ?? null
    const expectedRate = urls === null ? null : rateOf(bits, hashes, folderHashes, urls)
    return {
      filter: 'prefix-layers',
      expectedUrls: urls,
      promisedRate: options.falsePositiveRate ?? expectedRate,
      expectedRate,
      sizeBytes: Math.ceil(bits / 8),
      bits,
      hashes,
      bitsPerUrl: urls === null ? null : bits / urls,
      shape: { layers, folderHashes } satisfies PrefixShape,
    }
  },

  arrayBytes(plan) {
    const { bits } = savedBits(plan)
    const { layers, folderHashes } = savedObject('plan.shape', plan.shape)
    savedWhole('plan.shape.layers', layers, 1, MOST_LAYERS)
    savedHashes('plan.shape.folderHashes', folderHashes)
    checkFollows('plan.sizeBytes', plan.sizeBytes, Math.ceil(bits / 8))
    return shareBytes(Math.ceil(bits / 8), 1)
  },

  create(kernel, plan) {
    const { layers, folderHashes } = plan.shape
    const { call } = kernel
    const bits = plan.bits!
    const hashes = plan.hashes!
    if (!call.prefixLayersCreate(BigInt(bits), hashes, folderHashes, layers))
      throw noRoom('prefix-layers', bits / 8)
    kernel.refresh()
    return {
      add: call.prefixLayersAdd,
      has: call.prefixLayersHas,
      hasUnder: call.prefixLayersHasUnder,
      layers() {
        const [start, end] = [kernel.keyStarts[0]!, kernel.keyEnds[0]!]
        const key = kernel.bytes.subarray(start, end)
        const verdict = () => (kernel.verdicts[0] === 0 ? 'seen' : 'new')
        call.prefixLayersHas(0, 1)
        const whole = { name: 'whole keys', of: decoder.decode(key), verdict: verdict() } as const
        // A folder of the key is a key that ends sooner.
        const folders = folderEnds(key, layers).map((bytes, i) => {
          kernel.keyEnds[0] = start + bytes
          call.prefixLayersHasUnder(1)
          const of = decoder.decode(key.subarray(0, bytes))
          return { name: `folders of depth ${i + 1}`, of, verdict: verdict() } as const
        })
        kernel.keyEnds[0] = end
        return [...folders, whole]
      },
      ...bitPieces(
        kernel,
        () => [
          {
            array: 0,
            name: 'all layers',
            at: call.prefixLayersBits() >>> 0,
            bytes: Math.ceil(bits / 8),
            bits,
            ones: call.prefixLayersOnes(),
          },
        ],
        (_, ones) => call.prefixLayersSetOnes(ones),
        {
          // Files of before the last two have the others only.
          most: layers + 1 + REST_COUNTS,
          read: () => [
            ...Array.from({ length: layers + 1 }, (_, layer) => call.prefixLayersFresh(layer)),
            ...restCounts(kernel),
          ],
          write(i, count) {
            if (i <= layers) call.prefixLayersSetFresh(i, count)
            else restCounts(kernel)[i - layers - 1] = count
          },
        },
        // Folders and keys together: what both sieves have is taken to be the same share of each.
        () => estimateDistinct({ fillOnes: call.prefixLayersOnes(), bits, hashes: 1 }),
      ),
      measure() {
        const fill = call.prefixLayersOnes() / bits
        const share = (layer: number, k: number) => (call.prefixLayersFresh(layer) * k) / bits
        return {
          sizeBytes: Math.ceil(bits / 8),
          fill,
          rate: fill ** hashes * restShare(kernel, fill ** hashes),
          rates: { folder: fill ** folderHashes },
          layers: [
            ...Array.from({ length: layers }, (_, i) => ({
              name: `folders of depth ${i + 1}`,
              fill: share(i + 1, folderHashes),
              distinct: call.prefixLayersFresh(i + 1),
            })),
            { name: 'whole keys', fill: share(0, hashes), distinct: call.prefixLayersFresh(0) },
          ],
        }
      },
    }
  },
} as const satisfies FilterKind<Shaped<PrefixShape>>
