// The verdicts of one call, in order: 1 new, 0 seen. Inside the library they are always these; a verb that reports whether
// URLs were seen turns them once, at its end.
import { SieveError } from './errors.ts'
import { checkUrlsOf, countOf, type Urls } from './keyer/urls.ts'
import type { SieveState } from './state.ts'

export class Verdicts {
  length = 0
  #bytes: Uint8Array

  /** `expected` of them are appended without a copy. */
  constructor(expected: number) {
    this.#bytes = new Uint8Array(expected)
  }

  push(verdict: number): void {
    if (this.length === this.#bytes.length) this.#widen(1)
    this.#bytes[this.length++] = verdict
  }

  append(some: Uint8Array): void {
    if (this.length + some.length > this.#bytes.length) this.#widen(some.length)
    this.#bytes.set(some, this.length)
    this.length += some.length
  }

  set(index: number, verdict: number): void {
    this.#bytes[index] = verdict
  }

  all(): Uint8Array {
    return this.length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.length)
  }

  #widen(more: number): void {
    const wider = new Uint8Array(Math.max(this.length + more, 2 * this.length, 16))
    wider.set(this.#bytes)
    this.#bytes = wider
  }
}

/** Turns verdicts in place into what `has` verbs return: 1 seen, 0 not. Any other value stays. */
export function toSeen(verdicts: Uint8Array): Uint8Array {
  for (let i = 0; i < verdicts.length; i++) if (verdicts[i]! < 2) verdicts[i]! ^= 1
  return verdicts
}

/** Verdicts of all URLs: 1 new, 0 seen; of a delete 1 not remembered, 0 remembered. */
export function answer(state: SieveState, urls: Urls, verb: 'add' | 'has' | 'delete'): Uint8Array {
  if (verb === 'has') state.keyer.free()
  else state.checkWritable()
  checkUrlsOf(urls)
  const verdicts = new Verdicts(countOf(urls))
  try {
    state.keyer.batches(urls, (n) => {
      const done = verb === 'delete' ? state.delete(n) : state[verb](0, n)
      verdicts.append(state.kernel.verdicts.subarray(0, done))
      return done
    })
  } catch (error) {
    if (error instanceof SieveError) {
      error.answered = verb === 'delete' ? toSeen(verdicts.all()) : verdicts.all()
    }
    throw error
  }
  return verdicts.all()
}
