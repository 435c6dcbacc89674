// The filter of sharma-keywords: a key's words, dealt round-robin to the layers, with the XOR layer of the
// multi-layer filter. The number of layers is the number of keywords divided by the hash count, at least one.
import { bitsPerLayer, fixedSizes, keywords, layers } from '../options/filter-options.ts'
import { keywordLayers as layersFor } from '../sizing/keyword-layers.ts'
import type { FilterKind, Shaped } from './filter.ts'
import { createLayers, type LayerShape, layerBytes, layerRate, MOST_LAYERS, planLayers } from './layers.ts'

/** Words in a URL of a link stream, and the hash count that goes with the paper's 5 % target. */
const DEFAULT_KEYWORDS = 12
const DEFAULT_HASHES = 4

/** Errs towards "seen" as `multilayer` does: by its fill, and for certain where words change places or repeat. */
export const keywordLayers = {
  name: 'keyword-layers',
  does: 'words dealt round-robin to layers, and one for their XOR, as in the paper',
  source: 'sharma-keywords',
  isResearch: true,
  errs: 'towards "seen": by its fill, and for certain on keys whose words changed places or repeat',
  exactness: 'approximate',
  noPromise:
    'new URLs whose words are those of a known one in another order, or repeat, are reported as seen for certain: how many depends on the URLs',
  options: [...fixedSizes, layers, bitsPerLayer, keywords],
  can: { delete: false, grow: false, under: false },
  takes: 'keys',
  plan(options) {
    const keywords = options.keywords ?? DEFAULT_KEYWORDS
    const layers =
      options.layers ??
      Math.min(MOST_LAYERS, layersFor({ keywords, hashes: options.hashes ?? DEFAULT_HASHES }))
    return planLayers('keyword-layers', options, layers, 'words')
  },
  rateAt: layerRate,
  arrayBytes: (plan) => layerBytes(plan, ['words']),
  create: createLayers,
} as const satisfies FilterKind<Shaped<LayerShape>>
