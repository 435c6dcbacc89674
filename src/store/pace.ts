// Long work in short parts: between two of them the process does what else has come. A part is far shorter than the 50 ms
// that anyone may be kept waiting.

const PART_MS = 5
const HOLD_STEP_MS = 5

let heldUntil = 0

/** Long work pauses for this long; whatever is short goes on. */
export function holdWork(ms: number): void {
  heldUntil = Math.max(heldUntil, performance.now() + ms)
}

export class Pace {
  #begun = performance.now()

  /** Whether this part has taken its time. */
  get isOver(): boolean {
    return performance.now() - this.#begun >= PART_MS
  }

  /** A new part begins: other work was done just now. */
  begin(): void {
    this.#begun = performance.now()
  }

  /** Lets other work be done, when it is time for that. */
  async rest(): Promise<void> {
    if (this.isOver) await this.next()
  }

  /** Lets other work be done now. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (performance.now() < heldUntil) await new Promise((resolve) => setTimeout(resolve, HOLD_STEP_MS))
    this.begin()
  }
}
