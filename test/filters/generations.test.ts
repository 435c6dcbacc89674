// The filters that are rows of others: the memory they take when a part does not fit into one instance, and what a window
// by age remembers when the clock jumps.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Generations } from '../../src/filters/generations.ts'
import { Sieve, type SieveOptions } from '../../src/sieve.ts'
import { STATE } from '../../src/state.ts'
import { CHUNK_HEADER_BYTES, encodeEnd } from '../../src/store/format.ts'
import { verifySieve } from '../../src/store/verify.ts'
import { newPaths } from '../support/folders.ts'

const MIB = 2 ** 20
const key = new Uint8Array(16).fill(9)
const newFolder = newPaths()
const named = (letter: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `https://example.com/${letter}/${from + i}`)
const generationsOf = (sieve: Sieve) => sieve[STATE].shards.all[0]!.filter as Generations

afterEach(() => {
  vi.restoreAllMocks()
})

const shapes: [string, SieveOptions][] = [
  ['scalable', { filter: 'scalable', expectedUrls: 200_000, falsePositiveRate: 1e-3 }],
  [
    'scalable of classic',
    { filter: 'scalable', inner: 'classic', expectedUrls: 200_000, falsePositiveRate: 1e-3 },
  ],
  [
    'window of blocked',
    { filter: 'window', inner: 'blocked', windowUrls: 400_000, generations: 2, falsePositiveRate: 1e-3 },
  ],
  [
    'window of classic',
    { filter: 'window', inner: 'classic', windowUrls: 400_000, generations: 2, falsePositiveRate: 1e-3 },
  ],
]

describe.each(shapes)('%s, whose parts do not fit into one instance', (_, options) => {
  it('takes the planned size within 5 %, answers as in one, and comes back from a file', async () => {
    const make = (more: Pick<SieveOptions, 'instanceBytes'>) =>
      Sieve.create({ profile: 'raw', key, ...options, ...more })
    const spread = await make({ instanceBytes: 0.75 * MIB })
    const one = await make({})
    const first = options.filter === 'window' ? one.plan.sizeBytes / 2 : one.plan.sizeBytes
    const size = () => spread.stats().sizeBytes
    expect(size()).toBeGreaterThanOrEqual(0.95 * first)
    expect(size()).toBeLessThanOrEqual(1.05 * first)
    expect(generationsOf(spread).all[0]!.shards.count).toBeGreaterThan(1)
    expect(generationsOf(one).all[0]!.shards.count).toBe(1)
    const urls = named('a', 0, 350_000)
    for (let from = 0; from < urls.length; from += 50_000) {
      const some = urls.slice(from, from + 50_000)
      spread.addMany(some)
      one.addMany(some)
    }
    const [mine, theirs] = [spread.stats(), one.stats()]
    expect(mine.layers!.length).toBe(2)
    expect(mine.sizeBytes).toBeLessThanOrEqual(1.05 * theirs.sizeBytes)
    expect(mine.sizeBytes).toBeGreaterThanOrEqual(0.95 * theirs.sizeBytes)
    expect(mine.expectedRate).toBeLessThanOrEqual(1e-3)
    expect(mine.urls / theirs.urls).toBeCloseTo(1, 2)
    expect(spread.hasMany(urls).indexOf(0)).toBe(-1)
    const trials = 100_000
    const wrong = spread.hasMany(named('b', 0, trials)).reduce((sum, seen) => sum + seen, 0)
    expect(wrong).toBeLessThanOrEqual(1.5e-3 * trials)
    const path = newFolder()
    await spread.save(path)
    const back = await Sieve.load(path)
    expect(back.stats()).toMatchObject({ urls: mine.urls, sizeBytes: mine.sizeBytes, layers: mine.layers })
    expect(back.hasMany(urls).indexOf(0)).toBe(-1)
    expect(back.addMany(named('c', 0, 5000))).toEqual(spread.addMany(named('c', 0, 5000)))
  })
})

describe('window of fingerprint', () => {
  it('divides a generation that outgrows its instance, and comes back from a file', async () => {
    const options = { filter: 'window', profile: 'raw', key, windowUrls: 300_000, generations: 2 } as const
    const sieve = await Sieve.create({ ...options, instanceBytes: 1.5 * MIB })
    const urls = named('a', 0, 250_000)
    for (let from = 0; from < urls.length; from += 25_000) {
      expect(sieve.addMany(urls.slice(from, from + 25_000)).indexOf(0)).toBe(-1)
    }
    expect(generationsOf(sieve).all.map(({ shards }) => shards.count > 1)).toEqual([true, true])
    expect(sieve.hasMany(urls).indexOf(0)).toBe(-1)
    expect(sieve.hasMany(named('b', 0, 20_000)).indexOf(1)).toBe(-1)
    const path = newFolder()
    await sieve.save(path)
    const back = await Sieve.load(path)
    expect(back.hasMany(urls).indexOf(0)).toBe(-1)
    expect(back.addMany(named('c', 0, 5000)).indexOf(0)).toBe(-1)
    expect(back.hasMany(urls).indexOf(0)).toBe(-1)
  })
})

