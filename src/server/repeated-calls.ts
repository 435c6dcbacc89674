// Answers to calls that have a name of their own, kept for a minute: a client whose connection broke sends the call again and
// gets the first answers, not "seen" for what its first attempt marked. In memory: a restart forgets them.
import { createHash } from 'node:crypto'
import { Pace } from '../store/pace.ts'

export const KEPT_MS = 60_000
/** Default of --max-kept-answers. */
export const KEPT_BYTES = 64 * 1024 ** 2
/** Memory of a call besides its answer, about. */
const CALL_BYTES = 512
/** Bytes digested between two looks at the clock. */
const STEP_BYTES = 256 * 1024

/**
 * What is to be done with a call: `new`, then execute it and call `end`; `other`, its name was used for another call; `full`,
 * its answer could not be kept; or the answer it had.
 */
export type Begun = 'new' | 'other' | 'full' | { readonly answer: unknown }

/** An answer with its size. */
export interface Kept {
  readonly answer: unknown
  readonly bytes: number
}

interface Running {
  readonly digest: string
  readonly bytes: number
  readonly over: Promise<void>
  readonly end: () => void
}

export class RepeatedCalls {
  readonly mostBytes: number
  /** Since the start: calls answered from memory, and calls refused because no more answers could be kept. */
  repeated = 0
  refused = 0
  sizeBytes = 0
  readonly #now: () => number
  readonly #running = new Map<string, Running>()
  /** The oldest first. */
  readonly #kept = new Map<string, Kept & { readonly digest: string; readonly until: number }>()
  #timer: NodeJS.Timeout | undefined

  constructor(mostBytes = KEPT_BYTES, now: () => number = () => performance.now()) {
    this.mostBytes = mostBytes
    this.#now = now
  }

  /** Answers kept. */
  get count(): number {
    return this.#kept.size
  }

  /** `digest`: of the whole call. `bytes`: about what its answer will take. Waits while the same call is under way. */
  async begin(name: string, digest: string, bytes: number): Promise<Begun> {
    for (let one = this.#running.get(name); one; one = this.#running.get(name)) {
      if (one.digest !== digest) return 'other'
      await one.over
    }
    this.#forget()
    const kept = this.#kept.get(name)
    if (kept) {
      if (kept.digest !== digest) return 'other'
      this.repeated++
      return kept
    }
    const reserved = CALL_BYTES + bytes
    if (this.sizeBytes + reserved > this.mostBytes) {
      this.refused++
      return 'full'
    }
    this.sizeBytes += reserved
    let end = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#running.set(name, { digest, bytes: reserved, over, end })
    return 'new'
  }

  /** The call was executed; null: it changed nothing, and a repetition is to be executed again. */
  end(name: string, kept: Kept | null): void {
    const running = this.#running.get(name)!
    this.#running.delete(name)
    this.sizeBytes -= running.bytes
    if (kept) {
      const bytes = CALL_BYTES + kept.bytes
      this.sizeBytes += bytes
      this.#kept.set(name, { ...kept, bytes, digest: running.digest, until: this.#now() + KEPT_MS })
      this.#timer ??= setTimeout(() => this.#expire(), KEPT_MS).unref()
    }
    running.end()
  }

  #expire(): void {
    this.#timer = undefined
    this.#forget()
    if (this.#kept.size > 0) this.#timer = setTimeout(() => this.#expire(), KEPT_MS).unref()
  }

  #forget(): void {
    const now = this.#now()
    for (const [name, { until, bytes }] of this.#kept) {
      if (until > now) return
      this.#kept.delete(name)
      this.sizeBytes -= bytes
    }
  }
}

/** A digest of the parts, each with its length. Long ones are digested in steps. */
export async function digestOf(...parts: readonly Uint8Array[]): Promise<string> {
  const pace = new Pace()
  const hash = createHash('sha256')
  for (const part of parts) {
    hash.update(`${part.length}:`)
    for (let at = 0; at < part.length; at += STEP_BYTES) {
      hash.update(part.subarray(at, at + STEP_BYTES))
      await pace.rest()
    }
  }
  return hash.digest('base64')
}
