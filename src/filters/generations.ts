// A row of filters that answers as one: an older one is asked, the newest takes what none of them knows. Each is in
// kernel instances of its own, as many as its size needs; the batch's hashes come from the instance that the row is made
// in. `scalable` and `window` are made of it.
import { INSTANCE_BYTES, type Kernel } from '../kernel.ts'
import {
  type CellArray,
  type Filter,
  type FilterKind,
  type Held,
  type Measure,
  type OwnInstances,
  type Piece,
  type Pieces,
  type Plan,
  type Share,
  WHOLE,
} from './filter.ts'
import { checkFroms, decodeSize, encodeSize, SIZE_BYTES, type Size } from './generation-size.ts'
import { checkField, savedWhole } from './saved-plan.ts'
import { Shards } from './shards.ts'

/** Measured: what each generation takes besides its filter, in a kernel instance of its own. */
export const GENERATION_BYTES = 256 * 1024

/** The chance that at least one of several filters errs: 1 − Π(1 − p), exact at small rates too. */
export function compoundRate(rates: readonly number[]): number {
  return Math.abs(Math.expm1(rates.reduce((sum, rate) => sum + Math.log1p(-rate), 0)))
}

/** The memory of all generations. */
export const heldByGenerations = ({ sizeBytes, layers }: Held): number =>
  sizeBytes + GENERATION_BYTES * (layers?.length ?? 1)

export interface Generation {
  readonly shards: Shards
  readonly plan: Plan
  /** URLs added to it. */
  urls: number
  /** When it was begun, in milliseconds since 1970. */
  born: number
}

/** Which generations there shall be. */
export interface Succession {
  readonly kind: FilterKind
  /** The plan of generation `index`, counted from the first there ever was. */
  plan(index: number): Plan
  /** How many more URLs the newest, which is generation `index`, may take before the next begins: 0 when it is time. */
  left(newest: Generation, now: number, index: number): number
  /** The most URLs that a generation of this plan takes. */
  capacity(plan: Plan): number
  /** How many to keep; the oldest are forgotten. */
  readonly most: number
  /** How many may have been forgotten. */
  readonly mostGone: number
  /** Whether all of a generation is too old to be remembered. */
  isOver?(generation: Generation, now: number): boolean
}

/** Numbers of a generation among `counts`: index of the first, then urls and born of each. */
const PER_GENERATION = 2
/** A piece's `array`: its shard times this, plus the generation's index times `ARRAYS`, plus the array within it. */
const SHARDS = 65_536
const ARRAYS = 256
/** The array of a generation that comes first and says how large it is, so that later formulas cannot change it. */
const PLAN_ARRAY = ARRAYS - 1

/** Of all generations that a file has. */
const MOST_INSTANCES = 1024

/** In how many shares a snapshot has its filter, of which one is given. */
export function sharesOf({ from, to }: Share): number {
  return Math.max(1, Math.round(2 ** 32 / (to - from)))
}

/** Milliseconds since 1970 that a date can have. */
const MOST_TIME = 8.64e15

export class Generations implements Filter {
  readonly #batchKernel: Kernel
  readonly #own: OwnInstances
  readonly #mostInstances: number
  readonly #succession: Succession
  #all: Generation[] = []
  /** Those of a snapshot that is being read, with their numbers in it. */
  readonly #revived: { readonly i: number; readonly generation: Generation }[] = []
  /** How many have been forgotten. */
  #gone = 0
  #goneDivisions = 0
  /** Set while a log is replayed: the time of the record. Its entries were all new when it was written. */
  #clock: number | null = null

  constructor(
    batchKernel: Kernel,
    succession: Succession,
    isRevived: boolean,
    own: OwnInstances = { bytes: INSTANCE_BYTES, spreads: true },
    share = WHOLE,
  ) {
    this.#batchKernel = batchKernel
    this.#own = own
    this.#mostInstances = succession.most + Math.ceil(MOST_INSTANCES / sharesOf(share))
    this.#succession = succession
    if (!isRevived) this.#begin()
  }

