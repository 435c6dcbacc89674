// The kernel's hashes against the oracles, and the oracles against what others published.
import { describe, expect, it } from 'vitest'
import type { HashName } from '../../src/hashes.ts'
import { randomFrom } from '../support/random.mjs'
import { countingKey, hashesOf, openInstance, putKeys, randomBytes } from './instance.ts'
import { derived, spread } from './mix.ts'
import { siphash, siphash13 } from './siphash.ts'
import {
  hashesIn,
  sanityBuffer,
  siphash13Vectors,
  siphash24Vectors,
  splitmixVectors,
  xxh64Vectors,
} from './vectors.ts'
import { xxh64 } from './xxh64.ts'

const counting = (size: number) => Uint8Array.from({ length: size }, (_, i) => i)

/** The 16 bytes that give `xxh64` this seed. */
function seedKey(seed: bigint): Uint8Array {
  const key = new Uint8Array(16)
  new DataView(key.buffer).setBigUint64(0, seed, true)
  return key
}

describe('published vectors', () => {
  it('SipHash-1-3, oracle and kernel', async () => {
    const expected = hashesIn(siphash13Vectors)
    expect(expected).toHaveLength(64)
    const messages = expected.map((_, size) => counting(size))
    expect(messages.map((message) => siphash13(countingKey, message))).toEqual(expected)
    expect(hashesOf(await openInstance(), messages)).toEqual(expected)
  })

  it('SipHash-2-4, oracle', () => {
    const expected = hashesIn(siphash24Vectors)
    expect(expected.map((_, size) => siphash(countingKey, counting(size), { c: 2, d: 4 }))).toEqual(expected)
  })

  it.each(xxh64Vectors)(
    'XXH64 of $size bytes with seed $seed, oracle and kernel',
    async ({ size, seed, hash }) => {
      const message = sanityBuffer(size)
      expect(xxh64(message, seed)).toBe(hash)
      expect(hashesOf(await openInstance('xxh64', seedKey(seed)), [message])).toEqual([hash])
    },
  )

  it('SplitMix64, oracle', () => {
    expect(splitmixVectors.map((_, j) => derived(1234567n, j))).toEqual(splitmixVectors)
  })

  it('spread is even and stays within its size', () => {
    expect(spread(0n, 1000n)).toBe(0n)
    expect(spread(2n ** 64n - 1n, 1000n)).toBe(999n)
    expect(spread(2n ** 63n, 1001n)).toBe(500n)
  })
})

const key = randomBytes(randomFrom(1), 16)
const seed = new DataView(key.buffer).getBigUint64(0, true)
const families: Record<'siphash' | 'xxh64', (message: Uint8Array) => bigint> = {
  siphash: (message) => siphash13(key, message),
  xxh64: (message) => xxh64(message, seed),
}

describe.each(Object.keys(families) as HashName[] & (keyof typeof families)[])('the kernel’s %s', (name) => {
  const oracle = families[name]
  const rng = randomFrom(2)
  const messages = Array.from({ length: 201 }, (_, size) => randomBytes(rng, size))
  const expected = messages.map(oracle)

  it('is the oracle’s for every length up to 200 at every alignment, in one batch', async () => {
    const kernel = await openInstance(name, key)
    for (let rest = 0; rest < 16; rest++) {
      expect(hashesOf(kernel, messages, [rest]), `alignment ${rest}`).toEqual(expected)
    }
  })

  it('is the same for a key alone', async () => {
    const kernel = await openInstance(name, key)
    for (const [size, message] of messages.entries()) {
      for (const rest of [0, 1, 7, 15]) {
        expect(hashesOf(kernel, [message], [rest]), `${size} bytes at ${rest}`).toEqual([expected[size]])
      }
    }
  })

  it('is the same in batches of any size, whatever the neighbours’ lengths and alignments', async () => {
    const kernel = await openInstance(name, key)
    for (const size of [1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 127, 128, 129, 2047, 2048]) {
      for (let again = 0; again < 3; again++) {
        const chosen = Array.from({ length: size }, () => Math.floor(rng() * messages.length))
        const rests = Array.from({ length: 17 }, () => Math.floor(rng() * 16))
        const got = hashesOf(
          kernel,
          chosen.map((i) => messages[i]!),
          rests,
        )
        expect(got, `batch of ${size}`).toEqual(chosen.map((i) => expected[i]))
      }
    }
  })

  it('is the same for pairs of very unlike lengths, either way round', async () => {
    const kernel = await openInstance(name, key)
    const long = randomBytes(rng, 70_003)
    const pair = [long, oracle(long)] as const
    for (const size of [0, 1, 7, 8, 9, 31, 32, 33, 200]) {
      expect(hashesOf(kernel, [pair[0], messages[size]!])).toEqual([pair[1], expected[size]])
      expect(hashesOf(kernel, [messages[size]!, pair[0]])).toEqual([expected[size], pair[1]])
    }
  })

  it('writes no hash past the batch', async () => {
    const kernel = await openInstance(name, key)
    for (const size of [1, 2, 3, 5]) {
      putKeys(kernel, messages.slice(0, size))
      kernel.hashes.fill(0x5eedn)
      kernel.call.hashKeys(size)
      expect([...kernel.hashes.subarray(size)].every((hash) => hash === 0x5eedn)).toBe(true)
    }
  })
})
