// What every filter must do, run over the whole registry: a new entry is covered with no edit here.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import type { FilterKind } from '../../src/filters/filter.ts'
import {
  type DeletingFilterName,
  type FilterName,
  type FolderFilterName,
  filterNames,
} from '../../src/filters/registry.ts'
import { hashNames, isWideHash } from '../../src/hashes.ts'
import {
  type DeletingSieve,
  type FolderSieve,
  Sieve,
  type SieveOf,
  type SieveOptions,
} from '../../src/sieve.ts'
import { generateUrls, type Random } from '../canonical/urls.ts'
import { randomFrom } from '../support/random.mjs'
import { ampleSize, capacityFor, comfortably, forgets, isExactWhenAmple, kinds, planOrNull } from './sizes.ts'

const encoder = new TextEncoder()
const key = Uint8Array.from({ length: 16 }, (_, i) => 7 * i)
/** Two thousand URLs that share nothing but their scheme and the last label. */
const plain = Array.from({ length: 2000 }, (_, i) => `https://host${i}.example/folder${i}/page${i}?id=${i}`)

/** A sieve of that kind, with a fixed key and keys that are the lines themselves. */
function create(kind: FilterKind, options: SieveOptions = {}): Promise<Sieve> {
  return Sieve.create({ filter: kind.name as FilterName, key, profile: 'raw', ...options })
}

/** The same, large enough that it is next to never wrong. */
function make(kind: FilterKind, urls = 10_000, options: SieveOptions = {}): Promise<Sieve> {
  return create(kind, { ...ampleSize(kind, urls), ...options })
}

/** What a string is once it is bytes: a lone surrogate becomes U+FFFD. */
const wellFormed = (text: string) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoder.encode(text))

/** The verdicts of a Set, in order. */
function verdictsOfSet(urls: readonly string[], known: Set<string> = new Set()): number[] {
  return urls.map((url) => {
    const before = known.size
    known.add(wellFormed(url))
    return known.size - before
  })
}

/** Equal to a Set's where the filter can be that good; never "new" for what was added where it cannot. */
function expectVerdicts(kind: FilterKind, got: ArrayLike<number>, expected: readonly number[], what = '') {
  expect(got.length, what).toBe(expected.length)
  const exact = isExactWhenAmple(kind)
  for (let i = 0; i < expected.length; i++) {
    if (got[i] === expected[i] || (!exact && got[i] === 0)) continue
    expect.fail(`${what} verdict ${i}: got ${got[i]}, expected ${expected[i]}`)
  }
}

