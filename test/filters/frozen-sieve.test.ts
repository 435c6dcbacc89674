// A frozen sieve: made from another one, saved, loaded, damaged, merged, and what it refuses.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, expectTypeOf, it } from 'vitest'
import { filterKind, filterNames, frozenFilters } from '../../src/filters/registry.ts'
import { type FrozenSieve, freeze, Sieve, SieveError, type SieveOptions } from '../../src/index.ts'
import { binomialQuantile } from '../../src/lab/interval.ts'
import { STATE } from '../../src/state.ts'
import { countingKey } from '../oracles/instance.ts'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-fuse-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const widths = [8, 16, 32] as const

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
        feed.reserve(2).set([0x61, 0x0a])
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
