// The kernel's filters against the oracles, bit for bit: what is in memory, every verdict, and the count of ones.
import { describe, expect, it } from 'vitest'
import type { Random } from '../canonical/urls.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'
import { BlockedOracle, blockedAddresses } from './blocked.ts'
import { ClassicOracle, classicAddresses } from './classic.ts'
import { FingerprintOracle, FirstSegmentOracle } from './fingerprint.ts'
import { hashesOf, inBatches, openInstance, packed, segmentsOf } from './instance.ts'

const encoder = new TextEncoder()

const made = new Map<string, Promise<bigint[]>>()

/** Hashes of n keys as the kernel makes them, about a third of them repeated. */
function someHashes(seed: number, n: number): Promise<readonly bigint[]> {
  const name = `${n} of ${seed}`
  const hashes = made.get(name) ?? makeHashes(seed, n)
  made.set(name, hashes)
  return hashes
}

async function makeHashes(seed: number, n: number): Promise<bigint[]> {
  const rng = randomFrom(seed)
  const kernel = await openInstance()
  const found: bigint[] = []
  while (found.length < n) {
    const keys = Array.from({ length: Math.min(2048, n - found.length) }, () =>
      encoder.encode(`https://example.com/${seed}/${Math.floor(rng() * n)}`),
    )
    found.push(...hashesOf(kernel, keys))
  }
  return found
}

const verdictsOf = (oracle: { add(hash: bigint): boolean }, hashes: readonly bigint[]) =>
  hashes.map((hash) => Number(oracle.add(hash)))
const absencesOf = (oracle: { has(hash: bigint): boolean }, hashes: readonly bigint[]) =>
  hashes.map((hash) => Number(!oracle.has(hash)))
function onesIn(bits: Uint8Array): number {
  let ones = 0
  for (let i = 0; i < bits.length; i++) ones += bits[i]!
  return ones
}

/** As `toEqual`, which takes longer for so many numbers than all that is tested. */
function expectVerdicts(got: readonly number[], expected: readonly number[]): void {
  const isSame = got.length === expected.length && got.every((verdict, i) => verdict === expected[i])
  if (!isSame) expect(got).toEqual(expected)
}

describe('classic', () => {
  it.each([
    { bits: 1, hashes: 1, urls: 10 },
    { bits: 8, hashes: 1, urls: 50 },
    { bits: 9, hashes: 2, urls: 50 },
    { bits: 13, hashes: 5, urls: 50 },
    { bits: 1000, hashes: 7, urls: 300 },
    { bits: 1001, hashes: 10, urls: 300 },
    { bits: 65_537, hashes: 24, urls: 3000 },
    { bits: 100_003, hashes: 64, urls: 1500 },
    { bits: 262_144, hashes: 4, urls: 20_000 },
    // cen-2010's own: n = 3.5 million at f = 0.1.
    { bits: 16_829_152, hashes: 3, urls: 20_000 },
  ])('m = $bits, k = $hashes', async ({ bits, hashes, urls }) => {
    const added = await someHashes(bits, urls)
    const asked = await someHashes(bits + 1, Math.min(urls, 5000))
    const oracle = new ClassicOracle(bits, hashes)
    const kernel = await openInstance()
    expect(kernel.call.classicCreate(BigInt(bits), hashes)).toBe(1)
    const verdicts = inBatches(kernel, added, (n) => kernel.call.classicAdd(0, n))
    expectVerdicts(verdicts, verdictsOf(oracle, added))
    const at = kernel.call.classicBits() >>> 0
    const size = Math.ceil(bits / 8)
    expect(Buffer.compare(kernel.bytes.slice(at, at + size), packed(oracle.bits))).toBe(0)
    expect(kernel.call.classicOnes()).toBe(onesIn(oracle.bits))
    expect(inBatches(kernel, asked, (n) => kernel.call.classicHas(0, n))).toEqual(absencesOf(oracle, asked))
    expect(Buffer.compare(kernel.bytes.slice(at, at + size), packed(oracle.bits))).toBe(0)
  })

  it('m over 2^32: addresses of more than 32 bits', async () => {
    const bits = 2 ** 33 + 12_345
    const kernel = await openInstance()
    expect(kernel.call.classicCreate(BigInt(bits), 5)).toBe(1)
    const added = await someHashes(33, 2000)
    const ones = new Set(added.flatMap((hash) => classicAddresses(hash, bits, 5)))
    expect(Math.max(...ones)).toBeGreaterThan(2 ** 32)
    inBatches(kernel, added, (n) => kernel.call.classicAdd(0, n))
    const at = kernel.call.classicBits() >>> 0
    const { bytes } = kernel
    for (const bit of ones) expectIs((bytes[at + Math.floor(bit / 8)]! >> (bit % 8)) & 1, 1, `bit ${bit}`)
    expect(kernel.call.classicOnes()).toBe(ones.size)
  })
})

