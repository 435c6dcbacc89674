// How the suites size a filter they know only from the registry: what it is asked for, and how far a suite may trust
// its verdicts.
import { SieveError } from '../../src/errors.ts'
import type { FilterKind, Plan, SizeRequest } from '../../src/filters/filter.ts'
import { planFor } from '../../src/filters/plan.ts'
import { filterKinds } from '../../src/filters/registry.ts'

/** Every filter there is: what the suites run over. */
export const kinds = filterKinds

/** A rate at which no wrong verdict is to be expected in any suite. */
const NEVER = 1e-9

/** A filter that drops the oldest: half of what it is made for is safe with it. */
export const forgets = (kind: FilterKind) => kind.forgets === true

/** The count to make a filter for, so that it still knows all of `urls` when they have come. */
export const capacityFor = (kind: FilterKind, urls: number) => (forgets(kind) ? 2 * urls : urls)

/** A size for `urls` URLs with next to no errors: by rate, by far more memory than needed, or none at all. */
export function ampleSize(kind: FilterKind, urls: number): SizeRequest {
  const expectedUrls = capacityFor(kind, urls)
  const requests: SizeRequest[] = [
    { expectedUrls, falsePositiveRate: NEVER },
    { expectedUrls, sizeBytes: Math.max(64, expectedUrls * 64) },
    { bits: Math.max(512, expectedUrls * 512), hashes: 20 },
    {},
  ]
  const accepted = requests.find((request) => planOrNull(kind, request))
  if (!accepted) throw new Error(`filter '${kind.name}' takes no size that the suite knows`)
  return accepted
}

/** The plan, or null where the filter says that it cannot be sized like this. */
export function planOrNull(kind: FilterKind, request: SizeRequest): Plan | null {
  try {
    return planFor(kind, request, ['siphash'])
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
  return kind.takes !== 'keys' || !isApproximate(kind)
}

/** Whether it uses the error that it is allowed: asked for one in a hundred, it plans with more than next to none. */
export function isApproximate(kind: FilterKind): boolean {
  const known = approximate.get(kind)
  if (known !== undefined) return known
  const plan = planOrNull(kind, { expectedUrls: 1000, falsePositiveRate: 0.01 })
  const is = plan ? plan.expectedRate === null || plan.expectedRate > 1e-6 : true
  approximate.set(kind, is)
  return is
}
const approximate = new WeakMap<FilterKind, boolean>()

/** At most as many URLs as the filter says it is good for. */
export function comfortably(kind: FilterKind, urls: number): number {
  return Math.min(urls, kind.comfortableUrls ?? (kind.takes === 'keys' ? 1_000_000 : urls))
}
