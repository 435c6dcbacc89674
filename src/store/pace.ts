// Who works when: everything long in the process is done in short parts, and the time that a turn of the event loop may take is
// shared by all of them, however many there are. Between two turns the process does what else has come.

/** Time of one turn, for all work together. The last part may run past it. */
const TURN_MS = 8
/** Time of one part. */
const PART_MS = 5
const HOLD_STEP_MS = 5

type Job = () => void

class Queue {
  #jobs: Job[] = []
  #first = 0

  get length(): number {
    return this.#jobs.length - this.#first
  }

  put(job: Job): void {
    this.#jobs.push(job)
  }

  take(): Job {
    const job = this.#jobs[this.#first++]!
    if (this.#first === this.#jobs.length) {
      this.#jobs = []
      this.#first = 0
    }
    return job
  }
}

/** Work waits here for its turn: what is short comes first, everything else in the order in which it came. */
export class Turns {
  readonly #short = new Queue()
  readonly #long = new Queue()
  #begunAt = 0
  #isPlanned = false
  /** In every second turn: short jobs alone never hold up the long ones for good. */
  #isLongFirst = false
  /** Milliseconds that only grow. */
  clock = (): number => performance.now()

  /** Whether the time of this turn is used up. */
  get isOver(): boolean {
    const now = this.clock()
    if (this.#begunAt === 0) {
      this.#begunAt = now
      this.#plan()
    }
    return now - this.#begunAt >= TURN_MS
  }

  /** Whether work that comes now may begin at once. What is long comes after what waits. */
  mayBegin(isShort: () => boolean): boolean {
    return !this.isOver && (this.#long.length === 0 || isShort())
  }

  /** Calls `job` when its turn has come. */
  enter(job: Job, isShort = false): void {
    ;(isShort ? this.#short : this.#long).put(job)
    this.#plan()
  }

  /** Resolves when the turn of a part has come. */
  wait(isShort = false): Promise<void> {
    return new Promise((resolve) => this.enter(resolve, isShort))
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#begunAt = 0
      this.#isLongFirst = !this.#isLongFirst
      this.#work(0)
    })
  }

  // After each job all that it has resolved is done, and counts: the next one begins only if there is time left.
  #work(done: number): void {
    const [short, long] = [this.#short, this.#long]
    const hasNext = long.length + short.length > 0
    if (!hasNext || (done > 0 && this.isOver)) {
      this.#end(hasNext)
      return
    }
    const isLong = short.length === 0 || (done === 0 && long.length > 0 && this.#isLongFirst)
    const job = (isLong ? long : short).take()
    queueMicrotask(() => process.nextTick(() => this.#work(done + 1)))
    job()
  }

  #end(hasNext: boolean): void {
    this.#begunAt = 0
    this.#isPlanned = false
    if (hasNext) this.#plan()
  }
}

/** Of this process. */
export const turns = new Turns()

let heldUntil = 0

/** Long work pauses for this long; whatever is short goes on. */
export function holdWork(ms: number): void {
  heldUntil = Math.max(heldUntil, performance.now() + ms)
}

/** Long work in parts. */
export class Pace {
  #begun = turns.clock()

  /** Whether this part has taken its time. */
  get isOver(): boolean {
    return turns.isOver || turns.clock() - this.#begun >= PART_MS
  }

  /** A new part begins: other work was done just now. */
  begin(): void {
    this.#begun = turns.clock()
  }

  /** Lets other work be done, when it is time for that. */
  async rest(): Promise<void> {
    if (this.isOver) await this.next()
  }

  /** Lets other work be done now. */
  async next(): Promise<void> {
    await turns.wait()
    while (performance.now() < heldUntil) await new Promise((resolve) => setTimeout(resolve, HOLD_STEP_MS))
    this.begin()
  }
}
