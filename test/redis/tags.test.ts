// More tags while processes go on: each URL stays new exactly once, and what was added before is seen by all.
import { describe, expect, it } from 'vitest'
import { scriptClient } from '../../src/redis/client.ts'
import { RedisSieve } from '../../src/redis/index.ts'
import { connected, startOne } from './connected.ts'
import { startCluster, whyNoRedis } from './servers.ts'
import { all, repeating, urlOf, urlsOf } from './urls.ts'

const ROUNDS = process.env.URLSIEVE_FULL ? 200 : 24
const WRITERS = 8
const BATCH = 300

const places = { 'one node': startOne, 'a cluster of three': () => startCluster({ replicas: 0 }) }

for (const [place, start] of Object.entries(places)) {
  describe.skipIf(whyNoRedis)(`more tags on ${place}`, () => {
    const server = connected(start)
    let names = 0
    const open = (options: object = {}) =>
      RedisSieve.open({ client: server.connection.client, name: `tags${names++}`, ...options })
    const again = (sieve: RedisSieve, options: object = {}) =>
      RedisSieve.open({ client: server.connection.client, name: sieve.name, ...options })
    const keysOf = async (sieve: RedisSieve) =>
      (await Promise.all(server.nodes.map((node) => node.ask('KEYS', `urlsieve:*${sieve.name}*`))))
        .flat()
        .map(String)
        .filter((key) => !key.includes('|r|'))

    it('eight writers, tags twice as it goes: each URL is new exactly once', async () => {
      const first = await open({ tags: 4 })
      const writers = [first, ...(await Promise.all(Array.from({ length: WRITERS - 1 }, () => again(first))))]
      const news = new Map<string, number>()
      let added = 0
      const write = async (sieve: RedisSieve, writer: number) => {
        for (let round = 0; round < ROUNDS; round++) {
          // The pool of URLs grows, so that each round has old and new ones.
          const urls = repeating(BATCH, 400 * (round + 1), 1 + writer + WRITERS * round)
          if (writer === 0 && round === Math.floor(ROUNDS / 3)) await sieve.moreTags(16)
          if (writer === 5 && round === Math.floor((2 * ROUNDS) / 3)) await sieve.moreTags(128)
          const verdicts = await sieve.addMany(urls)
          added += urls.length
          for (const [i, url] of urls.entries()) news.set(url, (news.get(url) ?? 0) + verdicts[i]!)
        }
      }
      await Promise.all(writers.map(write))
      expect([...news].filter(([, times]) => times !== 1)).toEqual([])
      const known = [...news.keys()]
      for (const sieve of writers) {
        expect(await sieve.hasMany(known)).toEqual(all(known.length, 1))
        expect(sieve.parameters).toMatchObject({ tags: 128, earlier: [{ tags: 4 }, { tags: 16 }] })
      }
      expect(await first.stats()).toMatchObject({ urls: known.length, seen: added - known.length })

      const later = await again(first)
      const gone = known.filter((_, i) => i % 2 === 0)
      expect(await later.deleteMany(gone)).toEqual(all(gone.length, 1))
      expect(await later.deleteMany(gone)).toEqual(all(gone.length, 0))
      expect(await first.hasMany(known)).toEqual(Uint8Array.from(known, (_, i) => i % 2))
      expect(await first.addMany(gone)).toEqual(all(gone.length, 1))
      await later.clear()
      expect(await first.stats()).toMatchObject({ urls: 0, seen: 0 })
      await first.addMany(urlsOf(0, 100))
      await first.drop()
      expect(await keysOf(first)).toEqual([])
    })

    it('who does not know of them is told with any call', async () => {
      for (const ask of ['has', 'add', 'forget', 'explain', 'parts'] as const) {
        const [sieve, urls] = [await open({ tags: 2 }), urlsOf(0, 400)]
        const unaware = await again(sieve)
        await sieve.addMany(urls.slice(0, 200))
        await sieve.moreTags(8)
        await sieve.addMany(urls.slice(200))
        expect(unaware.parameters.tags).toBe(2)
        if (ask === 'has') expect(await unaware.hasMany(urls)).toEqual(all(400, 1))
        if (ask === 'add') expect(await unaware.addMany(urls)).toEqual(all(400, 0))
        if (ask === 'forget') expect(await unaware.deleteMany(urls)).toEqual(all(400, 1))
        if (ask === 'explain') expect(await unaware.explain(urls[300]!)).toMatchObject({ verdict: 'seen' })
        if (ask === 'parts') {
          const more = [...urls, ...urlsOf(400, 600)]
          const verdicts = new Uint8Array(more.length).fill(9)
          for await (const part of unaware.addInParts(more)) {
            for (const [i, index] of part.indexes.entries()) {
              expect(verdicts[index]).toBe(9)
              verdicts[index] = part.verdicts[i]!
            }
          }
          expect(verdicts).toEqual(Uint8Array.from(more, (_, i) => Number(i >= 400)))
        }
        expect(unaware.parameters.tags).toBe(8)
        expect(unaware.metrics.counts()).toMatchObject({ failed: 0, unknown: 0 })
      }
    })

    it('who does not know of them counts, clears and drops all the same', async () => {
      const key = new Uint8Array(16).fill(3)
      for (const way of ['stats', 'clear', 'drop'] as const) {
        const sieve = await open({ tags: 2, key })
        const unaware = await again(sieve)
        await sieve.moreTags(8)
        await sieve.addMany(urlsOf(0, 400))
        if (way === 'stats') expect(await unaware.stats()).toMatchObject({ urls: 400, seen: 0 })
        if (way === 'clear') {
          await unaware.clear()
          expect(await sieve.hasMany(urlsOf(0, 400))).toEqual(all(400, 0))
        }
        if (way === 'drop') {
          await unaware.drop()
          expect(await keysOf(sieve)).toEqual([])
        }
      }
    })

    it('parameters that were lost are told, and moreTags brings them back', async () => {
      const sieve = await open({ tags: 4 })
      const parameters = `urlsieve:${sieve.name}`
      const { client } = server.connection
      const send = (...args: string[]) => scriptClient(client).send(parameters, args)
      const text = String(await send('GET', parameters))
      const other = await again(sieve)
      await sieve.addMany(urlsOf(0, 100))
      await sieve.moreTags(8)
      await sieve.addMany(urlsOf(0, 200))
      await send('SET', parameters, text)
      await expect(other.addMany(urlsOf(0, 300))).rejects.toThrow(
        `sieve '${sieve.name}' was given more than 4 tags, and a failover has lost how many: call moreTags with the same number again`,
      )
      await other.moreTags(8)
      expect(await other.addMany(urlsOf(0, 300))).toEqual(
        Uint8Array.from({ length: 300 }, (_, i) => Number(i >= 200)),
      )
    })

    it('of a window, too', async () => {
      const sieve = await open({ tags: 2, windowMs: 3_600_000 })
      await sieve.addMany(urlsOf(0, 300))
      await sieve.moreTags(4)
      expect(await sieve.addMany(urlsOf(0, 600))).toEqual(
        Uint8Array.from({ length: 600 }, (_, i) => Number(i >= 300)),
      )
      expect(await (await again(sieve)).hasMany(urlsOf(0, 600))).toEqual(all(600, 1))
    })

    it('opened with the tags it has or had; others, fewer and those of compact are refused', async () => {
      const sieve = await open({ tags: 4 })
      await Promise.all([sieve.moreTags(8), (await again(sieve)).moreTags(8)])
      for (const tags of [4, 8, undefined]) expect((await again(sieve, { tags })).parameters.tags).toBe(8)
      await expect(again(sieve, { tags: 16 })).rejects.toThrow('has tags 8, not 16')
      await expect(sieve.moreTags(4)).rejects.toThrow(`tags 4: sieve '${sieve.name}' has 8, expected more`)
      for (const tags of [12, 16_384])
        await expect(sieve.moreTags(tags)).rejects.toThrow('a power of two from 1 to 8192')
      const compact = await open({ mode: 'compact', expectedUrls: 1000 })
      await expect(compact.moreTags(64)).rejects.toThrow('is sized once')
      const gone = await again(sieve)
      await sieve.drop()
      await expect(gone.moreTags(32)).rejects.toThrow('was dropped')
      const anew = await again(sieve, { tags: 4 })
      expect(await anew.add(urlOf(1))).toBe(true)
    })
  })
}
