// How the suites size a filter they know only from the registry: what it is asked for, and how far a suite may trust
// its "seen".
import { SieveError } from '../../src/errors.ts'
import type { FilterKind, Plan, SizeRequest } from '../../src/filters/filter.ts'
import { filters } from '../../src/filters/registry.ts'

/** Every filter there is: what the suites run over. */
export const kinds: readonly FilterKind[] = Object.values(filters)

/** A rate at which no wrong verdict is to be expected in any suite. */
const NEVER = 1e-9

/** Sizes to try in turn: by rate, then by more memory than any filter should need. */
function requests(urls: number): SizeRequest[] {
  return [
    { expectedUrls: urls, falsePositiveRate: NEVER },
    { expectedUrls: urls, sizeBytes: Math.max(64, urls * 64) },
    { bits: Math.max(512, urls * 512), hashes: 20 },
  ]
}

/** A size for `urls` URLs with next to no errors; nothing for a filter that needs no size. */
export function ampleSize(kind: FilterKind, urls: number): SizeRequest {
  if (kind.can.grow) return {}
  for (const request of requests(urls)) if (planOrNull(kind, request)) return request
  throw new Error(`filter '${kind.name}' takes no size that the suite knows`)
}

/** The plan, or null where the filter says that it cannot be sized like this. */
export function planOrNull(kind: FilterKind, request: SizeRequest): Plan | null {
  try {
    return kind.plan(request)
  } catch (error) {
    if (error instanceof SieveError && error.code === 'option') return null
    throw error
  }
}

/**
 * Whether, amply sized, its verdicts are those of a Set for any URLs. A filter that looks into its keys may err on
 * URLs of a certain shape however large it is (`errs` says so): of that one only "seen" for what was added is exact.
 */
export function isExactWhenAmple(kind: FilterKind): boolean {
  return kind.can.grow || kind.takes !== 'keys'
}

/** At most as many URLs as the filter says it is good for. */
export function comfortably(kind: FilterKind, urls: number): number {
  return Math.min(urls, kind.comfortableUrls ?? (kind.takes === 'keys' ? 1_000_000 : urls))
}
