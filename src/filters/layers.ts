// What the two filters of the papers' multi-layer kind share: sizing and measuring of L layers and an XOR layer.
// A rate given sizes every layer for it: the XOR layer alone then keeps it, for segments that are all known and in an order of
// their own; nothing is promised of the others, and the paper's f^L is not what one gets (docs/filters.md).
import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import { classicBits, classicPlan, classicRate, estimateDistinct } from '../sizing/classic.ts'
import { bitPieces } from './bit-pieces.ts'
import {
  type Filter,
  type FilterOptions,
  type LayerVerdict,
  noRoom,
  type Plan,
  type Shaped,
  sizeMissing,
} from './filter.ts'
import {
  checkField,
  checkFollows,
  savedBits,
  savedObject,
  savedSize,
  savedWhole,
  shareBytes,
} from './saved-plan.ts'
import { passShares, SKETCH_COUNTS } from './unknown-pieces.ts'
import { keptHitRates } from './xor-layer.ts'

const DEFAULT_RATE = 1e-6
const PAPER_HASHES = 3
export const MOST_LAYERS = 64
/** The XOR layer's number among the arrays of a snapshot, however many layers there are. */
const XOR_ARRAY = MOST_LAYERS

/** What a multilayer filter is said to err, and what it does err. */
export interface MultilayerRates {
  /** f^L, cen-2010 eq. (4): every layer an independent chance to refuse, each as full as n URLs make it. */
  paper: number
  /** A new page in a known folder: the last layer (its own load) and the XOR layer are all that differ. */
  corrected: number
  /** Known segments in a new combination: only the XOR layer is left. */
  recombined: number
}

/**
 * Rates from the measured share of ones per layer, first to last, and of the XOR layer. The XOR layer is the
 * one that holds n whole URLs, so its fill is the f of eq. (4). Give the layers down to the depth asked
 * about: the last of `fills` is where the URL's last segment goes. XOR addresses are taken as uniform; folded modulo
 * an m that is no power of two they are not, and orders and repeats of known segments pass for certain:
 * `corrected` and `recombined` are then too low.
 */
export function multilayerRates({
  fills,
  xorFill,
  hashes,
}: {
  fills: number[]
  xorFill: number
  hashes: number
}): MultilayerRates {
  const recombined = xorFill ** hashes
  return {
    paper: recombined ** fills.length,
    corrected: (fills.at(-1) ?? 1) ** hashes * recombined,
    recombined,
  }
}

/** Numbers of kernel/filters/multilayer.ts. */
export const MODES = { join: 0, grow: 1, words: 2 } as const

export interface LayerShape {
  readonly layers: number
  readonly mode: keyof typeof MODES
  readonly bitsPerLayer: number
}

function bitsAndHashes(
  filter: string,
  options: FilterOptions,
  layers: number,
): { bits: number; hashes: number } {
  const { expectedUrls: urls, hashes } = options
  const whole = (bytes: number) => bytes - (bytes % (layers + 1)) // each layer takes whole bytes
  const total = options.bits ?? (options.sizeBytes === undefined ? undefined : whole(options.sizeBytes) * 8)
  const bits = options.bitsPerLayer ?? (total === undefined ? undefined : Math.floor(total / (layers + 1)))
  if (bits !== undefined) return { bits: Math.max(8, bits), hashes: hashes ?? PAPER_HASHES }
  if (urls === undefined) throw sizeMissing(filter)
  const rate = options.falsePositiveRate ?? DEFAULT_RATE
  if (hashes !== undefined) return { bits: Math.ceil(classicBits({ urls, rate, hashes })), hashes }
  return classicPlan({ urls, rate })
}

export function planLayers(
  filter: string,
  options: FilterOptions,
  layers: number,
  mode: LayerShape['mode'],
): Shaped<LayerShape> {
  const { bits, hashes } = bitsAndHashes(filter, options, layers)
  const urls = options.expectedUrls ?? null
  const sizeBytes = Math.ceil(bits / 8) * (layers + 1)
  return {
    filter,
    expectedUrls: urls,
    promisedRate: null,
    expectedRate: null,
    sizeBytes,
    bits: bits * (layers + 1),
    hashes,
    bitsPerUrl: urls === null ? null : (bits * (layers + 1)) / urls,
    shape: { layers, mode, bitsPerLayer: bits } satisfies LayerShape,
  }
}

