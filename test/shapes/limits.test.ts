// Limits by shape: each limit with its reason, their order, and that applying them twice changes nothing.
import { describe, expect, it } from 'vitest'
import { plant } from '../../bench/planted-shapes.mjs'
import { profiles, Sieve } from '../../src/index.ts'
import { LimitedSieve, type ShapeLimitOptions, ShapeLimits, stripRule } from '../../src/shapes/index.ts'
import { LIMITS } from '../../src/shapes/shape-limits.ts'
import { randomFrom } from '../support/random.mjs'

const keep = (options: ShapeLimitOptions, urls: readonly string[]) => {
  const limits = new ShapeLimits(options)
  return { kept: urls.filter((url) => limits.admit(url) === null), limits }
}

const posts = Array.from({ length: 50 }, (_, i) => `https://a.example/post/${i}`)

describe('each limit', () => {
  it('keepPerShape: a sample of each shape', () => {
    const { kept, limits } = keep({ keepPerShape: 5 }, [
      ...posts,
      'https://a.example/',
      'https://b.example/post/1',
    ])
    expect(kept).toEqual([...posts.slice(0, 5), 'https://a.example/', 'https://b.example/post/1'])
    expect(limits.stats()).toMatchObject({ kept: 7, dropped: { keepPerShape: 45 } })
    expect(limits.judge(posts[9]!)).toEqual({
      shape: 'a.example/post/{number}',
      limit: 'keepPerShape',
      reason: 'its shape has 5 URLs, of 5 to keep',
    })
  })

  it('keepPerTrap: a sample of suspicious shapes, all of the others', () => {
    const calendar = Array.from(
      { length: 400 },
      (_, i) => `https://a.example/events?date=2020-${1 + (i % 12)}-${1 + (i % 28)}&v=${i}`,
    )
    const pages = Array.from({ length: 400 }, (_, i) => `https://a.example/post/${i}`)
    const { kept, limits } = keep({ keepPerTrap: 60 }, [...calendar, ...pages])
    expect(kept).toEqual([...calendar.slice(0, 60), ...pages])
    expect(limits.judge(calendar[399]!)).toMatchObject({
      limit: 'keepPerTrap',
      reason: expect.stringMatching(/^calendar: parameter date has \d+ different dates/),
    })
    expect(() => new ShapeLimits({ keepPerTrap: 3 })).toThrow(
      'keepPerTrap 3: expected a whole number of at least 50',
    )
  })

  it('maxShare: from 100 URLs of a shape on, no shape passes its share of the host', () => {
    const next = randomFrom(3)
    const urls = Array.from({ length: 4000 }, (_, i) =>
      next() < 0.7
        ? `https://a.example/cal/${20_200_101 + (i % 28)}`
        : `https://a.example/${i % 9}x/${i}/page`,
    )
    const { kept } = keep({ maxShare: 0.1 }, urls)
    const calendars = kept.filter((url) => url.includes('/cal/')).length
    expect(calendars).toBeGreaterThanOrEqual(100)
    expect(calendars / kept.length).toBeLessThanOrEqual(0.12)
  })

  it('maxCrawlShare: no shape of a host passes its share of all, from 100 URLs of it on', () => {
    const urls = Array.from({ length: 4000 }, (_, i) =>
      i % 10 < 7 ? `https://cal.example/${20_200_101 + (i % 28)}` : `https://h${i % 100}.example/page/${i}`,
    )
    const { kept, limits } = keep({ maxCrawlShare: 0.1 }, urls)
    const calendars = kept.filter((url) => url.includes('cal.example')).length
    expect(calendars).toBeGreaterThanOrEqual(100)
    expect(calendars / kept.length).toBeLessThanOrEqual(0.11)
    expect(limits.stats().dropped.maxCrawlShare).toBe(urls.length - kept.length)
    expect(limits.judge('https://cal.example/20200101')).toMatchObject({
      limit: 'maxCrawlShare',
      shape: 'cal.example/{date}',
      reason: `its shape has ${((calendars / kept.length) * 100).toFixed(1)} % of all ${kept.length} URLs`,
    })
  })

  it('maxRepeats: endless paths', () => {
    const { kept } = keep({ maxRepeats: 2 }, [
      'https://a.example/a/b/a',
      'https://a.example/a/b/a/b/a',
      'https://a.example/',
    ])
    expect(kept).toEqual(['https://a.example/a/b/a', 'https://a.example/'])
  })

  it('queryNames: one URL per path and set of names, in any order', () => {
    const urls = ['/x?a=1', '/x?a=2', '/x?b=1', '/x?a=1&b=2', '/x?b=3&a=4', '/y?a=1', '/x', '/x'].map(
      (path) => `https://a.example${path}`,
    )
    const { kept } = keep({ queryNames: true }, urls)
    expect(kept).toEqual([urls[0], urls[2], urls[3], urls[5], urls[6], urls[7]])
  })

  it('assets: by extension, with lists', () => {
    const urls = ['/a.PNG?x', '/b.pdf', '/c.svg', '/d', '/e.html'].map((path) => `https://a.example${path}`)
    expect(keep({ assets: 'skip' }, urls).kept).toEqual([urls[1], urls[3], urls[4]])
    expect(keep({ assets: { deny: ['.pdf'], allow: ['svg'] } }, urls).kept).toEqual([
      urls[2],
      urls[3],
      urls[4],
    ])
  })

  it('what is not a URL is kept', () => {
    expect(keep({ keepPerShape: 1, queryNames: true }, ['x', 'x', '', 'x']).kept).toEqual(['x', 'x', '', 'x'])
  })

  it('an invalid option is one line', () => {
    expect(() => new ShapeLimits({})).toThrow('no limit is given: expected one of assets, ')
    expect(() => new ShapeLimits({ keepPerShape: 0 })).toThrow(
      'keepPerShape 0: expected a whole number of at least 1',
    )
    expect(() => new ShapeLimits({ maxShare: 5 })).toThrow('maxShare 5: expected a number between 0 and 1')
  })
})

