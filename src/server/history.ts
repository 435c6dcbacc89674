// The history of a server and of each sieve, for the page: the last hour in steps of 10 s and the last day in steps of 4
// min, in memory. A timer samples what is counted anyway. A sieve takes 14,400 bytes, the server 43 kB.
import type { Stats } from '../index.ts'
import type { ServerInfo } from './info.ts'
import { LoadMeter } from './load.ts'
import { loadNames } from './load-values.ts'
import { forEachSieve } from './parts.ts'
import type { ServedSieve, SieveRegistry } from './registry.ts'

export type Span = 'hour' | 'day'

/** Samples of each span. */
const STEPS = 360
const STEP_MS: Readonly<Record<Span, number>> = { hour: 10_000, day: 240_000 }
const SLACK_MS = STEP_MS.hour / 2
export const spans = Object.keys(STEP_MS) as readonly Span[]
/** Significant digits of the values that are given out; they are stored with seven. */
const DIGITS = 4

export const sieveHistoryNames = [
  'addsPerSecond',
  'seenPerSecond',
  'asksPerSecond',
  'sizeBytes',
  'expectedRate',
] as const

export const serverHistoryNames = [
  'addsPerSecond',
  'seenPerSecond',
  'sizeBytes',
  'connections',
  ...loadNames,
] as const

type Values<Name extends string> = Readonly<Record<Name, number | null>>

/** Oldest first; a value is null where nothing was measured. */
export interface Course {
  readonly span: Span
  readonly stepSeconds: number
  /** In seconds since 1970. */
  readonly times: readonly number[]
  readonly values: Readonly<Record<string, readonly (number | null)[]>>
}

interface Row {
  readonly sieve: ServedSieve
  readonly stats: Stats
}

/** A ring of samples, one column for each name. */
class Columns<Name extends string> {
  readonly #names: readonly Name[]
  readonly #data: Float32Array

  constructor(names: readonly Name[]) {
    this.#names = names
    this.#data = new Float32Array(names.length * STEPS).fill(Number.NaN)
  }

  set(slot: number, values: Values<Name>): void {
    for (const [i, name] of this.#names.entries()) {
      this.#data[i * STEPS + slot] = values[name] ?? Number.NaN
    }
  }

  read(slots: readonly number[]): Record<string, (number | null)[]> {
    const column = (i: number) => slots.map((slot) => rounded(this.#data[i * STEPS + slot]!))
    return Object.fromEntries(this.#names.map((name, i) => [name, column(i)]))
  }
}

const rounded = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : null

/** One sieve: its samples, and its counts at the last one. */
class SieveColumns extends Columns<(typeof sieveHistoryNames)[number]> {
  #adds = 0
  #seen = 0
  #asks = 0

  constructor() {
    super(sieveHistoryNames)
  }

  /** Takes a sample, `seconds` after the last one. Returns the adds since then, and how many of them were seen. */
  take(slot: number, { sieve, stats }: Row, seconds: number): readonly [adds: number, seen: number] {
    const { adds, seen, asks } = sieve.meters
    const since = [adds - this.#adds, seen - this.#seen, asks - this.#asks] as const
    this.#adds = adds
    this.#seen = seen
    this.#asks = asks
    const [addsPerSecond, seenPerSecond, asksPerSecond] = since.map((count) => count / seconds) as [
      number,
      number,
      number,
    ]
    const { sizeBytes, expectedRate } = stats
    this.set(slot, { addsPerSecond, seenPerSecond, asksPerSecond, sizeBytes, expectedRate })
    return [since[0], since[1]]
  }
}

/** The samples of one span: the server's and those of each sieve, at the same times. */
class Track {
  readonly #span: Span
  readonly #times = new Float64Array(STEPS)
  #server = new Columns(serverHistoryNames)
  #sieves = new Map<ServedSieve, SieveColumns>()
  readonly #load: LoadMeter
  #lastAt: number
  /** Samples taken. */
  #count = 0

  constructor(span: Span, info: ServerInfo, at: number) {
    this.#span = span
    this.#load = new LoadMeter(info, at)
    this.#lastAt = at
  }

  /** Whether a step is over, or nearly: timers are not exact. The first sample is due immediately. */
  isDue(at: number): boolean {
    return this.#count === 0 || at <= this.#lastAt || at - this.#lastAt >= STEP_MS[this.#span] - SLACK_MS
  }

  take(at: number, rows: readonly Row[], gauges: { sizeBytes: number; connections: number }): void {
    // A clock that was set back: the times would no longer increase.
    if (at <= this.#lastAt) this.#count = 0
    const seconds = at > this.#lastAt ? (at - this.#lastAt) / 1000 : Number.NaN
    this.#lastAt = at
    const slot = this.#count++ % STEPS
    this.#times[slot] = at / 1000
    const before = this.#sieves
    this.#sieves = new Map(rows.map(({ sieve }) => [sieve, before.get(sieve) ?? new SieveColumns()]))
    let adds = 0
    let seen = 0
    for (const row of rows) {
      const [added, repeated] = this.#sieves.get(row.sieve)!.take(slot, row, seconds)
      adds += added
      seen += repeated
    }
    const load = this.#load.take(at)
    this.#server.set(slot, {
      addsPerSecond: adds / seconds,
      seenPerSecond: seen / seconds,
      ...gauges,
      ...load,
    })
  }

  /** The course of a sieve, or of the server. */
  read(sieve?: ServedSieve): Course {
    const columns = sieve ? this.#sieves.get(sieve) : this.#server
    const kept = columns ? Math.min(this.#count, STEPS) : 0
    const slots = Array.from({ length: kept }, (_, i) => (this.#count - kept + i) % STEPS)
    return {
      span: this.#span,
      stepSeconds: STEP_MS[this.#span] / 1000,
      times: slots.map((slot) => Math.round(this.#times[slot]! * 10) / 10),
      values: columns?.read(slots) ?? Object.fromEntries(sieveHistoryNames.map((name) => [name, []])),
    }
  }
}

export class ServerHistory {
  readonly #registry: SieveRegistry
  readonly #info: ServerInfo
  readonly #tracks: Readonly<Record<Span, Track>>
  #timer: NodeJS.Timeout | undefined
  #isSampling = false

  /** `at`: the current time in milliseconds since 1970. */
  constructor(registry: SieveRegistry, info: ServerInfo, at = Date.now()) {
    this.#registry = registry
    this.#info = info
    this.#tracks = { hour: new Track('hour', info, at), day: new Track('day', info, at) }
  }

  /** Samples every 10 s until `close`; `onError` is called when a sample fails. */
  start(onError: (error: unknown) => void): void {
    this.#timer ??= setInterval(() => void this.sample(Date.now()).catch(onError), STEP_MS.hour).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Takes a sample, in short parts; does nothing while another one is being taken or the sieves are being opened. */
  async sample(at: number): Promise<void> {
    if (this.#isSampling || this.#registry.isLoading) return
    const due = spans.map((span) => this.#tracks[span]).filter((track) => track.isDue(at))
    if (due.length === 0) return
    this.#isSampling = true
    try {
      const rows = await forEachSieve(this.#registry, async (sieve) => ({
        sieve,
        stats: await sieve.stats(),
      }))
      const { resp, http } = this.#info.connections
      const gauges = { sizeBytes: this.#registry.sizeBytes, connections: resp + http }
      for (const track of due) track.take(at, rows, gauges)
    } finally {
      this.#isSampling = false
    }
  }

  /** The course of a sieve, or of the whole server. */
  read(span: Span, sieve?: ServedSieve): Course {
    return this.#tracks[span].read(sieve)
  }
}
