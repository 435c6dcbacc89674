// Drops sieves when their time has come: one timer, for the sieve that expires next. Between two runs of the timer an
// expired sieve is already treated as absent.

/** Longest delay of a timer of Node, and how soon a drop that failed is tried again. */
const MOST_MS = 2 ** 31 - 1
const RETRY_MS = 1000

/** The last time that a Date can have. */
const LAST_DATE_MS = 8.64e15

/** A time of expiry, which may be later than any Date, as one. */
export const expiryDate = (at: number) => new Date(Math.min(at, LAST_DATE_MS))

export class Expiry {
  readonly #drop: () => Promise<number | undefined>
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires. */
  #at = Number.POSITIVE_INFINITY
  #isClosed = false

  /** `drop` drops what has expired and returns the time at which the next sieve expires. */
  constructor(drop: () => Promise<number | undefined>) {
    this.#drop = drop
  }

  /** A sieve expires at this time, in milliseconds since 1970. */
  schedule(at: number): void {
    if (this.#isClosed || at >= this.#at) return
    clearTimeout(this.#timer)
    this.#at = at
    const delay = Math.min(MOST_MS, Math.max(1, at - Date.now()))
    this.#timer = setTimeout(() => void this.#run(), delay)
    this.#timer.unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #run(): Promise<void> {
    this.#at = Number.POSITIVE_INFINITY
    try {
      const next = await this.#drop()
      if (next !== undefined) this.schedule(next)
    } catch {
      this.schedule(Date.now() + RETRY_MS)
    }
  }
}