describe('blocked', () => {
  it.each([
    { blocks: 1, hashes: 1, urls: 200 },
    { blocks: 1, hashes: 24, urls: 60 },
    { blocks: 2, hashes: 6, urls: 200 },
    { blocks: 3, hashes: 7, urls: 200 },
    { blocks: 5, hashes: 8, urls: 300 },
    { blocks: 100, hashes: 13, urls: 3000 },
    { blocks: 1000, hashes: 14, urls: 10_000 },
    { blocks: 1001, hashes: 15, urls: 10_000 },
    { blocks: 12_345, hashes: 21, urls: 8000 },
    { blocks: 12_345, hashes: 24, urls: 8000 },
    { blocks: 2000, hashes: 64, urls: 2000 },
  ])('$blocks blocks, k = $hashes', async ({ blocks, hashes, urls }) => {
    const added = await someHashes(blocks, urls)
    const asked = await someHashes(blocks + 1, Math.min(urls, 5000))
    const oracle = new BlockedOracle(blocks, hashes)
    const kernel = await openInstance()
    expect(kernel.call.blockedCreate(BigInt(blocks), hashes)).toBe(1)
    const verdicts = inBatches(kernel, added, (n) => kernel.call.blockedAdd(0, n))
    expectVerdicts(verdicts, verdictsOf(oracle, added))
    const at = kernel.call.blockedBits() >>> 0
    expect(at % 64, 'a block is a cache line').toBe(0)
    expect(Buffer.compare(kernel.bytes.slice(at, at + blocks * 64), packed(oracle.bits))).toBe(0)
    expect(kernel.call.blockedOnes()).toBe(onesIn(oracle.bits))
    expect(inBatches(kernel, asked, (n) => kernel.call.blockedHas(0, n))).toEqual(absencesOf(oracle, asked))
    expect(Buffer.compare(kernel.bytes.slice(at, at + blocks * 64), packed(oracle.bits))).toBe(0)
  })

  it('more than 2^32 bits', async () => {
    const blocks = 2 ** 23 + 2 ** 22 + 11
    const kernel = await openInstance()
    expect(kernel.call.blockedCreate(BigInt(blocks), 9)).toBe(1)
    const added = await someHashes(34, 2000)
    const ones = new Set(added.flatMap((hash) => blockedAddresses(hash, blocks, 9)))
    expect(Math.max(...ones)).toBeGreaterThan(2 ** 32)
    inBatches(kernel, added, (n) => kernel.call.blockedAdd(0, n))
    const at = kernel.call.blockedBits() >>> 0
    const { bytes } = kernel
    for (const bit of ones) expectIs((bytes[at + Math.floor(bit / 8)]! >> (bit % 8)) & 1, 1, `bit ${bit}`)
    expect(kernel.call.blockedOnes()).toBe(ones.size)
  })

  it('a batch taken up in the middle gives the same', async () => {
    const added = await someHashes(9, 1000)
    const oracle = new BlockedOracle(50, 9)
    const kernel = await openInstance()
    kernel.call.blockedCreate(50n, 9)
    kernel.refresh()
    kernel.hashes.set(added)
    kernel.call.blockedAdd(0, 77)
    kernel.call.blockedAdd(77, 1000)
    expect([...kernel.verdicts.subarray(0, 1000)]).toEqual(verdictsOf(oracle, added))
  })
})

