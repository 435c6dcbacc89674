// From the request of a client to the options of a sieve, and how much memory it is planned to take.
import { invalidOption, option, optionConflict, wording } from '../errors.ts'
import { filterKind } from '../filters/registry.ts'
import { type FilterName, filterNames, filters, type Sieve } from '../index.ts'
import { limitOptions } from '../options/limit-options.ts'
import { checkOption } from '../options/option.ts'
import type { LimitedSieve } from '../shapes/limited-sieve.ts'
import type { ShapeLimitOptions } from '../shapes/shape-limits.ts'
import { chosenAtRunTime, planSieve, type SieveOptions } from '../sieve-options.ts'
import { overheadOf } from './growth.ts'
import type { BloomSpec, Purpose, SieveSpec } from './registry.ts'

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

/** The filter that a spec describes, and the options of it that are given. The filter of a window need not be named. */
export function flatSpec({ window, ...spec }: SieveSpec): Omit<SieveSpec, 'window'> & { filter: FilterName } {
  const flat = { ...withoutLimits(spec), ...window }
  const isWindow = window !== undefined || flat.windowMs !== undefined || flat.windowUrls !== undefined
  return { ...flat, filter: flat.filter ?? (isWindow ? 'window' : 'fingerprint') }
}

/** The options of a sieve. Throws for a filter that the server does not create. */
export function optionsOf(spec: SieveSpec, purpose?: Purpose): SieveOptions {
  if (purpose === 'set') return { profile: 'raw', hash: 'siphash', filter: 'fingerprint' }
  if (purpose) return bloomOptions(purpose)
  const options = flatSpec(spec)
  if (servedFilters.includes(options.filter)) return chosenAtRunTime(options)
  throw invalidOption('filter', options.filter, `one of ${servedFilters.join(', ')}`)
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
  const plan = planSieve(filterKind(options.filter ?? 'fingerprint'), options)
  return plan.sizeBytes + overheadOf(plan)
}

/** Nodes to tell shapes apart, and sets of names: less than a process of one's own would use. */
const LIMIT_NODES = 2 ** 14
const LIMIT_NAME_SETS = 200_000
const NODE_BYTES = 1100
const NAME_SET_BYTES = 48

/** The limits by shape of a sieve; null: none. Throws for an invalid one. */
export function limitsOf(spec: SieveSpec): ShapeLimitOptions | null {
  const limits: Record<string, unknown> = {}
  for (const option of limitOptions) {
    const value = spec[option.name]
    if (value === undefined) continue
    checkOption(option, value)
    limits[option.name] = value
  }
  return Object.keys(limits).length > 0 ? limits : null
}

/** Throws for a sieve whose verdicts are made elsewhere. */
export function refuseLimits(spec: SieveSpec): void {
  const [name] = Object.keys(limitsOf(spec) ?? {})
  if (name !== undefined)
    throw optionConflict(
      name,
      wording`${option(name)} with --redis: limits by shape are for sieves of this process`,
    )
}

/** Memory of limits, whatever the URLs are. */
export function limitBytes(limits: ShapeLimitOptions | null): number {
  if (limits === null) return 0
  return LIMIT_NODES * NODE_BYTES + (limits.queryNames ? LIMIT_NAME_SETS * NAME_SET_BYTES : 0)
}

/** The sieve with its limits by shape, whose code is loaded only then; null: it has none. */
export async function limitedOf(spec: SieveSpec, sieve: Sieve): Promise<LimitedSieve | null> {
  const limits = limitsOf(spec)
  if (limits === null) return null
  const { LimitedSieve } = await import('../shapes/limited-sieve.ts')
  return new LimitedSieve(sieve, { ...limits, maxNodes: LIMIT_NODES, maxNameSets: LIMIT_NAME_SETS })
}

function withoutLimits(spec: Omit<SieveSpec, 'window'>): Omit<SieveSpec, 'window'> {
  const names = new Set<string>(limitOptions.map(({ name }) => name))
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !names.has(name)))
}
