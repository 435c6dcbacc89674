// A set of hashes larger than memory, for calls: the table in memory holds what the log has; the runs hold the rest. A call with
// few hashes looks each of them up in the runs, by their filters; a call with many compares them with all runs in one pass, in a
// second table.
import { setImmediate } from 'node:timers/promises'
import { SieveError } from '../errors.ts'
import { Kernel } from '../kernel.ts'
import type { DiskStore } from './disk-store.ts'
import { PendingTable } from './pending-table.ts'
import { allocate, BLOCK_HASHES, RunBuffers } from './run.ts'
import { RunFilters } from './run-filters.ts'
import { BLOCK_BYTES } from './run-header.ts'
import { RunSet } from './run-set.ts'

/** Hashes that are compared in one pass, at most. */
const PASS_HASHES = 1_000_000
/** Fewer are always looked up. */
const FEW_HASHES = 16
/** Hashes that are looked up without a break. */
const TURN_LOOKUPS = 256
/** Blocks that are decoded in a pass in the time that one lookup takes. */
const LOOKUP_BLOCKS = 8

export class DiskHashes {
  readonly #kernel: Kernel
  readonly #store: DiskStore
  readonly #table: PendingTable
  readonly #runs: RunSet
  readonly #blockAt: number
  readonly #decodedAt: number
  /** Those that wait for their confirmation: they are in no table, log or run. */
  readonly #held = new Set<bigint>()
  /** For passes; made by the first. */
  #pass: { readonly kernel: Kernel; readonly table: PendingTable; readonly buffers: RunBuffers } | undefined
  /** Where verdicts came from, since it was opened. */
  readonly answers = { lookups: 0, reads: 0, passes: 0 }

  /** `capacity`: hashes in memory. `filterBytes`: memory for the filters of runs. */
  constructor(kernel: Kernel, store: DiskStore, capacity: number, filterBytes: number) {
    this.#kernel = kernel
    this.#store = store
    this.#table = new PendingTable(kernel, capacity)
    const filters = new RunFilters(filterBytes)
    filters.read(store.runs)
    this.#runs = new RunSet(kernel, store, store.id, store.runs, filters)
    this.#blockAt = allocate(kernel, BLOCK_BYTES)
    this.#decodedAt = allocate(kernel, BLOCK_HASHES * 8)
  }

