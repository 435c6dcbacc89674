// Numbers for experiments: the same seed and name give the same numbers on any machine. Integer arithmetic only:
// a name is hashed to 128 bits of state (the finaliser of MurmurHash3), then sfc32 (Doty-Humphrey) runs on it.

/** The next unsigned 32-bit number. */
export type Draw = () => number

/** Mixes a 32-bit number: each bit of it changes about half of the result's. */
export function scramble(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

/** A generator of its own for each seed and name. */
export function draws(seed: number, name: string): Draw {
  let h = scramble(seed ^ 0x9e3779b9) ^ Math.floor(seed / 2 ** 32)
  for (let i = 0; i < name.length; i++) h = scramble(Math.imul(h ^ name.charCodeAt(i), 0x01000193) + i)
  let a = scramble(h ^ 0x243f6a88) | 0
  let b = scramble(h ^ 0x85a308d3) | 0
  let c = scramble(h ^ 0x13198a2e) | 0
  let counter = 1
  const next = () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let i = 0; i < 12; i++) next()
  return next
}

/** Numbers in [0, 1), in steps of 2⁻³²: exact, so the same anywhere. */
export function random(seed: number, name: string): () => number {
  const next = draws(seed, name)
  return () => next() / 2 ** 32
}

/** 16 bytes for a sieve's hash. */
export function keyFrom(seed: number, name: string): Uint8Array {
  const next = draws(seed, `key ${name}`)
  return Uint8Array.from({ length: 16 }, () => next() >>> 24)
}
