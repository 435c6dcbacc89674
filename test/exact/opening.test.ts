// Opening an exact sieve: with other options, damaged, locked, copied; and what it takes in memory.
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type ExactOptions, ExactSieve } from '../../src/exact/index.ts'
import { Sieve } from '../../src/index.ts'
import { newPaths } from '../support/folders.ts'

const folder = newPaths()

describe('opening', () => {
  it('finds the filter as it was closed, and fills it again when it was not', async () => {
    const path = folder()
    let sieve = await ExactSieve.open(path)
    const urls = Array.from({ length: 5000 }, (_, i) => `https://a.example/${i}`)
    await sieve.addMany(urls)
    await sieve.close()
    const saved = () => readdirSync(path).filter((name) => name.startsWith('filter-'))
    const [first] = saved()
    sieve = await ExactSieve.open(path)
    expect(sieve.stats()).toMatchObject({ urls: 5000, keyFilter: { isReady: true } })
    await sieve.hasMany(urls)
    await sieve.close()
    expect(saved()).toEqual([first]) // nothing changed: it is still good
    // A filter of an earlier session must not be believed, whatever its content.
    const stale = join(folder(), '..', 'stale')
    cpSync(join(path, first!), stale)
    sieve = await ExactSieve.open(path)
    await sieve.add('https://b.example/')
    await sieve.close()
    const [second] = saved()
    expect(second).not.toBe(first)
    rmSync(join(path, second!))
    cpSync(stale, join(path, first!))
    sieve = await ExactSieve.open(path)
    expect(sieve.stats()).toMatchObject({ urls: null, keyFilter: { isReady: false } })
    expect(await sieve.add('https://b.example/')).toBe(false)
    await sieve.filled()
    expect(sieve.stats()).toMatchObject({ urls: 5001, keyFilter: { isReady: true } })
    expect((await sieve.addMany(urls)).some((verdict) => verdict === 1)).toBe(false)
    await sieve.close()
    // Nor a damaged one.
    writeFileSync(join(path, saved()[0]!), 'URLSIEVE?')
    sieve = await ExactSieve.open(path)
    expect(await sieve.add('https://b.example/')).toBe(false)
    await sieve.filled()
    expect(sieve.stats().urls).toBe(5001)
    await sieve.close()
  })

  it('with another size makes the filter anew', async () => {
    const path = folder()
    let sieve = await ExactSieve.open(path, { filterBytes: 1024 })
    await sieve.addMany(['https://a.example/1', 'https://a.example/2'])
    await sieve.close()
    sieve = await ExactSieve.open(path, { filterBytes: 4096 })
    expect(await sieve.add('https://a.example/1')).toBe(false)
    await sieve.filled()
    expect(sieve.stats()).toMatchObject({ urls: 2, keyFilter: { sizeBytes: 4096 } })
    await sieve.close()
    sieve = await ExactSieve.open(path)
    expect(sieve.stats()).toMatchObject({ urls: 2, keyFilter: { sizeBytes: 4096, isReady: true } })
    await sieve.close()
  })

  it('a second time says which process has it', async () => {
    const path = folder()
    const sieve = await ExactSieve.open(path)
    const words = new RegExp(`held by process ${process.pid}`)
    await expect(ExactSieve.open(path)).rejects.toThrow(words)
    await expect(ExactSieve.open(path)).rejects.toMatchObject({ name: 'SieveError', code: 'locked' })
    // LevelDB's own lock holds when ours was taken away.
    rmSync(join(path, 'lock'))
    await expect(ExactSieve.open(path)).rejects.toMatchObject({ name: 'SieveError', code: 'locked' })
    await sieve.close()
    await (await ExactSieve.open(path)).close()
  })

  it('keeps the profile, and refuses another', async () => {
    const path = folder()
    await (await ExactSieve.open(path, { profile: 'aggressive' })).close()
    const sieve = await ExactSieve.open(path)
    expect(sieve.profile.name).toBe('aggressive')
    await sieve.close()
    await expect(ExactSieve.open(path, { profile: 'web' })).rejects.toThrow(
      /has profile 'aggressive', not 'web'/,
    )
    await (await ExactSieve.open(path, { profile: 'aggressive' })).close()
  })

  it('refuses what cannot be, in one line, and leaves no lock', async () => {
    const path = folder()
    const own = { name: 'own', does: '', lossy: false, apply: (key: string) => key }
    const bad: [ExactOptions, RegExp][] = [
      [{ durability: 'sometimes' as never }, /^durability 'sometimes': expected always, interval or never$/],
      [{ cacheEntries: 0 }, /^cacheEntries 0: expected/],
      [{ cacheEntries: 1.5 }, /^cacheEntries 1.5: expected/],
      [{ filterBytes: 63 }, /^filterBytes 63: expected/],
      [{ expectedUrls: -1 }, /^expectedUrls -1: expected/],
      [{ profile: 'nope' as never }, /^unknown profile 'nope'/],
      [{ profile: [own] }, /^rule 'own' is a function of yours/],
    ]
    for (const [options, words] of bad) {
      await expect(ExactSieve.open(path, options)).rejects.toThrow(words)
      await expect(ExactSieve.open(path, options)).rejects.toMatchObject({ code: 'option' })
    }
    await (await ExactSieve.open(path)).close()
    const file = folder()
    writeFileSync(file, '')
    await expect(ExactSieve.open(file)).rejects.toThrow(/is a file: expected a folder$/)
    const other = folder()
    await (await Sieve.open(other)).close()
    await expect(ExactSieve.open(other)).rejects.toThrow(/another filter/)
    const under = join(file, 'x')
    await expect(ExactSieve.open(under)).rejects.toMatchObject({ code: 'disk' })
  })

  it('closed, it answers no more, and closing again is nothing', async () => {
    const sieve = await ExactSieve.open(folder())
    const last = sieve.add('https://a.example/')
    const closing = sieve.close()
    await expect(sieve.add('https://a.example/')).rejects.toMatchObject({ code: 'option' })
    expect(await last).toBe(true)
    await closing
    await sieve.close()
    await expect(sieve.has('https://a.example/')).rejects.toThrow(/is closed/)
    await expect(sieve.keys().next()).rejects.toThrow(/is closed/)
  })

  it('takes no string that is none', async () => {
    const sieve = await ExactSieve.open(folder())
    await expect(sieve.add(undefined as never)).rejects.toMatchObject({ code: 'option' })
    expect(await sieve.add('https://a.example/')).toBe(true)
    await sieve.close()
  })
})

describe('memory', () => {
  it('does not grow with the URLs', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = () => {
      collect()
      const { heapUsed, arrayBuffers, external } = process.memoryUsage()
      return heapUsed + arrayBuffers + external
    }
    const sieve = await ExactSieve.open(folder(), { filterBytes: 2 ** 16, cacheEntries: 1000 })
    const fill = async (from: number) => {
      for (let i = from; i < from + 150_000; i += 5000) {
        await sieve.addMany(
          Array.from({ length: 5000 }, (_, j) => `https://a.example/some/longer/path/${i + j}`),
        )
      }
    }
    await fill(0)
    const before = used()
    const { keyFilter, cache } = sieve.stats()
    await fill(150_000)
    await fill(300_000)
    expect(sieve.stats()).toMatchObject({
      urls: 450_000,
      cache,
      keyFilter: { sizeBytes: keyFilter.sizeBytes },
    })
    expect(keyFilter.sizeBytes).toBe(2 ** 16)
    expect(used() - before).toBeLessThan(4 * 1024 * 1024) // 300,000 keys are 14 MB as bytes alone
    await sieve.close()
  })
})
