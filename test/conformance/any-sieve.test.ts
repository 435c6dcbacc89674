// One suite over all sieves: in memory, in a folder, in LevelDB and on Redis, each through the one public interface.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { DiskSieve } from '../../src/disk/index.ts'
import { ExactSieve } from '../../src/exact/index.ts'
import { type AnySieve, keepLines, Sieve, SieveError, siftLines } from '../../src/index.ts'
import { connectRedis, RedisSieve } from '../../src/redis/index.ts'
import { startNode, whyNoRedis } from '../redis/servers.ts'

const root = mkdtempSync(join(tmpdir(), 'any-sieve-'))
const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
  rmSync(root, { recursive: true })
})

let count = 0
const folder = () => join(root, String(count++))
let redis: Promise<Awaited<ReturnType<typeof connectRedis>>> | undefined

const onRedis = async () => {
  redis ??= (async () => {
    const node = await startNode()
    ends.push(() => node.kill())
    const connection = await connectRedis(node.url)
    ends.push(() => connection.close())
    return connection
  })()
  return (await redis).client
}

const sieves: Readonly<Record<string, () => Promise<AnySieve>>> = {
  'Sieve.create': () => Sieve.create(),
  'Sieve.create, a filter that cannot delete': () =>
    Sieve.create({ filter: 'blocked', expectedUrls: 10_000, falsePositiveRate: 1e-9 }),
  'Sieve.open': () => Sieve.open(folder()),
  'DiskSieve.open, which cannot delete': () => DiskSieve.open(folder(), { maxMemory: 32 * 1024 ** 2 }),
  'ExactSieve.open': () => ExactSieve.open(folder()),
  'RedisSieve.open': async () => RedisSieve.open({ client: await onRedis(), name: `any-${count++}` }),
}

const bytesOf = (text: string) => new TextEncoder().encode(text)
const url = (i: number) => `https://host${i % 7}.example/page/${i}?q=${i * 31}`
const urlsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => url(from + i))
const linesOf = (urls: readonly string[]) => bytesOf(urls.map((one) => `${one}\n`).join(''))
const itemsOf = (urls: readonly string[]) => {
  const ends = Uint32Array.from(urls, (one) => one.length)
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!
  return { bytes: bytesOf(urls.join('')), starts: Uint32Array.of(0, ...ends.slice(0, -1)), ends }
}
const filled = (length: number, value: number) => new Uint8Array(length).fill(value)
// A verb may throw or reject.
const failureOf = (call: () => unknown) =>
  (async () => call())().then(
    () => null,
    (error: unknown) => error,
  )

