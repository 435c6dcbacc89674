// Binary fuse: the kernel against the oracle bit for bit, no false negative at any size, the rate within the binomial's
// bounds, the size by the paper's formulas, and the frozen sieve as its user holds it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import {
  binaryFuse,
  binaryFusePlan,
  buildBinaryFuse,
  buildBytes,
  type FingerprintBits,
} from '../../src/filters/binary-fuse.ts'
import { binaryFuseShape } from '../../src/filters/binary-fuse-shape.ts'
import type { FrozenFilter } from '../../src/filters/filter.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { binomialQuantile } from '../../src/lab/interval.ts'
import { BinaryFuseOracle, seedOf } from '../oracles/binary-fuse.ts'
import { inBatches } from '../oracles/instance.ts'
import { derived } from '../oracles/mix.ts'
import { randomFrom } from '../support/random.mjs'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-fuse-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const widths = [8, 16, 32] as const

/** n distinct hashes: SplitMix64 from a state of `seed`. */
function someHashes(seed: number, n: number): bigint[] {
  return Array.from({ length: n }, (_, i) => derived(BigInt(seed) << 40n, i))
}

interface Made {
  readonly kernel: Kernel
  readonly filter: FrozenFilter
  readonly attempts: number
}

async function make(hashes: readonly bigint[], bits: FingerprintBits, builderBytes?: number): Promise<Made> {
  const module = await compileKernel()
  const kernel = Kernel.create(module)
  const filter = binaryFuse.revive(kernel, binaryFusePlan([hashes.length], bits))
  let attempts = 0
  buildBinaryFuse(Kernel.create(module, builderBytes), filter, hashes.length, bits, (room) => {
    room.set(hashes as bigint[])
    attempts++
  })
  return { kernel, filter, attempts }
}

const seenOf = ({ kernel, filter }: Made, hashes: readonly bigint[]) =>
  inBatches(kernel, hashes, (n) => filter.has(0, n)).map((verdict) => 1 - verdict)

/** How many of `trials` random hashes are answered "seen". */
function countSeen({ kernel, filter }: Made, seed: number, trials: number): number {
  const rng = randomFrom(seed)
  let seen = 0
  for (let asked = 0; asked < trials; asked += kernel.batchLines) {
    const n = Math.min(kernel.batchLines, trials - asked)
    const words = new Uint32Array(kernel.hashes.buffer, kernel.hashes.byteOffset, 2 * n)
    for (let i = 0; i < words.length; i++) words[i] = rng() * 2 ** 32
    filter.has(0, n)
    for (let i = 0; i < n; i++) seen += 1 - kernel.verdicts[i]!
  }
  return seen
}

/** All pieces of an array, joined. */
function bytesOf({ filter }: Made, array: number): Buffer {
  return Buffer.concat(
    [...filter.pieces()].filter((piece) => piece.array === array).map(({ bytes }) => bytes.slice()),
  )
}

describe('the kernel agrees with the oracle', () => {
  it.each(
    [1, 2, 3, 7, 10, 50, 300, 1000, 5000, 30_000].flatMap((urls) => widths.map((bits) => ({ urls, bits }))),
  )('$urls keys, $bits bits', async ({ urls, bits }) => {
    const hashes = someHashes(urls, urls)
    const made = await make(hashes, bits)
    const shape = binaryFuseShape({ urls })
    // Every seed that the kernel refused the oracle refuses too.
    for (let attempt = 0; attempt < made.attempts - 1; attempt++) {
      expect(BinaryFuseOracle.make(hashes, shape, bits, seedOf(attempt))).toBeNull()
    }
    const oracle = BinaryFuseOracle.make(hashes, shape, bits, seedOf(made.attempts - 1))!
    const got = bytesOf(made, 1)
    const cells = Array.from({ length: shape.cells }, (_, i) =>
      BigInt(got.readUIntLE((i * bits) / 8, bits / 8)),
    )
    expect(cells).toEqual(oracle.fingerprints)
    const others = someHashes(urls + 1, 4000)
    expect(seenOf(made, others)).toEqual(others.map((hash) => Number(oracle.has(hash))))
  })

  it('the same keys in any order make the same set', async () => {
    const hashes = someHashes(5, 20_000)
    const [one, other] = [await make(hashes, 16), await make(hashes.toReversed(), 16)]
    expect(bytesOf(one, 1).equals(bytesOf(other, 1))).toBe(true)
  })

  it('tries other seeds, and some sets need them', async () => {
    const attempts = new Set<number>()
    for (let seed = 100; seed < 300; seed++) attempts.add((await make(someHashes(seed, 40), 8)).attempts)
    expect(attempts.has(1)).toBe(true)
    expect(attempts.size).toBeGreaterThan(1)
  })

  it('equal hashes make no set: one clear line, after the last seed', async () => {
    for (const hashes of [[7n, 7n, 8n], new Array<bigint>(1000).fill(5n)]) {
      await expect(make(hashes, 8)).rejects.toThrow(
        /^no set of \d+ hashes after 100 seeds: expected distinct ones$/,
      )
    }
  })
})

