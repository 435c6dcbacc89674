// Every filter, by name. A new filter is one file in kernel/filters/, one here, and one line below: the command's
// choices, `plan`, the conformance suite, the statistics and the README's table follow from that line.
import { SieveError } from '../errors.ts'
import { binaryFuse } from './binary-fuse.ts'
import { blocked } from './blocked.ts'
import { classic } from './classic.ts'
import { cuckoo } from './cuckoo.ts'
import { eigenvalue } from './eigenvalue.ts'
import type { AnyKind, Capabilities, FilterKind, FrozenKind } from './filter.ts'
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

/** The filters by name, with what each says of itself. */
export const filters = {
  fingerprint,
  classic,
  blocked,
  cuckoo,
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

/** Filters that are built from another one in one step and only queried from then on: a file may hold one. */
export const frozenFilters = { 'binary-fuse': binaryFuse } as const satisfies Record<string, FrozenKind>

/** The filters by name; `fingerprint` is the default. */
export type FilterName = keyof typeof filters
export type FrozenFilterName = keyof typeof frozenFilters

/** The filters that have a capability. */
type Capable<C extends keyof Capabilities> = {
  [F in FilterName]: (typeof filters)[F]['can'][C] extends true ? F : never
}[FilterName]
/** Filters that can delete a URL. */
export type DeletingFilterName = Capable<'delete'>
/** Filters that remember the folders of their URLs. */
export type FolderFilterName = Capable<'under'>

/** The names of all filters that take URLs. */
export const filterNames = Object.keys(filters) as FilterName[]
/** Every filter that takes URLs, in the order of the registry. */
export const filterKinds: readonly FilterKind[] = Object.values(filters)
/** The same and the frozen ones. */
export const allKinds: readonly AnyKind[] = [...filterKinds, ...Object.values(frozenFilters)]

/** Filters of the papers and baselines, for the lab: what a crawl or a list needs is among the others. */
export const researchFilters: readonly string[] = [
  'multilayer',
  'eigenvalue',
  'keyword-layers',
  'hash-set',
  'sorted-array',
  'linear',
  'trie',
] satisfies FilterName[]

/** The filter of that name, frozen or not; one clear line when there is none. */
export function filterKind(name: string): AnyKind {
  const kind = allKinds.find((one) => one.name === name)
  if (kind) return kind
  const expected = `one of ${filterNames.join(', ')}`
  throw new SieveError('option', `unknown filter '${name}': expected ${expected}`, {
    option: 'filter',
    got: name,
    expected,
  })
}
