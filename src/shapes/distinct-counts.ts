// Distinct counts for many small sets in one pool: exact up to eight values, HyperLogLog beyond (Flajolet et al. 2007, with
// linear counting while many registers are empty). 1,024 registers: the standard error is 3.3 %.

/** Values that are counted exactly. */
export const EXACT_VALUES = 8
const REGISTERS = 1024
const INDEX_BITS = 10
/** Standard error of an estimate beyond `EXACT_VALUES`. */
export const DISTINCT_ERROR = 1.04 / Math.sqrt(REGISTERS)
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS)
/** Registers are allocated in blocks of this number of sets. */
const BLOCK_SETS = 1024

const NONE = -1
const LOST = -2

/** Distinct counts of `sets` sets, of which at most `denseSets` have more than eight values. */
export class DistinctCounts {
  /** True when a set had to be given up: its count is unknown. */
  isFull = false
  readonly #few: Int32Array
  readonly #fewCounts: Uint8Array
  readonly #dense: Int32Array
  readonly #blocks: Uint8Array[] = []
  readonly #free: number[] = []
  readonly #mostDense: number
  /** The least register of a set, or less; computed again after 256 changes. */
  readonly #floors: Uint8Array
  readonly #changes: Uint8Array
  #used = 0

  constructor(sets: number, denseSets: number) {
    this.#few = new Int32Array(sets * EXACT_VALUES)
    this.#fewCounts = new Uint8Array(sets)
    this.#dense = new Int32Array(sets).fill(NONE)
    this.#mostDense = denseSets
    this.#floors = new Uint8Array(denseSets)
    this.#changes = new Uint8Array(denseSets)
  }

  /** Sets with registers that can still be given out. */
  get spare(): number {
    return this.#mostDense - this.#used + this.#free.length
  }

  /** Adds a value by its hash. */
  add(set: number, hash: number): void {
    const dense = this.#dense[set]!
    if (dense >= 0) {
      this.#register(dense, hash)
      return
    }
    if (dense === LOST) return
    const few = this.#few
    const from = set * EXACT_VALUES
    const count = this.#fewCounts[set]!
    for (let i = from; i < from + count; i++) if (few[i] === hash) return
    if (count < EXACT_VALUES) {
      few[from + count] = hash
      this.#fewCounts[set] = count + 1
      return
    }
    const made = this.#allocate()
    this.#dense[set] = made
    if (made < 0) return
    for (let i = from; i < from + count; i++) this.#register(made, few[i]!)
    this.#register(made, hash)
  }

  /** Adds all values of one set to another. */
  merge(into: number, from: number): void {
    const other = this.#dense[from]!
    if (other === LOST) this.#lose(into)
    if (other < 0) {
      const at = from * EXACT_VALUES
      for (let i = at; i < at + this.#fewCounts[from]!; i++) this.add(into, this.#few[i]!)
      return
    }
    if (this.#dense[into] === NONE) {
      const made = this.#allocate()
      this.#dense[into] = made
      const at = into * EXACT_VALUES
      for (let i = at; made >= 0 && i < at + this.#fewCounts[into]!; i++) this.#register(made, this.#few[i]!)
    }
    const dense = this.#dense[into]!
    if (dense < 0) return
    const target = this.#registersOf(dense)
    const source = this.#registersOf(other)
    for (let i = 0; i < REGISTERS; i++) if (source[i]! > target[i]!) target[i] = source[i]!
  }

  /** Empties a set. */
  clear(set: number): void {
    const dense = this.#dense[set]!
    if (dense >= 0) {
      this.#registersOf(dense).fill(0)
      this.#floors[dense] = 0
      this.#changes[dense] = 0
      this.#free.push(dense)
    }
    this.#dense[set] = NONE
    this.#fewCounts[set] = 0
  }

  /** Distinct values: exact up to eight, then an estimate; null where the pool had no registers left. */
  count(set: number): number | null {
    const dense = this.#dense[set]!
    if (dense === NONE) return this.#fewCounts[set]!
    if (dense === LOST) return null
    let sum = 0
    let zeros = 0
    for (const register of this.#registersOf(dense)) {
      sum += 2 ** -register
      if (register === 0) zeros++
    }
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum
    if (raw <= 2.5 * REGISTERS && zeros > 0) return Math.round(REGISTERS * Math.log(REGISTERS / zeros))
    // Hashes have 32 bits: near 2^32 values collide.
    return Math.round(raw > 2 ** 32 / 30 ? -(2 ** 32) * Math.log(1 - Math.min(raw / 2 ** 32, 0.999)) : raw)
  }

  #lose(set: number): void {
    this.clear(set)
    this.#dense[set] = LOST
    this.isFull = true
  }

  #allocate(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#used >= this.#mostDense) {
      this.isFull = true
      return LOST
    }
    const made = this.#used++
    if (made % BLOCK_SETS === 0) this.#blocks.push(new Uint8Array(BLOCK_SETS * REGISTERS))
    return made
  }

  #registersOf(dense: number): Uint8Array {
    const at = (dense % BLOCK_SETS) * REGISTERS
    return this.#blocks[Math.floor(dense / BLOCK_SETS)]!.subarray(at, at + REGISTERS)
  }

  // Most values change nothing: those of a rank that every register has reached are left out before memory is read.
  #register(dense: number, hash: number): void {
    const rank = Math.min(Math.clz32(hash << INDEX_BITS) + 1, 32 - INDEX_BITS + 1)
    if (rank <= this.#floors[dense]!) return
    const block = this.#blocks[(dense / BLOCK_SETS) | 0]!
    const at = (dense % BLOCK_SETS) * REGISTERS + (hash >>> (32 - INDEX_BITS))
    if (rank <= block[at]!) return
    block[at] = rank
    if (++this.#changes[dense]! === 0)
      this.#floors[dense] = this.#registersOf(dense).reduce((a, b) => Math.min(a, b))
  }
}