for (const [name, open] of Object.entries(sieves)) {
  const isSkipped = name.startsWith('Redis') ? whyNoRedis : null
  describe.skipIf(isSkipped)(`${name}: any sieve`, () => {
    it('uses the bytes as they were at the call: the caller may change them before the answer', async () => {
      const sieve = await open()
      const urls = urlsOf(0, 3000)
      const first = sieve.add('https://first.example/') // the calls behind it wait for their turn
      const lines = Buffer.from(linesOf(urls))
      const fromLines = sieve.addLines(lines)
      lines.fill(120)
      const { bytes, starts, ends } = itemsOf(urlsOf(3000, 6000))
      const items = { bytes: Buffer.from(bytes), starts, ends }
      const fromItems = sieve.addItems(items)
      items.bytes.fill(120)
      expect(await first).toBe(true)
      expect(await fromLines).toEqual(filled(3000, 1))
      expect(await fromItems).toEqual(filled(3000, 1))
      expect(await sieve.hasMany(urlsOf(0, 6000))).toEqual(filled(6000, 1))
      await sieve.close()
    })

    it('answers for single URLs, by key', async () => {
      await using sieve = await open()
      expect(await sieve.has(url(1))).toBe(false)
      expect(await sieve.add(url(1))).toBe(true)
      expect(await sieve.add(url(1))).toBe(false)
      expect(await sieve.has(url(1))).toBe(true)
      expect(await sieve.has('http://HOST1.example:80/page/./1?q=31#top')).toBe(true)
      expect(await sieve.has(url(2))).toBe(false)
      expect(sieve.profile.name).toBe('web')
    })

    it('strings, lines and items are the same URLs', async () => {
      const forms = [
        (sieve: AnySieve, some: string[]) => [sieve.addMany(some), sieve.hasMany(some)],
        (sieve: AnySieve, some: string[]) => [sieve.addLines(linesOf(some)), sieve.hasLines(linesOf(some))],
        (sieve: AnySieve, some: string[]) => [sieve.addItems(itemsOf(some)), sieve.hasItems(itemsOf(some))],
      ]
      for (const ask of forms) {
        await using sieve = await open()
        // A repeat inside one call is seen; more than one batch of the kernel.
        const some = [...urlsOf(0, 3000), ...urlsOf(2000, 3500)]
        const expected = Uint8Array.from(some, (_, i) => Number(i < 3000 || i >= 4000))
        const [added, had] = await Promise.all(ask(sieve, some))
        expect(added).toEqual(expected)
        expect(had).toEqual(filled(some.length, 1))
        for (const other of forms) {
          const [again, seen] = await Promise.all(other(sieve, some))
          expect(again).toEqual(filled(some.length, 0))
          expect(seen).toEqual(filled(some.length, 1))
        }
        expect(await sieve.hasMany(urlsOf(5000, 5100))).toEqual(filled(100, 0))
      }
    })

    it('counts URLs, repeats and lines that are not URLs', async () => {
      await using sieve = await open()
      await sieve.addMany([url(1), url(2), url(1), 'not a URL'])
      await sieve.hasLines(bytesOf('neither\n'))
      const stats = await sieve.stats()
      expect(stats).toMatchObject({ profile: 'web', urls: 3, seen: 1, invalid: 2 })
      expect(stats.sizeBytes).toBeGreaterThan(0)
      expect(stats.expectedRate).toBeLessThan(1e-6)
      expect(stats.filter).toEqual(expect.any(String))
    })

    it('explains a URL, and marks and counts nothing', async () => {
      await using sieve = await open()
      const explained = await sieve.explain('HTTP://a.example/x#top')
      expect(explained).toMatchObject({ key: 'https://a.example/x', isUrl: true, verdict: 'new' })
      expect(explained.steps.length).toBeGreaterThan(0)
      expect(await sieve.explain('not a URL')).toMatchObject({ key: 'not a URL', isUrl: false })
      expect(await sieve.stats()).toMatchObject({ urls: 0, seen: 0, invalid: 0 })
      await sieve.add('https://a.example/x')
      expect(await sieve.explain('HTTP://a.example/x#top')).toMatchObject({ verdict: 'seen' })
    })

    it('deletes where it can', async () => {
      await using sieve = await open()
      const canDelete = !name.includes('cannot delete')
      expect(typeof sieve.delete).toBe(canDelete ? 'function' : 'undefined')
      expect(typeof sieve.deleteMany).toBe(canDelete ? 'function' : 'undefined')
      if (!sieve.delete || !sieve.deleteMany) return
      await sieve.addMany(urlsOf(0, 100))
      expect(await sieve.delete(url(0))).toBe(true)
      expect(await sieve.delete(url(0))).toBe(false)
      expect(await sieve.deleteMany([url(0), url(1), url(1), url(2), url(500)])).toEqual(
        Uint8Array.of(0, 1, 0, 1, 0),
      )
      expect(await sieve.hasMany(urlsOf(0, 4))).toEqual(Uint8Array.of(0, 0, 0, 1))
      expect(await sieve.stats()).toMatchObject({ urls: 97 })
      if (!sieve.deleteItems) return
      const items = itemsOf([url(3), url(3), url(0), url(4)])
      expect(await sieve.deleteItems(items)).toEqual(Uint8Array.of(1, 0, 0, 1))
      expect(await sieve.stats()).toMatchObject({ urls: 95 })
    })

    it('refuses input of another type before anything is marked', async () => {
      await using sieve = await open()
      const calls: ((any: never) => unknown)[] = [
        (any) => sieve.add(any),
        (any) => sieve.has(any),
        (any) => sieve.addMany(any),
        (any) => sieve.addMany([url(1), any]),
        (any) => sieve.hasMany(any),
        (any) => sieve.addLines(any),
        (any) => sieve.hasLines(any),
        (any) => sieve.addItems(any),
        (any) => sieve.hasItems({ bytes: any, starts: new Uint32Array(1), ends: new Uint32Array(1) }),
        (any) => sieve.explain(any),
        (any) => (sieve.delete ? sieve.delete(any) : sieve.has(any)),
        (any) => (sieve.deleteMany ? sieve.deleteMany([url(1), any]) : sieve.has(any)),
      ]
      for (const call of calls) {
        const error = await failureOf(() => call(7 as never))
        expect(error).toBeInstanceOf(SieveError)
        expect((error as SieveError).code).toBe('option')
      }
      expect(await sieve.stats()).toMatchObject({ urls: 0, seen: 0, invalid: 0 })
      expect(await sieve.add(url(1))).toBe(true)
    })

    it('sifts a stream of lines in any cuts', async () => {
      await using sieve = await open()
      const all = linesOf([...urlsOf(0, 500), ...urlsOf(200, 700)])
      function* cuts() {
        for (let at = 0; at < all.length; at += 777) yield all.subarray(at, at + 777)
      }
      const kept: Uint8Array[] = []
      const repeated: Uint8Array[] = []
      for await (const batch of siftLines(sieve, cuts())) {
        kept.push(keepLines(batch, 'new'))
        repeated.push(keepLines(batch, 'seen'))
      }
      expect(Buffer.concat(kept).toString()).toBe(Buffer.from(linesOf(urlsOf(0, 700))).toString())
      expect(Buffer.concat(repeated).toString()).toBe(Buffer.from(linesOf(urlsOf(200, 500))).toString())
    })

    it('closes twice', async () => {
      const sieve = await open()
      await sieve.add(url(1))
      await sieve.close()
      await sieve.close()
      await sieve[Symbol.asyncDispose]()
    })
  })
}

describe('Symbol.dispose of a Sieve', () => {
  it('is for one in memory; a stored one closes asynchronously', async () => {
    {
      using sieve = await Sieve.create()
      expect(sieve.add(url(1))).toBe(true)
    }
    const stored = await Sieve.open(folder())
    expect(() => stored[Symbol.dispose]()).toThrow('await using')
    await stored.close()
  })
})
