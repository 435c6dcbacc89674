// The last two minutes of a sieve or of the server, one sample per second, with the values derived from two samples: adds
// per second and the share of repeats.
import { type Load, loadNames } from '../../src/server/load-values.ts'
import type { LiveSieve, Snapshot } from './api.ts'

export const SECONDS = 120

/** Samples, oldest first: their times in milliseconds, and values by name; null where nothing was measured. */
export interface Course {
  readonly times: readonly number[]
  readonly values: Readonly<Record<string, readonly (number | null)[]>>
}

/** The newest samples of some values. */
class Samples<Name extends string> implements Course {
  readonly times: number[] = []
  readonly values: Record<Name, (number | null)[]>

  constructor(names: readonly Name[]) {
    this.values = Object.fromEntries(names.map((name) => [name, []])) as unknown as typeof this.values
  }

  push(at: number, values: Readonly<Record<Name, number | null>>): void {
    // A clock that was set back.
    if (at <= (this.times.at(-1) ?? 0)) for (const list of this.#lists) list.length = 0
    this.times.push(at)
    for (const name in this.values) this.values[name].push(values[name])
    for (const list of this.#lists) if (list.length > SECONDS) list.shift()
  }

  get #lists(): (number | null)[][] {
    return [this.times, ...Object.values<(number | null)[]>(this.values)]
  }
}

const SIEVE_NAMES = ['addsPerSecond', 'repeats', 'sizeBytes', 'expectedRate'] as const

interface Counts {
  readonly at: number
  readonly adds: number
  readonly seen: number
}

export class History {
  readonly course = new Samples(SIEVE_NAMES)
  #last: Counts | null = null

  /** One value per second, newest last. */
  get track(): Readonly<Record<(typeof SIEVE_NAMES)[number], readonly (number | null)[]>> {
    return this.course.values
  }

  /** Adds a sample; `at` is a time in milliseconds. */
  take(at: number, { adds: total, seen, sizeBytes, expectedRate }: LiveSieve): void {
    const before = this.#last
    this.#last = { at, adds: total, seen }
    // A restarted server counts from zero.
    const isGap = before === null || at <= before.at || total < before.adds
    const adds = isGap ? null : total - before.adds
    this.course.push(at, {
      addsPerSecond: adds === null ? null : (adds * 1000) / (at - before!.at),
      repeats: adds ? (seen - before!.seen) / adds : null,
      sizeBytes,
      expectedRate,
    })
  }

  get recentAdds(): number {
    return this.track.addsPerSecond.reduce<number>((sum, adds) => sum + (adds ?? 0), 0)
  }

  /** The newest value of a track. */
  latest(name: (typeof SIEVE_NAMES)[number]): number | null {
    return this.track[name].at(-1) ?? null
  }
}

/** The same of the whole server. */
export class ServerSamples extends Samples<
  'addsPerSecond' | 'newPerSecond' | 'sizeBytes' | 'connections' | keyof Load
> {
  constructor() {
    super(['addsPerSecond', 'newPerSecond', 'sizeBytes', 'connections', ...loadNames])
  }

  take(at: number, { sizeBytes, connections, load }: Snapshot, histories: Iterable<History>): void {
    let adds: number | null = null
    let fresh = 0
    for (const history of histories) {
      const own = history.latest('addsPerSecond')
      if (own === null) continue
      adds = (adds ?? 0) + own
      fresh += own * (1 - (history.latest('repeats') ?? 0))
    }
    this.push(at, {
      addsPerSecond: adds,
      newPerSecond: adds === null ? null : fresh,
      sizeBytes,
      connections: connections.resp + connections.http,
      ...load,
    })
  }
}
