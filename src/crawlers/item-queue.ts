// What the adapters for Crawlee need of a queue. Two satisfy it: that of one process (crawl-queue.ts) and that of many
// (shared-queue.ts).
import type { Answer } from '../any-sieve.ts'
import type { AddOptions, Queued, QueueStats, Taken } from './crawl-queue.ts'

export interface ItemQueue<T extends Queued> {
  /** Of a shared queue: its last known counts. */
  stats(): QueueStats
  /** Reads the counts again, where others change them. */
  refresh?(): Promise<void>
  readonly isFinished: Answer<boolean>
  readonly isEmpty: Answer<boolean>
  add(items: readonly T[], options?: AddOptions): Promise<boolean[]>
  next(): Promise<Taken<T> | null>
  finish(place: number): Answer<boolean>
  again(place: number, item: T, first?: boolean): Answer<boolean>
  /** The first pending item that is not given out and matches; it stays where it is. Takes time for each pending item. */
  find(matches: (item: T) => boolean): Promise<T | null>
  keepDelay(url: string, seconds: number): void
  redirected(url: string): void
  close(): Answer<void>
  /** Deletes everything and stays open, where that is possible. */
  clear?(): Promise<void>
  /** Deletes everything and closes. */
  drop(): Answer<void>
}
