// `urlsieve serve --redis` while Redis is away: not ready, figures still answer, calls fail within --redis-retry, and the
// log has one line when it goes and one when it is back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Line, startProxy } from '../redis/proxy.ts'
import { type RedisNode, startNode, until, whyNoRedis } from '../redis/servers.ts'
import { type Process, started } from './process.ts'

const RETRY_SECONDS = 4

describe.skipIf(whyNoRedis)(`a server without its Redis ${whyNoRedis}`, () => {
  let node: RedisNode
  let line: Line
  let server: Process
  const name = 'crawl'
  beforeAll(async () => {
    node = await startNode()
    line = await startProxy(node.port)
    server = await started([
      '--redis',
      `redis://127.0.0.1:${line.port}`,
      '--redis-retry',
      `${RETRY_SECONDS}s`,
    ])
  })
  afterAll(async () => {
    node?.process.kill('SIGCONT')
    await line?.stop()
    server?.child.kill('SIGKILL')
    await node?.kill()
  })

  const http = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${server.httpPort}${path}`, { signal: AbortSignal.timeout(20_000), ...init })
  const put = (urls: string[]) =>
    http(`/v1/sieves/${name}/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ urls }),
    })
  const timed = async <T>(promise: Promise<T>): Promise<{ value: T; ms: number }> => {
    const start = performance.now()
    return { value: await promise, ms: performance.now() - start }
  }
  const logged = (event: string) =>
    server
      .output()
      .split('\n')
      .filter((one) => one.includes(`"event":"${event}"`))
      .map((one) => JSON.parse(one) as Record<string, unknown>)

  const troubles = {
    paused: { go: () => node.process.kill('SIGSTOP'), back: () => node.process.kill('SIGCONT') },
    ...(process.env.URLSIEVE_FULL && { gone: { go: () => line.cut(), back: () => line.mend() } }),
  }

  it('serves what can be read, and sets aside what cannot', async () => {
    expect((await http(`/v1/sieves/${name}`, { method: 'PUT' })).status).toBe(201)
    await node.ask('SET', 'urlsieve:odd', '{')
    await node.ask('SADD', 'urlsieve', 'odd')
    await until('it is set aside', async () => (await (await http('/readyz')).text()).includes('set-aside'))
    const response = await http('/v1/sieves/odd')
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(await response.text()).toMatch(/set aside: sieve 'odd' is damaged/)
    expect((await http('/readyz')).status).toBe(200)
    await node.ask('SREM', 'urlsieve', 'odd')
    await until('it is forgotten', async () => (await (await http('/readyz')).text()) === 'ready\n')
  })

  it.each(Object.entries(troubles))('Redis is %s, and comes back', async (what, { go, back }) => {
    const before = logged('fault').filter(({ kind }) => kind === 'redis').length
    const url = (i: number) => `https://${what}.example/${i}`
    expect(await (await put([url(1), url(2)])).json()).toMatchObject({ verdicts: ['new', 'new'] })
    const { urls } = ((await (await http(`/v1/sieves/${name}`)).json()) as { stats: { urls: number } }).stats
    go()
    const adding = timed(put([url(3)]))
    // Whoever looks is answered, with the figures of the last look.
    for (const path of ['/metrics', '/v1/sieves', '/v1/server']) {
      const { value, ms } = await timed(http(path))
      expect(value.status).toBe(200)
      expect(ms).toBeLessThan(10_000)
    }
    const failed = await adding
    expect(failed.value.status).toBe(503)
    expect(await failed.value.json()).toMatchObject({ code: 'network' })
    expect(failed.ms).toBeLessThan(1000 * RETRY_SECONDS + 5000)

    await until('it is not ready', async () => (await http('/readyz')).status === 503, 20_000)
    const stats = async () => (await (await http(`/v1/sieves/${name}`)).json()) as { stats: { urls: number } }
    expect((await timed(stats())).value.stats.urls).toBe(urls)
    expect(await (await http('/metrics')).text()).toMatch(/urlsieve_faults\{kind="redis"\} 1/)
    // Calls in a row do not wait for it one after the other.
    const client = await server.connect()
    const pipeline = await timed(
      Promise.all(Array.from({ length: 20 }, (_, i) => client.ask('SIEVE.ADD', name, url(10 + i)))),
    )
    expect(pipeline.ms).toBeLessThan(10_000)
    for (const answer of pipeline.value) expect(String(answer)).toMatch(/^!.*Redis does not answer/)
    client.close()

    back()
    await until('it is ready', async () => (await http('/readyz')).status === 200, 20_000)
    expect(await (await put([url(1), url(40)])).json()).toMatchObject({ verdicts: ['seen', 'new'] })
    const faults = logged('fault').filter(({ kind }) => kind === 'redis')
    // A second outage within a minute is shown, but not logged.
    if (before === 0) {
      expect(faults).toHaveLength(1)
      expect(faults[0]).toMatchObject({ level: 'error' })
      expect(faults[0]!.message).toMatch(
        /^Redis does not answer, for [45] s.*; expected it at 127\.0\.0\.1:\d+$/,
      )
      expect(logged('fault over').filter(({ kind }) => kind === 'redis')).toHaveLength(1)
    }
  })

  it('/metrics counts the calls to Redis, those that failed, and URLs without a verdict', async () => {
    const counts = async () => {
      const text = await (await http('/metrics')).text()
      return Object.fromEntries(
        [...text.matchAll(/^urlsieve_redis_(\w+) (\S+)$/gm)].map(([, metric, value]) => [
          metric!,
          Number(value),
        ]),
      )
    }
    // The calls of the last test may still be waiting for their end.
    await until('they are counted', async () => (await counts()).unknown_total! > 0)
    const { failed_calls_total: failed, call_seconds_count: all } = await counts()
    expect(failed).toBeGreaterThan(0)
    expect(all).toBeGreaterThan(failed!)
  })

  it('--redis-wait-replicas: without a replica nothing is called done, and the error says so', async () => {
    const careful = await started([
      '--redis',
      `redis://127.0.0.1:${node.port}`,
      '--redis-retry',
      '2s',
      '--redis-wait-replicas',
      '1',
    ])
    try {
      const client = await careful.connect()
      expect(String(await client.ask('SIEVE.ADD', name, 'https://careful.example/'))).toMatch(/^!.*replica/)
      client.close()
    } finally {
      careful.child.kill('SIGTERM')
      await careful.ended()
    }
  })

  it('stops when it is told to, though Redis is away', async () => {
    line.cut()
    await until('it is not ready', async () => (await http('/readyz')).status === 503, 20_000)
    server.child.kill('SIGTERM')
    expect((await timed(server.ended())).value).toBe(0)
  })
})
