// What every filter counts, forgets and keeps apart, run over the whole registry: a new entry is covered with no edit here.
import { describe, expect, it } from 'vitest'
import type { DeletingSieve, FolderSieve } from '../../src/sieve.ts'
import type { Random } from '../canonical/urls.ts'
import { expectIs } from '../support/expect-is.ts'
import { randomFrom } from '../support/random.mjs'
import { make, plain } from './sieves.ts'
import { ampleSize, comfortably, kinds } from './sizes.ts'

const encoder = new TextEncoder()

const shuffled = <T>(rng: Random, list: readonly T[]): T[] =>
  list
    .map((item) => [rng(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

describe.each(kinds)('$name', (kind) => {
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
      if (kind.noPromise) expect(stats).toMatchObject({ expectedRate: null, noPromise: kind.noPromise })
      expect(stats.expectedRate ?? 0).toBeGreaterThanOrEqual(0)
      expect(stats.expectedRate ?? 0).toBeLessThan(1e-6)
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
        for (const url of gone) expectIs(sieve.delete(url), true)
        for (const url of gone) expectIs(sieve.delete(url), false)
        expect([...sieve.hasMany(gone)]).toEqual(gone.map(() => 0))
        expect([...sieve.hasMany(kept)]).toEqual(kept.map(() => 1))
        expect(sieve.stats().urls).toBe(kept.length)
        for (const url of gone) expectIs(sieve.add(url), true)
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
          if (rng() < 0.1) expectIs(sieve.has(url), truth.has(url))
          else if (rng() < filling) {
            expectIs(sieve.add(url), !truth.has(url))
            truth.add(url)
          } else expectIs(sieve.delete(url), truth.delete(url))
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
})
