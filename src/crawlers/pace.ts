// How often a host may be asked: so many requests a second to each, evenly.

/** Hosts whose turn is long past are forgotten when there are so many. */
const MOST_HOSTS = 10_000
const LATE_MS = 50

export class Pace {
  readonly #betweenMs: number
  /** When each host may be asked again. */
  readonly #due = new Map<string, number>()

  /** 0: as often as one likes. */
  constructor(perSecond: number) {
    this.#betweenMs = perSecond > 0 ? 1000 / perSecond : 0
  }

  isDue(host: string, now = performance.now()): boolean {
    return this.#betweenMs === 0 || (this.#due.get(host) ?? 0) <= now
  }

  /** A request goes out. */
  take(host: string, now = performance.now()): void {
    if (this.#betweenMs === 0) return
    // A turn that was noticed a little late does not put off the next one.
    const due = Math.max(this.#due.get(host) ?? now, now - LATE_MS)
    this.#due.delete(host)
    this.#due.set(host, due + this.#betweenMs)
    if (this.#due.size > MOST_HOSTS) this.#forget(now)
  }

  #forget(now: number): void {
    for (const [host, due] of this.#due) if (due <= now) this.#due.delete(host)
  }
}

/** Whose turn a URL is. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
