// What a sieve shows to the modules that store, merge and freeze it, and to no one else: kept behind a symbol that the
// public entry does not export.
import type { Profile } from './canonical/profiles.ts'
import { SieveError } from './errors.ts'
import type { AnyKind, Plan } from './filters/filter.ts'
import type { HashChoice } from './hashes.ts'
import type { Kernel } from './kernel.ts'
import type { Shards } from './shards.ts'

export const STATE: unique symbol = Symbol('urlsieve.state')

/** Writes down what a batch changed, before its verdicts are given out. What it throws reaches the caller. */
export interface Journal {
  /** Changes verdicts of entries [from, n) that the filter knows but the journal could not write down before. */
  amend(from: number, n: number): void
  /** Entries [from, n) were added: those with verdict 1 are to be written down. */
  added(from: number, n: number): void
  /** Entries [0, n) with verdict 0 were deleted. */
  deleted(n: number): void
  cleared(): void
  /** A batch was answered, and is in the sieve's counts of repeats and invalid lines. */
  counted?(): void
  /** Makes all that was acknowledged last, now. */
  sync(): void
  /** Folds what was written down into one snapshot. `change` is called first, when nothing else is under way. */
  save(change?: () => void): Promise<void>
  close(): Promise<void>
  info(): StoreInfo | undefined
  /** How many URLs the filter has marked that were refused: copies of the filter would answer "seen" for them. */
  owes?(): number
}

/**
 * When an acknowledged URL is safe. `always`: on the disk before add returns. `interval`: handed to the system before
 * add returns, on the disk within a second. `never`: handed to the system; it decides when to write.
 */
export type Durability = 'always' | 'interval' | 'never'

export interface StoreOptions {
  /** Default `interval`. */
  readonly durability?: Durability
  /** Opens without a lock, to ask only. */
  readonly readOnly?: boolean
  /** Keeps the keys themselves, compressed: they can be exported, merged into another filter, and forgotten by folder. */
  readonly keepKeys?: boolean
  /** How long the log may grow before it is folded into a snapshot. Default: as long as the last one, at least 4 MiB. */
  readonly foldBytes?: number
}

/** What a stored sieve says of its store. */
export interface StoreInfo {
  readonly path: string
  readonly durability: Durability
  readonly logBytes: number
  readonly snapshotBytes: number
  /** A snapshot is being made in the background. */
  readonly snapshotting: boolean
  readonly keepKeys: boolean
}

/** All that makes a sieve what it is, besides what it remembers. */
export interface Identity {
  readonly kind: AnyKind
  readonly plan: Plan
  readonly profile: Profile
  readonly hash: HashChoice
}

export interface SieveState extends Identity {
  readonly kernel: Kernel
  readonly shards: Shards
  /** The filter takes 64-bit hashes; else it takes keys. */
  readonly takesHashes: boolean
  urls: number
  seen: number
  invalid: number
  journal: Journal | null
  /** It was opened from a store that keeps the keys. */
  keepsKeys: boolean
  /** Hashes the batch's first n keys, where the filter takes hashes. */
  hashKeys(n: number): void
}

/** Throws while a sieve's filter has marked URLs that the disk refused: a copy of it would answer "seen" for them. */
export function checkNothingOwed({ journal }: Pick<SieveState, 'journal'>, verb: string): void {
  const owed = journal?.owes?.() ?? 0
  if (owed === 0) return
  throw new SieveError(
    'disk',
    `cannot ${verb}: the disk refused ${owed} URLs that the filter has marked; add them again first`,
  )
}

/** What is needed to make a sieve again that was written down: its identity and how its hashes were spread. */
export interface Saved extends Identity {
  /** The first 32 bits of the first hash of each shard. */
  readonly froms: readonly number[]
}
