// The sieve on BF.* commands, against `urlsieve serve` in both dialects: verdicts, the rate that was asked for, other clients
// of the same filter, and what is reported when an answer is lost.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptClient, scriptClient } from '../../src/redis/client.ts'
import {
  BloomRedisSieve,
  type Connection,
  connectRedis,
  type RedisSieveError,
} from '../../src/redis/index.ts'
import type { ServerInfo } from '../../src/server/info.ts'
import { served } from '../server/serving.ts'
import { type Line, startProxy } from './proxy.ts'
import { sleep, startNode, until, whyNoRedis } from './servers.ts'
import { all, countOf, exactVerdicts, repeating, urlOf, urlsOf } from './urls.ts'

describe.each(['redis', 'valkey'] as const)('urlsieve serve --dialect %s', (dialect) => {
  let connection: Connection
  let proxied: Connection
  let proxy: Line
  let info: ServerInfo
  beforeAll(async () => {
    const server = await served({ dialect })
    const { listener } = server
    info = server.info
    connection = await connectRedis(`redis://127.0.0.1:${listener.port}`)
    proxy = await startProxy(listener.port)
    proxied = await connectRedis(`redis://127.0.0.1:${proxy.port}`)
  })
  afterAll(async () => {
    await connection?.close()
    await proxied?.close()
    await proxy?.stop()
  })
  const open = (name: string, options: object = {}) =>
    BloomRedisSieve.open({
      client: connection.client,
      name,
      expectedUrls: 20_000,
      falsePositiveRate: 1e-6,
      ...options,
    })

  it.each([1, 4])('verdicts as of a set, over %i filters', async (tags) => {
    const sieve = await open(`set-${tags}`, { tags })
    const urls = repeating(6000, 3000, 4)
    const seen = new Set<string>()
    expect(await sieve.addMany(urls)).toEqual(exactVerdicts(urls, seen))
    expect(await sieve.hasMany([...seen])).toEqual(all(seen.size, 1))
    expect(await sieve.add(`${urlOf(9000).replace('https:', 'http:')}#top`)).toBe(true)
    expect(await sieve.has(urlOf(9000))).toBe(true)
    expect(await sieve.count()).toBe(seen.size + 1)
    await sieve.drop()
    expect(await sieve.count()).toBe(0)
  })

  it('has the rate that was asked for, past its capacity too', async () => {
    const rate = 0.01
    const sieve = await open('rate', { expectedUrls: 2000, falsePositiveRate: rate })
    await sieve.addMany(urlsOf(0, 6000))
    const probes = 10_000
    const wrong = countOf(await sieve.hasMany(urlsOf(100_000, 100_000 + probes)), 1)
    // The promise is an upper bound; five standard deviations above it.
    expect(wrong).toBeLessThan(probes * rate + 5 * Math.sqrt(probes * rate))
    expect(await sieve.hasMany(urlsOf(0, 6000))).toEqual(all(6000, 1))
  })

  /** Adds 500 URLs, of which 100 were marked before; the answer to their first attempt is lost. */
  async function addWithLoss(sieve: BloomRedisSieve, name: string, whileLost = () => {}) {
    const witness = await open(name)
    await sieve.addMany(urlsOf(0, 100))
    proxy.loseAnswers()
    const adding = sieve.addMany(urlsOf(0, 500)).catch((error: RedisSieveError) => error)
    await until('all are marked', async () => (await witness.count()) === 500)
    whileLost()
    proxy.cut()
    await sleep(50)
    proxy.mend()
    return adding
  }
  const patient = () => ({ client: proxied.client, timeoutMs: 300 })
  const unsure =
    'an answer of Redis was lost, and BF.INSERT repeated: of 500 URLs it is unknown whether they were new'

  it('an answer that was lost is given again', async () => {
    const sieve = await open('lost', patient())
    expect(await addWithLoss(sieve, 'lost')).toEqual(Uint8Array.of(...all(100, 0), ...all(400, 1)))
    expect(sieve.metrics.counts().unknown).toBe(0)
    expect(await sieve.addMany(urlsOf(400, 600))).toEqual(Uint8Array.of(...all(100, 0), ...all(100, 1)))
  })

  it('and a restart in between: what was new is "new" or unknown, never "seen"', async () => {
    const sieve = await open('restarted', patient())
    const restart = () => Object.assign(info, { runId: '0'.repeat(40) })
    const error = (await addWithLoss(sieve, 'restarted', restart)) as RedisSieveError
    expect([error.message, error.verdicts]).toEqual([unsure, all(500, 2)])
    // It has a name again.
    expect(await sieve.addMany(urlsOf(400, 600))).toEqual(Uint8Array.of(...all(100, 0), ...all(100, 1)))
  })

  it('so it is on a server without SIEVE.CALL', async () => {
    const line = scriptClient(proxied.client)
    const client: ScriptClient = {
      ...line,
      send: (key, command, ...rest) =>
        String(command[0]).startsWith('SIEVE.')
          ? Promise.reject(new Error("ERR unknown command 'SIEVE.CALLER'"))
          : line.send(key, command, ...rest),
    }
    const sieve = await open('bare', { ...patient(), client })
    const error = (await addWithLoss(sieve, 'bare')) as RedisSieveError
    expect([error.message, error.verdicts]).toEqual([unsure, all(500, 2)])
    expect(sieve.metrics.counts().unknown).toBe(500)
    expect(await sieve.addMany(urlsOf(400, 600))).toEqual(Uint8Array.of(...all(100, 0), ...all(100, 1)))
  })
})

it('options that are missing or invalid, before anything is sent', async () => {
  const client = { isCluster: false, send: async () => 0 }
  const good = { client, name: 'x', expectedUrls: 10, falsePositiveRate: 0.1 }
  const { expectedUrls: _, ...without } = good
  await expect(BloomRedisSieve.open(without as typeof good)).rejects.toThrow(
    /^expectedUrls is missing: expected/,
  )
  await expect(BloomRedisSieve.open({ ...good, tags: 3 })).rejects.toThrow(/^tags 3: expected a power of two/)
  await expect(BloomRedisSieve.open({ ...good, falsePositiveRate: 2 })).rejects.toThrow(
    /^falsePositiveRate 2: expected/,
  )
})

it.skipIf(whyNoRedis)('a server without BF.*', async () => {
  const node = await startNode()
  const { client, close } = await connectRedis(node.url)
  try {
    await expect(
      BloomRedisSieve.open({ client, name: 'x', expectedUrls: 10, falsePositiveRate: 0.1 }),
    ).rejects.toThrow(
      /^this server has no BF\.\* commands: expected RedisBloom, valkey-bloom or urlsieve serve/,
    )
  } finally {
    await close()
    await node.kill()
  }
})
