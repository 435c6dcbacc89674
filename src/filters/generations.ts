// A row of filters that answers as one: an older one is asked, the newest takes what none of them knows. Each is in a
// kernel instance of its own; the batch's hashes come from the first instance. `scalable` and `window` are made of it.
import type { Kernel } from '../kernel.ts'
import { type Filter, type FilterKind, type Measure, noRoom, type Piece, type Plan, WHOLE } from './filter.ts'
import { checkField, savedWhole } from './saved-plan.ts'

export interface Generation {
  readonly kernel: Kernel
  readonly filter: Filter
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
  /** How many more URLs the newest may take before the next begins: 0 when it is time. */
  room(newest: Generation, now: number): number
  /** How many to keep; the oldest are forgotten. */
  readonly most: number
  /** Whether all of a generation is too old to be remembered. */
  isOver?(generation: Generation, now: number): boolean
}

/** Numbers of a generation among `counts`: index of the first, then urls and born of each. */
const PER_GENERATION = 2
/** A piece's `array`: the generation's index times this, plus the array within it. */
const ARRAYS = 256
/** The array of a generation that comes first and says how large it is, so that later formulas cannot change it. */
const PLAN_ARRAY = ARRAYS - 1
const PLAN_BYTES = 16

// u64 bits and u32 hashes; 0 where the filter has none.
function encodePlan({ bits, hashes }: Plan): Uint8Array {
  const view = new DataView(new ArrayBuffer(PLAN_BYTES))
  view.setBigUint64(0, BigInt(bits ?? 0), true)
  view.setUint32(8, hashes ?? 0, true)
  return new Uint8Array(view.buffer)
}

function decodePlan(bytes: Uint8Array): Pick<Plan, 'bits' | 'hashes'> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, PLAN_BYTES)
  return { bits: Number(view.getBigUint64(0, true)) || null, hashes: view.getUint32(8, true) }
}

/** Milliseconds since 1970 that a date can have. */
const MOST_TIME = 8.64e15

export class Generations implements Filter {
  readonly #front: Kernel
  readonly #succession: Succession
  #all: Generation[] = []
  /** Those of a snapshot that is being read, with their numbers in it. */
  readonly #revived: { readonly i: number; readonly generation: Generation }[] = []
  /** How many have been forgotten. */
  #gone = 0
  /** Set while a log is replayed: the time of the record. Its entries were all new when it was written. */
  #clock: number | null = null

  constructor(front: Kernel, succession: Succession, isRevived: boolean) {
    this.#front = front
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

  #open(index: number): Generation {
    const { kind } = this.#succession
    const plan = this.#succession.plan(index)
    const kernel = this.#front.sibling()
    return { kernel, plan, filter: kind.create(kernel, plan, 1), urls: 0, born: this.#now }
  }

  #begin(): Generation {
    const next = this.#open(this.#gone + this.#all.length)
    this.#all.push(next)
    while (this.#all.length > this.#succession.most) {
      this.#all.shift()
      this.#gone++
    }
    return next
  }

  // Forgets the generations that are too old. There is always a newest.
  #expire(): void {
    const { isOver } = this.#succession
    if (!isOver) return
    const now = this.#now
    while (this.#all.length > 0 && isOver(this.#all[0]!, now)) {
      this.#all.shift()
      this.#gone++
    }
    if (this.#all.length === 0) this.#begin()
  }