  /** Takes over what the log has. */
  async restore(): Promise<void> {
    const logged: BigUint64Array[] = []
    this.#store.readLog((some) => logged.push(some))
    let isCut = false
    for (const hashes of logged) {
      for (const some of this.#parts(hashes)) {
        if (this.#table.capacity - this.#table.count < some.length) {
          if (this.#store.isReadOnly) throw tooLittle()
          await this.#toRun(false)
          isCut = true
        }
        this.#kernel.hashes.set(some)
        this.#table.add(some.length)
      }
    }
    if (isCut) await this.#toRun(true)
  }

  get count(): number {
    return this.#runs.hashes + this.#table.count + this.#held.size
  }

  /** How many wait for their confirmation. */
  get held(): number {
    return this.#held.size
  }

  get runs(): RunSet {
    return this.#runs
  }

  /** Bytes of the tables, and of the filters. */
  get sizeBytes(): number {
    const filters = this.#runs.runs.reduce((sum, { filter }) => sum + (filter?.sizeBytes ?? 0), 0)
    return (this.#table.capacity + (this.#pass?.table.capacity ?? 0)) * 10 + filters
  }

  /** Verdicts of all hashes: 1 new, 0 seen. Changes nothing. */
  async has(hashes: BigUint64Array): Promise<Uint8Array> {
    const verdicts = new Uint8Array(hashes.length)
    for (let at = 0; at < hashes.length; at += PASS_HASHES) {
      verdicts.set(await this.#find(hashes.subarray(at, at + PASS_HASHES), false), at)
    }
    return verdicts
  }

  /**
   * Adds all hashes: their verdicts, a repeat is seen. Up to a million at a time are written down in one record; when one fails, the
   * verdicts of those before stand in the error. With `isHeld`, `confirm` writes them down.
   */
  async add(hashes: BigUint64Array, isHeld = false): Promise<Uint8Array> {
    const verdicts = new Uint8Array(hashes.length)
    // What is written down in one record fits into the table.
    const most = Math.min(PASS_HASHES, this.#table.capacity >> 1)
    for (let at = 0; at < hashes.length; at += most) {
      const some = hashes.subarray(at, at + most)
      try {
        const found = await this.#find(some, true)
        const fresh = some.filter((_, i) => found[i] === 1)
        if (isHeld) for (const hash of fresh) this.#held.add(hash)
        else await this.#remember(fresh)
        verdicts.set(found, at)
      } catch (error) {
        if (at > 0 && error instanceof SieveError) error.answered = verdicts.slice(0, at)
        throw error
      }
    }
    return verdicts
  }

  /** These were delivered, or all that are held. */
  async confirm(hashes?: BigUint64Array): Promise<void> {
    const all = hashes === undefined ? this.#held : new Set(hashes.filter((hash) => this.#held.has(hash)))
    const delivered = BigUint64Array.from(all)
    const most = this.#table.capacity >> 1
    for (let at = 0; at < delivered.length; at += most) {
      const some = delivered.subarray(at, at + most)
      await this.#remember(some)
      for (const hash of some) this.#held.delete(hash)
    }
  }

  async #find(hashes: BigUint64Array, isAdd: boolean): Promise<Uint8Array> {
    const verdicts = new Uint8Array(hashes.length)
    let at = 0
    /** Places of the hashes that are not in memory. */
    const places: number[] = []
    for (const some of this.#parts(hashes)) {
      this.#kernel.hashes.set(some)
      this.#table.look(some.length)
      const known = this.#kernel.verdicts
      for (let i = 0; i < some.length; i++)
        if (known[i] === 1 && !this.#held.has(some[i]!)) places.push(at + i)
      at += some.length
    }
    const { runs } = this.#runs
    const blocks = runs.reduce((sum, run) => sum + run.header.blocks, 0)
    // Of a hash: those without a filter, and the one that has it.
    const reads = 1 + runs.filter(({ filter }) => !filter).length
    const isMany = places.length > FEW_HASHES && places.length * reads * LOOKUP_BLOCKS >= blocks
    if (isMany) await this.#compare(hashes, places, isAdd, verdicts)
    else await this.#lookUp(hashes, places, isAdd, verdicts)
    return verdicts
  }

  async #lookUp(
    hashes: BigUint64Array,
    places: readonly number[],
    isAdd: boolean,
    verdicts: Uint8Array,
  ): Promise<void> {
    this.answers.lookups += places.length
    const fresh = new Set<bigint>()
    for (const [i, place] of places.entries()) {
      // Reads are done in this thread: others have their turn in between.
      if (i % TURN_LOOKUPS === TURN_LOOKUPS - 1) await setImmediate()
      const hash = hashes[place]!
      if (fresh.has(hash) || this.#isInRuns(hash)) continue
      verdicts[place] = 1
      if (isAdd) fresh.add(hash)
    }
  }

  // The most recent run first.
  #isInRuns(hash: bigint): boolean {
    const wanted = hash === 0n ? 1n : hash
    const low = Number(wanted & 0xffff_ffffn)
    const high = Number(wanted >> 32n)
    const { runs } = this.#runs
    for (let i = runs.length - 1; i >= 0; i--) {
      const { filter } = runs[i]!
      if (filter && !filter.mayHave(low, high)) continue
      this.answers.reads++
      const count = runs[i]!.find(this.#kernel, wanted, this.#blockAt, this.#decodedAt)
      if (includes(new BigUint64Array(this.#kernel.bytes.buffer, this.#decodedAt, count), wanted)) return true
    }
    return false
  }

  async #compare(
    hashes: BigUint64Array,
    places: readonly number[],
    isAdd: boolean,
    verdicts: Uint8Array,
  ): Promise<void> {
    this.answers.passes++
    if (!this.#pass) {
      const kernel = Kernel.create(this.#kernel.module)
      this.#pass = { kernel, table: new PendingTable(kernel, PASS_HASHES), buffers: new RunBuffers(kernel) }
    }
    const { kernel, table, buffers } = this.#pass
    const { batchLines } = kernel
    const eachBatch = (step: (n: number, from: number) => void) => {
      for (let from = 0; from < places.length; from += batchLines) {
        const some = places.slice(from, from + batchLines)
        for (const [i, place] of some.entries()) kernel.hashes[i] = hashes[place]!
        step(some.length, from)
      }
    }
    try {
      eachBatch((n) => table.add(n))
      kernel.call.pendingSort()
      for (const run of this.#runs.runs) await run.scan(buffers, 'compare')
      eachBatch((n, from) => {
        if (isAdd) table.take(n)
        else table.seen(n)
        for (let i = 0; i < n; i++) verdicts[places[from + i]!] = kernel.verdicts[i]!
      })
    } finally {
      table.clear()
    }
  }

  // Writes down hashes that are new, in one record, then remembers them.
  async #remember(fresh: BigUint64Array): Promise<void> {
    if (fresh.length === 0) return
    if (this.#table.capacity - this.#table.count < fresh.length) await this.#toRun(true)
    this.#store.add(new Uint8Array(fresh.buffer, fresh.byteOffset, fresh.byteLength))
    for (const some of this.#parts(fresh)) {
      this.#kernel.hashes.set(some)
      this.#table.add(some.length)
    }
  }

  // The table becomes a run. `isAll`: the log has nothing else.
  async #toRun(isAll: boolean): Promise<void> {
    // What an earlier attempt has written already is not written twice.
    await this.#runs.compare()
    const run = await this.#runs.write()
    const { runs } = this.#runs
    if (run) runs.push(run)
    this.#store.commit(runs, isAll)
    this.#table.clear()
    for (let some = this.#runs.mergeable; some; some = this.#runs.mergeable) {
      this.#runs.replace(some, await this.#runs.merge(some))
      this.#store.commit(runs, false)
    }
  }

  close(): void {
    this.#runs.close()
  }

  *#parts(hashes: BigUint64Array): Generator<BigUint64Array> {
    const { batchLines } = this.#kernel
    for (let at = 0; at < hashes.length; at += batchLines) yield hashes.subarray(at, at + batchLines)
  }
}

// Binary search: hashes ascend.
function includes(hashes: BigUint64Array, wanted: bigint): boolean {
  let low = 0
  let high = hashes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (hashes[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return hashes[low] === wanted
}

function tooLittle(): SieveError {
  return new SieveError('memory', 'the log of the store does not fit into maxMemory: give it more')
}
