// Whether a filter can keep a rate: some cannot, whatever their size, and none can with a hash that has too few bits for it.
import { functionsFault, type HashName, hashFault } from '../hashes.ts'
import type { AnyKind, Plan } from './filter.ts'

/** Why the hash does not let it keep a rate, in one line; null: it does. */
export function hashPromise(kind: AnyKind, plan: Plan, hash: readonly HashName[]): string | null {
  if (kind.exactness === 'exact') return null
  return kind.takes === 'hashes' ? hashFault(hash) : functionsFault(hash, plan.bits!, plan.hashes!)
}

/** A plan without the rates that the filter, or the hash, cannot keep, and the reason. */
export function keptPromise<P extends Plan>(kind: AnyKind, plan: P, hash: readonly HashName[]): P {
  const noPromise = kind.noPromise ?? hashPromise(kind, plan, hash)
  return noPromise === null ? plan : { ...plan, promisedRate: null, expectedRate: null, noPromise }
}
