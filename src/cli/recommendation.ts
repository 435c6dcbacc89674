// Which filter `plan` recommends, and why: the default where it fits, else a Bloom filter that keeps the rate in the memory
// there is, else hashes on disk.
import type { DiskPlan } from '../disk/plan.ts'
import type { Capabilities, Plan } from '../filters/filter.ts'
import { formatBytes, formatCount, formatRate } from '../quantities.ts'

export interface FilterPlan extends Plan {
  readonly fits: boolean
  readonly can: Capabilities & { readonly add: boolean }
  readonly does: string
}

export interface PlanRequest {
  readonly urls: number
  /** The most false positives. */
  readonly rate: number
  /** Given, or a share of this machine's. */
  readonly memoryBytes: number
  readonly isMemoryGiven: boolean
}

export interface Recommendation {
  readonly name: string
  readonly reason: string
  /** How to use it. */
  readonly command: string
}

export function recommend(
  { urls, rate, memoryBytes, isMemoryGiven }: PlanRequest,
  plans: readonly FilterPlan[],
  disk: DiskPlan,
): Recommendation {
  const planOf = (name: string) => plans.find(({ filter }) => filter === name)!
  const fingerprint = planOf('fingerprint')
  const blocked = planOf('blocked')
  const memory = `the ${formatBytes(memoryBytes)} ${isMemoryGiven ? 'given' : 'that this machine has for it'}`
  const needs = `fingerprint would need ${formatBytes(fingerprint.sizeBytes)}, more than ${memory}`
  if (fingerprint.sizeBytes <= memoryBytes) {
    return {
      name: 'fingerprint',
      reason: `It is practically exact, needs no capacity, can delete, and takes ${formatBytes(fingerprint.sizeBytes)} of ${memory}.`,
      command: 'urlsieve dedupe links.txt',
    }
  }
  if (blocked.sizeBytes <= memoryBytes && blocked.expectedRate! <= rate) {
    return {
      name: 'blocked',
      reason: `${needs}; a Bloom filter of ${formatBytes(blocked.sizeBytes)} keeps the rate at ${formatRate(blocked.expectedRate!)}.`,
      command: `urlsieve dedupe links.txt --filter blocked --urls ${urls} ${isMemoryGiven ? `--memory ${sizeFlag(memoryBytes)}` : `--fpr ${rate}`}`,
    }
  }
  const passes = disk.batches - 1
  return {
    name: 'disk',
    reason: `${needs}, and no filter in it keeps a rate of ${formatRate(rate)}; 64-bit hashes on disk take ${formatBytes(disk.diskBytes)}, with ${formatCount(passes)} ${passes === 1 ? 'pass' : 'passes'}.`,
    command: `urlsieve dedupe links.txt --max-memory ${sizeFlag(disk.memoryBytes)}`,
  }
}

/** 64MiB, 1.5GiB: as a flag takes it. */
const sizeFlag = (bytes: number) => formatBytes(bytes).replace('.0', '').replace(' ', '')
