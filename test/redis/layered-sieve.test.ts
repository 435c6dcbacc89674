// The layered forms on Redis against the filters of the same names in memory, which are too large to err by their fill.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Sieve } from '../../src/index.ts'
import { type ScriptClient, scriptClient } from '../../src/redis/client.ts'
import { type Connection, connectRedis, LayeredRedisSieve } from '../../src/redis/index.ts'
import { randomFrom } from '../support/random.mjs'
import { sleep, startCluster, whyNoRedis } from './servers.ts'
import { countOf } from './urls.ts'

const random = randomFrom(7)
const pick = (n: number) => Math.floor(random() * n)
const url = () =>
  `https://h${pick(3)}.example/${Array.from({ length: pick(6) }, () => 'abc'[pick(3)]).join('/')}${pick(4) === 0 ? '?q=a/b' : ''}`

describe.skipIf(whyNoRedis)('a layered sieve on a cluster of three', () => {
  let server: Awaited<ReturnType<typeof startCluster>>
  let connection: Connection
  beforeAll(async () => {
    server = await startCluster({ replicas: 0 })
    connection = await connectRedis(server.url)
  })
  afterAll(async () => {
    await connection?.close()
    await server?.stop()
  })

  it.each([
    ['multilayer', 4],
    ['multilayer', 2],
    ['prefix-layers', 8],
    ['prefix-layers', 2],
  ] as const)('%s of %i layers answers as the filter does', async (form, layers) => {
    const sieve = await LayeredRedisSieve.open({
      client: connection.client,
      name: 'a',
      form,
      layers,
      tags: 4,
    })
    const local = await Sieve.create({ filter: form, layers, sizeBytes: 1 << 22, expectedUrls: 10_000 })
    for (let round = 0; round < 30; round++) {
      const urls = Array.from({ length: pick(40) }, url)
      expect(await sieve.hasMany(urls)).toEqual(local.hasMany(urls))
      expect(await sieve.addMany(urls)).toEqual(local.addMany(urls))
      const one = url()
      expect(await sieve.has(one)).toBe(local.has(one))
      expect(await sieve.add(one)).toBe(local.add(one))
    }
    await sieve.drop()
  })

  it.each(['multilayer', 'prefix-layers'] as const)(
    '%s: of writers at the same time one gets "new"',
    async (form) => {
      const options = { name: `writers-${form}`, form, tags: 8 }
      const writers = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { client, close } = await connectRedis(server.url)
          const inner = scriptClient(client)
          // The calls of a batch arrive in any order.
          const send: ScriptClient['send'] = async (...call) => {
            await sleep(random() * 10)
            return inner.send(...call)
          }
          return { sieve: await LayeredRedisSieve.open({ client: { ...inner, send }, ...options }), close }
        }),
      )
      // Few enough segments that URLs share them, and each in one order only: multilayer does not err.
      const urls = Array.from({ length: 1000 }, (_, i) => `https://h${i % 5}.example/a${i % 61}/b${i}`)
      const news = new Uint8Array(urls.length)
      for (let from = 0; from < urls.length; from += 100) {
        await Promise.all(
          writers.map(async ({ sieve }, w) => {
            // Each in another order.
            const order = Array.from({ length: 100 }, (_, i) => from + ((37 * i + 25 * w) % 100))
            const verdicts = await sieve.addMany(order.map((n) => urls[n]!))
            for (const [i, n] of order.entries()) news[n]! += verdicts[i]!
          }),
        )
      }
      for (const { close } of writers) await close()
      expect(countOf(news, 1)).toBe(urls.length)
    },
  )

  it('says whether anything was seen under a folder', async () => {
    const form = 'prefix-layers'
    const sieve = await LayeredRedisSieve.open({ client: connection.client, name: 'b', form, layers: 3 })
    const local = await Sieve.create({ filter: form, layers: 3, sizeBytes: 1 << 22, expectedUrls: 10_000 })
    const urls = Array.from({ length: 40 }, url)
    await sieve.addMany(urls)
    local.addMany(urls)
    for (const folder of [
      'h0.example',
      'h9.example',
      'h0.example/a',
      'h1.example/a/b/',
      'h2.example/c/c/c/c/',
    ]) {
      expect([folder, await sieve.hasUnder(folder)]).toEqual([folder, local.hasUnder(folder)])
    }
    expect((await sieve.stats()).pieces).toBeGreaterThan(20)
    await sieve.drop()
    await expect(
      LayeredRedisSieve.open({ client: connection.client, name: 'b', form: 'layers' as 'multilayer' }),
    ).rejects.toThrow("form 'layers': expected prefix-layers or multilayer")
  })
})
