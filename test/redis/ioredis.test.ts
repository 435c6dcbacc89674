// `Redis` of the package ioredis handed in as it is, with the package's own options; test/redis/troubles.test.ts has `Cluster`.
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectRedis, RedisSieve, type RedisSieveError } from '../../src/redis/index.ts'
import { startProxy } from './proxy.ts'
import { type RedisNode, sleep, startNode, until, whyNoRedis } from './servers.ts'
import { all, exactVerdicts, repeating, urlsOf } from './urls.ts'

describe.skipIf(whyNoRedis)('Redis of ioredis', () => {
  let node: RedisNode
  beforeAll(async () => {
    node = await startNode()
  })
  afterAll(() => node?.kill())

  it('every call, with automatic pipelines and a key prefix too', async () => {
    for (const options of [{}, { enableAutoPipelining: true, keyPrefix: 'mine:' }]) {
      const client = new Redis(node.url, options)
      try {
        const sieve = await RedisSieve.open({ client, name: 'io', tags: 4 })
        const urls = repeating(3000, 1000, 5)
        const seen = new Set<string>()
        expect(await sieve.addMany(urls)).toEqual(exactVerdicts(urls, seen))
        expect(await sieve.hasMany([...seen])).toEqual(all(seen.size, 1))
        expect(await sieve.deleteMany(urls.slice(0, 1))).toEqual(all(1, 1))
        expect((await sieve.stats()).urls).toBe(seen.size - 1)
        expect(await RedisSieve.names(client)).toEqual(['io'])
        await sieve.drop()
        expect(await RedisSieve.names(client)).toEqual([])
      } finally {
        client.disconnect()
      }
    }
  })

  it('an answer that was lost stays "new"; what its queue sends late changes nothing', async () => {
    const proxy = await startProxy(node.port)
    const client = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => 20 })
    client.on('error', () => {})
    const direct = await connectRedis(node.url)
    try {
      const sieve = await RedisSieve.open({ client, name: 'lost', timeoutMs: 300 })
      const witness = await RedisSieve.open({ client: direct.client, name: 'lost' })
      await sieve.addMany(urlsOf(0, 100)) // now the server has the script
      await sieve.deleteMany(urlsOf(0, 100))
      for (let turn = 0; turn < 3; turn++) {
        const urls = urlsOf(1000 * turn, 1000 * (turn + 1))
        proxy.loseAnswers()
        const adding = sieve.addMany(urls)
        await until('all are marked', async () => (await witness.stats()).urls === 1000 * (turn + 1))
        await sleep(400) // it is sent again, and again without an answer
        proxy.cut()
        proxy.mend()
        expect(await adding).toEqual(all(1000, 1))
      }
      expect(sieve.metrics.counts()).toMatchObject({ failed: 0, unknown: 0 })
      expect(sieve.metrics.counts().retries.silence).toBeGreaterThan(0)
    } finally {
      client.disconnect()
      await direct.close()
      await proxy.stop()
    }
  })

  it('a client that was closed is not waited for', async () => {
    const client = new Redis(node.url)
    const sieve = await RedisSieve.open({ client, name: 'closed' })
    client.disconnect()
    await until('it has ended', async () => client.status === 'end')
    const error = await sieve.addMany(urlsOf(0, 10)).catch((caught: RedisSieveError) => caught)
    expect(error).toMatchObject({ message: 'Redis refuses: Connection is closed.', verdicts: all(10, 2) })
  })

  it('waits for replicas where that is chosen, and not in a cluster of ioredis', async () => {
    const client = new Redis(node.url)
    try {
      const sieve = await RedisSieve.open({ client, name: 'alone', tags: 1, waitReplicas: 1, retryMs: 800 })
      const error = await sieve.addMany(urlsOf(0, 10)).catch((caught: Error) => caught)
      expect((error as Error).message).toMatch(/NOREPLICAS the write is at 0 of 1 replicas$/)
    } finally {
      client.disconnect()
    }
    const cluster = { isCluster: true, status: 'ready', call: async () => null }
    await expect(RedisSieve.open({ client: cluster, name: 'x', waitReplicas: 1 })).rejects.toThrow(
      /^waitReplicas needs to know the connection of a write/,
    )
  })
})