  /** All generations, oldest first. */
  get all(): readonly Generation[] {
    return this.#all
  }

  setClock(now: number | null): void {
    this.#clock = now
  }

  get #now(): number {
    return this.#clock ?? Date.now()
  }

  #open(index: number, born: number): Generation {
    const plan = this.#succession.plan(index)
    return { shards: this.#spread(plan), plan, urls: 0, born }
  }

  // Instances for a generation; with `froms`, to be filled from a snapshot.
  #spread(plan: Plan, froms?: readonly number[]): Shards {
    const { bytes, spreads } = this.#own
    return new Shards(this.#batchKernel.module, this.#succession.kind, plan, spreads, bytes, froms)
  }

  #begin(now = this.#now): Generation {
    const next = this.#open(this.#gone + this.#all.length, now)
    this.#all.push(next)
    while (this.#all.length > this.#succession.most) this.#drop(0)
    return next
  }

  #drop(index: number): void {
    const [gone] = this.#all.splice(index, 1)
    this.#gone++
    this.#goneDivisions += gone!.shards.divisions
  }

  moveSome(): boolean {
    return this.#all.some(({ shards }) => shards.moveSome())
  }

  get divisions(): number {
    return this.#all.reduce((sum, { shards }) => sum + shards.divisions, this.#goneDivisions)
  }

  // Forgets the generations that are too old. There is always a newest.
  #expire(): void {
    const { isOver } = this.#succession
    if (!isOver) return
    const now = this.#now
    if (!this.#all.some((generation) => isOver(generation, now))) return
    // The next one first: when there is no room for it, nothing has changed.
    if (this.#all.every((generation) => isOver(generation, now))) this.#begin(now)
    for (let i = this.#all.length - 1; i >= 0; i--) if (isOver(this.#all[i]!, now)) this.#drop(i)
  }

  // How many more the newest may take.
  #left(): number {
    return this.#succession.left(this.#all.at(-1)!, this.#now, this.#gone + this.#all.length - 1)
  }

  // The newest, with room for at least one URL.
  #newest(): Generation {
    return this.#left() > 0 ? this.#all.at(-1)! : this.#begin()
  }

  add(from: number, n: number): number {
    this.#expire()
    let done = from
    try {
      while (done < n) {
        const newest = this.#newest()
        const end = Math.min(n, done + this.#left())
        done = this.#addSome(newest, done, end)
      }
    } catch (error) {
      if (done === from) throw error
    }
    return done
  }

  // There is but one: the batch goes there as it is.
  #addAll(only: Generation, from: number, n: number): number {
    const { shards } = only
    const { batchKernel } = shards
    batchKernel.hashes.set(this.#batchKernel.hashes.subarray(from, n))
    const count = shards.add(0, n - from)
    batchKernel.refresh()
    this.#batchKernel.verdicts.set(batchKernel.verdicts.subarray(0, count), from)
    only.urls += this.#clock === null ? batchKernel.call.countNew(0, count) : count
    return from + count
  }

  // Entries that no older generation knows go to the newest. Returns the entry behind the last that is done.
  #addSome(newest: Generation, from: number, n: number): number {
    if (this.#all.length === 1) return this.#addAll(newest, from, n)
    const unknown = this.#ask(from, n, this.#all.slice(0, -1))
    if (unknown.length === 0) return this.#counted(newest, from, n)
    const { hashes, verdicts } = this.#batchKernel
    const { shards } = newest
    const { batchKernel } = shards
    for (let i = 0; i < unknown.length; i++) batchKernel.hashes[i] = hashes[unknown[i]!]!
    const added = shards.add(0, unknown.length)
    batchKernel.refresh()
    for (let i = 0; i < added; i++) {
      const verdict = batchKernel.verdicts[i]!
      verdicts[unknown[i]!] = verdict
      if (this.#clock === null) newest.urls += verdict
    }
    return this.#counted(newest, from, added < unknown.length ? unknown[added]! : n)
  }

  // While a log is replayed every entry counts.
  #counted(newest: Generation, from: number, end: number): number {
    if (this.#clock !== null) newest.urls += end - from
    return end
  }

  has(from: number, n: number): void {
    this.#expire()
    this.#ask(from, n, this.#all)
  }

  // Sets the verdicts of entries [from, n) by some generations; returns the entries that none of them knows.
  #ask(from: number, n: number, generations: readonly Generation[]): number[] {
    const { hashes, verdicts } = this.#batchKernel
    verdicts.fill(1, from, n)
    for (const { shards } of generations) {
      const { batchKernel } = shards
      batchKernel.hashes.set(hashes.subarray(from, n))
      shards.has(0, n - from)
      for (let i = from; i < n; i++) verdicts[i]! &= batchKernel.verdicts[i - from]!
    }
    const unknown: number[] = []
    for (let i = from; i < n; i++) if (verdicts[i] === 1) unknown.push(i)
    return unknown
  }

  delete(n: number): void {
    this.#expire()
    const { hashes, verdicts } = this.#batchKernel
    verdicts.fill(1, 0, n)
    for (const generation of this.#all) {
      const { shards } = generation
      const { batchKernel } = shards
      batchKernel.hashes.set(hashes.subarray(0, n))
      shards.delete(n)
      for (let i = 0; i < n; i++) {
        if (batchKernel.verdicts[i] === 0) generation.urls--
        verdicts[i]! &= batchKernel.verdicts[i]!
      }
    }
  }

  remembered(): number {
    this.#expire()
    return this.#all.reduce((sum, { urls }) => sum + urls, 0)
  }

  measure(): Measure {
    this.#expire()
    const measures = this.#all.map(({ shards }) => shards.measure())
    return {
      sizeBytes: measures.reduce((sum, m) => sum + m.sizeBytes, 0),
      fill: measures.at(-1)!.fill,
      // A new URL is answered "seen" when any generation errs: the compound rate.
      rate: compoundRate(measures.map((m) => m.rate!)),
      layers: this.#all.map(({ urls }, i) => ({
        name: `generation ${this.#gone + i + 1}`,
        fill: measures[i]!.fill,
        distinct: urls,
      })),
    }
  }

  /** Of the first shard of each. */
  cells(): CellArray[] {
    return this.#all.flatMap(({ shards, plan }, i) =>
      (shards.all[0]!.filter.cells?.() ?? []).map((cells) => ({
        ...cells,
        array: i * ARRAYS + cells.array,
        name: `generation ${this.#gone + i + 1}`,
        ...(plan.hashes !== null && { hashes: plan.hashes }),
      })),
    )
  }

  // The generations there are when the first piece is asked for; `counts` must be asked for at that moment too. Which
  // generation a URL belongs to depends on the order, and comes out the same when the log is replayed: there every entry
  // counts, whether the newest generation was written before or after it was added, so that the next one begins at the
  // same entry as it did.
  *pieces(): Generator<Piece> {
    for (const [i, generation] of [...this.#all].entries()) {
      yield {
        array: i * ARRAYS + PLAN_ARRAY,
        offset: 0,
        bytes: encodeSize(generation.plan, generation.shards),
      }
      for (const piece of piecesOf(generation)) yield { ...piece, array: i * ARRAYS + piece.array }
    }
  }

  // Begins a generation of a snapshot, as large as it was; they are counted from the oldest that is in it.
  #revive(i: number, size: Size): void {
    const { bits, hashes, froms } = size
    const { kind, most } = this.#succession
    const before = this.#revived.at(-1)?.i ?? -1
    if (i <= before || i >= most)
      throw new RangeError(`generation ${i} behind generation ${before} of ${most}`)
    const planned = this.#succession.plan(i)
    const sizeBytes = bits === null ? planned.sizeBytes : Math.ceil(bits / 8)
    const plan = { ...planned, bits, hashes, sizeBytes }
    kind.arrayBytes(plan, froms.length)
    checkFroms(size)
    const instances = this.#revived.reduce((sum, one) => sum + one.generation.shards.count, froms.length)
    if (instances > this.#mostInstances) {
      throw new RangeError(`${instances} instances of generations: expected at most ${this.#mostInstances}`)
    }
    this.#revived.push({ i, generation: { shards: this.#spread(plan, froms), plan, urls: 0, born: 0 } })
  }

  // The filter of a generation of a snapshot, and the array in it. Its size comes before its pieces.
  #placeOf(array: number): { filter: Pieces; array: number } {
    const i = Math.floor((array % SHARDS) / ARRAYS)
    const found = this.#revived.find((one) => one.i === i)
    if (!found) throw new RangeError(`a piece of generation ${i} before its size`)
    const { shards } = found.generation
    const shard = shards.all[Math.floor(array / SHARDS)]
    if (!shard) throw new RangeError(`no shard for array ${array}: there are ${shards.count}`)
    return { filter: shard.filter, array: array % ARRAYS }
  }

  place(array: number, offset: number, bytes: number): Uint8Array {
    if (array % ARRAYS === PLAN_ARRAY) {
      if (offset !== 0 || bytes < SIZE_BYTES) throw new RangeError(`a size of ${bytes} bytes at ${offset}`)
      return new Uint8Array(bytes)
    }
    const { filter, array: within } = this.#placeOf(array)
    return filter.place(within, offset, bytes)
  }

  placed(array: number, offset: number, room: Uint8Array): void {
    if (array % ARRAYS === PLAN_ARRAY) {
      this.#revive(Math.floor(array / ARRAYS), decodeSize(room))
      return
    }
    const { filter, array: within } = this.#placeOf(array)
    filter.placed?.(within, offset, room)
  }

  placeZeros(array: number, offset: number, bytes: number): void {
    const { filter, array: within } = this.#placeOf(array)
    if (!filter.placeZeros) throw new RangeError(`no zeros are expected in array ${array}`)
    filter.placeZeros(within, offset, bytes)
  }

  counts(): number[] {
    return [this.#gone, ...this.#all.flatMap(({ urls, born }) => [urls, born])]
  }

  restored(counts: readonly number[], isWhole = true): void {
    const revived = this.#revived.splice(0)
    const first = revived[0]?.i ?? 0
    const isInRow = revived.length > 0 && revived.every(({ i }, at) => i === at)
    if (isWhole && !(isInRow && counts.length === 1 + PER_GENERATION * revived.length)) {
      throw new RangeError(`${revived.length} generations with ${counts.length} counts`)
    }
    this.#gone = savedWhole('generations forgotten', counts[0] ?? 0, 0, this.#succession.mostGone) + first
    for (const { i, generation } of revived) {
      const born = counts[2 + i * PER_GENERATION] ?? this.#now
      const capacity = this.#succession.capacity(this.#succession.plan(i))
      generation.urls = savedWhole('URLs', counts[1 + i * PER_GENERATION] ?? 0, 0, capacity)
      checkField('a generation begun at', born, born >= 0 && born <= MOST_TIME, 'milliseconds since 1970')
      generation.born = born
      for (const { filter, kernel } of generation.shards.all) {
        filter.restored([], isWhole)
        kernel.refresh()
      }
      this.#all.push(generation)
    }
    if (this.#all.length === 0) this.#begin()
  }
}

function* piecesOf({ shards }: Generation): Generator<Piece> {
  for (const [i, { filter }] of shards.all.entries()) {
    for (const piece of filter.pieces()) yield { ...piece, array: i * SHARDS + piece.array }
  }
}
