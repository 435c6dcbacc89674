// Any sieve with limits by shape: a URL is new when the sieve says so and no limit drops it. A URL that is dropped stays
// marked: it is answered "seen" from then on, as a page that will not be fetched.
import type { Answer, AnySieve, AnyStats, Explanation } from '../any-sieve.ts'
import type { Profile } from '../canonical/profiles.ts'
import type { Items } from '../url-input.ts'
import { type Drop, type LimitName, type ShapeLimitOptions, ShapeLimits } from './shape-limits.ts'

export interface LimitedStats extends AnyStats {
  /** URLs that were new, by the limit that dropped them. */
  readonly dropped: Readonly<Record<LimitName, number>>
}

export interface LimitedExplanation extends Explanation {
  /** Why a limit would drop it now; null: none would. */
  readonly drop: Drop | null
}

export interface LimitedOptions extends ShapeLimitOptions {
  /** Gets every URL that is dropped, with the reason. */
  readonly onDrop?: (url: string, drop: Drop) => void
}

const NEWLINE = 10
const decoder = new TextDecoder()

/** Errs towards "seen" as its limits say, each drop with a reason; else as the sieve does. */
export class LimitedSieve implements AnySieve {
  readonly limits: ShapeLimits
  readonly #sieve: AnySieve
  readonly #onDrop: LimitedOptions['onDrop']

  constructor(sieve: AnySieve, { onDrop, ...limits }: LimitedOptions) {
    this.limits = new ShapeLimits({ profile: sieve.profile, ...limits })
    this.#sieve = sieve
    this.#onDrop = onDrop
  }

  get profile(): Profile {
    return this.#sieve.profile
  }

  add(url: string): Answer<boolean> {
    return then(this.#sieve.add(url), (isNew) => isNew && this.#admit(url))
  }

  has(url: string): Answer<boolean> {
    return this.#sieve.has(url)
  }

  addMany(urls: readonly string[]): Answer<Uint8Array> {
    return then(this.#sieve.addMany(urls), (verdicts) => this.#limit(verdicts, (i) => urls[i]!))
  }

  hasMany(urls: readonly string[]): Answer<Uint8Array> {
    return this.#sieve.hasMany(urls)
  }

  addLines(bytes: Uint8Array): Answer<Uint8Array> {
    return then(this.#sieve.addLines(bytes), (verdicts) => {
      let line = 0
      let at = 0
      return this.#limit(verdicts, (i) => {
        for (; line < i; line++) at = bytes.indexOf(NEWLINE, at) + 1
        const end = bytes.indexOf(NEWLINE, at)
        return decoder.decode(bytes.subarray(at, end < 0 ? bytes.length : end))
      })
    })
  }

  hasLines(bytes: Uint8Array): Answer<Uint8Array> {
    return this.#sieve.hasLines(bytes)
  }

  addItems(items: Items): Answer<Uint8Array> {
    return then(this.#sieve.addItems(items), (verdicts) =>
      this.#limit(verdicts, (i) => decoder.decode(items.bytes.subarray(items.starts[i], items.ends[i]))),
    )
  }

  hasItems(items: Items): Answer<Uint8Array> {
    return this.#sieve.hasItems(items)
  }

  explain(url: string): Answer<LimitedExplanation> {
    return then(this.#sieve.explain(url), (explanation) => {
      const drop = explanation.verdict === 'new' ? this.limits.judge(url) : null
      return { ...explanation, verdict: drop === null ? explanation.verdict : 'seen', drop }
    })
  }

  stats(): Answer<LimitedStats> {
    return then(this.#sieve.stats(), (stats) => ({ ...stats, dropped: this.limits.stats().dropped }))
  }

  close(): Promise<void> {
    return this.#sieve.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #admit(url: string): boolean {
    const drop = this.limits.admit(url)
    if (drop !== null) this.#onDrop?.(url, drop)
    return drop === null
  }

  // Verdicts of 1 that a limit drops become 0.
  #limit(verdicts: Uint8Array, urlAt: (i: number) => string): Uint8Array {
    for (let i = 0; i < verdicts.length; i++) if (verdicts[i] === 1 && !this.#admit(urlAt(i))) verdicts[i] = 0
    return verdicts
  }
}

/** What follows an answer, now or later. */
function then<T, U>(answer: Answer<T>, next: (value: T) => U): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
