// Every filter, by name. A new filter is one file in kernel/filters/, one here, and one line below: the command's
// choices, `plan`, the conformance suite, the statistics and the README's table follow from that line.
import { SieveError } from '../errors.ts'
import { blocked } from './blocked.ts'
import { classic } from './classic.ts'
import type { FilterKind } from './filter.ts'
import { fingerprint } from './fingerprint.ts'

export const filters = { fingerprint, classic, blocked } as const satisfies Record<string, FilterKind>

export type FilterName = keyof typeof filters
/** Filters that can forget a URL. */
export type DeletingFilterName = 'fingerprint'

export const filterNames = Object.keys(filters) as FilterName[]

/** The filter of that name; one clear line when there is none. */
export function filterKind(name: string): FilterKind {
  if (Object.hasOwn(filters, name)) return filters[name as FilterName]
  throw new SieveError('option', `unknown filter '${name}': expected one of ${filterNames.join(', ')}`)
}