/** The rate at which the XOR layer errs, for URLs whose segments are all known: the formula, not a promise. */
export const layerRate = ({ hashes, shape }: Shaped<LayerShape>, urls: number): number =>
  classicRate({ bits: shape.bitsPerLayer, hashes: hashes!, urls })

/** Bytes of all layers by a plan from a file, of a filter that knows these modes. */
export function layerBytes(plan: Plan, modes: readonly LayerShape['mode'][]): number {
  const shape = savedObject('plan.shape', plan.shape)
  const isKnown = modes.some((mode) => mode === shape.mode)
  checkField('plan.shape.mode', shape.mode, isKnown, `one of ${modes.join(', ')}`)
  const layers = savedWhole('plan.shape.layers', shape.layers, 1, MOST_LAYERS)
  const bits = savedSize('plan.shape.bitsPerLayer', shape.bitsPerLayer)
  savedBits(plan)
  checkFollows('plan.bits', plan.bits, bits * (layers + 1))
  const bytes = Math.ceil(bits / 8) * (layers + 1)
  checkFollows('plan.sizeBytes', plan.sizeBytes, bytes)
  return shareBytes(bytes, 1)
}

/** Pieces of a key whose words were dealt to the layers in turn: so many that their XOR is as even as it gets. */
const DEALT_PIECES = 4

// The chance to pass the XOR layer, for keys whose last piece is in each layer: they have as many pieces as layers.
function xorPasses({
  bits,
  hashes,
  fill,
  lasts,
  dealt,
  hitRates,
}: {
  bits: number
  hashes: number
  fill: number
  lasts: readonly number[]
  dealt: boolean
  hitRates: ReturnType<typeof keptHitRates>
}): number[] {
  const urls = lasts.reduce((sum, n) => sum + n, 0)
  const depths = dealt
    ? Array.from({ length: DEALT_PIECES }, (_, c) => (c === DEALT_PIECES - 1 ? urls : 0))
    : lasts
  const hits = hitRates({ bits, fill, depths })
  return lasts.map((_, layer) => (dealt ? hits.at(-1)! : hits[layer]!) ** hashes)
}

const decoder = new TextDecoder()

// What each layer answers for its piece of the batch's first key, and the XOR layer for all of them.
function layerVerdicts(kernel: Kernel): LayerVerdict[] {
  const { call } = kernel
  const count = call.multilayerLook()
  kernel.refresh()
  if (count < 0) return []
  const places = new Uint32Array(kernel.bytes.buffer, call.multilayerPieces() >>> 0, 2 * count)
  const texts = Array.from({ length: count }, (_, i) =>
    decoder.decode(kernel.bytes.subarray(places[2 * i], places[2 * i + 1])),
  )
  const verdict = (piece: number) => (call.multilayerKnows(piece) === 1 ? 'seen' : 'new')
  return [
    ...texts.map((of, i) => ({ name: `layer ${i + 1}`, of, verdict: verdict(i) }) as const),
    { name: 'XOR layer', of: texts.join(' ⊕ '), verdict: verdict(count) },
  ]
}

