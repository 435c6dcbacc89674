// An exact sieve answers as a Set does: verbs one after another and together, keys, folders, streams.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { linkStream } from '../../bench/link-stream.mjs'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { type ExactOptions, ExactSieve } from '../../src/exact/index.ts'
import { keepLines, Sieve, siftLines } from '../../src/index.ts'
import { copyFolder } from '../store/copy.ts'
import { newPaths } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'

const folder = newPaths()

async function sorted(sieve: ExactSieve): Promise<string[]> {
  const keys: string[] = []
  for await (const key of sieve.keys()) keys.push(key)
  return keys.sort()
}

const shapes: [string, ExactOptions][] = [
  ['as it comes', {}],
  ['with a cache of one', { cacheEntries: 1 }],
  ['with a filter so small that it knows nothing', { filterBytes: 64, cacheEntries: 3 }],
  ['synced at each write', { durability: 'always', expectedUrls: 10 }],
  ['never synced', { durability: 'never', expectedUrls: 100, profile: 'whatwg' }],
]

describe.each(shapes)('an exact sieve %s', (_, options) => {
  it('agrees with a Set through adds, deletes, clears, crashes and reopenings', async () => {
    const next = randomFrom(7)
    const pick = (n: number) => Math.floor(next() * n)
    const profile = profiles[(options.profile as 'whatwg') ?? 'web']
    const keyed = (url: string) => keyOf(profile, url) ?? url
    const url = () =>
      `${next() < 0.5 ? 'http' : 'https'}://h${pick(4)}.example/${'abc'[pick(3)]}/${pick(60)}${next() < 0.2 ? '#x' : ''}`
    let path = folder()
    let sieve = await ExactSieve.open(path, options)
    const truth = new Set<string>()
    const mark = (url: string) => {
      const key = keyed(url)
      const isNew = !truth.has(key)
      truth.add(key)
      return isNew ? 1 : 0
    }
    for (let step = 0; step < 400; step++) {
      const action = next()
      if (action < 0.35) {
        const urls = Array.from({ length: pick(30) }, url)
        expect([...(await sieve.addMany(urls))]).toEqual(urls.map(mark))
      } else if (action < 0.5) {
        const one = url()
        expect(await sieve.add(one)).toBe(mark(one) === 1)
      } else if (action < 0.6) {
        const urls = Array.from({ length: pick(30) }, url)
        const bytes = Buffer.from(urls.join('\n'))
        expect([...(await sieve.addLines(bytes))]).toEqual(urls.map(mark))
      } else if (action < 0.75) {
        const urls = Array.from({ length: pick(10) }, url)
        expect([...(await sieve.hasMany(urls))]).toEqual(urls.map((u) => Number(truth.has(keyed(u)))))
        const one = url()
        expect(await sieve.has(one)).toBe(truth.has(keyed(one)))
      } else if (action < 0.85) {
        const one = url()
        expect(await sieve.delete(one)).toBe(truth.delete(keyed(one)))
      } else if (action < 0.88) {
        const under = `h${pick(4)}.example/${'abc'[pick(3)]}/`
        const gone = [...truth].filter((key) => key.includes(`//${under}`))
        for (const key of gone) truth.delete(key)
        expect(await sieve.forgetUnder(under)).toBe(gone.length)
      } else if (action < 0.89) {
        await sieve.clear()
        truth.clear()
      } else if (action < 0.94) {
        await sieve.close()
        sieve = await ExactSieve.open(path, options)
      } else if (action < 0.96) {
        // As after a crash: what the system was handed is there, the filter is that of an earlier session.
        const copy = folder()
        copyFolder(path, copy)
        rmSync(join(copy, 'lock'))
        await sieve.close()
        path = copy
        sieve = await ExactSieve.open(path, options)
        if (next() < 0.5) await sieve.filled()
      } else {
        expect(await sorted(sieve)).toEqual([...truth].sort())
      }
    }
    await sieve.filled()
    expect(sieve.stats().urls).toBe(truth.size)
    await sieve.close()
  })
})

describe('verbs in flight together', () => {
  it('never both get "new", and take effect in the order they were called', async () => {
    const sieve = await ExactSieve.open(folder())
    const urls = Array.from({ length: 500 }, (_, i) => `https://a.example/${i}`)
    const all = await Promise.all([
      sieve.addMany(urls),
      sieve.addLines(Buffer.from(urls.join('\n'))),
      Promise.all(urls.map(async (url) => ((await sieve.add(url)) ? 1 : 0))),
      sieve.addMany(urls.toReversed()),
    ])
    expect(all.map((verdicts) => [...verdicts].filter((v) => v === 1).length)).toEqual([500, 0, 0, 0])
    const one = 'https://b.example/'
    const order = await Promise.all([
      sieve.has(one),
      sieve.add(one),
      sieve.add(one),
      sieve.has(one),
      sieve.delete(one),
      sieve.add(one),
      sieve.forgetUnder('b.example'),
      sieve.has(one),
      sieve.clear(),
      sieve.add(urls[0]!),
    ])
    expect(order).toEqual([false, true, false, true, true, true, 1, false, undefined, true])
    await sieve.close()
  })

  it('that are single adds share their writes', async () => {
    const sieve = await ExactSieve.open(folder(), { durability: 'always' })
    const urls = Array.from({ length: 3000 }, (_, i) => `https://a.example/${i % 1500}`)
    const verdicts = await Promise.all(urls.map((url) => sieve.add(url)))
    expect(verdicts).toEqual(urls.map((_, i) => i < 1500))
    await sieve.close()
  })
})

