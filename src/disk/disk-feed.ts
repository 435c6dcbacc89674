// Lines through a set that is larger than memory: bytes in, in any cuts; lines out in the order of the input, as a feed of a
// sieve in memory returns them. While there is no run, verdicts are known immediately. When the table is full, it becomes the first
// run, and from then on lines wait: when there is no memory for more of their hashes, these are compared with all runs in one
// pass, the new ones become another run, and the lines are read again and get their verdicts.
import { option, SieveError, wording } from '../errors.ts'
import type { Keyer } from '../keyer/keyer.ts'
import type { Feed } from '../lines/feed.ts'
import { joinBytes } from '../lines/sift.ts'
import { formatBytes } from '../quantities.ts'
import type { DiskStore } from './disk-store.ts'
import { BYTES_PER_HASH, PendingTable } from './pending-table.ts'
import type { Run } from './run.ts'
import { RunSet } from './run-set.ts'
import type { TempFiles } from './temp-files.ts'
import { WaitingHashes } from './waiting-hashes.ts'
import { type ChunkSink, changed, WaitingLines } from './waiting-lines.ts'

export interface DiskFeedOptions {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
  /** Hashes in memory at a time. */
  readonly capacity: number
  /** The longest line; default: what the memory takes. */
  readonly mostLineBytes?: number
  /** Where the hashes are kept after the run: each is written down before its line is, and counts when that was done. */
  readonly store?: DiskStore
  /** Temporary runs to begin with: all their hashes were delivered. */
  readonly runs?: readonly Run[]
}

/**
 * Takes kept lines; they are valid until it returns. `isLater`: they may be written while the caller goes on, who waits for the
 * promise, where there is one, before the next call; a last such call without lines waits until all are written.
 */
export type WriteLines = (kept: Uint8Array, isLater?: boolean) => Promise<void> | undefined | void

/** Free places that the table has before each push: a chunk of 256 KiB has at most this many different lines. */
const SPARE_HASHES = 131_074

const NOTHING = new Uint8Array(0)

const tooLong = (most: number) =>
  new SieveError(
    'corrupt',
    wording`a line of more than ${formatBytes(most)}: expected one URL per line; a larger ${option('maxMemory')} takes longer ones`,
    { operation: 'read' },
  )

export class DiskFeed {
  /** Lines read; of these, lines that are not URLs. */
  lines = 0
  invalid = 0
  /** Lines that have their verdicts. */
  new = 0
  seen = 0
  readonly runs: RunSet
  readonly table: PendingTable
  readonly waiting: WaitingLines
  readonly #keyer: Keyer
  readonly #options: DiskFeedOptions
  /** In place of the table, from the first line that waits on. */
  #hashes: WaitingHashes | undefined
  /** While there is no run. */
  #direct: Feed | null
  /** Reading for the first time: all lines of a chunk wait, or only those that were not there shortly before. */
  readonly #gatherAll: Feed
  readonly #gatherNew: Feed
  /** Reading again. */
  readonly #emit: Feed
  readonly #spareHashes: number
  readonly #store: DiskStore | undefined
  /** Hashes of new lines that are about to be written. */
  #fresh: Uint8Array[] = []
  /** Where the chunk that `reserve` returned lies, and its place in the input. */
  #at = 0
  #position = 0

  constructor(keyer: Keyer, temp: TempFiles, options: DiskFeedOptions) {
    const { store } = options
    this.#keyer = keyer
    this.#options = options
    this.#store = store
    this.table = new PendingTable(keyer.kernel, options.capacity)
    this.#spareHashes = Math.min(SPARE_HASHES, this.table.capacity >> 1)
    this.runs = store
      ? new RunSet(keyer.kernel, store, store.id, store.runs)
      : new RunSet(keyer.kernel, temp, undefined, options.runs)
    if (options.runs) this.runs.writtenBytes = this.runs.bytes
    this.waiting = new WaitingLines(() => keyer.kernel, temp)
    const { keep, as } = options
    const hasRuns = this.runs.runs.length > 0
    this.#direct = hasRuns ? null : keyer.feed((n) => this.#add(n), { keep, as })
    this.#gatherAll = keyer.feed((n) => this.#wait(n, true), { keep: 'none' })
    this.#gatherNew = keyer.feed((n) => this.#wait(n, false), { keep: 'new' })
    const needsKeys = as === 'key' || store !== undefined
    const take = (n: number) => this.#take(n)
    this.#emit = needsKeys ? keyer.feed(take, { keep, as }) : keyer.lines(take, { keep })
  }

