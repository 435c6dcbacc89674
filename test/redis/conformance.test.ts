// The sieve on one Redis node and on a cluster against an exact Set.
import { describe, expect, it } from 'vitest'
import { connectRedis, type Mode, RedisSieve } from '../../src/redis/index.ts'
import { connected, startOne } from './connected.ts'
import { startCluster, whyNoRedis } from './servers.ts'
import { all, exactVerdicts, repeating, urlOf, urlsOf } from './urls.ts'

const size = process.env.URLSIEVE_FULL ? 400_000 : 40_000

const places = { 'one node': startOne, 'a cluster of three': () => startCluster({ replicas: 0 }) }

for (const [place, start] of Object.entries(places)) {
  describe.skipIf(whyNoRedis)(`redis sieve on ${place}`, () => {
    const server = connected(start)
    let names = 0
    const open = (options: object = {}) =>
      RedisSieve.open({ client: server.connection.client, name: `s${names++}`, ...options })

    for (const mode of ['fingerprint', 'compact'] as Mode[]) {
      it(`${mode} answers as a Set does, and grows`, async () => {
        // One set for each of two tags to begin with, or 2,048 in all. 33 bits for so many URLs may err, by the key: with
        // this one they do not.
        const shape = mode === 'compact' ? { tags: 2, expectedUrls: 100 } : { tags: 16 }
        const sieve = await open({ mode, key: new Uint8Array(16).fill(7), ...shape })
        const seen = new Set<string>()
        const urls = repeating(size, 2 * size, 7)
        for (let from = 0; from < urls.length; from += 4000) {
          const batch = urls.slice(from, from + 4000)
          const asked = Uint8Array.from(batch, (url) => Number(seen.has(url)))
          expect(await sieve.hasMany(batch)).toEqual(asked)
          expect(await sieve.addMany(batch)).toEqual(exactVerdicts(batch, seen))
        }
        const stats = await sieve.stats()
        expect(stats).toMatchObject({ urls: seen.size, seen: urls.length - seen.size, invalid: 0 })
        expect(stats.pastCapacity).toBe(mode === 'compact')

        const known = [...seen]
        const gone = known.filter((_, i) => i % 3 === 0)
        expect(await sieve.deleteMany(gone)).toEqual(all(gone.length, 1))
        expect(await sieve.deleteMany(gone)).toEqual(all(gone.length, 0))
        expect(await sieve.hasMany(known)).toEqual(Uint8Array.from(known, (_, i) => Number(i % 3 !== 0)))
        expect((await sieve.stats()).urls).toBe(seen.size - gone.length)
        await sieve.clear()
        expect(await sieve.stats()).toMatchObject({ urls: 0, seen: 0 })
        expect(await sieve.hasMany(known)).toEqual(all(known.length, 0))
      })
    }

    it('leaves sets that Redis packs, and nothing after drop', async () => {
      const sieve = await open({ tags: 2, mode: 'compact', expectedUrls: 1 })
      await sieve.addMany(urlsOf(0, 10_000))
      const keys = async () =>
        (await Promise.all(server.nodes.map((node) => node.ask('KEYS', `urlsieve:*${sieve.name}*`)))).flat()
      const encodings = new Set<unknown>()
      for (const node of server.nodes) {
        for (const key of (await node.ask('KEYS', `urlsieve:*:${sieve.name}|[0-9]*`)) as string[]) {
          encodings.add(await node.ask('OBJECT', 'ENCODING', key))
        }
      }
      expect([...encodings]).toEqual(['intset'])
      expect(await RedisSieve.names(server.connection.client)).toContain(sieve.name)
      const fromAfar = (await keys()).filter((key) => !String(key).includes('|r|'))
      expect(fromAfar.length).toBeGreaterThan(50)
      await sieve.drop()
      expect((await keys()).filter((key) => !String(key).includes('|r|'))).toEqual([])
      expect(await RedisSieve.names(server.connection.client)).not.toContain(sieve.name)
      await expect(sieve.add('https://a.example/')).rejects.toThrow('is closed')
    })

    it('marks by key: other spellings are seen, single adds of one turn share a call', async () => {
      const sieve = await open()
      const spellings = ['http://A.example:80/x#top', 'https://a.example/x', 'https://a.example/./x']
      expect(await Promise.all(spellings.map((url) => sieve.add(url)))).toEqual([true, false, false])
      expect(await sieve.has('https://a.example/y/../x')).toBe(true)
      expect(await sieve.has('https://a.example/y')).toBe(false)
      expect(await sieve.explain('http://a.example/x')).toMatchObject({
        key: 'https://a.example/x',
        verdict: 'seen',
      })
      expect(await sieve.delete('https://a.example/x')).toBe(true)
      expect(await sieve.add('https://a.example/x')).toBe(true)
      const lines = new TextEncoder().encode('no url\nhttps://a.example/x\nno url\n')
      expect(await sieve.addLines(lines)).toEqual(Uint8Array.of(1, 0, 0))
      expect((await sieve.stats()).invalid).toBe(2)
      expect(await sieve.addMany([])).toEqual(new Uint8Array(0))
    })

    it('is shared: what one adds another has seen, and two at the same time never both get "new"', async () => {
      const name = `s${names++}`
      const other = await connectRedis(server.url)
      try {
        const sieves = [
          await RedisSieve.open({ client: server.connection.client, name }),
          await RedisSieve.open({ client: other.client, name }),
        ]
        const urls = urlsOf(0, 5000)
        const turns = Array.from({ length: 5 }, (_, i) => urls.slice(1000 * i, 1000 * (i + 1)))
        const verdicts = await Promise.all(
          sieves.map(async (sieve) => {
            const mine: number[] = []
            for (const turn of turns) mine.push(...(await sieve.addMany(turn)))
            return mine
          }),
        )
        expect(urls.map((_, i) => verdicts[0]![i]! + verdicts[1]![i]!)).toEqual(urls.map(() => 1))
      } finally {
        await other.close()
      }
    })

    // The same scripts everywhere: once is enough.
    if (place === 'one node')
      it('errs in compact mode as often as its stats say', async () => {
        const count = size * 10
        const sieve = await open({ mode: 'compact', tags: 1, expectedUrls: 1 })
        for (let from = 0; from < count; from += 20_000) await sieve.addMany(urlsOf(from, from + 20_000))
        const { expectedRate, urls } = await sieve.stats()
        const wrongAdds = count - urls
        let wrong = 0
        for (let from = count; from < 2 * count; from += 20_000) {
          const answers = await sieve.hasMany(urlsOf(from, from + 20_000))
          wrong += answers.reduce((sum, answer) => sum + answer, 0)
        }
        // n / 2^32 each: far from the promise, since it was made for one URL. Four standard deviations either way.
        const expected = count * expectedRate!
        expect(expectedRate).toBeCloseTo(urls / 2 ** 32, 9)
        expect(wrong).toBeLessThan(expected + 4 * Math.sqrt(expected) + 1)
        expect(wrong).toBeGreaterThan(expected - 4 * Math.sqrt(expected) - 1)
        expect(wrongAdds).toBeLessThan(expected / 2 + 4 * Math.sqrt(expected / 2) + 1)
      })
    else
      it('forgets by age: remembered for three quarters of the window at least, never longer', async () => {
        const windowMs = 1200
        const sieve = await open({ windowMs, tags: 4 })
        const added = Date.now()
        expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 1))
        let marked = added
        let looks = 0
        for (;;) {
          const answers = await sieve.hasMany(urlsOf(0, 500))
          const verdict = await sieve.add(urlOf(3))
          // A slow call may come when it is forgotten, and mark it again.
          if (verdict) marked = Date.now()
          if (Date.now() > added + 0.75 * windowMs) break
          expect(answers).toEqual(all(500, 1))
          expect(verdict).toBe(false)
          looks++
        }
        expect(looks).toBeGreaterThan(0)
        await new Promise((resolve) => setTimeout(resolve, marked + windowMs + 300 - Date.now()))
        expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 1))
        await new Promise((resolve) => setTimeout(resolve, 1.5 * windowMs))
        const left = await Promise.all(
          server.nodes.map((node) => node.ask('KEYS', `urlsieve:*:${sieve.name}|g*`)),
        )
        expect(left.flat()).toEqual([])
      })
  })
}
