// A stored sieve over its life: save, load, clear, reopen; growth within the promise; windows; kept keys; several
// instances; snapshots in the background. A scalable filter grows to 50,000 URLs; URLSIEVE_FULL=1: 1,000,000.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filterNames, filters } from '../../src/filters/registry.ts'
import type { StoreOptions } from '../../src/journal.ts'
import { lowerBound } from '../../src/lab/interval.ts'
import type { SieveOptions } from '../../src/sieve.ts'
import { Sieve } from '../../src/sieve.ts'
import { STATE } from '../../src/state.ts'
import { storedKeys } from '../../src/store/stored-keys.ts'
import { ampleSize } from '../conformance/sizes.ts'
import { batchOf } from '../crash/batches.mjs'
import { newFolders } from '../support/folders.ts'

const FULL = process.env.URLSIEVE_FULL === '1'
const key = new Uint8Array(16).fill(9)
const newFolder = newFolders()

const sum = (answers: Uint8Array) => answers.reduce((total, answer) => total + answer, 0)
const urlsOf = (name: string, from: number, to: number) =>
  Array.from(
    { length: to - from },
    (_, i) => `https://${name}${from + i}.example/${name}-${from + i}/x${from + i}`,
  )
const pause = () => new Promise((resolve) => setImmediate(resolve))

/** Each filter of the registry that a store holds, sized for `urls`. */
const stored = filterNames.map((name) => ({ name, options: optionsOf(name, 3000) }))

function optionsOf(name: (typeof filterNames)[number], urls: number): SieveOptions {
  const size = name === 'window' ? { windowUrls: 10 * urls } : ampleSize(filters[name], urls)
  return { filter: name, profile: 'raw', key, ...size }
}

describe.each(stored)('$name', ({ options }) => {
  it('is the same after saving to a file and loading it', async () => {
    const path = join(newFolder(), 'one.sieve')
    const sieve = await Sieve.create(options)
    const [known, unknown] = [urlsOf('a', 0, 1000), urlsOf('b', 0, 1000)]
    sieve.addMany([...known, ...known.slice(0, 100)])
    await sieve.save(path)
    const loaded = await Sieve.load(path)
    expect(loaded.hasMany(known).indexOf(0)).toBe(-1)
    expect([...loaded.hasMany(unknown)]).toEqual([...sieve.hasMany(unknown)])
    expect(loaded.stats()).toEqual(sieve.stats())
    expect([...loaded.addMany(unknown)]).toEqual([...sieve.addMany(unknown)])
    expect(loaded.stats()).toEqual(sieve.stats())
  })

  it('is the same after closing and opening, with logs and after folds', async () => {
    const folder = newFolder()
    for (let round = 0; round < 4; round++) {
      const sieve = await Sieve.open(folder, options)
      expect(sieve.stats().urls).toBe(500 * round)
      expect(sum(sieve.addMany(urlsOf('a', 500 * round, 500 * (round + 1))))).toBe(500)
      if (round === 1) await sieve.save()
      if (round === 2) sieve.sync()
      await sieve.close()
      expect(() => sieve.add('https://late.example/')).toThrow(/closed/)
    }
    const sieve = await Sieve.open(folder, { readOnly: true })
    expect(sieve.hasMany(urlsOf('a', 0, 2000)).indexOf(0)).toBe(-1)
    expect(sum(sieve.hasMany(urlsOf('b', 0, 500)))).toBe(0)
  })

  it('is empty after clear, for good', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, options)
    sieve.addMany(urlsOf('a', 0, 500))
    sieve.clear()
    expect(sieve.stats().urls).toBe(0)
    sieve.addMany(urlsOf('c', 0, 10))
    await sieve.close()
    const again = await Sieve.open(folder)
    expect(again.stats().urls).toBe(10)
    expect(sum(again.hasMany(urlsOf('a', 0, 500)))).toBe(0)
    expect(sum(again.hasMany(urlsOf('c', 0, 10)))).toBe(10)
    await again.close()
  })

  it('answers and counts right while a snapshot is made in the background', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, { ...options, foldBytes: 3000 })
    let snapshots = 0
    for (let batch = 0; batch < 40; batch++) {
      expect(sum(sieve.addMany(urlsOf('a', 50 * batch, 50 * (batch + 1))))).toBe(50)
      if (sieve.stats().store!.snapshotting) snapshots++
      if (batch % 3 === 0) await pause()
      expect(sum(sieve.hasMany(urlsOf('a', 0, 50 * (batch + 1))))).toBe(50 * (batch + 1))
    }
    expect(snapshots).toBeGreaterThan(0)
    await sieve.close()
    const again = await Sieve.open(folder, { readOnly: true })
    expect(again.stats().urls).toBe(2000)
    expect(again.hasMany(urlsOf('a', 0, 2000)).indexOf(0)).toBe(-1)
  })
})

