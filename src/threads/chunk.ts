// One chunk of the input in one thread, in a kernel instance of its own: bytes up to the last newline, then keys and hashes,
// batch by batch; and when all verdicts are there, the lines (or keys) that are wanted.

import { SieveError } from '../errors.ts'
import type { Kernel } from '../kernel.ts'
import type { Keyer } from '../keyer/keyer.ts'
import { keepLines } from '../lines/keep.ts'
import { joinBytes } from '../lines/sift.ts'
import { PartArrays } from './part-arrays.ts'
import type { PartBatch, SharedRun } from './shared-run.ts'

const NEWLINE = 10
/** A longer length would wrap around on its way into the kernel. */
const MOST_BYTES = 2 ** 32 - 1
/** Bytes that come from shared memory are copied by words when both addresses are multiples of this. */
const WORD = 8

export interface Wanted {
  readonly keep: 'new' | 'seen'
  readonly as: 'line' | 'key'
}

/** What is needed of a batch when its verdicts are there. Arrays are copied whole: a view of a part takes longer to make. */
interface Waiting {
  n: number
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** Of each line: its entry in the parts, where there are several. */
  readonly entries: Uint16Array
  /** All keys, each with a newline, when keys are wanted. */
  keys: Uint8Array | null
}

export class Chunk {
  /** Its number, in input order. */
  number = 0
  /** Lines, those of them that are not URLs, and those that are new. */
  lines = 0
  invalid = 0
  fresh = 0
  /** The wanted lines, from `keep` on. */
  kept: Uint8Array | null = null
  readonly place: number
  readonly #keyer: Keyer
  readonly #kernel: Kernel
  /** Null: there is one part. */
  readonly #arrays: PartArrays | null
  readonly #wanted: Wanted
  readonly #parts: number
  readonly #batches: Waiting[] = []
  /** Where it begins and ends in the kernel's memory, and where the bytes that may hold a newline begin. */
  #from = 0
  #searched = 0
  #end = 0

  constructor(place: number, keyer: Keyer, parts: number, wanted: Wanted) {
    this.place = place
    this.#keyer = keyer
    this.#kernel = keyer.kernel
    this.#arrays = parts > 1 ? new PartArrays(keyer.kernel, parts) : null
    this.#parts = parts
    this.#wanted = wanted
  }

  /** Begins with an unfinished line, in which there is no newline. */
  begin(carry: Uint8Array, moreBytes: number): void {
    this.lines = this.invalid = this.fresh = 0
    this.kept = null
    this.#end = this.#from = this.#searched = 0
    const input = this.#reserve(carry.length + WORD + moreBytes)
    this.#end = input + Math.ceil(carry.length / WORD) * WORD
    this.#from = this.#end - carry.length
    this.#searched = this.#end
    this.#kernel.bytes.set(carry, this.#from)
  }

  get bytes(): number {
    return this.#end - this.#from
  }

  /** Where to put the next bytes. */
  reserve(bytes: number): Uint8Array {
    const need = this.#end - this.#from + WORD + bytes
    const before = this.#from & ~(WORD - 1)
    const input = this.#reserve(need)
    const moved = input - before
    this.#from += moved
    this.#searched += moved
    this.#end += moved
    return this.#kernel.bytes.subarray(this.#end, this.#end + bytes)
  }

  /** That many bytes were put there. Returns how many follow the last newline among them; -1 when there is none. */
  push(bytes: number): number {
    const at = this.#kernel.bytes.subarray(this.#end, this.#end + bytes).lastIndexOf(NEWLINE)
    this.#end += bytes
    return at < 0 ? -1 : bytes - at - 1
  }

  /** Takes the last bytes away: the beginning of a line. The view is good until the next call. */
  cut(bytes: number): Uint8Array {
    this.#end -= bytes
    return this.#kernel.bytes.subarray(this.#end, this.#end + bytes)
  }

