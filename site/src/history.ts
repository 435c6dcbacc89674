// The last two minutes of a sieve, one sample per second, with the values derived from two samples: adds per second and the
// share of repeats.
import type { LiveSieve } from './api.ts'

export const SECONDS = 120

interface Sample {
  readonly at: number
  readonly adds: number
  readonly seen: number
}

/** One value per second, newest last; null where there is none. */
export interface Track {
  readonly addsPerSecond: readonly (number | null)[]
  readonly repeats: readonly (number | null)[]
  readonly sizeBytes: readonly (number | null)[]
  readonly expectedRate: readonly (number | null)[]
}

type Values = { [K in keyof Track]: (number | null)[] }

export class History {
  readonly track: Values = { addsPerSecond: [], repeats: [], sizeBytes: [], expectedRate: [] }
  #last: Sample | null = null

  /** Adds a sample; `at` is a time in milliseconds. */
  take(at: number, { adds: total, seen, sizeBytes, expectedRate }: LiveSieve): void {
    const before = this.#last
    this.#last = { at, adds: total, seen }
    this.#push('sizeBytes', sizeBytes)
    this.#push('expectedRate', expectedRate)
    // A restarted server counts from zero.
    const isGap = before === null || at <= before.at || total < before.adds
    const adds = isGap ? null : total - before.adds
    this.#push('addsPerSecond', adds === null ? null : (adds * 1000) / (at - before!.at))
    this.#push('repeats', adds ? (seen - before!.seen) / adds : null)
  }

  /** The newest value of a track. */
  latest(name: keyof Track): number | null {
    return this.track[name].at(-1) ?? null
  }

  #push(name: keyof Track, value: number | null): void {
    const values = this.track[name]
    values.push(value)
    if (values.length > SECONDS) values.shift()
  }
}