describe('deletes', () => {
  it.each(['fingerprint', 'hash-set', 'sorted-array', 'linear', 'trie'] as const)(
    'of %s last, also during a snapshot',
    async (filter) => {
      const folder = newFolder()
      const sieve = await Sieve.open(folder, { filter, profile: 'raw', foldBytes: 2000 })
      const urls = urlsOf('a', 0, 1000)
      for (let i = 0; i < urls.length; i++) {
        sieve.add(urls[i]!)
        if (i % 2 === 1) expect(sieve.delete(urls[i - 1]!)).toBe(true)
        if (i % 50 === 0) await pause()
      }
      await sieve.close()
      const again = await Sieve.open(folder, { readOnly: true })
      expect([...again.hasMany(urls)]).toEqual(urls.map((_, i) => i % 2))
      expect(again.stats().urls).toBe(500)
    },
  )
})

describe('clear during a snapshot in the background', () => {
  it('leaves one whole snapshot', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, { profile: 'raw', foldBytes: 2000 })
    for (let round = 0; round < 20; round++) {
      sieve.addMany(urlsOf(`r${round}-`, 0, 2000))
      for (let i = 0; i < round % 4; i++) await pause()
      sieve.clear()
      sieve.addMany(urlsOf(`s${round}-`, 0, 100))
    }
    await sieve.close()
    const again = await Sieve.open(folder)
    expect(again.stats().urls).toBe(100)
    expect(sum(again.hasMany(urlsOf('s19-', 0, 100)))).toBe(100)
    expect(sum(again.hasMany(urlsOf('r19-', 0, 2000)))).toBe(0)
    await again.close()
    expect(
      readdirSync(folder)
        .sort()
        .map((name) => name.replace(/\d+/, 'N')),
    ).toEqual(['log-N', 'snapshot-N.sieve'])
  })
})

describe('scalable', () => {
  const most = FULL ? 1_000_000 : 50_000
  it.each(['blocked', 'classic'] as const)(
    `of %s keeps its promise at every step from 1,000 to ${most} URLs`,
    async (inner) => {
      const rate = 1e-3
      const trials = FULL ? 100_000 : 50_000
      const sieve = await Sieve.create({
        filter: 'scalable',
        inner,
        expectedUrls: 1000,
        falsePositiveRate: rate,
        profile: 'raw',
        key,
      })
      const unknown = urlsOf('u', 0, trials)
      const steps: string[] = []
      for (let urls = 1000, from = 0; ; from = urls, urls = Math.min(most, urls * 2)) {
        sieve.addMany(urlsOf('a', from, urls))
        const hits = sum(sieve.hasMany(unknown))
        const { expectedRate, promisedRate, pastCapacity } = sieve.stats()
        steps.push(`${urls}: ${hits} of ${trials}, says ${expectedRate!.toExponential(1)}`)
        expect(lowerBound({ hits, trials, confidence: 1 - 1e-6 }), steps.at(-1)!).toBeLessThanOrEqual(rate)
        expect(expectedRate).toBeLessThanOrEqual(promisedRate!)
        expect(pastCapacity).toBe(false)
        expect(sieve.hasMany(urlsOf('a', 0, 1000)).indexOf(0)).toBe(-1)
        if (urls === most) break
      }
      console.log(`scalable of ${inner}, promised ${rate}:\n  ${steps.join('\n  ')}`)
    },
  )
})

