// What a stored sieve writes down, and when that is safe.
import { SieveError } from './errors.ts'

/** Writes down what a batch changed, before its verdicts are returned. What it throws reaches the caller. */
export interface Journal {
  /** Changes verdicts of entries [from, n) that the filter has marked but that could not be written down before. */
  amend(from: number, n: number): void
  /** Entries [from, n) were added: those with verdict 1 are to be written down. */
  added(from: number, n: number): void
  /** Entries [0, n) with verdict 0 were deleted. */
  deleted(n: number): void
  cleared(): void
  /** A batch was answered, and is in the sieve's counts of repeats and invalid lines. */
  counted?(): void
  /** Puts all that was acknowledged on the disk, now. */
  sync(): void
  /** Folds what was written down into one snapshot. `change` is called first, when nothing else is under way. */
  save(change?: () => void): Promise<void>
  close(): Promise<void>
  info(): StoreInfo | undefined
  /** How many URLs are marked in the filter but not written down: copies of the filter would answer "seen" for them. */
  unlogged?(): number
  /** What is added now is written down by `confirm`: until then it is new to whoever opens the store. */
  holds?: boolean
  /** Batches that are held. */
  held?(): number
  /** What is held was delivered: the first batches, or all. */
  confirm?(batches?: number): void
  /** The same of those of the kernel's n entries that are held. */
  confirmSome?(n: number): void
  /** How many URLs are held. */
  unconfirmed?(): number
  /** Where what is confirmed was delivered to. */
  delivered?: Delivered | null
}

/** Files that hold what was delivered: they are on the disk before the log that confirms it. */
export interface Delivered {
  /** Puts on the disk what was written, now. */
  sync(): void
  /** The same, without keeping this process waiting. */
  syncLater(): Promise<void>
}

/**
 * When an acknowledged URL is safe. `always`: on the disk before add returns. `interval`: handed to the system before
 * add returns, on the disk within a second. `never`: handed to the system; it decides when to write.
 */
export type Durability = 'always' | 'interval' | 'never'

/** The options of a sieve in a folder. */
export interface StoreOptions {
  /** When an acknowledged URL is safe. Default `interval`. */
  readonly durability?: Durability
  /** Opens without a lock, to query only. */
  readonly readOnly?: boolean
  /** Keeps the keys themselves, compressed: they can be exported, merged into another filter, and deleted by folder. */
  readonly keepKeys?: boolean
  /** How long the log may grow before it is folded into a snapshot. Default: the length of the last snapshot, at least 4 MiB. */
  readonly foldBytes?: number
}

/** The store of a sieve at this moment. */
export interface StoreInfo {
  /** Its folder. */
  readonly path: string
  /** When an acknowledged URL is safe. */
  readonly durability: Durability
  /** What was written since the last snapshot. */
  readonly logBytes: number
  /** The length of the last snapshot. */
  readonly snapshotBytes: number
  /** A snapshot is being made in the background. */
  readonly snapshotting: boolean
  /** The keys themselves are kept beside the filter. */
  readonly keepKeys: boolean
  /** URLs that wait for their confirmation. */
  readonly unconfirmed: number
}

/** Throws while the filter has marked URLs that no log has: a copy of it would answer "seen" for them. */
export function checkNothingUnlogged(journal: Journal | null, verb: string): void {
  const count = journal?.unlogged?.() ?? 0
  if (count === 0) return
  const held = journal?.unconfirmed?.() ?? 0
  if (held > 0) {
    throw new SieveError('option', `cannot ${verb}: ${held} URLs are not confirmed; call confirm() first`)
  }
  throw new SieveError(
    'disk',
    `cannot ${verb}: the filter has marked ${count} URLs that the disk refused, or that a run did not deliver: add them again first`,
  )
}
