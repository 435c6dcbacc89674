// What was added with `confirm: false` is seen in this process, and new again to whoever opens the folder next, until it is confirmed:
// after a crash, after closing, with snapshots made meanwhile. Of every sieve in a folder.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AnySieve } from '../../src/any-sieve.ts'
import { DiskSieve } from '../../src/disk/index.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { type DeletingSieve, Sieve, siftLines } from '../../src/index.ts'
import { newFolders } from '../support/folders.ts'

const newFolder = newFolders()
const HELD = { confirm: false }
const url = (i: number) => `https://host${i % 7}.example/page/${i}`
const urls = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => url(from + i))
const lines = (all: readonly string[]) => Buffer.from(all.map((line) => `${line}\n`).join(''))
const news = (verdicts: Uint8Array) => verdicts.reduce((sum, verdict) => sum + verdict, 0)

const stored = (options: object) => (folder: string) => Sieve.open(folder, options as never) as Promise<Sieve>
const sized = { expectedUrls: 100_000, falsePositiveRate: 1e-9 }
const kinds: Readonly<Record<string, (folder: string) => Promise<AnySieve>>> = {
  fingerprint: stored({ filter: 'fingerprint' }),
  'fingerprint that folds': stored({ filter: 'fingerprint', foldBytes: 2000 }),
  'fingerprint with keys': stored({ filter: 'fingerprint', keepKeys: true, foldBytes: 2000 }),
  'blocked that folds': stored({ filter: 'blocked', ...sized, foldBytes: 2000 }),
  'multilayer that folds': stored({ filter: 'multilayer', ...sized, foldBytes: 2000 }),
  'scalable, always': stored({ filter: 'scalable', ...sized, durability: 'always' }),
  window: stored({ filter: 'window', windowUrls: 1e6, foldBytes: 2000 }),
  exact: (folder) => ExactSieve.open(folder),
  disk: (folder) => DiskSieve.open(folder, { maxMemory: 26 * 1024 ** 2 }),
}

describe.each(Object.entries(kinds))('%s', (_, open) => {
  // The folder as a process that was killed now would leave it.
  const crashed = (folder: string) => {
    const copy = join(newFolder(), 'copy')
    cpSync(folder, copy, { recursive: true, filter: (path) => !/lock[^/]*$/i.test(path) })
    return open(copy)
  }

  it('is seen here, and new again after a crash', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = await open(folder)
    await sieve.addMany(urls(0, 500))
    expect(news(await sieve.addMany(urls(400, 1000), HELD))).toBe(500)
    expect(news(await sieve.addMany(urls(0, 1000), HELD))).toBe(0)
    expect(await sieve.has(url(700))).toBe(true)
    // Folds, where the sieve does: the snapshot's filter has what is held.
    for (let i = 0; i < 20; i++) await sieve.addMany(urls(5000 + 100 * i, 5100 + 100 * i))
    const other = await crashed(folder)
    expect(news(await other.addMany(urls(0, 1000)))).toBe(500)
    expect(news(await other.addMany([...urls(0, 1000), ...urls(5000, 7000)]))).toBe(0)
    await other.close()
    await sieve.confirm!()
    const third = await crashed(folder)
    expect(news(await third.addMany([...urls(0, 1000), ...urls(5000, 7000)]))).toBe(0)
    await third.close()
    await sieve.close()
  })

  it('is new again after closing without it', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = await open(folder)
    await sieve.addLines(lines(urls(0, 300)), HELD)
    await sieve.confirm!()
    await sieve.addLines(lines(urls(300, 600)), HELD)
    await sieve.close()
    const again = await open(folder)
    expect(news(await again.hasMany(urls(0, 600)))).toBe(300)
    expect((await again.stats()).urls).toBe(300)
    expect(news(await again.addMany(urls(0, 600)))).toBe(300)
    // A window counts what its filter took for new: what was held when it was saved is not.
    const { filter, urls: count } = await again.stats()
    if (filter !== 'window') expect(count).toBe(600)
    await again.close()
  })

  it('confirms some URLs, in any order', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = await open(folder)
    for (const one of urls(0, 50)) expect(await sieve.add(one, HELD)).toBe(true)
    await sieve.addMany(urls(50, 100), HELD)
    const some = [url(99), url(3), url(3), url(70), 'https://never.example/']
    await sieve.confirm!(some)
    await sieve.addMany(urls(100, 150), HELD)
    await sieve.confirm!([url(120)])
    const other = await crashed(folder)
    expect(
      Array.from(await other.hasMany(urls(0, 150)), (seen, i) => (seen ? i : -1)).filter((i) => i >= 0),
    ).toEqual([3, 70, 99, 120])
    await other.close()
    await sieve.confirm!()
    await sieve.close()
    const again = await open(folder)
    expect(news(await again.addMany(urls(0, 150)))).toBe(0)
    await again.close()
  })

  it('a stream of lines confirms a batch when the next is asked for', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = await open(folder)
    const chunks = [lines(urls(0, 9000)), lines(urls(9000, 18_000)), lines(urls(18_000, 20_000))]
    let delivered = 0
    for await (const { verdicts } of siftLines(sieve, chunks)) {
      if (delivered > 0) break
      delivered += verdicts.length
    }
    await sieve.close()
    const again = await open(folder)
    expect(news(await again.addMany(urls(0, 20_000)))).toBe(20_000 - delivered)
    await again.close()
  })

  it('what is deleted before it was confirmed is not remembered', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = (await open(folder)) as DeletingSieve
    if (!('delete' in sieve)) {
      await (sieve as AnySieve).close()
      return
    }
    await sieve.addMany(urls(0, 10), HELD)
    expect(await sieve.delete(url(3))).toBe(true)
    expect(await sieve.delete(url(3))).toBe(false)
    await sieve.confirm()
    expect(await sieve.has(url(3))).toBe(false)
    await sieve.close()
    const again = await open(folder)
    expect(news(await again.addMany(urls(0, 10)))).toBe(1)
    await again.close()
  })
})

