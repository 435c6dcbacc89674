// From what a client asks for to the options of a sieve, and how much memory that will take.
import { invalidOption, option, SieveError, wording } from '../errors.ts'
import { planFor } from '../filters/plan.ts'
import { filterKind } from '../filters/registry.ts'
import { type FilterName, filterNames, filters, type SieveOptions } from '../index.ts'
import { overheadOf } from './growth.ts'
import type { BloomSpec, SieveSpec } from './registry.ts'

/**
 * A filter that may grow from less than this is a table of fingerprints: no larger at that size than what a kernel instance
 * takes anyway, practically exact, and as quick however far it grows. Clients that reserve nothing get it.
 */
const LEAST_BLOOM_URLS = 10_000
/**
 * A Bloom filter that may grow begins with at least this capacity: each sub-filter costs a look. What BF.INFO says follows
 * the capacity asked for.
 */
const LEAST_FIRST_URLS = 65_536
/** Below this rate a blocked filter takes a third more bits than a classic one. */
const BLOCKED_RATE = 1e-6

/** The filters a server makes: not the lab's baselines, which a client could slow it down with. */
export const servedFilters: readonly FilterName[] = filterNames.filter(
  (name) => !('comfortableUrls' in filters[name]),
)

/** Throws one line for what cannot be. */
export function optionsOf(spec: SieveSpec, bloom?: BloomSpec): SieveOptions {
  if (bloom) return bloomOptions(bloom)
  const { window, ...options } = spec
  const filter = spec.filter ?? (window ? 'window' : 'fingerprint')
  if (!servedFilters.includes(filter)) {
    throw invalidOption('filter', filter, `one of ${servedFilters.join(', ')}`)
  }
  if (window && filter !== 'window') {
    throw new SieveError(
      'option',
      wording`a window is for ${option('filter')} 'window', not '${filter}': leave one out`,
      {
        option: 'filter',
        got: filter,
        expected: 'window',
      },
    )
  }
  return { ...options, filter, ...window }
}

// Items as they stand, under a secret key: clients choose them.
function bloomOptions({ capacity, errorRate, expansion }: BloomSpec): SieveOptions {
  const inner = errorRate < BLOCKED_RATE ? 'classic' : 'blocked'
  const shared = { profile: 'raw', hash: 'siphash', falsePositiveRate: errorRate } as const
  if (expansion === 0) return { ...shared, filter: inner, expectedUrls: capacity }
  if (capacity < LEAST_BLOOM_URLS) return { ...shared, filter: 'fingerprint' }
  return { ...shared, filter: 'scalable', inner, expectedUrls: Math.max(capacity, LEAST_FIRST_URLS) }
}

/** Memory that a sieve with these options is planned to take. Throws as making it would. */
export function plannedBytes(options: SieveOptions): number {
  const plan = planFor(filterKind(options.filter ?? 'fingerprint'), options)
  return plan.sizeBytes + overheadOf(plan)
}
