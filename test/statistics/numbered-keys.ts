// Keys for measuring rates: numbered URLs written straight into a kernel's memory, a batch at a time, so that millions
// of them cost little more than their hashing. The same letter and number always give the same key.
import type { Filter, FilterKind, Plan } from '../../src/filters/filter.ts'
import { applyHash, chooseHash } from '../../src/hashes.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { randomBytes } from '../oracles/instance.ts'
import { randomFrom } from '../support/random.mjs'

const PREFIX = 'https://www.example.com/shop/'
/** Hex digits of the batch's number, then of the place in the batch. */
const BATCH_DIGITS = 8
const PLACE_DIGITS = 3
const KEY_BYTES = PREFIX.length + 1 + BATCH_DIGITS + PLACE_DIGITS
const encoder = new TextEncoder()

/** One filter of a kind in an instance of its own, hashed with a key made from `seed`. */
export async function openFilter(kind: FilterKind, plan: Plan, seed: number): Promise<MeasuredFilter> {
  const kernel = Kernel.create(await compileKernel())
  applyHash(kernel, chooseHash('siphash', randomBytes(randomFrom(seed), 16)))
  return new MeasuredFilter(kernel, kind.create(kernel, plan, 1))
}

let blank = new Uint8Array(0)
/** The keys of a batch without letter and batch number, side by side. */
function blankKeys(count: number): Uint8Array {
  if (blank.length === count * KEY_BYTES) return blank
  const places = Array.from({ length: count }, (_, i) => i.toString(16).padStart(PLACE_DIGITS, '0'))
  blank = encoder.encode(places.map((place) => `${PREFIX}?${'0'.repeat(BATCH_DIGITS)}${place}`).join(''))
  return blank
}

export class MeasuredFilter {
  readonly filter: Filter
  readonly #kernel: Kernel
  readonly #input: number
  /** The letter and batch number that stand in the keys now. */
  readonly #written = encoder.encode(`?${'0'.repeat(BATCH_DIGITS)}`)

  constructor(kernel: Kernel, filter: Filter) {
    this.filter = filter
    this.#kernel = kernel
    this.#input = kernel.call.reserveInput(kernel.batchLines * KEY_BYTES) >>> 0
    kernel.refresh()
    kernel.bytes.set(blankKeys(kernel.batchLines), this.#input)
    for (let i = 0; i < kernel.batchLines; i++) {
      kernel.keyStarts[i] = this.#input + i * KEY_BYTES
      kernel.keyEnds[i] = this.#input + (i + 1) * KEY_BYTES
    }
  }

  /** Adds the keys 0 … n − 1 of a letter. Gives back how many were answered "new". */
  add(letter: string, n: number): number {
    return this.#eachBatch(letter, n, (count) => {
      if (this.filter.add(0, count) < count) throw new Error('the filter under test is full')
    })
  }

  /** How many of the keys 0 … n − 1 of a letter are answered "seen". */
  seen(letter: string, n: number): number {
    return n - this.#eachBatch(letter, n, (count) => this.filter.has(0, count))
  }

  // The number of verdicts "new" over all batches.
  #eachBatch(letter: string, n: number, ask: (count: number) => void): number {
    const kernel = this.#kernel
    let fresh = 0
    for (let done = 0, batch = 0; done < n; batch++) {
      const count = Math.min(kernel.batchLines, n - done)
      const digits = encoder.encode(letter + batch.toString(16).padStart(BATCH_DIGITS, '0'))
      for (const [j, digit] of digits.entries()) if (digit !== this.#written[j]) this.#write(j, digit)
      kernel.call.hashKeys(count)
      ask(count)
      kernel.refresh()
      const { verdicts } = kernel
      for (let i = 0; i < count; i++) fresh += verdicts[i]!
      done += count
    }
    return fresh
  }

  // Sets byte `j` behind the prefix in all keys of the batch, also those that are not asked this time.
  #write(j: number, byte: number): void {
    const { bytes, batchLines } = this.#kernel
    const end = this.#input + batchLines * KEY_BYTES
    for (let at = this.#input + PREFIX.length + j; at < end; at += KEY_BYTES) bytes[at] = byte
    this.#written[j] = byte
  }
}
