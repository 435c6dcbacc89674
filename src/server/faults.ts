// The current faults of a server: a damaged sieve, a filter past its capacity, a disk that refuses writes, an unreachable
// Redis. The log, /metrics, /readyz, SIEVE.STATS, INFO and the page show them.
import type { Level, Log } from './log.ts'

/** What each kind means, how it is logged, and whether a server with such a fault is ready. */
export const faultKinds = {
  'set-aside': { does: 'damaged at start and not served', level: 'error', isReady: true },
  'past-capacity': { does: 'holds more URLs than planned', level: 'warn', isReady: true },
  disk: { does: 'the disk refuses writes', level: 'error', isReady: false },
  redis: { does: 'Redis does not answer', level: 'error', isReady: false },
} as const satisfies Readonly<Record<string, { does: string; level: Level; isReady: boolean }>>

export type FaultKind = keyof typeof faultKinds

export interface Fault {
  readonly kind: FaultKind
  /** The affected sieve; absent when all are. */
  readonly sieve?: string
  /** One line: what is wrong and what to do. */
  readonly message: string
  readonly since: Date
}

/** A fault that begins again this soon after its last log line is not logged again. */
const QUIET_MS = 60_000

export class Faults {
  readonly #log: Log
  readonly #now: () => number
  readonly #faults = new Map<string, Fault & { readonly isLogged: boolean }>()
  /** When the start of each fault was last logged. */
  readonly #loggedAt = new Map<string, number>()

  constructor(log: Log = () => {}, now: () => number = Date.now) {
    this.#log = log
    this.#now = now
  }

  /** Begins a fault of one sieve or of all; it is logged once until it ends. A later message replaces the first. */
  begin(kind: FaultKind, message: string, sieve?: string): void {
    const key = keyOf(kind, sieve)
    const about = { kind, ...(sieve !== undefined && { sieve }), message }
    const before = this.#faults.get(key)
    if (before) {
      if (before.message !== message) this.#faults.set(key, { ...before, message })
      return
    }
    const now = this.#now()
    const isLogged = this.#mayLog(key, now)
    this.#faults.set(key, { ...about, since: new Date(now), isLogged })
    if (isLogged) this.#log(faultKinds[kind].level, 'fault', about)
  }

  /** Ends a fault, if there is one. */
  end(kind: FaultKind, sieve?: string): void {
    const key = keyOf(kind, sieve)
    const fault = this.#faults.get(key)
    if (!fault) return
    this.#faults.delete(key)
    if (!fault.isLogged) return
    const seconds = Math.round((this.#now() - fault.since.getTime()) / 1000)
    this.#log('info', 'fault over', { kind, ...(sieve !== undefined && { sieve }), seconds })
  }

  /** Ends all faults of a dropped sieve. */
  endAll(sieve: string): void {
    for (const { kind } of this.of(sieve)) this.end(kind, sieve)
  }

  /** All current faults, in the order in which they began. */
  list(): readonly Fault[] {
    return Array.from(this.#faults.values(), publicFault)
  }

  /** The faults of one sieve. */
  of(sieve: string): readonly Fault[] {
    return this.list().filter((fault) => fault.sieve === sieve)
  }

  find(kind: FaultKind, sieve?: string): Fault | undefined {
    const fault = this.#faults.get(keyOf(kind, sieve))
    return fault && publicFault(fault)
  }

  /** The number of faults of each kind. */
  counts(): Readonly<Record<FaultKind, number>> {
    const counts = { 'set-aside': 0, 'past-capacity': 0, disk: 0, redis: 0 }
    for (const { kind } of this.#faults.values()) counts[kind]++
    return counts
  }

  /** Whether no fault makes the server refuse work. */
  get isReady(): boolean {
    for (const { kind } of this.#faults.values()) if (!faultKinds[kind].isReady) return false
    return true
  }

  #mayLog(key: string, now: number): boolean {
    for (const [one, at] of this.#loggedAt) if (now - at >= QUIET_MS) this.#loggedAt.delete(one)
    if (this.#loggedAt.has(key)) return false
    this.#loggedAt.set(key, now)
    return true
  }
}

/** A fault as one line of text. */
export function faultLine({ kind, sieve, message, since }: Fault): string {
  const about = sieve === undefined ? kind : `${kind} ${JSON.stringify(sieve)}`
  return `${about} since ${since.toISOString()}: ${message.replaceAll(/[\r\n]+/g, ' ')}`
}

/** Why a sieve that is set aside is not served; undefined for any other name. */
export function asideOf(faults: Faults, sieve: string): string | undefined {
  const fault = faults.find('set-aside', sieve)
  return fault && `sieve '${sieve.slice(0, 128)}' is set aside: ${fault.message}`
}

const keyOf = (kind: FaultKind, sieve: string | undefined) =>
  sieve === undefined ? kind : `${kind} ${sieve}`

const publicFault = ({ kind, sieve, message, since }: Fault): Fault => ({
  kind,
  ...(sieve !== undefined && { sieve }),
  message,
  since,
})
