// What a filter reports as its rate is what it does on links in the order in which they come: between 0.8 and 1.25 of it, for
// every filter, or null with the reason. `npm run bench -- --only rates` measures the same on any file.
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type FilterName, filterKinds } from '../../src/filters/registry.ts'
import { freeze } from '../../src/freeze.ts'
import { Sieve, type SieveOptions } from '../../src/sieve.ts'
import { newFolders } from '../support/folders.ts'
import { linksInTime } from './links-in-time.ts'

const newFolder = newFolders()

const URLS = 96_000
const PART = 4000
const key = Uint8Array.from({ length: 16 }, (_, i) => 5 * i + 1)
const links = linksInTime(URLS, 27)

const count = (answers: Uint8Array) => answers.reduce((sum, one) => sum + one, 0)

/** Adds links from `from` on, and returns the predicted number of wrong answers by the real one. */
function predictedByWrong(sieve: Sieve, from: number): number {
  let [predicted, wrong] = [0, 0]
  let rate = sieve.stats().expectedRate!
  for (let at = from; at < URLS; at += PART) {
    wrong += PART - count(sieve.addMany(links.slice(at, at + PART)))
    const next = sieve.stats().expectedRate!
    predicted += (PART * (rate + next)) / 2
    rate = next
  }
  expect(wrong).toBeGreaterThan(300)
  return predicted / wrong
}

const sized = { expectedUrls: URLS, falsePositiveRate: 0.04, profile: 'raw', key } as const
const settings: Readonly<Record<string, SieveOptions>> = {
  ...Object.fromEntries(
    filterKinds
      .filter(({ exactness, can }) => exactness === 'approximate' && !can.grow)
      .map(({ name }) => [name, { ...sized, filter: name as FilterName }]),
  ),
  'eigenvalue, path-shape': { ...sized, filter: 'eigenvalue', features: 'path-shape' },
  'eigenvalue, digits': { ...sized, filter: 'eigenvalue', features: 'digits' },
  'eigenvalue, last-segment': { ...sized, filter: 'eigenvalue', features: 'last-segment' },
  'eigenvalue, a function': { ...sized, filter: 'eigenvalue', features: (url) => url.slice(-2) },
  'prefix-layers, 2 layers': { ...sized, filter: 'prefix-layers', layers: 2 },
  scalable: { ...sized, filter: 'scalable', expectedUrls: URLS / 20 },
  window: { ...sized, filter: 'window', inner: 'blocked' },
  'window that forgets': { ...sized, filter: 'window', inner: 'classic', windowUrls: URLS / 4 },
}

/** What they report is a null and the reason; the others have a number. */
const silent = ['multilayer', 'keyword-layers']

describe.each(Object.entries(settings))('%s', (name, options) => {
  it('reports the rate that it has', async () => {
    const sieve = await Sieve.create(options)
    sieve.addMany(links.slice(0, URLS / 3))
    const { expectedRate, noPromise } = sieve.stats()
    if (silent.includes(name)) {
      expect(expectedRate).toBeNull()
      expect(noPromise).toMatch(/^new URLs whose \w+ are those of a known one in another order, or repeat, /)
      return
    }
    expect(noPromise).toBeUndefined()
    const ratio = predictedByWrong(sieve, URLS / 3)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  })
})

it('a frozen set reports the rate that it has', async () => {
  const sieve = await Sieve.create({ profile: 'raw', key })
  sieve.addMany(links.slice(0, URLS / 2))
  const frozen = await freeze(sieve, { bits: 8 })
  const ratio = (frozen.stats().expectedRate! * URLS) / 2 / count(frozen.hasMany(links.slice(URLS / 2)))
  expect(ratio).toBeGreaterThan(0.8)
  expect(ratio).toBeLessThan(1.25)
})

it('there are swapped and repeated words among them, which no layered filter keeps apart', async () => {
  const sieve = await Sieve.create({
    filter: 'keyword-layers',
    expectedUrls: URLS,
    falsePositiveRate: 1e-6,
    key,
  })
  expect(URLS - count(sieve.addMany(links))).toBeGreaterThan(5)
  expect(sieve.stats()).toMatchObject({ promisedRate: null, expectedRate: null })
  expect(sieve.plan).toMatchObject({ promisedRate: null, expectedRate: null })
})

describe('what is known of the rest of a new URL', () => {
  it.each(['prefix-layers', 'eigenvalue'] as const)(
    '%s: is in the snapshot, and is united',
    async (filter) => {
      const path = `${newFolder()}/one.sieve`
      const options = { ...sized, filter, ...(filter === 'eigenvalue' && { features: 'digits' as const }) }
      const sieve = await Sieve.create(options as SieveOptions)
      sieve.addMany(links.slice(0, 16_000))
      await sieve.save(path)
      const loaded = await Sieve.load(path)
      expect(loaded.stats()).toEqual(sieve.stats())
      const other = await Sieve.create(options as SieveOptions)
      other.addMany(links.slice(16_000, 48_000))
      await loaded.merge(other)
      const ratio = predictedByWrong(loaded, 48_000)
      expect(ratio).toBeGreaterThan(0.8)
      expect(ratio).toBeLessThan(1.25)
    },
  )

  it.each(['prefix-layers', 'eigenvalue'])('a file of before it opens: %s', async (name) => {
    const sieve = await Sieve.load(
      fileURLToPath(new URL(`../store/golden-before/${name}.sieve`, import.meta.url)),
    )
    const { expectedRate, rates, fill } = sieve.stats()
    const upper = rates!.lookAlike ?? fill ** sieve.plan.hashes!
    expect(expectedRate).toBe(upper)
    sieve.addMany(links.slice(0, 500))
    expect(sieve.stats().expectedRate).toBeGreaterThan(0)
  })
})