  // The newest, with room for at least one URL.
  #newest(): Generation {
    const newest = this.#all.at(-1)!
    return this.#succession.room(newest, this.#now) > 0 ? newest : this.#begin()
  }

  add(from: number, n: number): number {
    this.#expire()
    for (let done = from; done < n; ) {
      const newest = this.#newest()
      const end = Math.min(n, done + this.#succession.room(newest, this.#now))
      this.#addSome(newest, done, end)
      done = end
    }
    return n
  }

  // There is but one: the batch goes there as it is.
  #addAll(only: Generation, from: number, n: number): void {
    const { kernel, filter, plan } = only
    const count = n - from
    kernel.hashes.set(this.#front.hashes.subarray(from, n))
    if (filter.add(0, count) < count) throw noRoom(plan.filter, plan.sizeBytes)
    kernel.refresh()
    this.#front.verdicts.set(kernel.verdicts.subarray(0, count), from)
    only.urls += this.#clock === null ? kernel.call.countNew(0, count) : count
  }

  // Entries that no older generation knows go to the newest.
  #addSome(newest: Generation, from: number, n: number): void {
    if (this.#all.length === 1) {
      this.#addAll(newest, from, n)
      return
    }
    const unknown = this.#ask(from, n, this.#all.slice(0, -1))
    if (this.#clock !== null) newest.urls += n - from
    if (unknown.length === 0) return
    const { hashes, verdicts } = this.#front
    const { kernel, filter } = newest
    for (let i = 0; i < unknown.length; i++) kernel.hashes[i] = hashes[unknown[i]!]!
    if (filter.add(0, unknown.length) < unknown.length)
      throw noRoom(newest.plan.filter, newest.plan.sizeBytes)
    kernel.refresh()
    for (let i = 0; i < unknown.length; i++) {
      const verdict = kernel.verdicts[i]!
      verdicts[unknown[i]!] = verdict
      if (this.#clock === null) newest.urls += verdict
    }
  }

  has(from: number, n: number): void {
    this.#expire()
    this.#ask(from, n, this.#all)
  }

  // Sets the verdicts of entries [from, n) by some generations; returns the entries that none of them knows.
  #ask(from: number, n: number, generations: readonly Generation[]): number[] {
    const { hashes, verdicts } = this.#front
    verdicts.fill(1, from, n)
    for (const { kernel, filter } of generations) {
      kernel.hashes.set(hashes.subarray(from, n))
      filter.has(0, n - from)
      kernel.refresh()
      for (let i = from; i < n; i++) verdicts[i]! &= kernel.verdicts[i - from]!
    }
    const unknown: number[] = []
    for (let i = from; i < n; i++) if (verdicts[i] === 1) unknown.push(i)
    return unknown
  }

  delete(n: number): void {
    this.#expire()
    const { hashes, verdicts } = this.#front
    verdicts.fill(1, 0, n)
    for (const generation of this.#all) {
      const { kernel, filter } = generation
      kernel.hashes.set(hashes.subarray(0, n))
      filter.delete!(n)
      kernel.refresh()
      for (let i = 0; i < n; i++) {
        if (kernel.verdicts[i] === 0) generation.urls--
        verdicts[i]! &= kernel.verdicts[i]!
      }
    }
  }

  measure(): Measure {
    const measures = this.#all.map(({ filter }) => filter.measure())
    return {
      sizeBytes: measures.reduce((sum, m) => sum + m.sizeBytes, 0),
      fill: measures.at(-1)!.fill,
      // A new URL is answered "seen" when any generation errs: the compound rate.
      rate: 1 - measures.reduce((product, m) => product * (1 - m.rate), 1),
      layers: this.#all.map(({ urls }, i) => ({
        name: `generation ${this.#gone + i + 1}`,
        fill: measures[i]!.fill,
        distinct: urls,
      })),
    }
  }

  // The generations there are when the first piece is asked for; `counts` must be asked for at that moment too. Which
  // generation a URL belongs to depends on the order, and comes out the same when the log is replayed: there every entry
  // counts, whether the newest generation was written before or after it was added, so that the next one begins at the
  // same entry as it did.
  *pieces(): Generator<Piece> {
    for (const [i, generation] of [...this.#all].entries()) {
      yield { array: i * ARRAYS + PLAN_ARRAY, offset: 0, bytes: encodePlan(generation.plan) }
      for (const piece of generation.filter.pieces()) yield { ...piece, array: i * ARRAYS + piece.array }
    }
  }

  // Begins a generation of a snapshot, as large as it was; they are counted from the oldest that is in it.
  #revive(i: number, size: Pick<Plan, 'bits' | 'hashes'>): void {
    const { kind, most } = this.#succession
    const before = this.#revived.at(-1)?.i ?? -1
    if (i <= before || i >= most)
      throw new RangeError(`generation ${i} behind generation ${before} of ${most}`)
    const planned = this.#succession.plan(i)
    const sizeBytes = size.bits === null ? planned.sizeBytes : Math.ceil(size.bits / 8)
    const plan = { ...planned, ...size, sizeBytes }
    kind.arrayBytes(plan, 1)
    const kernel = this.#front.sibling()
    const filter = kind.revive?.(kernel, plan, WHOLE) ?? kind.create(kernel, plan, 1)
    this.#revived.push({ i, generation: { kernel, plan, filter, urls: 0, born: 0 } })
  }

  // The filter of a generation of a snapshot. Its plan comes before its pieces.
  #filterOf(i: number): Filter {
    const found = this.#revived.find((one) => one.i === i)
    if (!found) throw new RangeError(`a piece of generation ${i} before its size`)
    return found.generation.filter
  }

  place(array: number, offset: number, bytes: number): Uint8Array {
    if (array % ARRAYS !== PLAN_ARRAY) {
      return this.#filterOf(Math.floor(array / ARRAYS)).place(array % ARRAYS, offset, bytes)
    }
    if (offset !== 0 || bytes !== PLAN_BYTES) throw new RangeError(`a size of ${bytes} bytes at ${offset}`)
    return new Uint8Array(bytes)
  }

  placed(array: number, offset: number, room: Uint8Array): void {
    const i = Math.floor(array / ARRAYS)
    if (array % ARRAYS === PLAN_ARRAY) this.#revive(i, decodePlan(room))
    else this.#filterOf(i).placed?.(array % ARRAYS, offset, room)
  }

  placeZeros(array: number, offset: number, bytes: number): void {
    const filter = this.#filterOf(Math.floor(array / ARRAYS))
    if (!filter.placeZeros) throw new RangeError(`no zeros are expected in array ${array}`)
    filter.placeZeros(array % ARRAYS, offset, bytes)
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
    this.#gone = savedWhole('generations forgotten', counts[0] ?? 0, 0, Number.MAX_SAFE_INTEGER) + first
    for (const { i, generation } of revived) {
      const { filter, kernel } = generation
      const born = counts[2 + i * PER_GENERATION] ?? this.#now
      generation.urls = savedWhole('URLs', counts[1 + i * PER_GENERATION] ?? 0, 0, Number.MAX_SAFE_INTEGER)
      checkField('a generation begun at', born, born >= 0 && born <= MOST_TIME, 'milliseconds since 1970')
      generation.born = born
      filter.restored([], isWhole)
      kernel.refresh()
      this.#all.push(generation)
    }
    if (this.#all.length === 0) this.#begin()
  }
}