export function createLayers(kernel: Kernel, plan: Shaped<LayerShape>): Filter {
  const { layers, mode, bitsPerLayer: bits } = plan.shape
  const hashes = plan.hashes!
  const { call } = kernel
  if (!call.multilayerCreate(layers, BigInt(bits), hashes, MODES[mode]))
    throw noRoom(plan.filter, plan.sizeBytes)
  kernel.refresh()
  // Layers that were added come in order: one that is missing makes those behind it useless.
  const reach = (layer: number): void => {
    const most = mode === 'grow' ? Math.min(call.multilayerLayers() + 1, MOST_LAYERS) : layers
    if (layer >= most) throw new RangeError(`layer ${layer}: expected one below ${most}`)
    if (!call.multilayerReach(layer + 1)) throw noRoom(plan.filter, plan.sizeBytes)
  }
  const hitRates = keptHitRates()
  /** What the latest new keys were made of. */
  const sketch = () => new Float64Array(kernel.bytes.buffer, call.unknownPieces() >>> 0, SKETCH_COUNTS)
  return {
    add: call.multilayerAdd,
    has(from, n) {
      if (call.multilayerHas(from, n) < n)
        throw new SieveError('memory', 'no memory left for the parts of a key: use a smaller filter')
    },
    // Words are dealt to the layers in turn: a layer has several of them, and no answer of its own.
    ...(mode !== 'words' && { layers: () => layerVerdicts(kernel) }),
    ...bitPieces(
      kernel,
      (array) => {
        if (array !== undefined && array !== XOR_ARRAY) reach(array)
        kernel.refresh()
        const count = call.multilayerLayers()
        const bytes = Math.ceil(bits / 8)
        return Array.from({ length: count + 1 }, (_, layer) => ({
          array: layer === count ? XOR_ARRAY : layer,
          name: layer === count ? 'XOR layer' : `layer ${layer + 1}`,
          at: call.multilayerBits(layer) >>> 0,
          bytes,
          bits,
          ones: call.multilayerOnes(layer),
        }))
      },
      (array, ones) => call.multilayerSetOnes(array === XOR_ARRAY ? call.multilayerLayers() : array, ones),
      {
        // Files of before the sketch have the first of these only.
        most: MOST_LAYERS + SKETCH_COUNTS,
        read: () => [
          ...Array.from({ length: MOST_LAYERS }, (_, layer) => call.multilayerLasts(layer)),
          ...sketch(),
        ],
        write(i, count) {
          if (i < MOST_LAYERS) call.multilayerSetLasts(i, count)
          else sketch()[i - MOST_LAYERS] = count
        },
      },
      // The XOR layer holds whole keys.
      () => estimateDistinct({ fillOnes: call.multilayerOnes(call.multilayerLayers()), bits, hashes }),
    ),
    measure() {
      const count = call.multilayerLayers()
      const fills = Array.from({ length: count }, (_, layer) => call.multilayerOnes(layer) / bits)
      const lasts = fills.map((_, layer) => call.multilayerLasts(layer))
      const xorFill = call.multilayerOnes(count) / bits
      const rates = multilayerRates({ fills, xorFill, hashes })
      const passes = xorPasses({ bits, hashes, fill: xorFill, lasts, dealt: mode === 'words', hitRates })
      const mean = (of: (layer: number) => number, first: number) => {
        const urls = lasts.slice(first).reduce((sum, n) => sum + n, 0)
        return urls && lasts.reduce((sum, n, layer) => sum + (layer < first ? 0 : of(layer) * n), 0) / urls
      }
      // A new page differs in its last segment: the rate of the layer that holds it, by how often it is each one.
      const corrected = mean((layer) => fills[layer]! ** hashes * passes[layer]!, 0)
      // A new combination of known segments takes two of them at least.
      const recombined = mean((layer) => passes[layer]!, mode === 'words' ? 0 : 1) || rates.recombined
      const xorRate = mean((layer) => passes[layer]!, 0)
      const shares = passShares({ counts: sketch(), rates: fills.map((fill) => fill ** hashes), xorRate })
      const distinct = (fill: number) => Math.round(estimateDistinct({ fillOnes: fill * bits, bits, hashes }))
      return {
        sizeBytes: Math.ceil(bits / 8) * (count + 1),
        fill: [...fills, xorFill].reduce((sum, fill) => sum + fill, 0) / (count + 1),
        // Keys that the XOR layer takes for others for certain are in none of the rates.
        rate: null,
        layers: [
          ...fills.map((fill, layer) => ({ name: `layer ${layer + 1}`, fill, distinct: distinct(fill) })),
          { name: 'XOR layer', fill: xorFill, distinct: distinct(xorFill) },
        ],
        rates: {
          paper: rates.paper,
          corrected,
          recombined,
          ...(shares && { pieces: xorRate * shares.pass, floor: xorRate * shares.known }),
        },
      }
    },
  }
}
