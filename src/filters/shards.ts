// One filter over one or several kernel instances. An instance addresses at most 4 GiB; a larger filter is spread
// by the top bits of the hash, and a growing one that fills its instance hands half of its range to a new one.
// The batch itself (lines, keys, hashes) lives in the first instance.
import { SieveError } from '../errors.ts'
import { INSTANCE_BYTES, Kernel } from '../kernel.ts'
import {
  type AnyFilter,
  type AnyKind,
  checkWhole,
  type FilterKind,
  frozenFilter,
  type LayerMeasure,
  type Measure,
  type Plan,
  type Share,
} from './filter.ts'

/** A filter that grows divides early, so that no more than half of this is to be moved. */
const GROWING_BYTES = 1024 ** 3
/** The most instances of one filter. */
export const MOST_SHARDS = 4096
/** What the kernel's own data and buffers take before any filter. */
const LEAST_INSTANCE_BYTES = 256 * 1024
/** Kept free in each instance for the batch's own buffers. */
const BATCH_BYTES = 128 * 1024 * 1024
/** Instances smaller than this are for tests; they leave the batch less. */
const SMALL_BYTES = 4 * 1024 * 1024

export interface Shard {
  /** The first 32 bits of the first hash that belongs here. */
  from: number
  readonly kernel: Kernel
  readonly filter: AnyFilter
}

/** Of a batch, while its hashes are handed to several shards: the first of them overwrites its own. */
interface Copies {
  readonly hashes: BigUint64Array
  /** The same hashes, in halves. */
  readonly words: Uint32Array
  readonly verdicts: Uint8Array
  /** The shard of each hash. */
  readonly routes: Uint16Array
  /** Where the hashes are in the batch, by shard and in their order. */
  readonly places: Uint16Array
}

function newCopies(most: number): Copies {
  const hashes = new BigUint64Array(most)
  return {
    hashes,
    words: new Uint32Array(hashes.buffer),
    verdicts: new Uint8Array(most),
    routes: new Uint16Array(most),
    places: new Uint16Array(most),
  }
}

export class Shards {
  readonly batchKernel: Kernel
  readonly #module: WebAssembly.Module
  readonly #plan: Plan
  readonly #grows: boolean
  readonly #instanceBytes: number
  /** In the order of their hashes. */
  readonly #shards: Shard[] = []
  #divisions = 0
  /** Made when a batch is first handed to several. */
  #copies: Copies | null = null
  /** Shards that are being divided: where their upper half goes, and from which first 32 bits on. */
  readonly #moves = new Map<Shard, { readonly target: Shard; readonly until: number }>()

