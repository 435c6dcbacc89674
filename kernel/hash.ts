// The step from keys to hashes, for the whole batch at once.
import { hashes, keyEnds, keyStarts } from './batch'
import { siphash13, siphash13Pair } from './siphash'
import { xxh64 } from './xxh64'

/** How keys are hashed: numbers that `src/hashes.ts` names. */
export const SIPHASH: u32 = 0
export const XXH64: u32 = 1

let family: u32 = SIPHASH
let seed: u64 = 0

export function setHash(chosen: u32, chosenSeed: u64): void {
  family = chosen
  seed = chosenSeed
}

/** Hashes the keys of lines [0, n). */
export function hashKeys(n: u32): void {
  let i: u32 = 0
  if (family == SIPHASH) {
    for (; i + 1 < n; i += 2) {
      const starts = load<u64>(keyStarts + (<usize>i << 2))
      const ends = load<u64>(keyEnds + (<usize>i << 2))
      siphash13Pair(<usize>starts, <usize>ends, <usize>(starts >> 32), <usize>(ends >> 32), hashes + (<usize>i << 3))
    }
  }
  for (; i < n; i++) {
    const from = <usize>load<u32>(keyStarts + (<usize>i << 2))
    const to = <usize>load<u32>(keyEnds + (<usize>i << 2))
    store<u64>(hashes + (<usize>i << 3), family == SIPHASH ? siphash13(from, to) : xxh64(from, to, seed))
  }
}