const shuffled = <T>(rng: Random, list: readonly T[]): T[] =>
  list
    .map((item) => [rng(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

const nasties = [
  '',
  ' ',
  'a',
  '\0',
  '\0\0',
  'http://',
  'not a url',
  'https://example.com/ünïcödé/日本語/😀',
  'https://example.com/\ud800',
  'https://example.com/\udfff\ud800',
  'https://example.com/\ufffd',
  'https://bücher.example/',
  '\ufeffhttps://example.com/',
  'https://example.com/a\tb',
  `https://example.com/${'long/'.repeat(20_000)}`,
  `https://example.com/?${'q'.repeat(100_000)}`,
  '😀'.repeat(25_000),
]

describe.each(kinds)('$name', (kind) => {
  describe('verdicts', () => {
    it('add answers true once and false from then on', async () => {
      const sieve = await make(kind)
      for (const url of plain) expect(sieve.add(url), url).toBe(true)
      for (const url of plain) expect(sieve.add(url), url).toBe(false)
    })

    it('has marks nothing', async () => {
      const sieve = await make(kind)
      for (let turn = 0; turn < 2; turn++) for (const url of plain) expect(sieve.has(url), url).toBe(false)
      expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 0))
      for (const url of plain) expect(sieve.add(url), url).toBe(true)
      for (let turn = 0; turn < 2; turn++) for (const url of plain) expect(sieve.has(url), url).toBe(true)
      expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 1))
    })

    it('has is right as the very first question, for one and for many', async () => {
      expect((await make(kind)).has(plain[0]!)).toBe(false)
      expect([...(await make(kind)).hasMany(plain.slice(0, 3))]).toEqual([0, 0, 0])
      expect([...(await make(kind, 10_000, { profile: 'web' })).hasMany(plain)]).toEqual(plain.map(() => 0))
    })

    it('addMany is a sequence of add, and a repeat inside a batch is seen', async () => {
      const rng = randomFrom(1)
      const one = await make(kind)
      const many = await make(kind)
      for (const size of [0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 500, 2047, 2048, 2049, 4097]) {
        const urls = Array.from({ length: size }, () => plain[Math.floor(rng() * plain.length)]!)
        expect([...many.addMany(urls)], `batch of ${size}`).toEqual(urls.map((url) => Number(one.add(url))))
      }
      // Lines so short that a batch ends by their number, not by their bytes.
      const short = Array.from({ length: 5000 }, (_, i) => `${(i * 7919) % 4500}`)
      expect([...many.addMany(short)]).toEqual(short.map((url) => Number(one.add(url))))
      const twice = await make(kind)
      expect([...twice.addMany(['https://a.example/', 'https://a.example/', 'https://b.example/'])]).toEqual([
        1, 0, 1,
      ])
    })

    it('addLines is addMany on the split lines', async () => {
      const rng = randomFrom(2)
      const lines = await make(kind)
      const many = await make(kind)
      for (const size of [1, 2, 63, 64, 129, 2047, 2048, 2049, 6000]) {
        const urls = Array.from({ length: size }, () => plain[Math.floor(rng() * plain.length)]!)
        const expected = [...many.addMany(urls)]
        expect([...lines.addLines(encoder.encode(urls.join('\n')))], `${size} lines`).toEqual(expected)
        const again = [...lines.addLines(encoder.encode(`${urls.join('\n')}\n`))]
        expect(again, 'with a last newline').toEqual(urls.map(() => 0))
      }
      expect([...lines.addLines(new Uint8Array(0))]).toEqual([])
    })

    it('empty, very long, broken and foreign URLs are remembered like any other', async () => {
      const sieve = await make(kind)
      expectVerdicts(
        kind,
        nasties.map((url) => Number(sieve.add(url))),
        verdictsOfSet(nasties),
      )
      for (const url of nasties) {
        expect(sieve.add(url), url.slice(0, 50)).toBe(false)
        expect(sieve.has(url), url.slice(0, 50)).toBe(true)
      }
      const batch = await make(kind)
      const mixed = nasties.flatMap((url, i) => [url, plain[i]!, url])
      expectVerdicts(kind, batch.addMany(mixed), verdictsOfSet(mixed))
      expect([...batch.hasMany(mixed)]).toEqual(mixed.map(() => 1))
    })

    it('one URL among longer and longer ones keeps its verdict', async () => {
      const sieve = await make(kind)
      sieve.add('https://example.com/short')
      for (let bytes = 1000; bytes < 3_000_000; bytes *= 3) {
        const url = `https://example.com/${'x'.repeat(bytes)}`
        expectVerdicts(kind, [Number(sieve.add(url))], [1], `${bytes} bytes`)
        expect(sieve.add(url)).toBe(false)
        expect(sieve.has('https://example.com/short')).toBe(true)
      }
    })

    it('generated URLs, by every way in, in any order: the verdicts of a Set', async () => {
      const rng = randomFrom(3)
      const urls = generateUrls(4, comfortably(kind, 15_000))
      const known = new Set<string>()
      const sieve = await make(kind, 20_000)
      for (let step = 0; step < 150; step++) {
        const from = Math.floor(rng() * urls.length)
        const chosen = urls.slice(from, from + 1 + Math.floor(rng() * (rng() < 0.1 ? 5000 : 100)))
        const way = Math.floor(rng() * 4)
        if (way === 0) {
          const expected = chosen.map((url) => Number(!known.has(url)))
          expectVerdicts(
            kind,
            chosen.map((url) => Number(!sieve.has(url))),
            expected,
            'has',
          )
          expectVerdicts(
            kind,
            sieve.hasMany(chosen).map((seen) => 1 - seen),
            expected,
            'hasMany',
          )
          continue
        }
        const expected = verdictsOfSet(chosen, known)
        const got =
          way === 1
            ? chosen.map((url) => Number(sieve.add(url)))
            : way === 2
              ? sieve.addMany(chosen)
              : sieve.addLines(encoder.encode(chosen.join('\n')))
        expectVerdicts(kind, got, expected, `step ${step}, way ${way}`)
      }
      expect(known.size).toBeGreaterThan(Math.min(5000, urls.length / 2))
    })
  })

  describe('no false negatives', () => {
    // A million for those that are fast and remember what they are told.
    const isFast = kind.takes !== 'keys' && !forgets(kind)
    const sizes = [1e3, 1e4, 1e5, ...(isFast ? [1e6] : [])].filter(
      (size) => size === 1e3 || comfortably(kind, 5 * size) === 5 * size,
    )
    it.each(sizes)('of %i URLs, not one', async (size) => {
      const url = (i: number) => `https://www.example.com/shop/${i % 97}/item-${i}.html`
      // A filter of a fixed size is filled to the last URL it was made for; one that grows, to ten times that.
      const expectedUrls = kind.can.grow && !forgets(kind) ? size / 10 : size
      const byRate = { expectedUrls: capacityFor(kind, expectedUrls), falsePositiveRate: 0.01 }
      const sieve = await create(kind, planOrNull(kind, byRate) ? byRate : ampleSize(kind, size))
      for (const half of [0, 1]) {
        const urls = Array.from({ length: size / 2 }, (_, i) => url(i + (half * size) / 2))
        sieve.addMany(urls)
      }
      for (let from = 0; from < size; from += 50_000) {
        const urls = Array.from({ length: Math.min(50_000, size - from) }, (_, i) => url(from + i))
        const missing = sieve.hasMany(urls).indexOf(0)
        if (missing >= 0) expect.fail(`${urls[missing]} was added and is not there`)
        if (sieve.addMany(urls.slice(0, 1000)).includes(1)) expect.fail('an added URL is new again')
      }
    })

    if (kind.refusesWhenFull) {
      it('past its capacity it refuses what it has no slot for, and knows all that it answered', async () => {
        const sieve = await create(kind, { expectedUrls: 400, falsePositiveRate: 1e-9 })
        const before = sieve.stats()
        const error = (() => {
          try {
            return sieve.addMany(plain)
          } catch (thrown) {
            return thrown as SieveError
          }
        })()
        expect(error).toMatchObject({ name: 'SieveError', code: 'full' })
        expect((error as SieveError).message).toMatch(
          /^filter '.*' is full: it is made for 400 URLs; [^\n]+$/,
        )
        const { answered } = error as SieveError
        expect(answered!.length).toBeGreaterThanOrEqual(400)
        const known = plain.slice(0, answered!.length)
        expect([...answered!]).toEqual(known.map(() => 1))
        expect([...sieve.hasMany(known)]).toEqual(known.map(() => 1))
        expect([...sieve.hasMany(plain.slice(known.length))].indexOf(1)).toBe(-1)
        expect(sieve.stats()).toMatchObject({ urls: known.length, seen: 0, sizeBytes: before.sizeBytes })
        expect(sieve.stats().pastCapacity).toBe(known.length > 400)
        expect(() => sieve.add(plain[known.length]!)).toThrow(/ is full/)
        expect([...sieve.hasMany(known)]).toEqual(known.map(() => 1))
        expect([...sieve.addMany(known)]).toEqual(known.map(() => 0))
      })
    } else {
      it('past its capacity neither', async () => {
        const sieve = await create(kind, kind.can.grow ? ampleSize(kind, 2000) : { bits: 4096, hashes: 3 })
        sieve.addMany(plain)
        expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 1))
      })
    }

    it.each(hashNames)('with the hash %s', async (hash) => {
      const sieve = await make(kind, 2000, { hash })
      const fresh = sieve.addMany(plain).reduce((sum, verdict) => sum + verdict, 0)
      // The papers' 32-bit functions collide on URLs as like as these, whatever the filter.
      if (isWideHash(hash)) expect(fresh).toBe(plain.length)
      else expect(fresh).toBeGreaterThan(0.9 * plain.length)
      expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 1))
      expect([...sieve.addMany(plain)]).toEqual(plain.map(() => 0))
    })
  })

  describe('stats', () => {
    it('the counts add up, whatever the way in', async () => {
      const sieve = await make(kind)
      expect(sieve.stats()).toMatchObject({
        filter: kind.name,
        profile: 'raw',
        hash: 'siphash',
        urls: 0,
        seen: 0,
        invalid: 0,
        bitsPerUrl: null,
        pastCapacity: false,
      })
      let fresh = 0
      let asked = 0
      const count = (verdicts: ArrayLike<number>) => {
        asked += verdicts.length
        fresh += Array.from(verdicts).reduce((sum, verdict) => sum + verdict, 0)
      }
      count(plain.slice(0, 700).map((url) => Number(sieve.add(url))))
      count(sieve.addMany(plain.slice(500, 1500)))
      count(sieve.addLines(encoder.encode(plain.slice(1000).join('\n'))))
      sieve.hasMany(plain)
      sieve.has('https://elsewhere.example/')
      const stats = sieve.stats()
      expect(stats.urls).toBe(fresh)
      expect(stats.urls).toBe(plain.length)
      expect(stats.seen).toBe(asked - fresh)
      expect(stats.sizeBytes).toBeGreaterThan(0)
      expect(stats.bitsPerUrl).toBeCloseTo((stats.sizeBytes * 8) / stats.urls, 9)
      expect(stats.fill).toBeGreaterThan(0)
      expect(stats.fill).toBeLessThanOrEqual(1)
      expect(stats.expectedRate).toBeGreaterThanOrEqual(0)
      expect(stats.expectedRate).toBeLessThan(1e-6)
    })

    it('lines that are no URL are counted, and explain counts nothing', async () => {
      const sieve = await make(kind, 100, { profile: 'web' })
      sieve.addMany(['https://a.example/', 'no url', 'https://', 'https://b.example/'])
      const before = sieve.stats()
      expect(before).toMatchObject({ urls: 4, seen: 0, invalid: 2 })
      expect(sieve.explain('no url')).toMatchObject({ key: 'no url', isUrl: false, verdict: 'seen' })
      expect(sieve.explain('https://c.example/')).toMatchObject({ isUrl: true, verdict: 'new' })
      expect(sieve.stats()).toEqual(before)
    })

    it('says when it holds more than it was made for, and only then', async () => {
      const sieve = await make(kind, 100, {
        expectedUrls: 100,
        ...(kind.can.grow ? {} : ampleSize(kind, 100)),
      })
      sieve.addMany(plain.slice(0, 100))
      expect(sieve.stats().pastCapacity).toBe(false)
      sieve.add(plain[100]!)
      expect(sieve.stats().pastCapacity).toBe(!kind.can.grow && sieve.plan.expectedUrls !== null)
    })
  })

  it('two sieves do not share a thing', async () => {
    const [one, other] = [await make(kind), await make(kind)]
    one.addMany(plain)
    expect([...other.hasMany(plain)]).toEqual(plain.map(() => 0))
    expect(other.stats().urls).toBe(0)
  })

  if (kind.can.delete) {
    describe('delete', () => {
      const makeDeleting = (urls?: number) => make(kind, urls) as Promise<DeletingSieve>

      it('forgets a URL, says whether it was there, and forgets no other', async () => {
        const sieve = await makeDeleting()
        sieve.addMany(plain)
        const [gone, kept] = [plain.slice(0, 1000), plain.slice(1000)]
        for (const url of gone) expect(sieve.delete(url)).toBe(true)
        for (const url of gone) expect(sieve.delete(url)).toBe(false)
        expect([...sieve.hasMany(gone)]).toEqual(gone.map(() => 0))
        expect([...sieve.hasMany(kept)]).toEqual(kept.map(() => 1))
        expect(sieve.stats().urls).toBe(kept.length)
        for (const url of gone) expect(sieve.add(url)).toBe(true)
        expect(sieve.stats().urls).toBe(plain.length)
      })

      it.each([1, 2, 3])('random adds and deletes are a Set’s, seed %i', async (seed) => {
        const rng = randomFrom(seed)
        const sieve = await makeDeleting()
        const truth = new Set<string>()
        // Up and down between empty and just under a growth step, where the buckets overflow.
        const pool = Array.from({ length: 1790 }, (_, i) => `https://example.com/${seed}/${i}`)
        for (let step = 0; step < 30_000; step++) {
          const url = pool[Math.floor(rng() * pool.length)]!
          const filling = Math.floor(step / 6000) % 2 === 0 ? 0.85 : 0.15
          if (rng() < 0.1) expect(sieve.has(url)).toBe(truth.has(url))
          else if (rng() < filling) {
            expect(sieve.add(url)).toBe(!truth.has(url))
            truth.add(url)
          } else expect(sieve.delete(url)).toBe(truth.delete(url))
        }
        expect(sieve.stats().urls).toBe(truth.size)
        expect([...sieve.hasMany(pool)]).toEqual(pool.map((url) => Number(truth.has(url))))
      })

      it('many deletes at high load leave what is left', async () => {
        const size = comfortably(kind, 5 * 57_000) / 5
        const rng = randomFrom(5)
        const sieve = await makeDeleting(size)
        const urls = Array.from({ length: size }, (_, i) => `https://example.com/high/${i}`)
        sieve.addMany(urls)
        const order = shuffled(rng, urls)
        const stages = 4
        for (let stage = 0; stage < stages; stage++) {
          const [from, to] = [stage, stage + 1].map((s) => Math.floor((s * size) / stages))
          for (const url of order.slice(from, to)) if (!sieve.delete(url)) expect.fail(`${url} was not there`)
          expect([...sieve.hasMany(order.slice(0, to))].indexOf(1), 'a deleted URL is there').toBe(-1)
          expect([...sieve.hasMany(order.slice(to))].indexOf(0), 'a kept URL is gone').toBe(-1)
          expect(sieve.stats().urls).toBe(size - to!)
        }
        expect([...sieve.addMany(urls)].indexOf(0)).toBe(-1)
      })
    })
  } else {
    it('has no delete', async () => {
      expect('delete' in (await make(kind))).toBe(false)
    })
  }

  if (kind.can.under) {
    it('hasUnder finds every folder of what was added, and nothing on an unknown host', async () => {
      const sieve = (await make(kind, 10_000, { profile: 'web' })) as FolderSieve
      expect(sieve.hasUnder('https://host1.example/')).toBe(false)
      sieve.addMany(plain)
      for (let i = 0; i < 100; i++) {
        expect(sieve.hasUnder(`https://host${i}.example/`)).toBe(true)
        expect(sieve.hasUnder(`https://host${i}.example/folder${i}/`)).toBe(true)
        expect(sieve.hasUnder(`https://nowhere${i}.example/`)).toBe(false)
      }
    })
  } else {
    it('has no hasUnder', async () => {
      expect('hasUnder' in (await make(kind))).toBe(false)
    })
  }

  describe('sizes', () => {
    it('is made by rate, by memory, and by m and k; the plan says what was made', async () => {
      for (const request of [
        { expectedUrls: 1000, falsePositiveRate: 0.001 },
        { expectedUrls: 1000, sizeBytes: 4096 },
        { bits: 32_768, hashes: 5 },
      ]) {
        const plan = planOrNull(kind, request)
        if (!plan) continue
        const sieve = await create(kind, request)
        expect(sieve.plan).toEqual(plan)
        expect(plan.filter).toBe(kind.name)
        if (request.expectedUrls) expect(plan.expectedUrls).toBe(request.expectedUrls)
        if (request.falsePositiveRate && plan.expectedRate !== null) {
          expect(plan.expectedRate).toBeLessThanOrEqual(request.falsePositiveRate)
        }
        if (!kind.can.grow) {
          if (request.sizeBytes) expect(plan.sizeBytes).toBeLessThanOrEqual(request.sizeBytes)
          if (request.bits) expect(plan.bits).toBeLessThanOrEqual(request.bits)
          if (request.hashes) expect(plan.hashes).toBe(request.hashes)
          expect(sieve.stats().sizeBytes).toBe(plan.sizeBytes)
        }
        sieve.addMany(plain.slice(0, 500))
        expect([...sieve.hasMany(plain.slice(0, 500))].indexOf(0)).toBe(-1)
      }
    })

    it('never takes more hashes than anyone could wait for, however much memory it is given', () => {
      for (const sizeBytes of [64, 4096, 2 ** 20, 2 ** 30]) {
        const plan = planOrNull(kind, { expectedUrls: 10, sizeBytes })
        if (plan?.hashes) expect(plan.hashes, `${sizeBytes} bytes for 10 URLs`).toBeLessThanOrEqual(64)
      }
      const tiny = planOrNull(kind, { expectedUrls: 10, falsePositiveRate: 1e-30 })
      if (tiny?.hashes) expect(tiny.hashes, 'one in 1e30').toBeLessThanOrEqual(64)
    })

    it('more memory never gives a worse rate, more URLs never a better one', () => {
      let last = 1
      for (const sizeBytes of [1024, 2048, 4096, 8192, 65_536]) {
        const plan = planOrNull(kind, { expectedUrls: 2000, sizeBytes })
        if (!plan && (kind.refusesWhenFull || kind.can.grow)) continue
        const rate = plan!.expectedRate!
        expect(rate).toBeLessThanOrEqual(last)
        last = rate
      }
      last = 0
      for (const expectedUrls of [10, 100, 1000, 10_000]) {
        const rate = planOrNull(kind, { expectedUrls, sizeBytes: 4096 })?.expectedRate ?? 1
        expect(rate).toBeGreaterThanOrEqual(last)
        last = rate
      }
    })

    it.each([
      [{ expectedUrls: 0 }, 'expectedUrls 0'],
      [{ expectedUrls: -5 }, 'expectedUrls -5'],
      [{ expectedUrls: 1.5 }, 'expectedUrls 1.5'],
      [{ expectedUrls: Number.NaN }, 'expectedUrls NaN'],
      [{ expectedUrls: Number.POSITIVE_INFINITY }, 'expectedUrls Infinity'],
      [{ expectedUrls: '1000' }, "expectedUrls '1000'"],
      [{ falsePositiveRate: 0, expectedUrls: 10 }, 'falsePositiveRate 0'],
      [{ falsePositiveRate: 1, expectedUrls: 10 }, 'falsePositiveRate 1'],
      [{ falsePositiveRate: -0.1, expectedUrls: 10 }, 'falsePositiveRate -0.1'],
      [{ falsePositiveRate: Number.NaN, expectedUrls: 10 }, 'falsePositiveRate NaN'],
      [{ sizeBytes: 0, expectedUrls: 10 }, 'sizeBytes 0'],
      [{ sizeBytes: 63, expectedUrls: 10 }, 'sizeBytes 63'],
      [{ sizeBytes: 100.5, expectedUrls: 10 }, 'sizeBytes 100.5'],
      [{ bits: 7, hashes: 1 }, 'bits 7'],
      [{ bits: 2 ** 48, hashes: 1 }, `bits ${2 ** 48}`],
      [{ bits: 1000, hashes: 0 }, 'hashes 0'],
      [{ bits: 1000, hashes: 65 }, 'hashes 65'],
      [{ bits: 1000, hashes: 2.5 }, 'hashes 2.5'],
      [{ bits: 1000, sizeBytes: 1000, hashes: 1 }, 'both sizeBytes and bits'],
    ])('refuses %j in one line', async (options, got) => {
      const error = await create(kind, options as SieveOptions).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(SieveError)
      expect((error as SieveError).code).toBe('option')
      expect((error as SieveError).message).toMatch(/^[^\n]+$/)
      // A filter that grows takes no size at all, whatever it is; an option that is not the filter's own is named first.
      const takesNone = kind.can.grow && 'sizeBytes' in options
      const own = kind.options.map((option) => option.name as string)
      const foreign = Object.entries(options).find(([name]) => !own.includes(name))
      const named = foreign ? `${foreign[0]} ${foreign[1]}: filter '${kind.name}' does not take it` : got
      expect((error as SieveError).message).toContain(takesNone ? `sizeBytes ${options.sizeBytes}` : named)
      expect((error as SieveError).message).toMatch(
        takesNone ? 'grows as it needs; leave it out' : 'expected',
      )
    })

    if (!kind.can.grow) {
      it('says what is missing when its size does not follow', async () => {
        for (const options of [{}, { falsePositiveRate: 0.1 }]) {
          const made = Sieve.create({ filter: kind.name as FilterName, ...options })
          await expect(made).rejects.toThrow(/^filter '.*' has a fixed size: give [^\n]+$/)
          await expect(made).rejects.toMatchObject({ code: 'option' })
        }
      })
    }
  })
})