describe('keys', () => {
  it('are those of the profile, in any bytes, a line that is no URL as it stands', async () => {
    const sieve = await ExactSieve.open(folder(), { profile: 'web' })
    const lines = Buffer.from(
      'HTTP://A.example:80/x#f\nhttps://a.example/x\nno url\n\n\xff\xfe\nno url\n',
      'latin1',
    )
    expect([...(await sieve.addLines(lines))]).toEqual([1, 0, 1, 1, 1, 0])
    const keys: string[] = []
    for await (const key of sieve.keyBytes()) keys.push(key.toString('latin1'))
    expect(keys.sort()).toEqual(['', 'https://a.example/x', 'no url', '\xff\xfe'])
    expect(sieve.stats().invalid).toBe(4)
    await sieve.close()
  })

  it.each(['raw', 'whatwg', 'web', 'crawlee', 'scrapy', 'aggressive'] as const)(
    'of %s agree with Sieve',
    async (profile) => {
      const urls = [
        'https://user:pw@Example.com/a/../b/?utm_source=x&b=2&a=1#f',
        'http://example.com/b/?b=2&a=1',
        'https://www.example.com/index.html',
        'https://example.com',
        'https://example.com/?',
        'https://bücher.example/ü?ü',
        'ftp://example.com/',
        'mailto:x@example.com',
        'not a url',
      ]
      const exact = await ExactSieve.open(folder(), { profile })
      const sieve = await Sieve.create({ profile })
      expect(await exact.addMany(urls)).toEqual(sieve.addMany(urls))
      const keys = new Set(urls.map((url) => keyOf(profiles[profile], url) ?? url))
      expect(await sorted(exact)).toEqual([...keys].sort())
      await exact.close()
    },
  )
})

describe('forgetUnder', () => {
  const urls = [
    'https://a.example/',
    'https://a.example/blog',
    'https://a.example/blog/',
    'https://a.example/blog/1?x=/',
    'https://a.example/blogger/1',
    'https://a.example:8080/blog/1',
    'https://b.example/a.example/blog/1',
    'ftp://a.example/blog/1',
  ]
  it.each([
    ['a.example/blog/', 'web', 3],
    ['a.example/blog', 'web', 3],
    ['A.EXAMPLE/x/../blog/', 'web', 3],
    ['https://a.example/blog/', 'web', 2],
    ['ftp://a.example/blog/', 'web', 1],
    ['a.example', 'web', 6],
    ['a.example:8080', 'web', 1],
    ['example', 'web', 0],
    ['a.example/blog/', 'aggressive', 3],
    ['a.example/', 'raw', 6],
  ] as const)('%s with profile %s forgets %i', async (under, profile, count) => {
    const sieve = await ExactSieve.open(folder(), { profile })
    await sieve.addMany(urls)
    const before = await sorted(sieve)
    expect(await sieve.forgetUnder(under)).toBe(count)
    expect((await sorted(sieve)).length).toBe(before.length - count)
    const again = await sieve.addMany(urls)
    expect(again.filter((verdict) => verdict === 1).length).toBe(count)
    await sieve.close()
  })

  it('takes more than it reads at a time', async () => {
    const sieve = await ExactSieve.open(folder())
    await sieve.addMany(Array.from({ length: 9000 }, (_, i) => `https://${'ab'[i % 2]}.example/${i}`))
    expect(await sieve.forgetUnder('a.example')).toBe(4500)
    expect(sieve.stats().urls).toBe(4500)
    await sieve.close()
  })

  it.each(['', '/', 'a.example/?q', 'https://', 'a b://c/#x'])('refuses %j', async (under) => {
    const sieve = await ExactSieve.open(folder())
    await expect(sieve.forgetUnder(under)).rejects.toMatchObject({ name: 'SieveError', code: 'option' })
    await sieve.close()
  })
})

describe('streams of lines', () => {
  it('give one verdict a line in any cuts', async () => {
    const next = randomFrom(3)
    const links = linkStream({ links: 20_000, seed: 3 })
    const bytes = Buffer.from(links.join('\n'))
    const truth = new Set<string>()
    const fresh = links.filter((link) => truth.size < truth.add(link).size)
    for (const most of [100, 70_000, 10_000_000]) {
      const cuts = function* () {
        for (let at = 0; at < bytes.length; ) {
          const end = at + 1 + Math.floor(next() * most)
          yield bytes.subarray(at, end)
          at = end
        }
      }
      const sieve = await ExactSieve.open(folder(), { profile: 'raw' })
      let kept = ''
      let seen = 0
      for await (const batch of siftLines(sieve, cuts())) {
        kept += Buffer.from(keepLines(batch, 'new')).toString()
        seen += Buffer.from(keepLines(batch, 'seen')).toString().split('\n').length - 1
      }
      expect(kept).toBe(fresh.map((link) => `${link}\n`).join(''))
      expect(seen).toBe(links.length - fresh.length)
      await sieve.close()
    }
  })

  it('of a stream that fails, gives the whole lines first, then its error', async () => {
    const failing = function* () {
      yield Buffer.from('http://a.example/\nhttp://b.exam')
      yield Buffer.from('ple/\nhttp://a.example/\nhttp://c.exam')
      throw new Error('cut off')
    }
    const sieve = await ExactSieve.open(folder(), { profile: 'raw' })
    let kept = ''
    const sift = async () => {
      for await (const batch of siftLines(sieve, failing())) kept += Buffer.from(keepLines(batch, 'new'))
    }
    await expect(sift()).rejects.toThrow('cut off')
    expect(kept).toBe('http://a.example/\nhttp://b.example/\n')
    expect(await sieve.hasMany(['http://b.example/', 'http://c.exam'])).toEqual(Uint8Array.of(1, 0))
    await sieve.close()
  })
})