it('applied to what they kept, limits drop nothing: 40 seeds, random limits', () => {
  const applied = new Set<string>()
  for (let seed = 1; seed <= 40; seed++) {
    const next = randomFrom(seed)
    const some = <T>(value: T) => (next() < 0.5 ? value : undefined)
    const options = Object.fromEntries(
      Object.entries({
        maxNodes: 4096,
        keepPerShape: some(1 + Math.floor(next() * 200)),
        keepPerTrap: some(50 + Math.floor(next() * 100)),
        maxShare: some(0.02 + next() * 0.3),
        maxCrawlShare: some(0.02 + next() * 0.1),
        maxRepeats: 1 + Math.floor(next() * 3),
        queryNames: some(true),
        assets: some('skip' as const),
      }).filter(([, value]) => value !== undefined),
    ) as ShapeLimitOptions
    const planted: string[] = []
    plant(1500, seed, (lines) => planted.push(...lines.trim().split('\n')), 0.3)
    // And a suspicious shape that is over every share, and files without links.
    const more = ['wiki?oldid=N', 'wiki?oldid=N', 'N.png']
    const urls = planted.flatMap((url, i) => [
      url,
      ...more.slice(i % 4, (i % 4) + 1).map((path) => `https://a.example/${path.replace('N', String(i))}`),
    ])
    const once = keep(options, urls)
    const twice = keep(options, once.kept)
    expect(twice.kept, `seed ${seed}`).toEqual(once.kept)
    const { kept, dropped } = once.limits.stats()
    for (const limit of LIMITS) if (dropped[limit] > 0) applied.add(limit)
    expect(kept + Object.values(dropped).reduce((a, b) => a + b)).toBe(urls.length)
  }
  expect([...applied].sort()).toEqual([...LIMITS].sort())
})

describe('a sieve with limits', () => {
  it('every verb that adds: repeats are seen, new URLs over a limit are dropped with a reason', async () => {
    const drops: string[] = []
    const options = {
      keepPerShape: 2,
      onDrop: (url: string, { limit }: { limit: string }) => drops.push(`${limit} ${url}`),
    }
    const sieve = new LimitedSieve(await Sieve.create(), options)
    expect(await sieve.add(posts[0]!)).toBe(true)
    expect(await sieve.add(posts[0]!)).toBe(false)
    expect(drops).toEqual([])
    expect([...(await sieve.addMany([posts[1]!, posts[2]!, 'https://a.example/']))]).toEqual([1, 0, 1])
    const lines = new TextEncoder().encode(`${posts[1]}\n${posts[3]}\nhttps://b.example/post/1`)
    expect([...(await sieve.addLines(lines))]).toEqual([0, 0, 1])
    expect(drops).toEqual([`keepPerShape ${posts[2]}`, `keepPerShape ${posts[3]}`])
    expect(await sieve.stats()).toMatchObject({ urls: 6, dropped: { keepPerShape: 2, maxShare: 0 } })
    expect(await sieve.explain(posts[7]!)).toMatchObject({ verdict: 'seen', drop: { limit: 'keepPerShape' } })
    expect(await sieve.explain('https://c.example/')).toMatchObject({ verdict: 'new', drop: null })
    expect(await sieve.has(posts[3]!)).toBe(true)
    await sieve.close()
  })

  it('items in one buffer', async () => {
    const sieve = new LimitedSieve(await Sieve.create(), { keepPerShape: 1 })
    const bytes = new TextEncoder().encode(posts[0]! + posts[1]!)
    const middle = posts[0]!.length
    const items = { bytes, starts: Uint32Array.of(0, middle), ends: Uint32Array.of(middle, bytes.length) }
    expect([...(await sieve.addItems(items))]).toEqual([1, 0])
  })
})

it('strip: parameters on some pages of some hosts are left out of the key', async () => {
  const profile = [...profiles.web.rules, stripRule('*.example/wiki/*=rev,utm_*')]
  const sieve = await Sieve.create({ profile })
  const key = (url: string) => sieve.explain(url).key
  expect(key('https://a.example/wiki/x?rev=3&a=1&utm_id=2')).toBe('https://a.example/wiki/x?a=1')
  expect(key('https://a.example:8080/wiki/x?rev=3')).toBe('https://a.example:8080/wiki/x')
  expect(key('https://a.example/page?rev=3')).toBe('https://a.example/page?rev=3')
  expect(key('https://a.test/wiki/x?rev=3')).toBe('https://a.test/wiki/x?rev=3')
  for (const bad of ['', 'a.example', 'a.example=', '/x=a'])
    expect(() => stripRule(bad)).toThrow(`strip '${bad}': expected host/path=name,name`)
})
