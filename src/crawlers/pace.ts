// How often a host may be asked: so many requests a second to each, evenly; and less often where the host itself asks
// for a delay, which is counted from the end of one request to the next: such a host is asked by one at a time.

/** A host that asks for more is asked this often all the same: none may stop a crawl. */
export const MOST_DELAY_SECONDS = 60

/** Hosts whose turn is long past are forgotten when there are so many. */
const MOST_HOSTS = 10_000
const LATE_MS = 50

interface Turn {
  /** When the host may be asked again. */
  due: number
  /** Requests to it that are under way. */
  open: number
  /** Redirects that led to it meanwhile. */
  redirects: number
  /** What it asks for; undefined: not heard yet. */
  delayMs: number | undefined
}

export class Pace {
  readonly #betweenMs: number
  readonly #hasDelays: boolean
  readonly #turns = new Map<string, Turn>()

  /** 0: as often as one likes. `hasDelays`: each host's own delay is told by `keep`; until then one request at a time. */
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

  /** A request goes out. */
  take(host: string, now = performance.now()): void {
    if (this.#betweenMs === 0 && !this.#hasDelays) return
    const turn = this.#turnOf(host, now)
    turn.open++
    // A turn that was noticed a little late does not put off the next one.
    turn.due = Math.max(turn.due, now - LATE_MS) + this.#betweenMs
  }

  /** A redirect led to the host: it was asked once more, and its delay counts once more. */
  redirect(host: string, now = performance.now()): void {
    const turn = this.#turns.get(host)
    if (!turn?.delayMs) return
    turn.redirects++
    turn.due = Math.max(turn.due, now + turn.delayMs)
  }

  /** A request has ended, whatever came of it. */
  end(host: string, now = performance.now()): void {
    const turn = this.#turns.get(host)
    if (!turn) return
    turn.open--
    if (turn.delayMs) turn.due = Math.max(turn.due, now + atMost(turn.delayMs * (1 + turn.redirects)))
    turn.redirects = 0
  }

  /** A turn that was taken is not used: no request goes out. */
  giveBack(host: string): void {
    const turn = this.#turns.get(host)
    if (!turn) return
    turn.open--
    turn.due -= this.#betweenMs
  }

  /** The host asks for a delay; 0: for none. The largest it has asked for counts. */
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

/** Whose turn a URL is. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