describe('window', () => {
  it.each(['fingerprint', 'blocked'] as const)(
    'of %s forgets the oldest by count, also after a reopening',
    async (inner) => {
      const folder = newFolder()
      const options = {
        filter: 'window',
        inner,
        windowUrls: 8000,
        generations: 8,
        falsePositiveRate: 1e-6,
        profile: 'raw',
        key: new Uint8Array(16).fill(3), // a URL that is falsely seen would be forgotten early: not by chance
      } as const
      for (let round = 0; round < 5; round++) {
        const sieve = await Sieve.open(folder, { ...options, foldBytes: 5000 })
        for (let batch = 0; batch < 10; batch++) {
          const from = 5000 * round + 500 * batch
          expect(sum(sieve.addMany(urlsOf('a', from, from + 500)))).toBeGreaterThan(498)
          await pause()
        }
        const urls = 5000 * (round + 1)
        // At least 7/8 of the window is remembered, and no more than all of it.
        expect(sieve.hasMany(urlsOf('a', Math.max(0, urls - 7000), urls)).indexOf(0)).toBe(-1)
        expect(sum(sieve.hasMany(urlsOf('a', 0, Math.max(0, urls - 8000))))).toBeLessThan(3)
        await sieve.close()
      }
    },
  )

  it('forgets by age: after 7/8 of the time still there, after all of it gone, also when nothing came since', async () => {
    const folder = newFolder()
    const windowMs = 8000
    const sieve = await Sieve.open(folder, { filter: 'window', windowMs, generations: 8, profile: 'raw' })
    const at = (now: number | null) => sieve[STATE].shards.all[0]!.filter.setClock!(now)
    const start = Date.now()
    for (let second = 0; second < 20; second++) {
      at(start + 1000 * second)
      expect(sum(sieve.addMany(urlsOf(`s${second}-`, 0, 10)))).toBe(10)
      for (let ago = 0; ago <= second; ago++) {
        const held = sum(sieve.hasMany(urlsOf(`s${second - ago}-`, 0, 10)))
        if (ago < 7) expect(held, `${ago} seconds later`).toBe(10)
        if (ago >= 8) expect(held, `${ago} seconds later`).toBe(0)
      }
    }
    at(start + 19_000 + 6999)
    expect(sum(sieve.hasMany(urlsOf('s19-', 0, 10)))).toBe(10)
    at(start + 19_000 + 8000)
    expect(sum(sieve.hasMany(urlsOf('s19-', 0, 10)))).toBe(0)
    expect(sieve.add(urlsOf('s19-', 0, 1)[0]!)).toBe(true)
    at(start + 100_000)
    expect(sieve.add(urlsOf('s19-', 0, 1)[0]!)).toBe(true)
    await sieve.close()
  })

  it('remembers the time of each record over a reopening', async () => {
    const folder = newFolder()
    const options = { filter: 'window', windowMs: 60_000, generations: 4, profile: 'raw' } as const
    const sieve = await Sieve.open(folder, options)
    sieve.addMany(urlsOf('a', 0, 10))
    await sieve.close()
    const again = await Sieve.open(folder, options)
    expect(sum(again.hasMany(urlsOf('a', 0, 10)))).toBe(10)
    again[STATE].shards.all[0]!.filter.setClock!(Date.now() + 61_000)
    expect(sum(again.hasMany(urlsOf('a', 0, 10)))).toBe(0)
    await again.close()
  })
})

