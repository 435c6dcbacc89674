// The pace of requests to each host: a number per second, evenly spaced. A host with a delay of its own gets one request
// at a time, and the delay is counted from the end of one request to the next.

/** Longer delays are shortened to this: no host may stop a crawl. */
export const MOST_DELAY_SECONDS = 60

/** Above this number of hosts, those that are due are forgotten. */
const MOST_HOSTS = 10_000
const LATE_MS = 50

interface Turn {
  /** When the next request is due. */
  due: number
  /** Requests in progress. */
  open: number
  /** Redirects to the host since then. */
  redirects: number
  /** The host's own delay; undefined: not known yet. */
  delayMs: number | undefined
}

export class Pace {
  readonly #betweenMs: number
  readonly #hasDelays: boolean
  readonly #turns = new Map<string, Turn>()

  /** 0: no limit. `hasDelays`: each host's own delay is set by `keep`; until then one request at a time. */
  constructor(perSecond: number, hasDelays = false) {
    this.#betweenMs = perSecond > 0 ? 1000 / perSecond : 0
    this.#hasDelays = hasDelays
  }

  isDue(host: string, now = performance.now()): boolean {
    const turn = this.#turns.get(host)
    if (!turn) return true
    const isAlone = this.#hasDelays && turn.delayMs !== 0
    return turn.due <= now && !(isAlone && turn.open > 0)
  }

  /** A request is sent. */
  take(host: string, now = performance.now()): void {
    if (this.#betweenMs === 0 && !this.#hasDelays) return
    const turn = this.#turnOf(host, now)
    turn.open++
    // A request sent a little late does not delay the next one.
    turn.due = Math.max(turn.due, now - LATE_MS) + this.#betweenMs
  }

  /** A redirect led to the host: another request was sent, and its delay starts again. */
  redirect(host: string, now = performance.now()): void {
    const turn = this.#turns.get(host)
    if (!turn?.delayMs) return
    turn.redirects++
    turn.due = Math.max(turn.due, now + turn.delayMs)
  }

  /** A request has ended, with any result. */
  end(host: string, now = performance.now()): void {
    const turn = this.#turns.get(host)
    if (!turn) return
    turn.open--
    if (turn.delayMs) turn.due = Math.max(turn.due, now + atMost(turn.delayMs * (1 + turn.redirects)))
    turn.redirects = 0
  }

  /** No request is sent after all. */
  giveBack(host: string): void {
    const turn = this.#turns.get(host)
    if (!turn) return
    turn.open--
    turn.due -= this.#betweenMs
  }

  /** Sets the host's own delay; 0: none. The largest value applies. */
  keep(host: string, delayMs: number, now = performance.now()): void {
    if (!this.#hasDelays) return
    const turn = this.#turnOf(host, now)
    turn.delayMs = Math.max(turn.delayMs ?? 0, atMost(delayMs))
  }

  #turnOf(host: string, now: number): Turn {
    let turn = this.#turns.get(host)
    if (!turn) {
      if (this.#turns.size >= MOST_HOSTS) this.#forget(now)
      turn = { due: now, open: 0, redirects: 0, delayMs: undefined }
      this.#turns.set(host, turn)
    }
    return turn
  }

  #forget(now: number): void {
    for (const [host, { due, open }] of this.#turns) {
      if (due <= now && open === 0) this.#turns.delete(host)
    }
  }
}

const atMost = (delayMs: number) => Math.min(delayMs, MOST_DELAY_SECONDS * 1000)

/** The host that a URL belongs to, with its port. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
