// What a filter cannot keep it does not promise: a hash with too few bits, a structure that takes some URLs for others for
// certain. Files of earlier versions, which promised it, open and say so.
import { describe, expect, it } from 'vitest'
import { resolveProfile } from '../../src/canonical/profiles.ts'
import type { FilterKind } from '../../src/filters/filter.ts'
import { type FilterName, filterKinds, filters } from '../../src/filters/registry.ts'
import { chooseHash, type HashName } from '../../src/hashes.ts'
import { Sieve, type SieveOptions } from '../../src/index.ts'
import { makeSieve } from '../../src/sieve.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()
const key = new Uint8Array(16).fill(4)
const pages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `https://example.com/page/${from + i}`)
const poor: HashName[] = ['poly31', 'djb2', 'xor17']
const create = (options: object) => Sieve.create(options as SieveOptions)

describe('a hash with too few bits for its filter', () => {
  const takers = filterKinds.filter(({ takes }) => takes === 'hashes')

  it.each(takers)('$name refuses it when it is planned', async ({ name, can }) => {
    const size = can.grow ? { expectedUrls: 1000 } : { expectedUrls: 1000, sizeBytes: 10_000 }
    for (const hash of [...poor, ['poly31', 'djb2', 'xor17']]) {
      await expect(create({ filter: name, hash, ...size })).rejects.toThrow(
        new RegExp(
          `^hash '${[hash].flat().join()}': expected siphash or xxh64; hash '\\w+' has 32 bits, spread unevenly, where 64 are needed: filter '${name}' cannot keep its rate$`,
        ),
      )
    }
    for (const hash of ['xxh64', 'murmur3', 'jenkins', 'md5']) {
      const sieve = await create({ filter: name, hash, ...size })
      const urls = pages(0, 1000)
      expect(sieve.addMany(urls).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(990)
      expect(sieve.stats().noPromise).toBeUndefined()
    }
  })

  it('classic takes k functions as the papers do, where no rate is promised', async () => {
    const promised = { filter: 'classic', expectedUrls: 1000, falsePositiveRate: 1e-3 }
    await expect(create({ ...promised, hash: 'poly31' })).rejects.toThrow(
      /^hash 'poly31': expected siphash or xxh64; hash 'poly31' gives 10 functions that are not independent: filter 'classic' cannot keep its rate$/,
    )
    await expect(create({ filter: 'classic', expectedUrls: 1000, hash: 'djb2' })).rejects.toThrow(
      /^hash 'djb2'/,
    )
    const sieve = await create({
      filter: 'classic',
      bits: 20_000,
      hashes: 10,
      expectedUrls: 1000,
      hash: 'poly31',
    })
    sieve.addMany(pages(0, 500))
    expect(sieve.plan).toMatchObject({ promisedRate: null, expectedRate: null })
    expect(sieve.stats()).toMatchObject({
      promisedRate: null,
      expectedRate: null,
      noPromise: "hash 'poly31' gives 10 functions that are not independent",
      pastCapacity: false,
    })
    // The document's three, each once or in turn, keep it.
    const three = await create({ ...promised, hash: ['poly31', 'djb2', 'xor17'] })
    expect(three.stats()).toMatchObject({ promisedRate: 1e-3, expectedRate: 0 })
  })

  it('the research filters take it knowingly', async () => {
    for (const { name, isResearch, exactness } of filterKinds as readonly FilterKind[]) {
      if (!isResearch) continue
      const sieve = await create({
        filter: name,
        expectedUrls: 1000,
        falsePositiveRate: 1e-3,
        hash: 'poly31',
      })
      expect(sieve.add('https://a.example/')).toBe(true)
      expect(exactness).toBe('approximate')
      expect(sieve.stats().promisedRate).toBeNull()
    }
  })

  it('a file of an earlier version opens, and says that it keeps no rate', async () => {
    const path = `${newFolder()}/old.sieve`
    const plan = filters.blocked.plan({ expectedUrls: 100_000, falsePositiveRate: 1e-6 })
    const hash = chooseHash('poly31')
    const old = await makeSieve(
      {},
      { kind: filters.blocked, plan, profile: resolveProfile('raw'), hash, froms: [0] },
    )
    expect(old.stats()).toMatchObject({ expectedRate: null, pastCapacity: false })
    const urls = pages(0, 20_000)
    old.addMany(urls)
    await old.save(path)
    const sieve = await Sieve.load(path)
    expect(sieve.hasMany(urls).indexOf(0)).toBe(-1)
    expect(sieve.stats()).toMatchObject({
      urls: old.stats().urls,
      expectedRate: null,
      promisedRate: null,
      noPromise: expect.stringMatching(/^hash 'poly31' has 32 bits/),
      pastCapacity: true,
    })
  })
})

describe('a filter of bits that takes in another', () => {
  const kinds = filterKinds.filter(({ can, exactness, refusesWhenFull }) => {
    return exactness === 'approximate' && !can.grow && !refusesWhenFull
  })

  it.each(kinds)(
    '$name: URLs in both count once, by an estimate that is said to be one',
    async ({ name }) => {
      const options = {
        filter: name as FilterName,
        expectedUrls: 10_000,
        falsePositiveRate: 1e-3,
        key,
        profile: 'raw',
      }
      const folder = newFolder()
      const one = await create(options)
      const other = await create(options)
      const stored = await Sieve.open(`${folder}/stored`, options as SieveOptions)
      for (const sieve of [one, stored]) sieve.addMany(pages(0, 6000))
      other.addMany(pages(3000, 9000))
      expect(one.stats().urlsEstimated).toBeUndefined()
      const near = (urls: number, real: number) => {
        expect(urls / real, `${urls} of ${real}`).toBeGreaterThan(0.97)
        expect(urls / real, `${urls} of ${real}`).toBeLessThan(1.03)
      }
      for (const sieve of [one, stored]) {
        await sieve.merge(other)
        const { urls, urlsEstimated, pastCapacity } = sieve.stats()
        near(urls, 9000)
        expect([urlsEstimated, pastCapacity]).toEqual([true, false])
        // Again: there is nothing new.
        await sieve.merge(other)
        near(sieve.stats().urls, 9000)
      }
      await stored.close()
      const back = await Sieve.open(`${folder}/stored`)
      expect(back.stats()).toMatchObject({ urls: stored.stats().urls, urlsEstimated: true })
      await back.close()
      one.clear()
      expect(one.stats()).toMatchObject({ urls: 0 })
      expect(one.stats().urlsEstimated).toBeUndefined()
    },
  )

  it('past the capacity only where the union is', async () => {
    const options = { filter: 'classic', expectedUrls: 10_000, falsePositiveRate: 1e-3, key, profile: 'raw' }
    const [one, other] = [await create(options), await create(options)]
    one.addMany(pages(0, 8000))
    other.addMany(pages(8000, 16_000))
    await one.merge(other)
    expect(one.stats().urls).toBeGreaterThan(15_500)
    expect(one.stats().pastCapacity).toBe(true)
  })

  it('a filter that remembers the hashes counts exactly', async () => {
    const [one, other] = [await create({ key }), await create({ key })]
    one.addMany(pages(0, 600))
    other.addMany(pages(300, 900))
    await one.merge(other)
    expect(one.stats()).toMatchObject({ urls: 900 })
    expect(one.stats().urlsEstimated).toBeUndefined()
  })
})

it('cuckoo: a URL that was given may be new after others were deleted, where it shares a fingerprint', async () => {
  const sieve = await Sieve.create({
    filter: 'cuckoo',
    expectedUrls: 30_000,
    falsePositiveRate: 0.02,
    key,
    profile: 'raw',
  })
  const urls = pages(0, 30_000)
  const verdicts = sieve.addMany(urls)
  const chance = urls.filter((_, i) => verdicts[i] === 0)
  const others = urls.filter((_, i) => verdicts[i] === 1).slice(0, 15_000)
  expect(chance.length).toBeGreaterThan(50)
  expect(sieve.deleteMany(others).indexOf(0)).toBe(-1)
  const again = sieve.hasMany(chance).reduce((sum, seen) => sum + 1 - seen, 0)
  expect(again).toBeGreaterThan(0)
  // Of those that were new when they came, and not deleted, none.
  const kept = urls.filter((_, i) => verdicts[i] === 1).slice(15_000)
  expect(sieve.hasMany(kept).indexOf(0)).toBe(-1)
  for (const { can, errs, exactness } of filterKinds) {
    if (can.delete && exactness !== 'exact') expect(errs).toMatch(/towards "new" (only )?after deletes/)
  }
})