  /** Takes over what the store's log has, before the first input. */
  async restore(): Promise<void> {
    const hashes: BigUint64Array[] = []
    this.#store?.readLog((some) => hashes.push(some))
    const { kernel } = this.#keyer
    for (const all of hashes) {
      for (let at = 0; at < all.length; at += kernel.batchLines) {
        const some = all.subarray(at, at + kernel.batchLines)
        kernel.hashes.set(some)
        this.table.add(some.length)
        if (this.table.capacity - this.table.count >= this.#spareHashes) continue
        await this.#keep(false)
        this.#direct = null
      }
    }
    if (!this.#direct && hashes.length > 0) await this.#keep()
  }

  /** Memory of the table. */
  get sizeBytes(): number {
    return Math.ceil(this.table.capacity * BYTES_PER_HASH)
  }

  /** Another input begins, at `position`: a plain file that can be read again, or null for any other. */
  begin(path: string | null, position = 0): void {
    this.#position = position
    this.waiting.begin(path)
  }

  /** Where to put the next bytes: a view of the kernel's memory, valid until the next call. */
  reserve(bytes: number): Uint8Array {
    const view = this.#feed.reserve(bytes)
    this.#at = view.byteOffset
    return view
  }

  /** Sifts the first `bytes` bytes of what `reserve` returned. Wait for the promise, where there is one, before the next call. */
  push(bytes: number, write: WriteLines): Promise<void> | undefined {
    const wait = this.#direct ? this.#pushDirect(bytes, write) : this.#gather(bytes)
    this.#position += bytes
    const { mostLineBytes = Number.POSITIVE_INFINITY } = this.#options
    if (this.#feed.unfinished > mostLineBytes) throw tooLong(mostLineBytes)
    return this.#isFull ? this.#flushAfter(wait, write) : wait
  }

  /** The input has ended: a last line without a newline is a line too. */
  async end(write: WriteLines): Promise<void> {
    const rest = this.#feed.end()
    if (this.#direct) await this.#deliver(rest, write)
    else if (rest.length > 0) await this.waiting.spill(rest)
    this.waiting.end()
  }

  /** All inputs have ended: lines that wait get their verdicts. */
  async finish(write: WriteLines): Promise<void> {
    if (this.#store) {
      if (this.#direct && this.table.count > 0) await this.#keep()
      else if (!this.waiting.isEmpty) await this.#flush(write)
      this.#store.count(this.seen, this.invalid)
    } else if (!this.#direct && !this.waiting.isEmpty) {
      await this.runs.settle(false)
      await this.#replay(write)
    }
  }

  close(): void {
    this.runs.close()
    this.waiting.close()
  }

  get #isFull(): boolean {
    if (!this.#direct) return this.#waitingHashes.isFull
    return this.table.capacity - this.table.count < this.#spareHashes
  }

  get #waitingHashes(): WaitingHashes {
    this.#hashes ??= new WaitingHashes(this.#keyer.kernel, this.table.capacity)
    return this.#hashes
  }

  get #feed(): Feed {
    if (this.#direct) return this.#direct
    return this.#waitsWhole ? this.#gatherAll : this.#gatherNew
  }

  // Lines wait as they came: where they are read from the input again, and where repeats are to be returned too.
  get #waitsWhole(): boolean {
    return this.waiting.isReadAgain || this.#options.keep === 'seen'
  }

  #pushDirect(bytes: number, write: WriteLines): Promise<void> | undefined {
    return this.#deliver(this.#direct!.push(bytes), write)
  }

  #gather(bytes: number): Promise<void> | undefined {
    if (!this.#waitsWhole) return this.waiting.spill(this.#gatherNew.push(bytes))
    const { kernel } = this.#keyer
    let wait: Promise<void> | undefined
    if (this.waiting.isReadAgain) this.waiting.note(this.#at, bytes, this.#position)
    else wait = this.waiting.spill(kernel.bytes.subarray(this.#at, this.#at + bytes))
    this.#gatherAll.push(bytes)
    return wait
  }

  async #flushAfter(wait: Promise<void> | undefined, write: WriteLines): Promise<void> {
    await wait
    if (this.#direct) await this.#leaveMemory()
    else await this.#flush(write)
  }

  // The first run: everything in it has its verdict already. From now on lines wait.
  async #leaveMemory(): Promise<void> {
    await this.#keep()
    const rest = this.#direct!.rest()
    this.#direct = null
    if (rest.length === 0) return
    this.#position -= rest.length
    this.reserve(rest.length).set(rest)
    await this.#gather(rest.length)
    this.#position += rest.length
  }

  // Everything in the table has its verdict: it becomes a run. `isAll`: the log has nothing else.
  async #keep(isAll = true): Promise<void> {
    await this.runs.compare()
    await this.#commit(await this.runs.write(), isAll)
    this.table.clear()
  }

  async #flush(write: WriteLines): Promise<void> {
    const run = await this.runs.settle(true)
    await this.#replay(write)
    await this.#commit(run)
  }

  async #commit(run: Run | null, isAll = true): Promise<void> {
    const { runs } = this.runs
    if (run) runs.push(run)
    this.#store?.commit(runs, isAll)
    for (let some = this.runs.mergeable; some; some = this.runs.mergeable) {
      this.runs.replace(some, await this.runs.merge(some))
      this.#store?.commit(runs, false)
    }
  }

  // A new line counts as delivered when it was written: until then its hash is in the log and not confirmed.
  #deliver(kept: Uint8Array, write: WriteLines): Promise<void> | undefined {
    if (this.#fresh.length === 0) return write(kept) ?? undefined
    const store = this.#store!
    store.record(joinBytes(this.#fresh.splice(0)))
    const wait = write(kept)
    if (wait) return wait.then(() => store.confirm())
    store.confirm()
    return undefined
  }

  // What the store has to know must be written at once.
  #deliverLater(kept: Uint8Array, write: WriteLines): Promise<void> | undefined {
    if (!this.#store && kept.length > 0) return write(kept, true) ?? undefined
    return this.#deliver(kept, write)
  }

  async #replay(write: WriteLines): Promise<void> {
    const sink: ChunkSink = {
      reserve: (bytes) => this.#emit.reserve(bytes),
      push: (bytes) => this.#deliverLater(this.#emit.push(bytes), write),
      end: () => this.#deliverLater(this.#emit.end(), write),
    }
    await this.waiting.replay(sink)
    if (!this.#store) await write(NOTHING, true)
    this.#waitingHashes.clear()
  }

  #add(n: number): number {
    this.table.add(n)
    this.#countRead(n)
    this.#count(n)
    return n
  }

  // `isWhole`: repeats wait too.
  #wait(n: number, isWhole: boolean): number {
    this.#waitingHashes.add(n, isWhole)
    this.#countRead(n)
    if (!isWhole) this.seen += n - this.#keyer.kernel.call.countNew(0, n)
    return n
  }

  #take(n: number): number {
    if (!this.#waitingHashes.take(n)) throw changed('the input')
    this.#count(n)
    return n
  }

  #countRead(n: number): void {
    this.lines += n
    this.invalid += this.#keyer.invalidIn(0, n)
  }

  #count(n: number): void {
    const { kernel } = this.#keyer
    const fresh = kernel.call.countNew(0, n)
    this.new += fresh
    this.seen += n - fresh
    if (!this.#store || fresh === 0) return
    const hashes = new BigUint64Array(fresh)
    for (let i = 0, at = 0; at < fresh; i++) if (kernel.verdicts[i] === 1) hashes[at++] = kernel.hashes[i]!
    this.#fresh.push(new Uint8Array(hashes.buffer))
  }
}