  /** Makes keys and hashes of all lines, and writes them to its batches. Returns how many batches there are. */
  prepare(run: SharedRun): number {
    const kernel = this.#kernel
    const { call } = kernel
    let count = 0
    let from = this.#from
    let searched = this.#searched
    while (from < this.#end) {
      const n = call.findLines(from, searched, this.#end, 1)
      from = searched = call.lineCursor.value >>> 0
      this.#keyer.prepare(n)
      this.lines += n
      this.invalid += this.#keyer.invalidIn(0, n)
      const { entries } = this.#save(count, n)
      this.#hand(run.batch(this.place, count), n, entries)
      count++
    }
    return count
  }

  /** Joins what is wanted, by the verdicts of its batches. */
  keep(run: SharedRun): void {
    const kernel = this.#kernel
    const { call } = kernel
    const { keep, as } = this.#wanted
    const keys: Uint8Array[] = []
    let end = this.#from
    call.keepFrom(end)
    const count = run.batchCount(this.place)
    for (let i = 0; i < count; i++) {
      const { n, starts, ends, entries, keys: own } = this.#batches[i]!
      this.#gather(run.batch(this.place, i), n, entries)
      this.fresh += call.countNew(0, n)
      if (own !== null) {
        keys.push(keepLines({ lines: own, verdicts: kernel.verdicts.subarray(0, n) }, keep))
        continue
      }
      kernel.lineStarts.set(starts)
      kernel.lineEnds.set(ends)
      end = call.keepLines(n, keep === 'new' ? 1 : 0) >>> 0
    }
    this.kept = as === 'key' ? joinBytes(keys) : kernel.bytes.subarray(this.#from, end)
  }

  #reserve(bytes: number): number {
    const input = bytes > MOST_BYTES ? 0 : this.#kernel.call.reserveInput(bytes) >>> 0
    this.#kernel.refresh()
    if (input > 0) return input
    const waiting = this.#end - this.#from
    throw new SieveError('memory', `a line of over ${waiting} bytes does not fit into the memory left`)
  }

  #save(i: number, n: number): Waiting {
    const kernel = this.#kernel
    const { batchLines } = kernel
    this.#batches[i] ??= {
      n: 0,
      starts: new Uint32Array(batchLines),
      ends: new Uint32Array(batchLines),
      entries: new Uint16Array(this.#arrays ? batchLines : 0),
      keys: null,
    }
    const batch = this.#batches[i]
    batch.n = n
    if (this.#wanted.as === 'key') batch.keys = this.#allKeys(n)
    if (batch.keys !== null) return batch
    batch.starts.set(kernel.lineStarts)
    batch.ends.set(kernel.lineEnds)
    return batch
  }

  // The hashes to the shared memory, by parts where there are several.
  #hand({ starts, ends, hashes }: PartBatch, n: number, entries: Uint16Array): void {
    const kernel = this.#kernel
    const arrays = this.#arrays
    if (arrays === null) {
      starts[0] = 0
      ends[0] = n
      hashes.set(kernel.hashes)
      return
    }
    kernel.call.divideHashes(n, this.#parts)
    arrays.refresh()
    entries.set(arrays.entries.subarray(0, n))
    ends.set(arrays.ends)
    starts.set(arrays.starts)
    hashes.set(arrays.hashes.subarray(0, ends.at(-1)))
  }

  #gather({ ends, verdicts }: PartBatch, n: number, entries: Uint16Array): void {
    const kernel = this.#kernel
    const arrays = this.#arrays
    kernel.refresh()
    if (arrays === null) {
      kernel.verdicts.set(verdicts)
      return
    }
    arrays.refresh()
    arrays.verdicts.set(verdicts.subarray(0, ends.at(-1)))
    arrays.entries.set(entries.subarray(0, n))
    kernel.call.gatherVerdicts(n)
  }

  #allKeys(n: number): Uint8Array {
    const kernel = this.#kernel
    const { call } = kernel
    kernel.verdicts.fill(1, 0, n)
    const bytes = call.keptKeyBytes(n, 1) >>> 0
    const to = call.reserveOutput(bytes) >>> 0
    kernel.refresh()
    if (to === 0) throw new SieveError('memory', `no memory left for ${bytes} bytes of keys`)
    call.keepKeys(n, 1, to)
    return kernel.bytes.slice(to, to + bytes)
  }
}
