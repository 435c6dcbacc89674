// Long work in short parts: between two of them the process does what else has come. A part is far shorter than the 50 ms
// that anyone may be kept waiting.

const PART_MS = 5

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
    this.begin()
  }
}
