// The memory that the threads of one run share, and what each word of it means. A chunk of the input has a number in input
// order; one thread reads it, makes its hashes and publishes them here, part by part; the thread that owns a part of the
// table adds the verdicts, chunk by chunk in input order; the first thread then writes the lines when it is their turn.
import { BATCH_LINES, MOST_PARTS, PART_ENTRIES } from './part-arrays.ts'

export interface RunShape {
  /** All threads; the first is the main one. */
  readonly threads: number
  /** Parts of the table: that many threads own one each. */
  readonly parts: number
  /** Chunks that one thread may have under way. */
  readonly chunksPerThread: number
  /** The most bytes that are read at a time. */
  readonly chunkBytes: number
}

/** The number of the main thread. */
export const MAIN = 0

/** Values of STATUS. */
export const RUNNING = 0
export const FAILED = 1
export const CLOSING = 2

/** Values of SOURCE: where the threads get the input from. */
export const NO_SOURCE = 0
/** A plain file, which the threads read themselves, one at a time. */
export const FILE = 1
/** Buffers in this memory, filled by the main thread. */
export const STREAM = 2

/** Values of ENDED: the input has ended; the rest of it cannot be read, so that an unfinished line is none. */
export const AT_END = 1
export const CUT_OFF = 2

/** Words of 32 bits, each on a cache line of its own. */
const LINE = 16
export const STATUS = 0
/** 1: a thread reads. */
export const READING = 1 * LINE
export const SOURCE = 2 * LINE
/** Of a FILE: its descriptor. */
export const DESCRIPTOR = 3 * LINE
/** Chunks that were read. */
export const NEXT = 4 * LINE
/** Chunks that were written. */
export const WRITTEN = 5 * LINE
/** Bytes of an unfinished line, to go before the next chunk. */
export const CARRIED = 6 * LINE
/** Threads that have started. */
export const STARTED = 7 * LINE
/** Buffers of a STREAM that were filled, and that were emptied. */
export const FILLED = 8 * LINE
export const EMPTIED = 9 * LINE
/** Of a STREAM: whether there are no more buffers than were filled. */
export const ENDED = 10 * LINE
const BELLS = 11 * LINE

/** How often a thread without work looks at its bell before it sleeps: for about 20 µs. */
const SPINS = 10_000

/** Buffers of a STREAM. */
const STREAM_BUFFERS = 8

/** Counters of one thread, as 64-bit floats. */
export const COUNTERS = 8
export const LINES = 0
export const FRESH = 1
export const INVALID = 2
export const BYTES = 3

/** One batch of a chunk: its hashes part by part, and a verdict for each. With one part the arrays are as long as those of the kernel. */
export interface PartBatch {
  /** Where each part begins and ends in the two arrays. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly hashes: BigUint64Array
  readonly verdicts: Uint8Array
}

const alignUp = (bytes: number) => Math.ceil(bytes / 64) * 64

export class SharedRun {
  readonly shape: RunShape
  readonly buffer: SharedArrayBuffer
  readonly words: Int32Array
  readonly counters: Float64Array
  /** An unfinished line, between two chunks. */
  readonly carry: Uint8Array
  readonly #streamBuffers: readonly Uint8Array[]
  readonly #lengths: Int32Array
  /** Of each chunk under way, by its number: the number plus 1 when it is published, and where it is. */
  readonly #published: Int32Array
  readonly #places: Int32Array
  /** Of each chunk under way, by its place: how many parts lack their verdicts, its batches, its lines that are not URLs. */
  readonly #partsLeft: Int32Array
  readonly #batchCounts: Int32Array
  readonly #invalid: Int32Array
  /** Made when they are first used: few of a hundred thousand at 64 threads are. */
  readonly #batches: PartBatch[][]
  readonly #newBatch: (place: number, i: number) => PartBatch

