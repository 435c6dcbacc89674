// The multi-layer Bloom filter of cen-2010 and term-project, as they wrote it. Open points are options: `layers`
// (the paper's L, default 4), `depth` (past L: `join` the rest into the last layer, or `grow` layers as the term
// project does), `bitsPerLayer` (m) and `hashes` (k, default 3 with m given).
import { bitsPerLayer, depth, fixedSizes, layers } from '../options/filter-options.ts'
import type { FilterKind, Shaped } from './filter.ts'
import { createLayers, type LayerShape, layerBytes, layerRate, planLayers } from './layers.ts'

/**
 * Errs towards "seen": by its fill; on recombined segments of known URLs by its XOR layer alone; and for certain on
 * swapped segments (`/a/b` after `/b/a`) and doubled ones (`/x/x` after `/y/y`), once the layers know them.
 */
export const multilayer = {
  name: 'multilayer',
  does: 'a layer for each URL segment and one for their XOR, as in the paper',
  source: 'cen-2010, term-project',
  isResearch: true,
  errs: 'towards "seen": by its fill, and for certain on swapped or doubled segments',
  exactness: 'approximate',
  noPromise:
    'new URLs whose segments are those of a known one in another order, or repeat, are reported as seen for certain: how many depends on the URLs',
  options: [...fixedSizes, { ...layers, default: '4' }, depth, bitsPerLayer],
  can: { delete: false, grow: false, under: false },
  takes: 'keys',
  plan(options) {
    return planLayers('multilayer', options, options.layers ?? 4, options.depth ?? 'join')
  },
  rateAt: layerRate,
  arrayBytes: (plan) => layerBytes(plan, ['join', 'grow']),
  create: createLayers,
} as const satisfies FilterKind<Shaped<LayerShape>>
