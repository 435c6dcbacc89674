// Marks of a job are tentative until they are confirmed: others see them, and a job that was killed gets them again, once.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, connectRedis, RedisSieve, RedisSieveError } from '../../src/redis/index.ts'
import { builtLibrary, root } from '../support/built.ts'
import { connected, startOne } from './connected.ts'
import { type Line, startProxy } from './proxy.ts'
import { startCluster, whyNoRedis } from './servers.ts'
import { all, countOf, urlOf, urlsOf } from './urls.ts'

const places = { 'one node': startOne, 'a cluster of three': () => startCluster({ replicas: 0 }) }
const shapes = {
  fingerprint: {},
  compact: { mode: 'compact', expectedUrls: 100_000 },
  window: { windowMs: 3_600_000 },
} as const

for (const [place, start] of Object.entries(places)) {
  describe.skipIf(whyNoRedis)(`a job on ${place}`, () => {
    const server = connected(start)
    const connections: Connection[] = []
    afterAll(async () => {
      for (const connection of connections) await connection.close()
    })

    /** A process of the job; `die` ends it as kill does: nothing more is sent. Nobody waits for its lock. */
    async function run(name: string, options: object = {}) {
      const connection = await connectRedis(server.url)
      connections.push(connection)
      const { client } = connection
      const sieve = await RedisSieve.open({ client, name, job: 'crawl', tags: 8, ...options })
      const lock = `urlsieve:${name}|job|crawl`
      const lockCommand = (...command: string[]) =>
        Promise.all(server.nodes.map((node) => node.ask(...command).catch(() => {})))
      const die = async () => {
        await connection.close()
        await lockCommand('DEL', lock)
      }
      const loseLock = () => lockCommand('SET', lock, 'another:1', 'PX', '1000')
      return { sieve, die, loseLock }
    }
    const keysOf = async (name: string) =>
      (await Promise.all(server.nodes.map((node) => node.ask('KEYS', `urlsieve:*${name}|t|*`))))
        .flat()
        .map(String)

    for (const [shape, options] of Object.entries(shapes)) {
      it(`${shape}: what it did not confirm is seen by others, and new again once when it was killed`, async () => {
        const [urls, name] = [urlsOf(0, 1000), `killed-${shape}`]
        const first = await run(name, options)
        expect(await first.sieve.addMany([...urls, ...urls.slice(0, 9)])).toEqual(
          Uint8Array.of(...all(1000, 1), ...all(9, 0)),
        )
        expect(await first.sieve.addMany(urls)).toEqual(all(1000, 0))
        expect(first.sieve.unconfirmed()).toBe(1000)
        const other = await RedisSieve.open({ client: server.connection.client, name })
        expect(await other.addMany(urls)).toEqual(all(1000, 0))
        await first.die()

        const second = await run(name)
        expect(second.sieve.unconfirmed()).toBe(1000)
        expect(await other.hasMany(urls)).toEqual(all(1000, 1))
        expect(await second.sieve.hasMany(urls)).toEqual(all(1000, 0))
        expect(await second.sieve.addMany([...urls, ...urls])).toEqual(
          Uint8Array.of(...all(1000, 1), ...all(1000, 0)),
        )
        expect(second.sieve.unconfirmed()).toBe(1000)
        await second.die()

        const third = await run(name)
        const news = await third.sieve.addMany(urlsOf(300, 1200))
        expect(news).toEqual(all(900, 1))
        await third.sieve.confirm()
        expect(third.sieve.unconfirmed()).toBe(300)
        await third.die()

        const fourth = await run(name)
        expect(await fourth.sieve.addMany(urlsOf(0, 1200))).toEqual(
          Uint8Array.of(...all(300, 1), ...all(900, 0)),
        )
        await fourth.sieve.confirm()
        expect(fourth.sieve.unconfirmed()).toBe(0)
        expect(await keysOf(name)).toEqual([])
        await fourth.sieve.close()
        const fifth = await run(name)
        expect(await fifth.sieve.addMany(urlsOf(0, 1200))).toEqual(all(1200, 0))
        await fifth.sieve.close()
        expect(await other.stats()).toMatchObject({ urls: 1200 })
      })
    }

    it('a ticket confirms what was answered with it and before, while later adds are under way', async () => {
      const { sieve, die } = await run('tickets')
      const verdicts = await sieve.addMany(urlsOf(0, 100))
      const adding = [sieve.addMany(urlsOf(100, 200)), sieve.addMany(urlsOf(200, 300))]
      await sieve.confirm(sieve.ticket(verdicts))
      expect(sieve.unconfirmed()).toBeLessThanOrEqual(200)
      await adding[1]
      const second = await adding[0]!
      const ticket = sieve.ticket(second)
      await sieve.confirm(ticket)
      await sieve.confirm(ticket)
      expect(sieve.unconfirmed()).toBe(100)
      const parts: number[] = []
      for await (const part of sieve.addInParts(urlsOf(300, 400))) parts.push(...part.verdicts)
      expect(parts).toEqual([...all(100, 1)])
      expect(await sieve.add(urlOf(400))).toBe(true)
      expect(sieve.unconfirmed()).toBe(201)
      await die()

      const next = await run('tickets')
      expect(await next.sieve.explain(urlOf(250))).toMatchObject({ verdict: 'new' })
      expect(await next.sieve.has(urlOf(250))).toBe(false)
      const again = new Uint8Array(401).fill(9)
      for await (const { indexes, verdicts: some } of next.sieve.addInParts(urlsOf(0, 401))) {
        for (const [i, index] of indexes.entries()) again[index] = some[i]!
      }
      expect(again).toEqual(Uint8Array.of(...all(200, 0), ...all(201, 1)))
      expect(await next.sieve.add(urlOf(400))).toBe(false)
      await next.sieve.confirm(next.sieve.ticket())
      expect(next.sieve.unconfirmed()).toBe(0)
      await next.sieve.close()
    })

    it('one process at a time; jobs of other names, and their marks, are apart', async () => {
      const first = await run('names')
      await first.sieve.addMany(urlsOf(0, 50))
      await expect(run('names')).rejects.toThrow(
        "job 'crawl' of sieve 'names' is run by another process: end that one, or use another job name",
      )
      await first.loseLock()
      await expect(async () => {
        for (;;) await first.sieve.addMany(urlsOf(0, 1))
      }).rejects.toThrow("job 'crawl' of sieve 'names' is run by another process")
      const other = await run('names', { job: 'other' })
      expect(await other.sieve.addMany(urlsOf(0, 100))).toEqual(Uint8Array.of(...all(50, 0), ...all(50, 1)))
      expect([first.sieve.unconfirmed(), other.sieve.unconfirmed()]).toEqual([50, 50])
      await first.sieve.close()
      await expect(first.sieve.confirm()).rejects.toThrow("sieve 'names' is closed")
      const next = await run('names')
      expect(await next.sieve.addMany(urlsOf(0, 100))).toEqual(Uint8Array.of(...all(50, 1), ...all(50, 0)))
      await next.sieve.confirm()
      await next.sieve.close()
      await other.sieve.clear()
      expect(other.sieve.unconfirmed()).toBe(0)
      expect(await keysOf('names')).toEqual([])
      expect(await other.sieve.addMany(urlsOf(0, 100))).toEqual(all(100, 1))
      await other.sieve.drop()
    })

    it('more tags: what was added under the earlier ones is given again', async () => {
      const first = await run('more')
      await first.sieve.addMany(urlsOf(0, 400))
      await first.sieve.moreTags(32)
      expect(await first.sieve.addMany(urlsOf(200, 600))).toEqual(
        Uint8Array.of(...all(200, 0), ...all(200, 1)),
      )
      await first.die()
      const second = await run('more', { tags: undefined })
      expect(await second.sieve.addMany(urlsOf(0, 700))).toEqual(all(700, 1))
      await second.sieve.confirm()
      expect(await keysOf('more')).toEqual([])
      expect(await second.sieve.addMany(urlsOf(0, 700))).toEqual(all(700, 0))
      await second.sieve.close()
    })

    it('the lease is renewed by whoever runs the job', async () => {
      const first = await run('leases', { leaseMs: 60_000, tags: 2 })
      await first.sieve.addMany(urlsOf(0, 100))
      const leases = async () => {
        const keys = await keysOf('leases')
        const of = (key: string) => server.nodes.map((node) => node.ask('PTTL', key).catch(() => -2))
        return Promise.all(keys.map(async (key) => Math.max(...(await Promise.all(of(key))).map(Number))))
      }
      for (const lease of await leases()) expect(lease).toBeGreaterThan(0)
      for (const lease of await leases()) expect(lease).toBeLessThanOrEqual(60_000)
      await first.sieve.close()
      const second = await run('leases', { tags: 2 })
      for (const lease of await leases()) expect(lease).toBeGreaterThan(86_400_000)
      await second.sieve.close()
    })
  })
}

