// Memory that is not used any more. Node collects it when it likes: buffers only when they take about 64 MB, which a limit for the
// whole process cannot wait for.
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options?: { readonly type: 'minor' }) => void

let collect: Collect | null | undefined

/** Node's collector; null where it cannot be called. */
function collector(): Collect | null {
  if (collect !== undefined) return collect
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext('gc')
  collect = typeof found === 'function' ? (found as Collect) : null
  return collect
}

/** In the middle of a run: collections of what it has given up, and the time that each has to free it. */
const COLLECTIONS = 4
const COLLECTION_MS = 25

/**
 * Collects all. Memory of a kernel instance that is not used any more returns to the system only then, and another thread
 * frees it.
 */
export async function collectGarbage(): Promise<void> {
  for (let i = 0; collector() && i < COLLECTIONS; i++) {
    collector()!()
    await setTimeout(COLLECTION_MS)
  }
}

/** The part of the heap for new objects stays as small as it is; it was seen to grow to 28 MB. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Buffers are looked at once per this many bytes of input and output. */
const LOOK_BYTES = 4 * 1024 ** 2
/** Buffers that may wait to be collected. */
const MOST_BYTES = 8 * 1024 ** 2

/** Has buffers collected before many of them wait. */
export class BufferWatch {
  #passed = 0
  /** The most that can be in use: what all took after a collection, or less if they took less since. */
  #used = 0
  /** The last look has had the new ones collected. */
  #hasCollected = false

  /** So many bytes were read or written. */
  pass(bytes: number): void {
    this.#passed += bytes
    if (this.#passed < LOOK_BYTES) return
    this.#passed = 0
    const { arrayBuffers } = process.memoryUsage()
    this.#used = Math.min(this.#used, arrayBuffers)
    if (arrayBuffers < this.#used + MOST_BYTES) {
      this.#hasCollected = false
      return
    }
    // A collection of the new ones takes less time, but leaves those that have survived two of them.
    if (this.#hasCollected) {
      collector()?.()
      this.#used = process.memoryUsage().arrayBuffers
    } else collector()?.({ type: 'minor' })
    this.#hasCollected = !this.#hasCollected
  }
}