  /** Without `buffer`, new memory. */
  constructor(shape: RunShape, buffer?: SharedArrayBuffer) {
    const { threads, parts, chunksPerThread, chunkBytes } = shape
    const places = threads * chunksPerThread
    const ring = 2 ** Math.ceil(Math.log2(places))
    const batches = Math.floor((chunkBytes + 1) / BATCH_LINES) + 1
    let size = 0
    const take = (bytes: number) => {
      size += alignUp(bytes)
      return size - alignUp(bytes)
    }
    const wordsAt = take(4 * (BELLS + threads * LINE))
    const countersAt = take(8 * threads * COUNTERS)
    const publishedAt = take(4 * ring)
    const placesAt = take(4 * ring)
    const leftAt = take(4 * places)
    const countsAt = take(4 * places)
    const invalidAt = take(4 * places)
    const lengthsAt = take(4 * STREAM_BUFFERS)
    const carryAt = take(chunkBytes)
    const streamAt = Array.from({ length: STREAM_BUFFERS }, () => take(chunkBytes))
    const batchBytes = alignUp(8 * MOST_PARTS + 9 * PART_ENTRIES)
    const batchesFrom = take(places * batches * batchBytes)
    const all = buffer ?? new SharedArrayBuffer(size)
    this.shape = shape
    this.buffer = all
    this.words = new Int32Array(all, wordsAt, BELLS + threads * LINE)
    this.counters = new Float64Array(all, countersAt, threads * COUNTERS)
    this.carry = new Uint8Array(all, carryAt, chunkBytes)
    this.#published = new Int32Array(all, publishedAt, ring)
    this.#places = new Int32Array(all, placesAt, ring)
    this.#partsLeft = new Int32Array(all, leftAt, places)
    this.#batchCounts = new Int32Array(all, countsAt, places)
    this.#invalid = new Int32Array(all, invalidAt, places)
    this.#lengths = new Int32Array(all, lengthsAt, STREAM_BUFFERS)
    this.#streamBuffers = streamAt.map((at) => new Uint8Array(all, at, chunkBytes))
    this.#batches = Array.from({ length: places }, () => [])
    const entries = parts === 1 ? BATCH_LINES : PART_ENTRIES
    this.#newBatch = (place, i) => {
      const at = batchesFrom + (place * batches + i) * batchBytes
      return {
        starts: new Uint32Array(all, at, parts),
        ends: new Uint32Array(all, at + 4 * MOST_PARTS, parts),
        hashes: new BigUint64Array(all, at + 8 * MOST_PARTS, entries),
        verdicts: new Uint8Array(all, at + 8 * MOST_PARTS + 8 * PART_ENTRIES, entries),
      }
    }
  }

  load(word: number): number {
    return Atomics.load(this.words, word)
  }

  /** Sets a word and wakes the main thread if it waits for that. */
  store(word: number, value: number): void {
    Atomics.store(this.words, word, value)
    Atomics.notify(this.words, word)
  }

  /** Takes the turn to read. False: another thread has it. */
  takeTurn(): boolean {
    return Atomics.compareExchange(this.words, READING, 0, 1) === 0
  }

  passTurn(): void {
    Atomics.store(this.words, READING, 0)
  }

  /** The word that `wake` changes. */
  bellOf(thread: number): number {
    return BELLS + thread * LINE
  }

  /** How often a thread was woken: to be read before it looks for work, and given to `sleep` when there was none. */
  bell(thread: number): number {
    return Atomics.load(this.words, this.bellOf(thread))
  }

  /** Whether a thread is woken soon: waking one that sleeps takes longer than that. */
  isWokenSoon(thread: number, bell: number): boolean {
    const at = this.bellOf(thread)
    for (let i = 0; i < SPINS; i++) if (Atomics.load(this.words, at) !== bell) return true
    return false
  }

  sleep(thread: number, bell: number): void {
    if (!this.isWokenSoon(thread, bell)) Atomics.wait(this.words, this.bellOf(thread), bell)
  }

  wake(thread: number): void {
    const at = this.bellOf(thread)
    Atomics.add(this.words, at, 1)
    Atomics.notify(this.words, at)
  }

  /** Wakes all threads. */
  wakeAll(except = -1): void {
    for (let thread = 0; thread < this.shape.threads; thread++) if (thread !== except) this.wake(thread)
  }

  /** Batch number `i` of the chunk at a place. */
  batch(place: number, i: number): PartBatch {
    const batches = this.#batches[place]!
    batches[i] ??= this.#newBatch(place, i)
    return batches[i]
  }

  batchCount(place: number): number {
    return this.#batchCounts[place]!
  }

  /** Lines of the chunk at a place that are not URLs. */
  invalid(place: number): number {
    return this.#invalid[place]!
  }

  /** The thread that has the chunk at a place. */
  threadAt(place: number): number {
    return Math.floor(place / this.shape.chunksPerThread)
  }

  /** The chunk's hashes are there: its parts can get their verdicts. */
  publish(chunk: number, place: number, batchCount: number, invalid: number): void {
    const at = chunk & (this.#published.length - 1)
    this.#batchCounts[place] = batchCount
    this.#invalid[place] = invalid
    Atomics.store(this.#partsLeft, place, this.shape.parts)
    this.#places[at] = place
    Atomics.store(this.#published, at, (chunk + 1) | 0)
  }

  /** Where a chunk is; -1 when it is not published. */
  placeOf(chunk: number): number {
    const at = chunk & (this.#published.length - 1)
    return Atomics.load(this.#published, at) === ((chunk + 1) | 0) ? this.#places[at]! : -1
  }

  /** One more part of the chunk at a place has its verdicts. True: all have. */
  partDone(place: number): boolean {
    return Atomics.sub(this.#partsLeft, place, 1) === 1
  }

  isJudged(place: number): boolean {
    return Atomics.load(this.#partsLeft, place) === 0
  }

  /** Whether the main thread may fill a buffer of the stream. */
  hasSpace(): boolean {
    return ((this.load(FILLED) - this.load(EMPTIED)) | 0) < STREAM_BUFFERS
  }

  /** The buffer to fill next. */
  space(): Uint8Array {
    return this.#streamBuffers[this.load(FILLED) & (STREAM_BUFFERS - 1)]!
  }

  fill(bytes: number): void {
    const filled = this.load(FILLED)
    this.#lengths[filled & (STREAM_BUFFERS - 1)] = bytes
    this.store(FILLED, (filled + 1) | 0)
  }

  /** The buffer to empty next; null when none is filled. */
  next(): Uint8Array | null {
    const emptied = this.load(EMPTIED)
    if (emptied === this.load(FILLED)) return null
    const at = emptied & (STREAM_BUFFERS - 1)
    return this.#streamBuffers[at]!.subarray(0, this.#lengths[at])
  }

  empty(): void {
    this.store(EMPTIED, (this.load(EMPTIED) + 1) | 0)
  }
}