describe.skipIf(whyNoRedis)('a job behind a bad line', () => {
  const server = connected(startOne)
  let proxy: Line
  let connection: Connection
  beforeAll(async () => {
    proxy = await startProxy(server.nodes[0]!.port)
    connection = await connectRedis(`redis://127.0.0.1:${proxy.port}`)
  })
  afterAll(async () => {
    await connection?.close()
    await proxy?.stop()
  })
  const marked = async (sieve: RedisSieve, urls: number) => {
    while ((await sieve.stats()).urls < urls) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  it('a call that is repeated after its answer was lost is new, and tentative', async () => {
    const options = { name: 'repeated', tags: 8, timeoutMs: 400 }
    const sieve = await RedisSieve.open({ client: connection.client, job: 'crawl', ...options })
    const witness = await RedisSieve.open({ client: server.connection.client, name: 'repeated' })
    await sieve.addMany(urlsOf(0, 10))
    proxy.loseAnswers()
    const adding = sieve.addMany(urlsOf(10, 1000))
    await marked(witness, 1000)
    proxy.cut()
    proxy.mend()
    expect(await adding).toEqual(all(990, 1))
    expect(sieve.unconfirmed()).toBe(1000)
    await sieve.close()
    const next = await RedisSieve.open({ client: connection.client, job: 'crawl', ...options })
    expect(await next.addMany(urlsOf(0, 1000))).toEqual(all(1000, 1))
    await next.close()
  })

  it('a call that failed: what it had marked is new for the same process', async () => {
    const options = { name: 'failed', tags: 8, timeoutMs: 200, retryMs: 400 }
    const sieve = await RedisSieve.open({ client: connection.client, job: 'crawl', ...options })
    const witness = await RedisSieve.open({ client: server.connection.client, name: 'failed' })
    await sieve.addMany(urlsOf(0, 10))
    await sieve.confirm()
    proxy.loseAnswers()
    const failing = sieve.addMany(urlsOf(0, 500)).catch((error: unknown) => error)
    await marked(witness, 500)
    const error = await failing
    expect(error).toBeInstanceOf(RedisSieveError)
    expect(countOf((error as RedisSieveError).verdicts, 2)).toBe(500)
    proxy.cut()
    proxy.mend()
    const patient = async () => {
      for (;;) {
        const verdicts = await sieve.addMany(urlsOf(0, 500)).catch(() => null)
        if (verdicts) return verdicts
      }
    }
    expect(await patient()).toEqual(Uint8Array.of(...all(10, 0), ...all(490, 1)))
    await sieve.confirm()
    expect(sieve.unconfirmed()).toBe(0)
    expect(await sieve.addMany(urlsOf(0, 500))).toEqual(all(500, 0))
    await sieve.close()
  })
})

describe.skipIf(whyNoRedis)('a job whose process is killed', () => {
  const server = connected(startOne)
  const built = builtLibrary()

  it('gives again what it had not delivered, and nothing that it had confirmed long before', async () => {
    const [count, batch] = [20_000, 100]
    const delivered = new Uint8Array(count)
    for (let kills = 0; ; kills++) {
      const end = kills < 4 ? 3000 + 2500 * kills : count
      const lines = await deliver(end, batch)
      for (const n of lines) delivered[n]!++
      if (end === count) break
    }
    expect(countOf(delivered, 0)).toBe(0)
    // A kill costs the batches between delivery and confirmation.
    expect(delivered.reduce((sum, times) => sum + times, 0)).toBeLessThanOrEqual(count + 4 * 3 * batch)

    /** Lines of a process that is killed when it has delivered up to `end`, or ends by itself. */
    function deliver(until: number, size: number): Promise<number[]> {
      const args = [built, server.url, 'work', count, size].map(String)
      const child = spawn(process.execPath, [`${root}test/redis/deliverer.mjs`, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let out = ''
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk
        if (until < count && Number(out.slice(0, out.lastIndexOf('\n')).split('\n').at(-1)) >= until)
          child.kill('SIGKILL')
      })
      return new Promise((resolve, reject) => {
        child.on('error', reject)
        child.on('close', () => resolve(out.split('\n').slice(0, -1).map(Number)))
      })
    }
  })
})

describe.skipIf(whyNoRedis)('without a job', () => {
  const server = connected(startOne)
  it('what is for jobs is refused', async () => {
    const { client } = server.connection
    const sieve = await RedisSieve.open({ client, name: 'none' })
    const needs = 'needs job: expected the name of a job, given when the sieve is opened'
    expect(() => sieve.ticket()).toThrow(`ticket ${needs}`)
    expect(() => sieve.unconfirmed()).toThrow(`unconfirmed ${needs}`)
    await sieve.confirm()
    await expect(sieve.confirm(1)).rejects.toThrow(`confirm ${needs}`)
    await expect(RedisSieve.open({ client, name: 'none', job: 'a b' })).rejects.toThrow(
      'job "a b": expected up to',
    )
    await expect(RedisSieve.open({ client, name: 'none', job: 'a', leaseMs: 1 })).rejects.toThrow('leaseMs 1')
  })
})