describe('fingerprint', () => {
  /** What must hold of the table at any time; gives back all hashes in it. */
  function inspect(kernel: Awaited<ReturnType<typeof openInstance>>): Set<bigint> {
    const all = new Set<bigint>()
    const shift = BigInt(64 - kernel.call.fingerprintDirectoryBits())
    const segments = segmentsOf(kernel)
    let next = 0
    for (const { count, from, to, buckets } of segments) {
      expect(from, 'segments lie end to end').toBe(next)
      next = to
      let used = 0
      for (const [at, { slots }] of buckets.entries()) {
        used += slots.length
        for (const { hash, home } of slots) {
          if (all.has(hash)) expect.fail(`${hash} is there twice`)
          all.add(hash)
          const top = Number(hash >> shift)
          if (top < from || top >= to) expect.fail(`${hash} lies in the segment ${from} … ${to}`)
          // Its own bucket is marked where it is in the other, or a search would end before it.
          const mark = 1 << Number((hash >> BigInt(Math.log2(buckets.length) + 7)) & 7n)
          if (home !== at && !(buckets[home]!.marks & mark)) {
            expect.fail(`${hash} is in ${at}, but ${home} is not marked`)
          }
        }
      }
      expect(count, 'count of a segment').toBe(used)
    }
    expect(next).toBe(2 ** kernel.call.fingerprintDirectoryBits())
    expect(kernel.call.fingerprintCount(), 'no hash twice').toBe(all.size)
    return all
  }

  async function open() {
    const kernel = await openInstance()
    expect(kernel.call.fingerprintCreate()).toBe(1)
    kernel.refresh()
    return kernel
  }

  it.each([0, 1, 1791, 1792, 1793, 5000, 28_000, 30_000, 60_000, 120_000])(
    'holds just the %i hashes',
    async (n) => {
      const hashes = await someHashes(n, n)
      const oracle = new FingerprintOracle()
      const kernel = await open()
      const verdicts = inBatches(kernel, hashes, (count) => kernel.call.fingerprintAdd(0, count))
      expectVerdicts(verdicts, verdictsOf(oracle, hashes))
      expect(inspect(kernel)).toEqual(oracle.hashes)
    },
  )

  it.each([0, 1, 300, 600])('of %i hashes it is the same to the bit', async (n) => {
    const hashes = await someHashes(n + 5, n)
    const oracle = new FirstSegmentOracle()
    const kernel = await open()
    inBatches(kernel, hashes, (count) => kernel.call.fingerprintAdd(0, count))
    for (const hash of new Set(hashes)) oracle.add(hash)
    expect(segmentsOf(kernel)[0]!.bytes).toEqual(oracle.bytes())
  })

  it.each([1, 2, 3, 127, 128, 129, 500])('is the same in batches of %i', async (batch) => {
    const hashes = await someHashes(7, 40_000)
    const oracle = new FingerprintOracle()
    const kernel = await open()
    const verdicts = inBatches(kernel, hashes, (count) => kernel.call.fingerprintAdd(0, count), batch)
    expectVerdicts(verdicts, verdictsOf(oracle, hashes))
    expect(inspect(kernel)).toEqual(oracle.hashes)
  })

  it('hash 0, which marks an empty slot, is remembered like any other', async () => {
    const kernel = await open()
    const ask = (what: (n: number) => void) => inBatches(kernel, [0n], what)
    expect(ask((n) => kernel.call.fingerprintHas(0, n))).toEqual([1])
    expect(ask((n) => kernel.call.fingerprintAdd(0, n))).toEqual([1])
    expect(ask((n) => kernel.call.fingerprintAdd(0, n))).toEqual([0])
    expect(ask((n) => kernel.call.fingerprintHas(0, n))).toEqual([0])
    expect(ask((n) => kernel.call.fingerprintDelete(n))).toEqual([0])
    expect(ask((n) => kernel.call.fingerprintHas(0, n))).toEqual([1])
  })

  /** Random adds, deletes and questions on hashes out of `pool`. */
  async function interleave(seed: number, pool: readonly bigint[], rounds: number) {
    const rng: Random = randomFrom(seed)
    const oracle = new FingerprintOracle()
    const kernel = await open()
    for (let round = 0; round < rounds; round++) {
      const chosen = Array.from(
        { length: 1 + Math.floor(rng() * 300) },
        () => pool[Math.floor(rng() * pool.length)]!,
      )
      // Long stretches of growth and of shrinking, so that it is nearly full and nearly empty by turns.
      const growing = Math.floor(round / 40) % 2 === 0 ? 0.75 : 0.25
      const r = rng()
      if (r < 0.1) {
        expect(inBatches(kernel, chosen, (n) => kernel.call.fingerprintHas(0, n))).toEqual(
          absencesOf(oracle, chosen),
        )
      } else if (rng() < growing) {
        const got = inBatches(kernel, chosen, (n) => kernel.call.fingerprintAdd(0, n))
        expectVerdicts(got, verdictsOf(oracle, chosen))
      } else {
        const got = inBatches(kernel, chosen, (n) => kernel.call.fingerprintDelete(n))
        expectVerdicts(
          got,
          chosen.map((hash) => Number(!oracle.delete(hash))),
        )
      }
      if (round % 20 === 0) expect(inspect(kernel)).toEqual(oracle.hashes)
    }
    expect(inspect(kernel)).toEqual(oracle.hashes)
  }

  it('random adds and deletes of random hashes', async () => {
    await interleave(1, await someHashes(11, 2200), 400)
  })

  it('deletes where buckets overflow into each other and around the end of the table', async () => {
    // All hashes belong to the last six and first two of the 256 buckets: up to 25 buckets in one run.
    const rng = randomFrom(12)
    const pool = Array.from({ length: 200 }, () => {
      const bucket = BigInt((250 + Math.floor(rng() * 8)) % 256)
      const high = BigInt(Math.floor(rng() * 2 ** 32))
      return (
        (high << 32n) |
        (BigInt(Math.floor(rng() * 2 ** 20)) << 12n) |
        (BigInt(Math.floor(rng() * 16)) << 8n) |
        bucket
      )
    })
    for (let seed = 0; seed < 5; seed++) await interleave(20 + seed, pool, 300)
  })

  it('deletes in a table of many segments, down to nothing and up again', async () => {
    const hashes = [...new Set(await someHashes(13, 150_000))]
    const kernel = await open()
    for (let turn = 0; turn < 2; turn++) {
      expect(
        inBatches(kernel, hashes, (n) => kernel.call.fingerprintAdd(0, n)).every((verdict) => verdict === 1),
      ).toBe(true)
      const [gone, kept] = [hashes.filter((_, i) => i % 3 !== turn), hashes.filter((_, i) => i % 3 === turn)]
      expect(
        inBatches(kernel, gone, (n) => kernel.call.fingerprintDelete(n)).every((verdict) => verdict === 0),
      ).toBe(true)
      expect(inspect(kernel)).toEqual(new Set(kept))
      expect(
        inBatches(kernel, gone, (n) => kernel.call.fingerprintHas(0, n)).every((verdict) => verdict === 1),
      ).toBe(true)
      expect(
        inBatches(kernel, kept, (n) => kernel.call.fingerprintDelete(n)).every((verdict) => verdict === 0),
      ).toBe(true)
      expect(inspect(kernel).size).toBe(0)
    }
  })
})
