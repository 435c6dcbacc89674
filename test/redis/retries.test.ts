// Lost answers, cut lines and paused nodes: a call that is repeated gives the verdicts of the first time.
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, connectRedis, RedisSieve, RedisSieveError } from '../../src/redis/index.ts'
import { type Line, startProxy } from './proxy.ts'
import { type RedisNode, sleep, startCluster, startNode, until, whyNoRedis } from './servers.ts'
import { all, urlOf, urlsOf } from './urls.ts'

describe.skipIf(whyNoRedis)('one node behind a bad line', () => {
  let node: RedisNode
  let proxy: Line
  let connection: Connection
  let direct: Connection

  beforeAll(async () => {
    node = await startNode()
    proxy = await startProxy(node.port)
    connection = await connectRedis(`redis://127.0.0.1:${proxy.port}`)
    direct = await connectRedis(node.url)
  })
  afterAll(async () => {
    await connection?.close()
    await direct?.close()
    await proxy?.stop()
    await node?.kill()
  })

  it('an add whose answer was lost and is repeated stays "new"', async () => {
    const name = 'lost'
    const sieve = await RedisSieve.open({ client: connection.client, name, timeoutMs: 400 })
    const witness = await RedisSieve.open({ client: direct.client, name })
    await sieve.addMany([urlOf(0)]) // now the server has the script
    await sieve.deleteMany([urlOf(0)])
    for (let turn = 0; turn < 5; turn++) {
      const urls = urlsOf(1000 * turn, 1000 * (turn + 1))
      proxy.loseAnswers()
      const adding = sieve.addMany([...urls, ...urls.slice(0, 10)])
      // The server has done it: the answers are what is lost.
      await until('all are marked', async () => (await witness.stats()).urls === 1000 * (turn + 1))
      proxy.cut()
      await sleep(50)
      proxy.mend()
      expect(await adding).toEqual(Uint8Array.of(...all(1000, 1), ...all(10, 0)))
      expect(await sieve.addMany(urls)).toEqual(all(1000, 0))
    }
    expect((await witness.stats()).urls).toBe(5000)
  })

  it('a delete whose answer was lost and is repeated says it was there', async () => {
    const sieve = await RedisSieve.open({ client: connection.client, name: 'deleted', timeoutMs: 400 })
    const witness = await RedisSieve.open({ client: direct.client, name: 'deleted' })
    await sieve.addMany(urlsOf(0, 301))
    await sieve.delete(urlOf(300))
    proxy.loseAnswers()
    const deleting = sieve.deleteMany(urlsOf(0, 200))
    await until('they are gone', async () => (await witness.stats()).urls === 100)
    proxy.cut()
    proxy.mend()
    expect(await deleting).toEqual(all(200, 1))
  })

  it('batches under way together keep their answers apart', async () => {
    const sieve = await RedisSieve.open({ client: connection.client, name: 'lanes', timeoutMs: 400 })
    const witness = await RedisSieve.open({ client: direct.client, name: 'lanes' })
    proxy.loseAnswers()
    const adding = Array.from({ length: 6 }, (_, i) => sieve.addMany(urlsOf(500 * i, 500 * (i + 1))))
    await until('all are marked', async () => (await witness.stats()).urls === 3000)
    proxy.cut()
    proxy.mend()
    for (const verdicts of await Promise.all(adding)) expect(verdicts).toEqual(all(500, 1))
  })

  it('a paused server: calls wait, are repeated, and give one answer', async () => {
    const sieve = await RedisSieve.open({ client: direct.client, name: 'paused', timeoutMs: 200 })
    node.process.kill('SIGSTOP')
    const adding = sieve.addMany(urlsOf(0, 2000))
    await sleep(1500)
    node.process.kill('SIGCONT')
    expect(await adding).toEqual(all(2000, 1))
    expect((await sieve.stats()).urls).toBe(2000)
  })

  it('gives up in bounded time with one clear line and the verdicts that are known', async () => {
    const patience = { timeoutMs: 200, retryMs: 800 }
    const sieve = await RedisSieve.open({ client: connection.client, name: 'patience', ...patience })
    await sieve.addMany(urlsOf(0, 100))
    proxy.cut()
    const started = performance.now()
    const error = await sieve.addMany(urlsOf(0, 100)).catch((caught: unknown) => caught)
    expect(performance.now() - started).toBeLessThan(4000)
    proxy.mend()
    expect(error).toBeInstanceOf(RedisSieveError)
    expect(error).toMatchObject({ code: 'network', answered: new Uint8Array(0), verdicts: all(100, 2) })
    expect((error as Error).message).toMatch(/^Redis does not answer, for 0\.8 s \(retryMs\): [^\n]+$/)
    // It goes on when the line is mended.
    expect(await sieve.addMany(urlsOf(0, 100))).toEqual(all(100, 0))
  })
})

describe.skipIf(whyNoRedis)('a cluster behind bad lines', () => {
  it('a network cut of one node: the others answer, and nothing is new twice', async () => {
    const servers = await startCluster({ replicas: 0 })
    const proxies = await Promise.all(servers.nodes.map((node) => startProxy(node.port)))
    const cluster = createCluster({
      rootNodes: [{ url: `redis://127.0.0.1:${proxies[0]!.port}` }],
      nodeAddressMap: (address) => {
        const i = servers.nodes.findIndex((node) => address.endsWith(`:${node.port}`))
        return i < 0 ? undefined : { host: '127.0.0.1', port: proxies[i]!.port }
      },
    })
    cluster.on('error', () => {})
    try {
      await cluster.connect()
      const sieve = await RedisSieve.open({ client: cluster, name: 'cut', timeoutMs: 500 })
      const impatient = await RedisSieve.open({ client: cluster, name: 'cut', timeoutMs: 200, retryMs: 300 })
      let next = 0
      const add = async () => {
        next += 300
        return sieve.addMany(urlsOf(next - 300, next))
      }
      expect(await add()).toEqual(all(300, 1))
      proxies[1]!.loseAnswers()
      const adding = [add(), add()]
      await sleep(150)
      proxies[1]!.cut()
      // A short call while a third of the cluster is gone: what the others say is known.
      const error = await impatient.hasMany(urlsOf(0, 300)).catch((caught: unknown) => caught)
      const known = (error as RedisSieveError).verdicts.filter((verdict) => verdict === 1).length
      expect(known).toBeGreaterThan(150)
      expect(known).toBeLessThan(250)
      await sleep(300)
      proxies[1]!.mend()
      for (const verdicts of await Promise.all(adding)) expect(verdicts).toEqual(all(300, 1))
      expect(await add()).toEqual(all(300, 1))
      expect(await sieve.hasMany(urlsOf(0, next))).toEqual(all(next, 1))
      expect((await sieve.stats()).urls).toBe(next)
    } finally {
      cluster.destroy()
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await servers.stop()
    }
  })
})