  /**
   * `spreads`: the filter takes hashes, so it can be in several instances. With `froms` it is made to be filled from
   * a snapshot, spread as it was then.
   */
  constructor(
    module: WebAssembly.Module,
    kind: AnyKind,
    plan: Plan,
    spreads: boolean,
    instanceBytes = INSTANCE_BYTES,
    froms?: readonly number[],
  ) {
    checkWhole('instanceBytes', instanceBytes, LEAST_INSTANCE_BYTES, 2 ** 32)
    this.#module = module
    this.#plan = plan
    this.#grows = kind.can.grow
    this.#instanceBytes = kind.can.grow ? Math.min(instanceBytes, GROWING_BYTES) : instanceBytes
    const room = Math.max(this.#instanceBytes - BATCH_BYTES, this.#instanceBytes / 2)
    const planned = kind.hasOwnInstances ? 1 : Math.max(1, Math.ceil(plan.sizeBytes / room))
    const shares = froms?.length ?? planned
    const most = spreads ? MOST_SHARDS : 1
    if (shares > most) {
      throw new SieveError(
        'memory',
        `filter '${plan.filter}' of ${plan.sizeBytes} bytes does not fit: expected at most ${most * room}`,
      )
    }
    const starts = froms ?? Array.from({ length: shares }, (_, i) => Math.ceil((i * 2 ** 32) / shares))
    const own = { bytes: instanceBytes, spreads }
    for (const [i, from] of starts.entries()) {
      const kernel = this.#open()
      const revived: AnyFilter | undefined = froms && kind.revive?.(kernel, plan, shareOf(starts, i), own)
      if (!revived && !('create' in kind)) throw frozenFilter(kind.name)
      const filter = revived ?? (kind as FilterKind).create(kernel, plan, starts.length, own)
      this.#shards.push({ from, kernel, filter })
    }
    this.batchKernel = this.#shards[0]!.kernel
  }

  get count(): number {
    return this.#shards.length
  }

  /** How often an instance was divided: pieces of before and after do not go together. */
  get divisions(): number {
    return this.#shards.reduce((sum, { filter }) => sum + (filter.divisions ?? 0), this.#divisions)
  }

  /** Every instance, in the order of their hashes. */
  get all(): readonly Shard[] {
    return this.#shards
  }

  #open(): Kernel {
    const kernel = Kernel.create(this.#module, this.#instanceBytes)
    // A filter that grows must not take the memory of the batch's own buffers.
    const share = this.#instanceBytes < SMALL_BYTES ? 16 : 4
    const room = Math.min(BATCH_BYTES, this.#instanceBytes / share)
    kernel.call.setFilterEnd(Math.floor(this.#instanceBytes - room))
    return kernel
  }

  // Which shard a hash belongs to, by its first 32 bits.
  #route(top: number): number {
    let shard = this.#shards.length - 1
    while (this.#shards[shard]!.from > top) shard--
    return shard
  }

  /**
   * Test-and-set of entries [from, n) of the first instance's batch; the verdicts are there afterwards. Returns the entry
   * behind the last that is done: n, or less when there is no memory for the others. Throws when there is memory for none.
   */
  add(from: number, n: number): number {
    const first = this.#shards[0]!
    let done = from
    if (this.#moves.size > 0) this.moveSome()
    if (this.#shards.length === 1) {
      done = this.#addTo(first, from, n)
      first.kernel.refresh()
      if (done === n) return n
    }
    try {
      if (this.#shards.length === 1) this.#divide(first)
      this.#addSpread(done, n)
      return n
    } catch (error) {
      if (done > from && error instanceof SieveError) return done
      throw error
    }
  }

  /** Adds entries [0, n), or throws when there is no memory for all of them; then some are added. */
  addAll(n: number): void {
    for (let done = 0; done < n; ) done = this.add(done, n)
  }

  #addTo({ filter }: Shard, from: number, n: number): number {
    if (!filter.add) throw frozenFilter(this.#plan.filter)
    return filter.add(from, n)
  }

  // All of entries [done, n), or none.
  #addSpread(done: number, n: number): void {
    this.batchKernel.verdicts.fill(0, done, n)
    try {
      this.#each(done, n, (shard, count) => this.#addPart(shard, count))
    } catch (error) {
      const { hashes, verdicts } = this.batchKernel
      const added = hashes.slice(done, n).filter((_, i) => verdicts[done + i] === 1)
      for (const hash of added) {
        const { kernel, filter } = this.#shards[this.#route(Number(hash >> 32n))]!
        const first = kernel.hashes[0]!
        kernel.hashes[0] = hash
        const verdict = kernel.verdicts[0]!
        filter.delete!(1)
        kernel.hashes[0] = first
        kernel.verdicts[0] = verdict
      }
      throw error
    }
  }

  has(from: number, n: number): void {
    if (this.#shards.length > 1) {
      this.#each(from, n, (shard, count) => shard.filter.has(0, count))
      return
    }
    this.#shards[0]!.filter.has(from, n)
    this.batchKernel.refresh() // a query may take memory too
  }

  delete(n: number): void {
    if (this.#shards.length === 1) this.#shards[0]!.filter.delete!(n)
    else this.#each(0, n, (shard, count) => shard.filter.delete!(count))
  }

  /** Whether anything was added under the folders that are the batch's keys: verdict 0 where it may be so. */
  hasUnder(n: number): void {
    this.#shards[0]!.filter.hasUnder!(n)
  }

  measure(): Measure {
    if (this.#shards.length === 1) return this.#shards[0]!.filter.measure()
    const all = this.#shards.map(({ filter }) => filter.measure())
    const total = (of: (m: Measure) => number) => all.reduce((sum, m) => sum + of(m), 0)
    return {
      sizeBytes: total((m) => m.sizeBytes),
      fill: total((m) => m.fill) / all.length,
      // A share of a fixed filter has the rate of the whole; parts of one table of hashes each have their part of it. What has no
      // rate takes keys, and is in one instance.
      rate: total((m) => m.rate!) / (this.#shards[0]!.filter.divide ? 1 : all.length),
      ...(all.every((m) => m.layers) && { layers: joinLayers(all.map((m) => m.layers!)) }),
    }
  }

  /** How many URLs a row of filters has now; null: it is none. */
  remembered(): number | null {
    const all = this.#shards.map(({ filter }) => filter.remembered?.())
    return all.every((urls) => urls !== undefined) ? all.reduce((sum, urls) => sum + urls, 0) : null
  }

  // Hands the hashes [from, n) to their shards, a shard at a time, and brings the verdicts back in order.
  #each(from: number, n: number, ask: (shard: Shard, count: number) => void): void {
    const { batchKernel } = this
    this.#copies ??= newCopies(batchKernel.batchLines)
    const { hashes, words, verdicts, routes, places } = this.#copies
    const count = n - from
    hashes.set(batchKernel.hashes.subarray(from, n))
    verdicts.set(batchKernel.verdicts.subarray(0, n))
    // Those there are now: a shard that fills up on the way is divided.
    const shards = this.#shards.slice()
    const ends = new Uint32Array(shards.length)
    for (let i = 0; i < count; i++) {
      const route = this.#route(words[2 * i + 1]!)
      routes[i] = route
      ends[route]!++
    }
    for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!
    // Each end goes down to its shard's start.
    for (let i = count - 1; i >= 0; i--) places[--ends[routes[i]!]!] = i
    let failure: unknown
    for (const [s, shard] of shards.entries()) {
      const mine = places.subarray(ends[s], ends[s + 1] ?? count)
      if (mine.length === 0) continue
      const { kernel } = shard
      const target = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * mine.length)
      for (let i = 0; i < mine.length; i++) {
        target[2 * i] = words[2 * mine[i]!]!
        target[2 * i + 1] = words[2 * mine[i]! + 1]!
      }
      try {
        ask(shard, mine.length)
      } catch (error) {
        failure = error
      }
      kernel.refresh()
      for (let i = 0; i < mine.length; i++) verdicts[from + mine[i]!] = kernel.verdicts[i]!
      if (failure !== undefined) break
    }
    batchKernel.hashes.set(hashes.subarray(0, count), from)
    batchKernel.verdicts.set(verdicts.subarray(0, n))
    if (failure !== undefined) throw failure
  }

  // A shard that fills up in the middle of its part of a batch is divided; the rest goes where it now belongs. When it
  // throws, the verdict is 1 for those that were added, else 0.
  #addPart(shard: Shard, n: number): void {
    let done = this.#addTo(shard, 0, n)
    if (done < n && shard.filter.trim?.(this.#shareOf(shard))) done = this.#addTo(shard, done, n)
    shard.kernel.refresh()
    if (done === n) return
    const rest = shard.kernel.hashes.slice(done, n)
    const verdicts = shard.kernel.verdicts.slice(0, n).fill(0, done)
    try {
      const other = this.#divide(shard)
      const below: number[] = []
      const above: number[] = []
      for (let i = 0; i < rest.length; i++) (Number(rest[i]! >> 32n) < other.from ? below : above).push(i)
      for (const [part, target] of [[below, shard] as const, [above, other] as const]) {
        for (let i = 0; i < part.length; i++) target.kernel.hashes[i] = rest[part[i]!]!
        const added = this.#addTo(target, 0, part.length)
        target.kernel.refresh()
        for (let i = 0; i < added; i++) verdicts[done + part[i]!] = target.kernel.verdicts[i]!
        if (added < part.length) throw this.#full()
      }
    } finally {
      shard.kernel.verdicts.set(verdicts)
    }
  }

  #shareOf(shard: Shard): Share {
    const froms = this.#shards.map(({ from }) => from)
    return shareOf(froms, this.#shards.indexOf(shard))
  }

  // Frees memory in a full shard: goes on with its division, or begins one, to a new instance behind it. Returns the shard that
  // has taken some of its hashes.
  #divide(shard: Shard): Shard {
    const under = this.#moveOn(shard)
    if (under) return under
    if (!shard.filter.divide) throw this.#full()
    const kernel = this.#open()
    const at = this.#shards.indexOf(shard)
    const moved = shard.filter.divide(
      kernel,
      shareOf(
        this.#shards.map(({ from }) => from),
        at,
      ),
    )
    if (!moved) throw this.#full()
    // All of them went where one segment had them all: then the new instance takes the place of the old.
    const isAll = moved.from <= shard.from
    const other = { from: Math.max(moved.from, shard.from), kernel, filter: moved.filter }
    this.#shards.splice(isAll ? at : at + 1, isAll ? 1 : 0, other)
    if (moved.until < moved.from) this.#moves.set(shard, { target: other, until: moved.until })
    this.#divisions++
    shard.kernel.refresh()
    return other
  }

  // Moves more of a shard that is being divided. Null when it is not, or its target has no memory.
  #moveOn(shard: Shard): Shard | null {
    const move = this.#moves.get(shard)
    if (!move) return null
    const { target, until } = move
    const moved = shard.filter.divideOn!(target.kernel, until)
    shard.kernel.refresh()
    target.kernel.refresh()
    if (!moved || moved.from <= until) this.#moves.delete(shard)
    if (!moved) return null
    target.from = Math.max(moved.from, shard.from)
    this.#divisions++
    return target
  }

  /**
   * Goes on with a division that is under way, for a few milliseconds. False: there is none. Every add does so too; a
   * snapshot waits until there is none, since its pieces must be of one division.
   */
  moveSome(): boolean {
    for (const shard of this.#moves.keys()) {
      this.#moveOn(shard)
      return true
    }
    return this.#shards.some(({ filter }) => filter.moveSome?.() ?? false)
  }

  #full(): SieveError {
    const { filter, expectedUrls } = this.#plan
    if (this.#grows) {
      return new SieveError('memory', `filter '${filter}' is full and cannot grow further: no memory left`)
    }
    const wanted = 'expected fewer of them, or a filter for more'
    return new SieveError(
      'full',
      `filter '${filter}' is full: it is made for ${expectedUrls} URLs; ${wanted}`,
    )
  }
}

// The hashes of a shard. Files of earlier versions have some that begin at or behind a later one: those have none.
function shareOf(froms: readonly number[], i: number): Share {
  const from = froms[i]!
  const later = froms.slice(i + 1)
  return { from, to: later.some((one) => one <= from) ? from : Math.min(2 ** 32, ...later) }
}

// The layers of all shards, the first of each together, and so on.
function joinLayers(all: readonly (readonly LayerMeasure[])[]): LayerMeasure[] {
  const most = Math.max(...all.map((layers) => layers.length))
  return Array.from({ length: most }, (_, i) => {
    const some = all.flatMap((layers) => layers[i] ?? [])
    const total = (of: (layer: LayerMeasure) => number) => some.reduce((sum, layer) => sum + of(layer), 0)
    return {
      name: some[0]!.name,
      fill: total(({ fill }) => fill) / some.length,
      distinct: total(({ distinct }) => distinct),
    }
  })
}
