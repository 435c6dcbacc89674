// How much memory a sieve takes, and may take with the next URLs, estimated before they are added: its filter's own
// figures, and what a sieve takes besides.
import { filterKind } from '../filters/registry.ts'
import type { Plan, Sieve, Stats } from '../index.ts'

/** Measured: what a sieve takes in this process besides its filter, with the buffers of its batches. */
export const SIEVE_BYTES = 512 * 1024

const growthOfKind = (filter: string) => filterKind(filter).growth

/** All the memory of a sieve as it is now. */
export function bytesOf(stats: Stats): number {
  return SIEVE_BYTES + (growthOfKind(stats.filter)?.heldBytes(stats) ?? stats.sizeBytes)
}

/** What a sieve with this plan takes besides the plan's own size once it is fully grown. */
export function overheadOf(plan: Plan): number {
  return SIEVE_BYTES + (growthOfKind(plan.filter)?.overheadBytes?.(plan) ?? 0)
}

/** The most by which `urls` more may make it grow. */
export function growthOf({ plan }: Sieve, stats: Stats, urls: number): number {
  return growthOfKind(plan.filter)?.growthBytes(plan, stats, urls) ?? 0
}
