// The binary fuse filter as the paper tells it (Graf, Lemire 2022), on arrays of keys: cells hold lists of the keys that
// use them, and a key is peeled off where it is alone in one. What the paper leaves open is fixed here as in the kernel:
// cells that are alone are taken from the end of the list, which begins with all of them in ascending order.
import { derived, spread } from './mix.ts'

const u64 = (x: bigint) => BigInt.asUintN(64, x)
/** SplitMix64's finaliser. */
const mixed = (x: bigint) => derived(u64(x - 0x9e3779b97f4a7c15n), 0)

export interface Shape {
  readonly segmentLength: number
  readonly segments: number
}

/** The seeds in the order they are tried. */
export const seedOf = (attempt: number) => derived(0n, attempt)

export class BinaryFuseOracle {
  readonly fingerprints: bigint[]
  readonly seed: bigint
  readonly #shape: Shape
  readonly #bits: number

  /** Null for a seed with which some keys cannot be peeled. */
  static make(hashes: readonly bigint[], shape: Shape, bits: number, seed: bigint): BinaryFuseOracle | null {
    const made = new BinaryFuseOracle(shape, bits, seed)
    return made.#build(hashes.map((hash) => mixed(u64(hash + seed)))) ? made : null
  }

  private constructor(shape: Shape, bits: number, seed: bigint) {
    this.#shape = shape
    this.#bits = bits
    this.seed = seed
    this.fingerprints = new Array((shape.segments + 2) * shape.segmentLength).fill(0n)
  }

  has(hash: bigint): boolean {
    const x = mixed(u64((hash || 1n) + this.seed))
    return this.#stored(x) === this.#own(x)
  }

  #own(x: bigint): bigint {
    return BigInt.asUintN(this.#bits, x ^ (x >> 32n))
  }

  #stored(x: bigint): bigint {
    return this.#cells(x).reduce((sum, cell) => sum ^ this.fingerprints[cell]!, 0n)
  }

  // A cell in each of three neighbouring segments.
  #cells(x: bigint): number[] {
    const length = BigInt(this.#shape.segmentLength)
    const first = spread(x, BigInt(this.#shape.segments) * length)
    const segment = first / length
    const within = first % length
    return [
      first,
      (segment + 1n) * length + (within ^ ((x >> 18n) % length)),
      (segment + 2n) * length + (within ^ (x % length)),
    ].map(Number)
  }

  #build(keys: readonly bigint[]): boolean {
    const users = this.fingerprints.map(() => new Set<bigint>())
    for (const x of keys) for (const cell of this.#cells(x)) users[cell]!.add(x)
    const alone = [...users.keys()].filter((cell) => users[cell]!.size === 1)
    const peeled: { x: bigint; cell: number }[] = []
    while (alone.length > 0) {
      const cell = alone.pop()!
      const [x] = users[cell]!
      if (x === undefined) continue
      peeled.push({ x, cell })
      const cells = this.#cells(x)
      const which = cells.indexOf(cell)
      // The other two in turn: 1, 2 after 0; 2, 0 after 1; 0, 1 after 2.
      for (const step of [1, 2]) {
        const other = cells[(which + step) % 3]!
        users[other]!.delete(x)
        if (users[other]!.size === 1) alone.push(other)
      }
    }
    for (const { x, cell } of peeled.reverse()) this.fingerprints[cell] = this.#stored(x) ^ this.#own(x)
    return peeled.length === keys.length
  }
}
