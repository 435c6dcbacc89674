// Processes a long list of items in parts, and serves other clients between two parts when one has taken long. A list of
// usual length is one part and is answered synchronously.
import { type Items, SieveError } from '../index.ts'
import { Pace } from '../store/pace.ts'
import type { Answers, LentItems, ServedSieve, SieveRegistry } from './registry.ts'

/** Items of one batch of the kernel. */
const MOST_ITEMS = 2048
const LEAST_ITEMS = 16
/** For a sieve that has not been used: its memory is not mapped yet, and its code is not compiled. */
const FIRST_ITEMS = 64
/** A longer list is not begun in the turn that read it. */
const LONG_ITEMS = 8192
/** Bytes of one part: at first, as long as a profile may work on one URL; at most, a quarter of a large body. */
const LEAST_BYTES = 16 * 1024
const MOST_BYTES = 256 * 1024
/** Target duration of a part. */
const PART_MS = 4
/** Fewer items are not enough to measure the time per item. */
const MEASURED_ITEMS = 256

/** The items and bytes per part for one sieve, adapted to the time the last parts took. */
export class PartSize {
  items = FIRST_ITEMS
  bytes = LEAST_BYTES

  /** A part of `items` and `bytes` took `ms`. */
  learn(items: number, bytes: number, ms: number): void {
    if (2 * bytes > this.bytes) {
      const wanted = (bytes * PART_MS) / Math.max(ms, 0.001)
      this.bytes = Math.max(LEAST_BYTES, Math.min(MOST_BYTES, 2 * this.bytes, Math.floor(wanted)))
    }
    if (items < Math.min(MEASURED_ITEMS, this.items)) return
    const wanted = (items * PART_MS) / Math.max(ms, 0.001)
    this.items = Math.max(LEAST_ITEMS, Math.min(MOST_ITEMS, 2 * this.items, Math.floor(wanted)))
  }

  /** Call before items are written to memory that is not mapped yet. */
  restart(): void {
    this.items = Math.min(this.items, FIRST_ITEMS)
  }
}

/** The verdicts of all items. When a part fails, the verdicts before it stand: the error has them in `answered`. */
export function inParts(
  items: LentItems,
  size: PartSize,
  act: (part: Items) => Uint8Array,
): Answers<Uint8Array> {
  const count = items.starts.length
  const timed = (part: Items): Uint8Array => {
    const begun = performance.now()
    const answers = act(part)
    size.learn(part.starts.length, spanOf(part), performance.now() - begun)
    return answers
  }
  const bytes = spanOf(items)
  if (count < MEASURED_ITEMS && count <= size.items && bytes <= LEAST_BYTES) return act(items)
  if (count <= 1 || (count <= size.items && bytes <= size.bytes)) return timed(items)
  const answers = new Uint8Array(count)
  const pace = new Pace()
  let rest = items
  let done = 0
  const work = (): boolean => {
    do {
      const n = partLength(rest, size)
      answers.set(
        withAnswers(() => timed(slice(rest, 0, n)), answers, done),
        done,
      )
      rest = slice(rest, n)
      done += n
    } while (done < count && !pace.isOver)
    return done === count
  }
  if (count <= LONG_ITEMS && work()) return answers
  if (!items.isKept) rest = copy(rest)
  return later(pace, work).then(() => answers)
}

/** The same for a list of texts that are processed one by one. */
export function oneByOne(texts: readonly string[], act: (text: string) => number): Answers<Uint8Array> {
  const answers = new Uint8Array(texts.length)
  const pace = new Pace()
  let done = 0
  const work = (): boolean => {
    while (done < texts.length) {
      answers[done] = withAnswers(() => [act(texts[done]!)], answers, done)[0]!
      done++
      if (pace.isOver) break
    }
    return done === texts.length
  }
  return work() ? answers : later(pace, work).then(() => answers)
}

/** What `act` returns for each sieve of a server, but those dropped meanwhile. */
export async function forEachSieve<R>(
  registry: SieveRegistry,
  act: (sieve: ServedSieve) => Promise<R>,
): Promise<R[]> {
  const pace = new Pace()
  const results: Promise<R>[] = []
  for (const sieve of registry.list()) {
    if (registry.get(sieve.name) === sieve) {
      const result = act(sieve)
      result.catch(() => {}) // it is thrown in the end
      results.push(result)
    }
    if (pace.isOver) await pace.next()
  }
  return Promise.all(results)
}

async function later(pace: Pace, work: () => boolean): Promise<void> {
  do await pace.next()
  while (!work())
}

// An error gets the `done` answers before it, then those of its own part.
function withAnswers<T>(act: () => T, before: Uint8Array, done: number): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof SieveError && (done > 0 || error.answered)) {
      const last = error.answered ?? new Uint8Array(0)
      const all = new Uint8Array(done + last.length)
      all.set(before.subarray(0, done))
      all.set(last, done)
      error.answered = all
    }
    throw error
  }
}

/** Bytes from the first item to the end of the last. */
const spanOf = ({ starts, ends }: Items): number => (ends.at(-1) ?? 0) - (starts[0] ?? 0)

function partLength({ starts, ends }: Items, size: PartSize): number {
  const most = Math.min(size.items, starts.length)
  let bytes = 0
  for (let i = 0; i < most; i++) {
    bytes += ends[i]! - starts[i]!
    if (bytes > size.bytes) return Math.max(1, i)
  }
  return most
}

function slice({ bytes, starts, ends }: Items, from: number, to?: number): Items {
  return { bytes, starts: starts.subarray(from, to), ends: ends.subarray(from, to) }
}

// The caller may change the bytes of the items once the call has returned.
function copy({ bytes, starts, ends }: Items): Items {
  let from = bytes.length
  let to = 0
  for (let i = 0; i < starts.length; i++) {
    from = Math.min(from, starts[i]!)
    to = Math.max(to, ends[i]!)
  }
  return {
    bytes: new Uint8Array(bytes.subarray(from, to)), // a Buffer's slice would share its memory
    starts: starts.map((start) => start - from),
    ends: ends.map((end) => end - from),
  }
}