describe('the registry', () => {
  it('names each filter as its entry does, and says what it is in one line each', () => {
    expect(kinds.map((kind) => kind.name)).toEqual(filterNames)
    for (const { does, source, errs } of kinds) {
      for (const line of [does, source, errs]) expect(line).toMatch(/^[^\n]+$/)
    }
  })

  it('its types name just the filters that can delete, and those that know folders', () => {
    expectTypeOf<Extract<FilterName, DeletingFilterName>>().toEqualTypeOf<DeletingFilterName>()
    expectTypeOf<
      Extract<'fingerprint' | 'hash-set' | 'blocked' | 'window', DeletingFilterName>
    >().toEqualTypeOf<'fingerprint' | 'hash-set'>()
    expectTypeOf<Extract<'prefix-layers' | 'multilayer', FolderFilterName>>().toEqualTypeOf<'prefix-layers'>()
  })

  it.each(kinds)('$name has just the verbs that its type says', async (kind) => {
    const sieve = await make(kind, 10)
    expect('delete' in sieve).toBe(kind.can.delete)
    expect('hasUnder' in sieve).toBe(kind.can.under)
  })

  it('a filter that cannot delete has none by type either', async () => {
    type Deleting = { [F in FilterName]: SieveOf<F> extends DeletingSieve ? F : never }[FilterName]
    expectTypeOf<Deleting>().toEqualTypeOf<DeletingFilterName>()
    type Knowing = { [F in FilterName]: SieveOf<F> extends FolderSieve ? F : never }[FilterName]
    expectTypeOf<Knowing>().toEqualTypeOf<FolderFilterName>()
    const blocked = await Sieve.create({ filter: 'blocked', bits: 512, hashes: 1 })
    // @ts-expect-error: blocked cannot forget
    expect(blocked.delete).toBeUndefined()
    const fingerprint = await Sieve.create()
    expectTypeOf(fingerprint.delete).toEqualTypeOf<(url: string) => boolean>()
    // @ts-expect-error: no such filter
    await expect(Sieve.create({ filter: 'bloom' })).rejects.toThrow(
      `unknown filter 'bloom': expected one of ${filterNames.join(', ')}`,
    )
  })

  it('what is no filter, hash, profile or key is refused in one line', async () => {
    const refuse = async (options: object, message: string | RegExp) => {
      const made = Sieve.create(options as SieveOptions)
      await expect(made).rejects.toThrow(message)
      await expect(made).rejects.toMatchObject({ name: 'SieveError', code: 'option' })
    }
    await refuse({ filter: 'toString' }, /^unknown filter 'toString': expected one of [^\n]+$/)
    await refuse({ hash: 'crc32' }, /^unknown hash 'crc32': expected one of siphash, xxh64[^\n]*$/)
    await refuse({ profile: 'none' }, /^unknown profile 'none': expected one of raw, [^\n]+$/)
    await refuse({ key: new Uint8Array(15) }, /^key of 15 bytes: expected 16 bytes$/)
  })
})