describe('golden', () => {
  // Made by this filter at its first version: what changes these bytes makes every shipped set unreadable.
  it.each([
    [
      8,
      '08000000080000000100000000000000afcd1d7b39a820e20300000000000000 0000000000000000de0000000000000039000000c7000000',
    ],
    [
      16,
      '10000000080000000100000000000000afcd1d7b39a820e20300000000000000 00000000000000000000000000000000deca000000000000000000000000000039b0000000000000c774000000000000',
    ],
    [
      32,
      '20000000080000000100000000000000afcd1d7b39a820e20300000000000000 0000000000000000000000000000000000000000000000000000000000000000deca32a40000000000000000000000000000000000000000000000000000000039b0a3bd000000000000000000000000c774e8aa000000000000000000000000',
    ],
  ] as const)('%i bits: three hashes', async (bits, golden) => {
    const made = await make([1n, 0x0123456789abcdefn, 0xffffffffffffffffn], bits)
    expect(`${bytesOf(made, 0).toString('hex')} ${bytesOf(made, 1).toString('hex')}`).toBe(golden)
  })

  it('a thousand hashes, by checksum', async () => {
    const sums = await Promise.all(
      widths.map(async (bits) => crc32(bytesOf(await make(someHashes(1, 1000), bits), 1))),
    )
    expect(sums).toEqual([508748044, 2462969348, 2397381553])
  })
})

describe('no false negatives', () => {
  it.each([0, 1, 2, 3, 10, 1e3, 1e5, 1e6])('%i keys', async (urls) => {
    const hashes = someHashes(9, urls)
    for (const bits of urls === 1e6 ? ([8] as const) : widths) {
      expect(seenOf(await make(hashes, bits), hashes).every((seen) => seen === 1)).toBe(true)
    }
  })

  it('in sets of every size up to 400', async () => {
    for (let urls = 0; urls <= 400; urls++) {
      const hashes = someHashes(1000 + urls, urls)
      expect(seenOf(await make(hashes, 8), hashes)).toEqual(hashes.map(() => 1))
    }
  })

  it('the hash 0, which a fingerprint sieve keeps as 1', async () => {
    expect(seenOf(await make([1n, 2n], 32), [0n, 1n, 2n, 3n])).toEqual([1, 1, 1, 0])
  })

  it('an empty set has nothing', async () => {
    const made = await make([], 8)
    expect(seenOf(made, someHashes(3, 5000)).some((seen) => seen === 1)).toBe(false)
    expect(made.filter.measure()).toEqual({ sizeBytes: 0, fill: 0, rate: 0 })
  })
})

describe('the rate is 2^−bits', () => {
  const outside = 1e-6
  it.each([
    { bits: 8, urls: 10, trials: 2e5 },
    { bits: 8, urls: 1000, trials: 2e5 },
    { bits: 8, urls: 1e5, trials: 1e6 },
    { bits: 16, urls: 1000, trials: 4e6 },
    { bits: 16, urls: 1e5, trials: 4e6 },
  ] as const)('$bits bits, $urls keys: $trials questions', async ({ bits, urls, trials }) => {
    const made = await make(someHashes(21, urls), bits)
    const hits = countSeen(made, 22, trials)
    const rate = 2 ** -bits
    expect(hits).toBeGreaterThanOrEqual(binomialQuantile({ trials, rate, probability: outside }))
    expect(hits).toBeLessThanOrEqual(binomialQuantile({ trials, rate, probability: 1 - outside }))
    expect(made.filter.measure().rate).toBe(rate)
  })

  it('32 bits: none in a million', async () => {
    const made = await make(someHashes(31, 1e5), 32)
    expect(countSeen(made, 32, 1e6)).toBe(0)
  })
})

describe('the size', () => {
  // Cells a key by the paper's formulas: the information limit is 1.
  it.each([
    [10, 4.8],
    [1e3, 1.408],
    [1e5, 1.187_84],
    [1e6, 1.130_496],
    [1e7, 1.127_219_2],
    [1e8, 1.125_908_48],
  ])('%i keys: %f cells a key', (urls, cells) => {
    expect(binaryFuseShape({ urls }).cells / urls).toBeCloseTo(cells, 6)
  })

  it.each(widths)('a million keys, %i bits: within 1.14 of the limit', async (bits) => {
    const plan = binaryFuse.plan({ expectedUrls: 1e6, falsePositiveRate: 2 ** -bits })
    expect(plan.bitsPerUrl! / bits).toBeCloseTo(1.130_496, 6)
    expect(plan).toMatchObject({ expectedRate: 2 ** -bits, sizeBytes: (1_130_496 * bits) / 8 })
  })

  it('is made in about 24 bytes per key, and no more than is said', async () => {
    const hashes = someHashes(41, 1e5)
    expect(buildBytes(1e6) - 2 ** 20).toBe(9e6 + 13 * 1_130_496)
    expect(seenOf(await make(hashes, 32, buildBytes(1e5)), hashes).every((seen) => seen === 1)).toBe(true)
    await expect(make(hashes, 8, 20 * 1e5)).rejects.toMatchObject({ code: 'memory' })
  })

  it('is planned by rate or by memory', () => {
    const bitsFor = (request: object) =>
      binaryFuse.plan({ expectedUrls: 1e6, ...request }).shape!.fingerprintBits
    expect([1e-2, 1e-3, 1e-5, 1e-12].map((falsePositiveRate) => bitsFor({ falsePositiveRate }))).toEqual([
      8, 16, 32, 32,
    ])
    expect([1e5, 1.2e6, 3e6, 1e7].map((sizeBytes) => bitsFor({ sizeBytes }))).toEqual([8, 8, 16, 32])
  })
})
