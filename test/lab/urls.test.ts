import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { draws, keyFrom, random } from '../../src/lab/random.ts'
import { run } from '../../src/lab/run.ts'
import { UrlFileError, UrlSource } from '../../src/lab/urls.ts'
import { numbers } from './samples.ts'

describe('random numbers', () => {
  test('are those of the seed and the name, on any machine', () => {
    const next = draws(1, 'golden')
    expect([next(), next(), next()]).toEqual(GOLDEN_DRAWS)
    expect(Buffer.from(keyFrom(1, 'golden')).toString('hex')).toBe(GOLDEN_KEY)
  })

  test('differ by seed and by name, and stay in [0, 1)', () => {
    const first = [1, 2].flatMap((seed) => ['a', 'b', ''].map((name) => random(seed, name)()))
    expect(new Set(first).size).toBe(6)
    const next = random(3, 'mean')
    let sum = 0
    for (let i = 0; i < 100_000; i++) {
      const value = next()
      if (value < 0 || value >= 1) expect.fail(`${value} is outside`)
      sum += value
    }
    // Six standard deviations of the mean of 100,000 uniform numbers.
    expect(Math.abs(sum / 100_000 - 0.5)).toBeLessThan(6 * Math.sqrt(1 / 12 / 100_000))
  })
})

describe('generated URLs', () => {
  test('the first thousand of seed 1 are these bytes', async () => {
    const source = await UrlSource.fromSeed(1)
    const urls = await source.first(1000)
    expect(urls.count).toBe(1000)
    expect(source.data(1000).sha256).toBe(GOLDEN_URLS)
    expect(createHash('sha256').update(urls.lines(0, 1000)).update('\n').digest('hex')).toBe(GOLDEN_URLS)
  })

  test('are the same however many are asked for at a time', async () => {
    const whole = await (await UrlSource.fromSeed(7)).first(20_000)
    const source = await UrlSource.fromSeed(7)
    for (const most of [10, 5000, 5001, 20_000]) await source.first(most)
    const parts = await source.first(20_000)
    expect(Buffer.compare(whole.lines(0, 20_000), parts.lines(0, 20_000))).toBe(0)
  })

  test('are distinct, and shaped like the links they were modelled on', async () => {
    const count = 100_000
    const urls = await (await UrlSource.fromSeed(1)).first(count)
    const all = new Set<string>()
    const hosts = new Map<string, number>()
    const depths = new Array<number>(12).fill(0)
    let queries = 0
    let bytes = 0
    for (let i = 0; i < count; i++) {
      const url = urls.at(i)
      all.add(url)
      const { host, pathname, search } = new URL(url)
      hosts.set(host, (hosts.get(host) ?? 0) + 1)
      depths[Math.min(11, pathname.split('/').filter(Boolean).length)]!++
      if (search) queries++
      bytes += url.length
    }
    expect(all.size).toBe(count)
    const shares = [...hosts.values()].sort((a, b) => b - a).map((n) => n / count)
    // Of 3.5 M real links: first host 47 %, first five 84 %; depths 1, 2 and 5 have 23, 53 and 16 %; 6 % with a query.
    expect(shares[0]).toBeGreaterThan(0.42)
    expect(shares[0]).toBeLessThan(0.53)
    expect(shares.slice(0, 5).reduce((a, b) => a + b)).toBeGreaterThan(0.78)
    expect(hosts.size).toBeGreaterThan(5000)
    for (const [depth, share] of [
      [1, 0.226],
      [2, 0.53],
      [5, 0.165],
    ] as const)
      expect(Math.abs(depths[depth]! / count - share)).toBeLessThan(0.03)
    expect(queries / count).toBeGreaterThan(0.04)
    expect(queries / count).toBeLessThan(0.09)
    expect(bytes / count).toBeGreaterThan(45)
    expect(bytes / count).toBeLessThan(65)
  })
})

describe('URLs from files', () => {
  let folder = ''
  const file = (name: string, text: string | Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'urlsieve-lab-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('first occurrences in order, without empty lines, over plain and gzip files', async () => {
    const plain = file('a.txt', 'http://a/\n\nhttp://b/\nhttp://a/\n\nhttp://c/é')
    const zipped = file(
      'b.txt.gz',
      Buffer.concat([gzipSync('http://b/\nhttp://d/\n'), gzipSync('http://e/\n\n')]),
    )
    const source = await UrlSource.fromFiles([plain, zipped])
    const urls = await source.first(100)
    const found = Array.from({ length: urls.count }, (_, i) => urls.at(i))
    expect(found).toEqual(['http://a/', 'http://b/', 'http://c/é', 'http://d/', 'http://e/'])
    expect(Buffer.from(urls.lines(1, 3)).toString()).toBe('http://b/\nhttp://c/é')
    expect(urls.lines(2, 2).length).toBe(0)
    expect(source.data(100)).toMatchObject({
      urls: 5,
      files: [plain, zipped],
      sha256: createHash('sha256')
        .update(`${found.join('\n')}\n`)
        .digest('hex'),
    })
  })

  test('a line cut by the reading, and asking for more later, lose nothing', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `http://host/${i}/${'x'.repeat(i % 97)}`)
    const source = await UrlSource.fromFiles([file('long.txt.gz', gzipSync(lines.join('\n')))])
    expect((await source.first(3)).count).toBe(3)
    expect((await source.first(20_000)).at(19_999)).toBe(lines[19_999])
    const urls = await source.first(1e6)
    expect(urls.count).toBe(lines.length)
    expect(Buffer.from(urls.lines(0, urls.count)).toString()).toBe(lines.join('\n'))
  })

  test('a missing, a damaged and a cut file are errors that name it', async () => {
    const cut = file('cut.gz', gzipSync('http://a/\n'.repeat(1000)).subarray(0, 20))
    for (const path of [join(folder, 'none.txt'), cut, file('plain.gz', 'http://a/\n')]) {
      const source = await UrlSource.fromFiles([path])
      const error = await source.first(10).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(UrlFileError)
      expect((error as Error).message).toBe(path)
    }
  })

  test('a file without a URL ends the run before the first experiment', async () => {
    const error = await run({ experiments: [numbers], files: [file('empty.txt', '\n\n')] }).catch(
      (error) => error,
    )
    expect(error).toBeInstanceOf(UrlFileError)
    expect(error.cause.message).toBe('it has no URLs')
  })
})

// Made by this code once: they change only when every published count changes with them.
const GOLDEN_DRAWS = [2408202731, 181655564, 515155213]
const GOLDEN_KEY = '5ed1280aaf5ee98b77971656a32994fa'
const GOLDEN_URLS = '794cf29bb7fa7cef4beb48e0ee0fba14dad6f2a222eb733b2d9173b2d31c3ea8'
