// One 64-bit hash into many (SplitMix64: Steele, Lea, Flood 2014) and a hash into an address, on BigInt.

const u64 = (x: bigint) => BigInt.asUintN(64, x)

/** The golden gamma: SplitMix64's step. */
export const GAMMA = 0x9e3779b97f4a7c15n

/** SplitMix64's output for a state. */
export function mix(state: bigint): bigint {
  let x = u64(state)
  x = u64((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n)
  x = u64((x ^ (x >> 27n)) * 0x94d049bb133111ebn)
  return x ^ (x >> 31n)
}

/** SplitMix64's output for the state h plus j + 1 steps. */
export const derived = (h: bigint, j: number): bigint => mix(h + BigInt(j + 1) * GAMMA)

/** floor(x · size / 2^64). */
export const spread = (x: bigint, size: bigint) => (x * size) >> 64n
