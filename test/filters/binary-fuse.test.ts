// Binary fuse: the kernel against the oracle bit for bit, no false negative at any size, the rate within the binomial's
// bounds, the size by the paper's formulas, and the frozen sieve as its user holds it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest'
import {
  binaryFuse,
  binaryFusePlan,
  buildBinaryFuse,
  buildBytes,
  type FingerprintBits,
} from '../../src/filters/binary-fuse.ts'
import { binaryFuseShape } from '../../src/filters/binary-fuse-shape.ts'
import type { FrozenFilter } from '../../src/filters/filter.ts'
import { filterKind, filterNames, frozenFilters } from '../../src/filters/registry.ts'
import { type FrozenSieve, freeze, Sieve, SieveError, type SieveOptions } from '../../src/index.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { binomialQuantile } from '../../src/lab/interval.ts'
import { STATE } from '../../src/state.ts'
import { BinaryFuseOracle, seedOf } from '../oracles/binary-fuse.ts'
import { countingKey, inBatches } from '../oracles/instance.ts'
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

describe('a frozen sieve', () => {
  const page = (i: number) => `http://www.example.com/page/${i}?q=1#top`
  const pages = (from: number, n: number) => Array.from({ length: n }, (_, i) => page(from + i))

  async function filled(n: number, options = {}) {
    const sieve = await Sieve.create({ key: countingKey, ...options })
    sieve.addMany(pages(0, n))
    return sieve
  }

  it('answers for all its URLs by every way of asking', async () => {
    const sieve = await filled(3000)
    sieve.add('no url at all')
    sieve.add(page(1))
    const frozen = await freeze(sieve, { bits: 16 })
    expect(frozen.has(page(17))).toBe(true)
    expect(frozen.has('https://www.example.com/page/17?q=1')).toBe(true)
    expect(frozen.hasMany(pages(0, 3000)).every((seen) => seen === 1)).toBe(true)
    const lines = new TextEncoder().encode(pages(2998, 4).join('\n'))
    expect([...frozen.hasLines(lines)]).toEqual([1, 1, 0, 0])
    expect(frozen.explain(page(0))).toMatchObject({
      verdict: 'seen',
      key: 'https://www.example.com/page/0?q=1',
    })
    expect(frozen.explain(page(5000)).verdict).toBe('new')
    const { sizeBytes, ...stats } = frozen.stats()
    expect(stats).toMatchObject({
      filter: 'binary-fuse',
      urls: 3001,
      seen: 1,
      invalid: 1,
      pastCapacity: false,
    })
    expect(stats).toMatchObject({
      expectedRate: 2 ** -16,
      promisedRate: 2 ** -16,
      hash: 'siphash',
      profile: 'web',
    })
    expect(stats.bitsPerUrl).toBe((sizeBytes * 8) / 3001)
    expect(stats.fill).toBe((3001 * 16) / (sizeBytes * 8))
    // The one it was made from goes on.
    expect(sieve.add(page(5000))).toBe(true)
    expect(frozen.has(page(5000))).toBe(false)
  })

  it('32 bits unless asked otherwise', async () => {
    expect((await freeze(await filled(10))).stats().expectedRate).toBe(2 ** -32)
  })

  it('takes no URL: one clear line, and it stays as it was', async () => {
    const frozen = (await freeze(await filled(100))) as Sieve
    const feed = frozen.feed({ keep: 'new' })
    const calls = [
      () => frozen.add(page(1)),
      () => frozen.add(page(1000)),
      () => frozen.addMany([page(1000)]),
      () => frozen.addLines(new TextEncoder().encode(`${page(1000)}\n`)),
      () => frozen.clear(),
      () => {
        feed.room(2).set([0x61, 0x0a])
        feed.push(2)
        feed.end()
      },
    ]
    for (const call of calls) {
      expect(call).toThrow(SieveError)
      expect(call).toThrow(/^filter 'binary-fuse' is frozen: it takes no URLs and forgets none; [^\n]+$/)
    }
    expect(frozen.hasMany([page(1), page(1000)])).toEqual(Uint8Array.of(1, 0))
    expect(frozen.stats()).toMatchObject({ urls: 100, seen: 0 })
  })

  it('has no add, delete or clear by type', async () => {
    expectTypeOf<
      Extract<keyof FrozenSieve, 'add' | 'addMany' | 'addLines' | 'feed' | 'delete' | 'clear'>
    >().toBeNever()
    expectTypeOf(freeze).returns.resolves.toEqualTypeOf<FrozenSieve>()
  })

  it('cannot be created, only frozen or loaded; it is in a registry of its own', async () => {
    expect(filterNames).not.toContain('binary-fuse')
    expect(filterKind('binary-fuse')).toBe(frozenFilters['binary-fuse'])
    for (const options of [{}, { expectedUrls: 1000 }, { expectedUrls: 10, falsePositiveRate: 1e-3 }]) {
      const made = Sieve.create({ ...options, filter: 'binary-fuse' } as unknown as SieveOptions)
      await expect(made).rejects.toThrow(/^filter 'binary-fuse' is frozen: .*'urlsieve freeze'$/)
      await expect(made).rejects.toMatchObject({ code: 'option' })
    }
  })

  it('only a fingerprint sieve can be frozen, to 8, 16 or 32 bits', async () => {
    const blocked = await Sieve.create({ filter: 'blocked', expectedUrls: 100 })
    await expect(freeze(blocked)).rejects.toThrow(
      /^filter 'blocked' cannot be frozen: expected 'fingerprint'/,
    )
    await expect(freeze((await freeze(await filled(1))) as Sieve)).rejects.toThrow(
      /^filter 'binary-fuse' cannot/,
    )
    await expect(freeze(await filled(1), { bits: 12 as never })).rejects.toThrow(
      'bits 12: expected one of 8, 16, 32',
    )
  })

  it('of a sieve in several instances: one set, and the same as of one instance', async () => {
    const whole = await filled(150_000)
    const spread = await filled(150_000, { instanceBytes: 2 ** 21 })
    expect(spread[STATE].shards.count).toBeGreaterThan(1)
    const [one, other] = (await Promise.all(
      [whole, spread].map((sieve) => freeze(sieve, { bits: 8 })),
    )) as Sieve[]
    expect(other!.hasMany(pages(0, 150_000)).every((seen) => seen === 1)).toBe(true)
    const bytes = (sieve: Sieve) =>
      Buffer.concat([...sieve[STATE].shards.all[0]!.filter.pieces()].map((piece) => piece.bytes.slice()))
    expect(bytes(one!).equals(bytes(other!))).toBe(true)
  })

  it.each([true, false])(
    'in several instances itself: saved and loaded (the sieve itself spread: %s)',
    async (isSpread) => {
      const sieve = await filled(150_000, isSpread ? { instanceBytes: 2 ** 21 } : {})
      const frozen = await freeze(sieve, { bits: 16, instanceBytes: 2 ** 21 })
      expect((frozen as Sieve)[STATE].shards.count).toBeGreaterThan(1)
      const path = join(folder, `several-${isSpread}.sieve`)
      await frozen.save(path)
      for (const one of [frozen, await Sieve.load(path)]) {
        expect(one.hasMany(pages(0, 150_000)).every((seen) => seen === 1)).toBe(true)
        const wrong = one.hasMany(pages(1e6, 50_000)).reduce((sum, seen) => sum + seen, 0)
        expect(wrong).toBeLessThanOrEqual(
          binomialQuantile({ trials: 50_000, rate: 2 ** -16, probability: 1 - 1e-6 }),
        )
        expect(one.stats()).toMatchObject({ urls: 150_000, expectedRate: 2 ** -16 })
      }
    },
  )

  it.each([0, 1, 20_000].flatMap((urls) => widths.map((bits) => ({ urls, bits }))))(
    'saved and loaded: $urls URLs, $bits bits',
    async ({ urls, bits }) => {
      const frozen = await freeze(await filled(urls), { bits })
      const path = join(folder, `${urls}-${bits}.sieve`)
      await frozen.save(path)
      const loaded = await Sieve.load(path)
      expect(loaded.stats()).toEqual(frozen.stats())
      expect(loaded.plan).toEqual(frozen.plan)
      const asked = pages(0, urls + 20_000)
      expect(loaded.hasMany(asked)).toEqual(frozen.hasMany(asked))
      expect(() => loaded.add(page(0))).toThrow(/^filter 'binary-fuse' is frozen/)
      await loaded.save(`${path}.again`)
      expect(readFileSync(`${path}.again`).equals(readFileSync(path))).toBe(true)
    },
  )

  it('a narrow hash too: its sieve is in one instance, and so is its set', async () => {
    const sieve = await filled(2000, { hash: 'murmur3' })
    const frozen = await freeze(sieve, { bits: 32 })
    expect(frozen.hasMany(pages(0, 2000)).every((seen) => seen === 1)).toBe(true)
    await expect(freeze(sieve, { instanceBytes: 2 ** 20 })).rejects.toMatchObject({ code: 'memory' })
  })

  it('a damaged file is named, wherever the damage', async () => {
    const path = join(folder, 'whole.sieve')
    await (await freeze(await filled(50), { bits: 8 })).save(path)
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole)
      bytes[at]! ^= 0x10
      writeFileSync(join(folder, 'damaged.sieve'), bytes)
      await expect(Sieve.load(join(folder, 'damaged.sieve')), `byte ${at}`).rejects.toBeInstanceOf(SieveError)
    }
  })
})
