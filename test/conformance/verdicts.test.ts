// What every filter must answer, run over the whole registry: a new entry is covered with no edit here. One million URLs
// per filter: URLSIEVE_FULL=1.
import { describe, expect, it } from 'vitest'
import type { SieveError } from '../../src/errors.ts'
import type { FilterKind } from '../../src/filters/filter.ts'
import { hashNames, isWideHash } from '../../src/hashes.ts'
import { generateUrls } from '../canonical/urls.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'
import { create, make, plain } from './sieves.ts'
import { ampleSize, capacityFor, comfortably, forgets, isExactWhenAmple, kinds, planOrNull } from './sizes.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const isFull = process.env.URLSIEVE_FULL === '1'

/** What a string is once it is bytes: a lone surrogate becomes U+FFFD. */
const wellFormed = (text: string) =>
  /[\ud800-\udfff]/.test(text) ? decoder.decode(encoder.encode(text)) : text

/** The same for every filter, so made once. */
const generated = new Map<number, string[]>()
function generate(count: number): string[] {
  const urls = generated.get(count) ?? generateUrls(4, count)
  generated.set(count, urls)
  return urls
}

/** Shop pages 0, 1, 2 … as far as any filter was given them. */
const shop: string[] = []
function shopPages(from: number, to: number): string[] {
  for (let i = shop.length; i < to; i++) shop.push(`https://www.example.com/shop/${i % 97}/item-${i}.html`)
  return shop.slice(from, to)
}

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
      for (const url of plain) expectIs(sieve.add(url), true, url)
      for (const url of plain) expectIs(sieve.add(url), false, url)
    })

    it('has marks nothing', async () => {
      const sieve = await make(kind)
      for (let turn = 0; turn < 2; turn++) for (const url of plain) expectIs(sieve.has(url), false, url)
      expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 0))
      for (const url of plain) expectIs(sieve.add(url), true, url)
      for (let turn = 0; turn < 2; turn++) for (const url of plain) expectIs(sieve.has(url), true, url)
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
      const urls = generate(comfortably(kind, 15_000))
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
    const sizes = [1e3, 1e4, 1e5, ...(isFast && isFull ? [1e6] : [])].filter(
      (size) => size === 1e3 || comfortably(kind, 5 * size) === 5 * size,
    )
    it.each(sizes)('of %i URLs, not one', async (size) => {
      // A filter of a fixed size is filled to the last URL it was made for; one that grows, to ten times that.
      const expectedUrls = kind.can.grow && !forgets(kind) ? size / 10 : size
      const byRate = { expectedUrls: capacityFor(kind, expectedUrls), falsePositiveRate: 0.01 }
      const sieve = await create(kind, planOrNull(kind, byRate) ? byRate : ampleSize(kind, size))
      for (const half of [0, 1]) {
        sieve.addMany(shopPages((half * size) / 2, ((half + 1) * size) / 2))
      }
      for (let from = 0; from < size; from += 50_000) {
        const urls = shopPages(from, Math.min(from + 50_000, size))
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
      const isPoor = ['poly31', 'djb2', 'xor17'].includes(hash)
      if (isPoor && kind.takes === 'hashes') {
        const expected = /^hash '\w+': expected siphash or xxh64; hash '\w+' has 32 bits, [^\n]+$/
        await expect(make(kind, 2000, { hash })).rejects.toThrow(expected)
        return
      }
      // A size is given: a rate is promised with hashes that keep it only.
      const size = kind.can.grow ? {} : { bits: 2000 * 512, hashes: 20 }
      const sieve = await make(kind, 2000, {
        ...(isPoor ? { falsePositiveRate: undefined, ...size } : {}),
        hash,
      })
      const fresh = sieve.addMany(plain).reduce((sum, verdict) => sum + verdict, 0)
      // The papers' 32-bit functions collide on URLs as like as these, whatever the filter.
      if (isWideHash(hash)) expect(fresh).toBe(plain.length)
      else expect(fresh).toBeGreaterThan(0.9 * plain.length)
      expect([...sieve.hasMany(plain)]).toEqual(plain.map(() => 1))
      expect([...sieve.addMany(plain)]).toEqual(plain.map(() => 0))
    })
  })
})