const HOUR = 3_600_000
const DAY = 24 * HOUR
const YEAR = 365 * DAY

describe('a window by age and a clock that jumps', () => {
  const options = { filter: 'window', profile: 'raw', key, windowMs: DAY, generations: 8 } as const
  const start = Date.UTC(2026, 0, 1)
  let now = start
  const setClock = (time: number) => {
    now = time
    vi.spyOn(Date, 'now').mockImplementation(() => now)
  }

  it.each([1, 60_000, HOUR, YEAR])(
    'ahead by %i ms and back: never remembered longer than the window',
    async (jump) => {
      const sieve = await Sieve.create(options)
      setClock(start)
      sieve.clear()
      sieve.add('before')
      setClock(start + jump)
      sieve.add('ahead')
      for (const hours of [0, 1, 12, 23, 24, 25, 48, 24 * 100, 24 * 364, 24 * 365, 24 * 366]) {
        setClock(start + hours * HOUR)
        if (hours >= 24)
          expect([hours, sieve.has('before'), sieve.has('ahead')]).toEqual([hours, false, false])
      }
    },
  )

  it('also when nothing was asked until the window was over', async () => {
    for (const asked of [1, 25, 24 * 364]) {
      setClock(start)
      const sieve = await Sieve.create(options)
      setClock(start + YEAR)
      sieve.add('ahead')
      setClock(start + asked * HOUR)
      if (asked >= 24) expect(sieve.has('ahead')).toBe(false)
      expect(sieve.add('after')).toBe(true)
      expect(sieve.has('after')).toBe(true)
      setClock(now + DAY)
      expect(sieve.has('after')).toBe(false)
      expect(sieve.has('ahead')).toBe(false)
    }
  })

  it('any walk of the clock: nothing is remembered that was added more than a window ago by the right clock', async () => {
    let seed = 1
    const random = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % n
    }
    for (let turn = 0; turn < 15; turn++) {
      setClock(start)
      const sieve = await Sieve.create({ ...options, generations: 2 + random(8) })
      const added: { url: string; at: number }[] = []
      let real = start
      for (let step = 0; step < 60; step++) {
        real += random(6 * HOUR)
        // Every third time the clock is wrong: by up to two years ahead or behind.
        const isRight = random(3) > 0
        setClock(isRight ? real : real + (random(730) - 365) * DAY)
        const url = `https://example.com/${turn}/${step}`
        expect(sieve.add(url)).toBe(true)
        added.push({ url, at: real })
        setClock(real)
        for (const one of added) {
          if (real - one.at >= DAY && sieve.has(one.url)) {
            expect.fail(`turn ${turn}: ${one.url} is remembered after ${(real - one.at) / HOUR} h`)
          }
        }
      }
    }
  })

  it('a clock that is right all the time: remembered for (G − 1) / G of the window', async () => {
    setClock(start)
    const sieve = await Sieve.create(options)
    for (let hour = 0; hour < 72; hour++) {
      setClock(start + hour * HOUR)
      expect(sieve.add(`at ${hour}`)).toBe(true)
      for (let age = 0; age <= 20; age++) if (hour >= age) expect(sieve.has(`at ${hour - age}`)).toBe(true)
      if (hour >= 24) expect(sieve.has(`at ${hour - 24}`)).toBe(false)
    }
  })

  it.each(['snapshot', 'log'])(
    'stored, as a %s, and opened with a clock that is right again',
    async (what) => {
      setClock(start)
      const folder = newFolder()
      const sieve = await Sieve.open(folder, { ...options, durability: 'never' })
      sieve.add('before')
      setClock(start + YEAR)
      sieve.add('ahead')
      if (what === 'snapshot') await sieve.save()
      const copy = newFolder()
      cpSync(folder, copy, { recursive: true, filter: (path) => !basename(path).startsWith('lock') })
      await sieve.close()
      for (const [path, hours] of [
        [folder, 25],
        [copy, 24 * 364],
      ] as const) {
        setClock(start + hours * HOUR)
        const back = await Sieve.open(path, { durability: 'never' })
        expect([back.has('before'), back.has('ahead')]).toEqual([false, false])
        expect(back.add('ahead')).toBe(true)
        expect(back.has('ahead')).toBe(true)
        await back.close()
      }
    },
  )
})

