// Limits by shape on a server's sieves: options over RESP and HTTP, drops by reason in stats, metrics and explain, and a
// sieve that is opened again with its limits.
import { describe, expect, it } from 'vitest'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { serverInfo } from '../../src/server/info.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { Metrics } from '../../src/server/metrics.ts'
import { folder, fresh, pair } from './serving.ts'

const { server, two, three } = await pair()
const posts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `http://a.example/post/${from + i}`)
const sum = (answer: unknown) => (answer as number[]).reduce((all, one) => all + one, 0)

describe('SIEVE.CREATE', () => {
  it('keeps a sample of each shape; a drop is answered "seen", counted and explained', async () => {
    const s = fresh()
    expect(await two.ask('SIEVE.CREATE', s, 'KEEPPERSHAPE', '10', 'ASSETS', 'skip')).toBe('OK')
    expect(sum(await two.ask('SIEVE.ADD', s, ...posts(0, 30)))).toBe(10)
    expect(await two.ask('SIEVE.ADD', s, 'http://a.example/x.png', 'http://a.example/about')).toEqual([0, 1])
    const stats = (await three.ask('SIEVE.STATS', s)) as Map<string, unknown>
    const dropped = stats.get('dropped') as Map<string, number>
    expect([dropped.get('keepPerShape'), dropped.get('assets'), dropped.get('maxShare')]).toEqual([20, 1, 0])
    const explained = (await three.ask('SIEVE.EXPLAIN', s, 'http://a.example/post/99')) as Map<
      string,
      unknown
    >
    expect(explained.get('verdict')).toBe('seen')
    expect(explained.get('drop')).toEqual(
      new Map([
        ['limit', 'keepPerShape'],
        ['reason', 'its shape has 10 URLs, of 10 to keep'],
        ['shape', 'a.example/post/{number}'],
      ]),
    )
    const metrics = new Metrics(server.registry, serverInfo('0'), () => 0)
    expect(String(await metrics.text())).toContain(
      `urlsieve_dropped_total{sieve="${s}",limit="keepPerShape"} 20`,
    )
    metrics.close()
  })

  it.each([
    [['KEEPPERTRAP', '10'], /KEEPPERTRAP 10: expected a whole number of at least 50/],
    [['MAXSHARE', '2'], /MAXSHARE '2'|MAXSHARE 2/],
    [['QUERYNAMES', 'no'], /QUERYNAMES 'no': expected yes/],
    [['ASSETS', 'keep'], /ASSETS .?keep.?: expected one of skip/],
  ])('refuses %j', async (words, message) => {
    const s = fresh()
    expect(await two.ask('SIEVE.CREATE', s, ...words)).toMatch(message)
    expect(await two.ask('SIEVE.ADD', s, 'http://a.example/')).toMatch(/there is no sieve/)
  })

  it('a sieve without limits has none of it', async () => {
    const s = fresh()
    await two.ask('SIEVE.CREATE', s)
    expect(sum(await two.ask('SIEVE.ADD', s, ...posts(0, 100)))).toBe(100)
    expect(((await three.ask('SIEVE.STATS', s)) as Map<string, unknown>).has('dropped')).toBe(false)
  })

  it('their memory counts', async () => {
    const small = await LocalRegistry.open({ memoryBytes: 12 * 1024 ** 2, mostSieves: 10 })
    await expect(small.create('a', { keepPerShape: 10 })).rejects.toThrow(/no memory to create this sieve/)
    await small.create('b', {})
    await small.close()
  })
})

it('a stored sieve has its limits after a restart; their counts begin again', async () => {
  const options = { data: folder(), memoryBytes: 256 * 1024 ** 2, mostSieves: 10 }
  const items = (urls: readonly string[]) => {
    const bytes = new TextEncoder().encode(urls.join(''))
    const starts = new Uint32Array(urls.length)
    const ends = new Uint32Array(urls.length)
    let at = 0
    for (const [i, { length }] of urls.entries()) {
      starts[i] = at
      at += length
      ends[i] = at
    }
    return { bytes, starts, ends }
  }
  const count = async (registry: LocalRegistry, urls: readonly string[]) =>
    (await registry.get('limited')!.add(items(urls))).reduce((all, one) => all + one, 0)
  const before = await LocalRegistry.open(options)
  await before.create('limited', { keepPerShape: 10, queryNames: true })
  expect(await count(before, posts(0, 30))).toBe(10)
  await before.close()
  const after = await LocalRegistry.open(options)
  // What was dropped stays marked.
  expect(await count(after, posts(0, 30))).toBe(0)
  expect(await count(after, posts(30, 60))).toBe(10)
  expect((await after.get('limited')!.stats()).dropped).toMatchObject({ keepPerShape: 20 })
  await after.close()
})

it('over HTTP: created with limits, described, and other limits are a conflict', async () => {
  const { app, close } = await makeApp(server.registry, {
    ...{ host: '127.0.0.1', port: 0, server: serverInfo('0'), limits: HTTP_LIMITS },
    onDefect: (error) => expect.unreachable(String(error)),
  })
  const put = (payload: object) => app.inject({ method: 'PUT', url: '/v1/sieves/limited', payload })
  const limits = { keepPerShape: 2, queryNames: true }
  expect((await put(limits)).statusCode).toBe(201)
  expect((await put(limits)).json()).toMatchObject({ limits, stats: { dropped: { keepPerShape: 0 } } })
  expect((await put({ keepPerShape: 3 })).statusCode).toBe(409)
  expect((await put({ keepPerTrap: 3 })).statusCode).toBe(400)
  await app.inject({ method: 'POST', url: '/v1/sieves/limited/add', payload: { urls: posts(0, 9) } })
  const url = `/v1/sieves/limited/explain?url=${encodeURIComponent(posts(9, 10)[0]!)}`
  expect((await app.inject({ method: 'GET', url })).json()).toMatchObject({
    verdict: 'seen',
    drop: { limit: 'keepPerShape', shape: 'a.example/post/{number}' },
  })
  await close()
})
