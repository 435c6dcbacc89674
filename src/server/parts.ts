// A long list of items, a part at a time: when a part has taken long, other clients are answered before the next. A list
// of the usual length is one part, answered at once.
import { type Items, SieveError } from '../index.ts'
import { Pace } from '../store/pace.ts'
import type { Answers, LentItems } from './registry.ts'

/** A batch of the kernel. */
const MOST_ITEMS = 2048
const LEAST_ITEMS = 16
/** Of a sieve that has not been used: its memory is not in place yet, and its code not compiled. */
const FIRST_ITEMS = 64
/** More are not begun in the turn that read them, which was long enough. */
const LONG_ITEMS = 8192
const PART_BYTES = 256 * 1024
/** What a part should take. */
const PART_MS = 4
/** Fewer items say little of how long one takes. */
const TELLING_ITEMS = 256
/** Items that lie in no more bytes than this are short. */
const SHORT_BYTES = 1024 * 1024

/** How many items of one sieve make a part: by how long the last ones took. */
export class PartSize {
  items = FIRST_ITEMS

  /** So many took so long. */
  learn(items: number, ms: number): void {
    if (items < Math.min(TELLING_ITEMS, this.items)) return
    const wanted = (items * PART_MS) / Math.max(ms, 0.001)
    this.items = Math.max(LEAST_ITEMS, Math.min(MOST_ITEMS, 2 * this.items, Math.floor(wanted)))
  }

  /** The next items go to memory that is not in place yet. */
  restart(): void {
    this.items = Math.min(this.items, FIRST_ITEMS)
  }
}

/** Verdicts of all items. When a part fails, those of the items before stand: the error has them as `answered`. */
export function inParts(
  items: LentItems,
  size: PartSize,
  act: (part: Items) => Uint8Array,
): Answers<Uint8Array> {
  const count = items.starts.length
  const timed = (part: Items): Uint8Array => {
    const begun = performance.now()
    const answers = act(part)
    size.learn(part.starts.length, performance.now() - begun)
    return answers
  }
  if (count < TELLING_ITEMS && count <= size.items && items.bytes.length <= SHORT_BYTES) return act(items)
  if (count <= 1 || (count <= size.items && items.bytes.length <= SHORT_BYTES)) return timed(items)
  const answers = new Uint8Array(count)
  const pace = new Pace()
  let rest = items
  let done = 0
  const work = (): boolean => {
    do {
      const n = partOf(rest, size.items)
      answers.set(
        answered(() => timed(some(rest, 0, n)), answers, done),
        done,
      )
      rest = some(rest, n)
      done += n
    } while (done < count && !pace.isOver)
    return done === count
  }
  if (count <= LONG_ITEMS && work()) return answers
  if (!items.isKept) rest = copied(rest)
  return later(pace, work).then(() => answers)
}

/** The same for a list of texts that are acted on one by one. */
export function oneByOne(texts: readonly string[], act: (text: string) => number): Answers<Uint8Array> {
  const answers = new Uint8Array(texts.length)
  const pace = new Pace()
  let done = 0
  const work = (): boolean => {
    while (done < texts.length) {
      answers[done] = answered(() => [act(texts[done]!)], answers, done)[0]!
      done++
      if (pace.isOver) break
    }
    return done === texts.length
  }
  return work() ? answers : later(pace, work).then(() => answers)
}

async function later(pace: Pace, work: () => boolean): Promise<void> {
  do await pace.next()
  while (!work())
}

function answered<T>(act: () => T, before: Uint8Array, done: number): T {
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

function partOf({ starts, ends }: Items, items: number): number {
  const most = Math.min(items, starts.length)
  let bytes = 0
  for (let i = 0; i < most; i++) {
    bytes += ends[i]! - starts[i]!
    if (bytes > PART_BYTES) return Math.max(1, i)
  }
  return most
}

function some({ bytes, starts, ends }: Items, from: number, to?: number): Items {
  return { bytes, starts: starts.subarray(from, to), ends: ends.subarray(from, to) }
}

// Whoever gave the items may change their bytes once the call has returned.
function copied({ bytes, starts, ends }: Items): Items {
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
