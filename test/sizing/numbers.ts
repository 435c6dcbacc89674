// Seeded numbers for simulations.
import { randomFrom } from '../support/random.mjs'

/** Seeded 32-bit numbers. */
export function numbers(seed: number): () => number {
  const next = randomFrom(seed)
  return () => Math.floor(next() * 2 ** 32)
}