describe('kept keys', () => {
  const all = (folder: string) => [...storedKeys(folder)].map(String)

  it('are there after folds, reopenings and deletes, in order', async () => {
    const folder = newFolder()
    const options: StoreOptions & SieveOptions<'fingerprint'> = {
      keepKeys: true,
      profile: 'raw',
      foldBytes: 3000,
    }
    const expected: string[] = []
    for (let round = 0; round < 5; round++) {
      const sieve = await Sieve.open(folder, options)
      for (let batch = 0; batch < 10; batch++) {
        const urls = [
          ...urlsOf(`r${round}b${batch}-`, 0, 20),
          `https://odd.example/line\\${round}\\n${batch}`,
        ]
        sieve.addMany([...urls, ...urls.slice(0, 5)])
        expected.push(...urls)
        await pause()
        if (batch % 3 === 0) {
          expect(sieve.delete(urls[3]!)).toBe(true)
          expected.splice(expected.indexOf(urls[3]!), 1)
        }
      }
      if (round === 2) await sieve.save()
      await sieve.close()
      expect(all(folder)).toEqual(expected)
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('keys-')).length).toBeGreaterThan(1)
    await expect(Sieve.open(folder, { keepKeys: true, key })).rejects.toThrow(/another secret key/)
  })

  it('are gone after clear', async () => {
    const folder = newFolder()
    const sieve = await Sieve.open(folder, { keepKeys: true, profile: 'raw' })
    sieve.addMany(urlsOf('a', 0, 100))
    await sieve.save()
    sieve.addMany(urlsOf('b', 0, 100))
    sieve.clear()
    sieve.addMany(urlsOf('c', 0, 5))
    expect(all(folder)).toEqual(urlsOf('c', 0, 5))
    await sieve.save()
    await sieve.close()
    expect(all(folder)).toEqual(urlsOf('c', 0, 5))
    await expect(Sieve.open(newFolder(), { readOnly: true })).rejects.toThrow(/there is no sieve/)
  })

  it('are not to be had of a store made without', async () => {
    const folder = newFolder()
    await (await Sieve.open(folder)).close()
    await expect(Sieve.open(folder, { keepKeys: true })).rejects.toMatchObject({ code: 'option' })
    expect(existsSync(join(folder, 'lock'))).toBe(false)
  })
})

describe('several instances', () => {
  it.each([
    { filter: 'fingerprint', instanceBytes: 2 * 1024 * 1024, batchUrls: 2000 },
    {
      filter: 'blocked',
      expectedUrls: 400_000,
      falsePositiveRate: 1e-8,
      instanceBytes: 2 * 1024 * 1024,
      batchUrls: 1000,
    },
    {
      filter: 'classic',
      expectedUrls: 400_000,
      falsePositiveRate: 1e-8,
      instanceBytes: 1.5 * 1024 * 1024,
      batchUrls: 1000,
    },
  ] as const)('of $filter come back as they were', async ({ batchUrls, ...options }) => {
    const folder = newFolder()
    const small = { ...options, profile: 'raw', foldBytes: 50_000 } as const
    let sieve: Sieve = await Sieve.open(folder, small)
    for (let batch = 0; batch < 100; batch++) {
      expect(sum(sieve.addMany(urlsOf('a', batchUrls * batch, batchUrls * (batch + 1))))).toBe(batchUrls)
      await pause()
      if (batch % 40 === 39) {
        await sieve.close()
        sieve = await Sieve.open(folder, small)
      }
    }
    expect(sieve[STATE].shards.count).toBeGreaterThan(1)
    await sieve.save()
    await sieve.close()
    const again = await Sieve.open(folder, { instanceBytes: options.instanceBytes, readOnly: true })
    expect(again[STATE].shards.count).toBeGreaterThan(1)
    expect(again.stats().urls).toBe(100 * batchUrls)
    expect(again.hasMany(urlsOf('a', 0, 100 * batchUrls)).indexOf(0)).toBe(-1)
    expect(sum(again.hasMany(batchOf(1, 5000)))).toBe(0)
  })
})
