// Every filter, by name. A new filter is one file in kernel/filters/, one here, and one line below: the command's
// choices, `plan`, the conformance suite, the statistics and the README's table follow from that line.
import { option, SieveError, wording } from '../errors.ts'
import { binaryFuse } from './binary-fuse.ts'
import { blocked } from './blocked.ts'
import { classic } from './classic.ts'
import { eigenvalue } from './eigenvalue.ts'
import type { FilterKind } from './filter.ts'
import { fingerprint } from './fingerprint.ts'
import { hashSet } from './hash-set.ts'
import { keywordLayers } from './keyword-layers.ts'
import { linear } from './linear.ts'
import { multilayer } from './multilayer.ts'
import { prefixLayers } from './prefix-layers.ts'
import { scalable } from './scalable.ts'
import { sortedArray } from './sorted-array.ts'
import { trie } from './trie.ts'
import { window } from './window.ts'

export const filters = {
  fingerprint,
  classic,
  blocked,
  multilayer,
  'prefix-layers': prefixLayers,
  eigenvalue,
  'keyword-layers': keywordLayers,
  scalable,
  window,
  'hash-set': hashSet,
  'sorted-array': sortedArray,
  linear,
  trie,
} as const satisfies Record<string, FilterKind>

/** Filters that are made at once from another and only asked from then on: a file may hold one, `create` makes none. */
export const frozenFilters = { 'binary-fuse': binaryFuse } as const satisfies Record<string, FilterKind>

export type FilterName = keyof typeof filters
export type FrozenFilterName = keyof typeof frozenFilters
/** Filters that can forget a URL. */
export type DeletingFilterName = 'fingerprint' | 'hash-set' | 'sorted-array' | 'linear' | 'trie'
/** Filters that remember the folders of their URLs. */
export type FolderFilterName = 'prefix-layers'

export const filterNames = Object.keys(filters) as FilterName[]

/** The filter of that name, frozen or not; one clear line when there is none. */
export function filterKind(name: string): FilterKind {
  if (Object.hasOwn(filters, name)) return filters[name as FilterName]
  if (Object.hasOwn(frozenFilters, name)) return frozenFilters[name as FrozenFilterName]
  const expected = `one of ${filterNames.join(', ')}`
  throw new SieveError('option', wording`unknown ${option('filter')} '${name}': expected ${expected}`, {
    option: 'filter',
    got: name,
    expected,
  })
}