describe('what a window counts', () => {
  it.each([
    [100, 12],
    [1000, 7],
    [333, 8],
    [64, 8],
    [17, 2],
    [5, undefined],
  ])('of %i URLs in %s generations: those it remembers, never more', async (windowUrls, generations) => {
    const sieve = await Sieve.create({ filter: 'window', profile: 'raw', key, windowUrls, generations })
    const urls = named('a', 0, 4 * windowUrls)
    const parts = sieve.plan.shape!.generations as number
    for (const [i, url] of urls.entries()) {
      sieve.add(url)
      if (i % 7 !== 0 && i < urls.length - 3 * parts) continue
      const remembered = sieve.hasMany(urls.slice(0, i + 1)).reduce((sum, one) => sum + one, 0)
      expect(sieve.stats().urls).toBe(remembered)
      expect(remembered).toBeLessThanOrEqual(windowUrls)
      expect(remembered).toBeGreaterThanOrEqual(Math.min(i + 1, windowUrls - Math.ceil(windowUrls / parts)))
    }
    expect(sieve.stats().seen).toBe(0)
    const path = newFolder()
    await sieve.save(path)
    expect((await Sieve.load(path)).stats()).toMatchObject({ urls: sieve.stats().urls })
  })

  it('by age: those that are not too old, also when nothing was asked since', async () => {
    let now = Date.UTC(2026, 0, 1)
    vi.spyOn(Date, 'now').mockImplementation(() => now)
    const sieve = await Sieve.create({ filter: 'window', profile: 'raw', key, windowMs: DAY, generations: 8 })
    sieve.addMany(named('a', 0, 500))
    now += DAY / 2
    sieve.addMany(named('b', 0, 300))
    expect(sieve.stats().urls).toBe(800)
    now += DAY / 2
    expect(sieve.stats().urls).toBe(300)
    now += DAY
    expect(sieve.stats()).toMatchObject({ urls: 0, bitsPerUrl: null })
  })

  it('its generations are checked against its size', async () => {
    const make = (options: object) => Sieve.create({ filter: 'window', ...options } as SieveOptions)
    await expect(make({ windowUrls: 100, generations: 255 })).rejects.toThrow(
      /^generations 255: expected at most 12 with windowUrls 100: each takes 8 URLs or more$/,
    )
    await expect(make({ windowMs: 1000, generations: 51 })).rejects.toThrow(
      /^generations 51: expected at most 50 with windowMs 1000: each lasts 20 ms or more$/,
    )
    await expect(make({ windowUrls: 1e6, windowMs: 100, generations: 6 })).rejects.toThrow(
      /with windowMs 100/,
    )
    expect((await make({ windowUrls: 20 })).plan.shape).toMatchObject({ generations: 2 })
    expect((await make({ windowUrls: 100, generations: 12 })).plan.shape).toMatchObject({ generations: 12 })
    expect((await make({ windowUrls: 2, generations: 2 })).add('a')).toBe(true)
  })

  it('a file of an earlier version opens, which counted all that were ever added', async () => {
    const path = fileURLToPath(new URL('../store/golden-before/window.sieve', import.meta.url))
    const sieve = await Sieve.load(path)
    expect(sieve.stats().urls).toBe(32)
    sieve.addMany(named('c', 0, 100))
    expect(sieve.stats().urls).toBeLessThanOrEqual(32)
  })
})

describe('counts of a forged file', () => {
  /** The file with other counts of its first shard, its checksums right. */
  function forged(path: string, at: number, count: number): string {
    const bytes = readFileSync(path)
    const from = bytes.lastIndexOf('{"urls":')
    const end = JSON.parse(bytes.toString('utf8', from))
    end.counts[0][at] = count
    const target = newFolder()
    writeFileSync(target, Buffer.concat([bytes.subarray(0, from - CHUNK_HEADER_BYTES), encodeEnd(end)]))
    return target
  }

  it.each([
    ['URLs of a generation', 1, 2 ** 47],
    ['one URL too many', 1, 1001],
    ['generations forgotten', 0, 2 ** 47],
    ['URLs below 0', 1, -1],
  ])('scalable: %s, refused when it is read', async (_, at, count) => {
    const path = newFolder()
    const sieve = await Sieve.create({ filter: 'scalable', expectedUrls: 1000, profile: 'raw', key })
    sieve.addMany(named('a', 0, 900))
    await sieve.save(path)
    const file = forged(path, at, count)
    await expect(Sieve.load(file)).rejects.toThrow(
      / is damaged at byte \d+: [^\n]+: expected a whole number from 0 to \d+; /,
    )
    expect((await verifySieve(file)).flatMap(({ damage }) => damage)).toEqual([
      expect.stringMatching(/is damaged at byte/),
    ])
    expect((await Sieve.load(forged(path, 1, 1000))).add('https://a.example/')).toBe(true)
  })

  it.each([2 ** 47, 51])('window: %i URLs of a generation of 50, refused when it is read', async (urls) => {
    const path = newFolder()
    const sieve = await Sieve.create({ filter: 'window', windowUrls: 400, profile: 'raw', key })
    sieve.addMany(named('a', 0, 300))
    await sieve.save(path)
    await expect(Sieve.load(forged(path, 1, urls))).rejects.toThrow(/is damaged at byte/)
  })

  it.each(['urls', 'seen', 'invalid'])(
    '%s that nothing has counted, refused when it is read',
    async (name) => {
      const path = newFolder()
      await (await Sieve.create({ key })).save(path)
      const bytes = readFileSync(path)
      const at = bytes.lastIndexOf('{"urls":')
      const end = { ...JSON.parse(bytes.toString('utf8', at)), [name]: Number.MAX_SAFE_INTEGER }
      writeFileSync(path, Buffer.concat([bytes.subarray(0, at - CHUNK_HEADER_BYTES), encodeEnd(end)]))
      await expect(Sieve.load(path)).rejects.toThrow(new RegExp(`: ${name} 9007199254740991: expected `))
    },
  )
})