describe('a store with URLs that are not confirmed', () => {
  it('cannot be saved, frozen or merged from', async () => {
    const sieve = await Sieve.open(join(newFolder(), 'sieve'))
    sieve.add(url(1), HELD)
    expect(sieve.stats().store?.unconfirmed).toBe(1)
    await expect(sieve.save(join(newFolder(), 'x.sieve'))).rejects.toThrow(/1 URLs? .*not confirmed/)
    sieve.confirm()
    expect(sieve.stats().store?.unconfirmed).toBe(0)
    await sieve.save(join(newFolder(), 'x.sieve'))
    await sieve.close()
  })

  it('takes what it holds along when it is cleared', async () => {
    const folder = join(newFolder(), 'sieve')
    const sieve = await Sieve.open(folder)
    sieve.addMany(urls(0, 10), HELD)
    sieve.clear()
    sieve.confirm()
    await sieve.close()
    const again = await Sieve.open(folder)
    expect(news(again.addMany(urls(0, 10)))).toBe(10)
    await again.close()
  })

  it('that is opened after a crash can be saved where its filter forgets, and says so where it cannot', async () => {
    for (const options of [{ filter: 'fingerprint' }, { filter: 'blocked', ...sized }] as const) {
      const folder = join(newFolder(), 'sieve')
      const sieve = await Sieve.open(folder, options as never)
      sieve.addMany(urls(0, 10))
      sieve.addMany(urls(10, 30), HELD)
      await sieve.save()
      await sieve.close()
      const again = await Sieve.open(folder)
      const path = join(newFolder(), 'copy.sieve')
      if (options.filter === 'blocked')
        await expect(again.save(path)).rejects.toThrow(/20 URLs .* add them again first/)
      else {
        await again.save(path)
        expect(news((await Sieve.load(path)).addMany(urls(0, 30)))).toBe(20)
      }
      expect(news(again.addMany(urls(0, 30)))).toBe(20)
      expect(again.stats().urls).toBe(30)
      await again.close()
    }
  })

  it('in memory confirm changes nothing', async () => {
    const sieve = await Sieve.create()
    expect(sieve.add(url(1), HELD)).toBe(true)
    sieve.confirm()
    sieve.confirm([url(1)])
    expect(sieve.add(url(1))).toBe(false)
  })

  it('what a window forgot and took for new again is held once', async () => {
    const sieve = await Sieve.open(join(newFolder(), 'sieve'), { filter: 'window', windowUrls: 10 })
    for (let round = 0; round < 3; round++) for (const one of urls(0, 30)) sieve.add(one, HELD)
    sieve.confirm(urls(0, 30))
    expect(sieve.stats().store!.unconfirmed).toBe(0)
    await sieve.save(join(newFolder(), 'copy.sieve'))
    await sieve.close()
  })

  it('what is held and not confirmed is no reason to fold again', async () => {
    const sieve = await Sieve.open(join(newFolder(), 'sieve'), { foldBytes: 2000 })
    sieve.addMany(urls(0, 1000), HELD)
    await sieve.save()
    for (const one of urls(0, 10)) {
      sieve.confirm([one])
      expect(sieve.stats().store!.snapshotting).toBe(false)
    }
    await sieve.close()
  })
})
