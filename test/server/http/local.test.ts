// The HTTP side over the real registry: durable, limited in memory, shared by many writers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { HTTP_LIMITS, openHttp } from '../../../src/server/http/index.ts'
import { serverInfo } from '../../../src/server/info.ts'
import { LocalRegistry } from '../../../src/server/local-registry.ts'
import { defects, dial } from './served.ts'

const data = mkdtempSync(join(tmpdir(), 'urlsieve-http-'))
afterEach(() => expect(defects).toEqual([]))

async function serve() {
  const registry = await LocalRegistry.open({ data, memoryBytes: 64 * 1024 ** 2, mostSieves: 3 })
  const options = { host: '127.0.0.1', port: 0, limits: HTTP_LIMITS, server: serverInfo('0') }
  const { port, close } = await openHttp(registry, { ...options, onDefect: (error) => defects.push(error) })
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    return {
      status: response.status,
      json: text && (response.headers.get('content-type') ?? '').includes('json') ? JSON.parse(text) : text,
    }
  }
  let isOpen = true
  const stop = async () => {
    if (!isOpen) return
    isOpen = false
    await close()
    await registry.close()
  }
  afterAll(stop)
  return { port, ask, stop, registry }
}

afterAll(() => rmSync(data, { recursive: true, force: true }))

test('what was added is there after a restart; limits of the registry are 507', async () => {
  const first = await serve()
  expect((await first.ask('PUT', '/v1/sieves/crawl', {})).status).toBe(201)
  expect((await first.ask('PUT', '/v1/sieves/crawl', {})).status).toBe(200)
  expect((await first.ask('PUT', '/v1/sieves/crawl', { profile: 'raw' })).status).toBe(409)
  expect(
    (await first.ask('POST', '/v1/sieves/crawl/add', { urls: ['https://a/1', 'https://a/2'] })).json.new,
  ).toBe(2)
  expect((await first.ask('POST', '/v1/sieves/crawl/save')).json.stats.store).toMatchObject({
    logBytes: 0,
    snapshotting: false,
  })
  await first.ask('POST', '/v1/sieves/crawl/add', { urls: ['https://a/3'] })
  const figures = (await first.ask('GET', '/metrics')).json as string
  expect(figures).toMatch(/^urlsieve_log_bytes\{sieve="crawl"\} [1-9]/m)
  expect(figures).toMatch(/^urlsieve_snapshot_bytes\{sieve="crawl"\} [1-9]/m)
  const large = await first.ask('PUT', '/v1/sieves/large', {
    filter: 'classic',
    expectedUrls: 1e9,
    falsePositiveRate: 1e-6,
  })
  expect([large.status, large.json.detail]).toEqual([
    507,
    expect.stringMatching(/no memory to create this sieve/),
  ])
  for (const name of ['b', 'c']) await first.ask('PUT', `/v1/sieves/${name}`, {})
  expect((await first.ask('PUT', '/v1/sieves/d', {})).status).toBe(507)
  await first.stop()

  const second = await serve()
  const asked = await second.ask('POST', '/v1/sieves/crawl/has', {
    urls: ['https://a/1', 'https://a/3', 'https://a/4'],
  })
  expect(asked.json.verdicts).toEqual(['seen', 'seen', 'new'])
  const line = await dial(second.port)
  line.send('GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await line.until(/data: \{.*"name":"crawl",.*"asks":3,.*"diskBytes":[1-9]\d*,"isSnapshotting":false/)
  const { storage, limitBytes } = (await second.ask('GET', '/v1/server')).json
  expect(storage).toMatchObject({ kind: 'folder', place: data, totalBytes: expect.any(Number) })
  expect(storage.freeBytes).toBeLessThanOrEqual(storage.totalBytes)
  expect(limitBytes).toBe(64 * 1024 ** 2)
  expect(await new LocalRegistry({ memoryBytes: 1, mostSieves: 1 }).storage()).toEqual({ kind: 'memory' })
  line.socket.destroy()
  for (const name of ['crawl', 'b', 'c'])
    expect((await second.ask('DELETE', `/v1/sieves/${name}`)).status).toBe(204)
  await second.stop()
})

test('a filter that is full on the way: the first verdicts stand and are told', async () => {
  const { ask, port, stop, registry } = await serve()
  const bloom = { capacity: 2, errorRate: 1e-7, expansion: 0 }
  for (const name of ['full', 'lines']) await registry.create(name, {}, bloom)
  const refused = await ask('POST', '/v1/sieves/full/add', { urls: ['a', 'a', 'b', 'c', 'd'] })
  expect(refused).toMatchObject({
    status: 507,
    json: { detail: 'non scaling filter is full', verdicts: ['new', 'seen', 'new'] },
  })
  expect((await ask('GET', '/v1/sieves/full')).json.meters).toEqual({ adds: 3, fresh: 2, seen: 1, asks: 0 })
  const line = await dial(port)
  line.send(
    'POST /v1/sieves/lines/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nAccept: application/x-ndjson\r\nContent-Length: 8\r\n\r\na\na\nb\nc\n',
  )
  const text = await line.ended
  expect(text).toMatch(/^HTTP\/1.1 200 /)
  expect(text.match(/"verdict":"\w+"/g)).toEqual(['"verdict":"new"', '"verdict":"seen"', '"verdict":"new"'])
  expect(text).toMatch(/"detail":"non scaling filter is full"[^\n]*\n\r\n$/)
  for (const name of ['full', 'lines']) await registry.drop(name)
  await stop()
})

test('50 writers of overlapping URLs, lists and lines: each URL is new exactly once', async () => {
  const { ask, port, stop } = await serve()
  await ask('PUT', '/v1/sieves/shared', { profile: 'raw' })
  const found = new Map<string, number>()
  const count = (url: string) => found.set(url, 1 + (found.get(url) ?? 0))
  const writer = async (w: number) => {
    for (let round = 0; round < 8; round++) {
      const urls = Array.from(
        { length: 200 },
        (_, i) => `https://example.com/${(w * 37 + round * 100 + i) % 3000}`,
      )
      if (w % 2 === 0) {
        const { verdicts } = (await ask('POST', '/v1/sieves/shared/add', { urls })).json
        for (const [i, url] of urls.entries()) if (verdicts[i] === 'new') count(url)
        continue
      }
      const headers = { 'content-type': 'text/plain' }
      const address = `http://127.0.0.1:${port}/v1/sieves/shared/add`
      const text = await (await fetch(address, { method: 'POST', headers, body: urls.join('\n') })).text()
      for (const url of text.split('\n').slice(0, -1)) count(url)
    }
  }
  await Promise.all(Array.from({ length: 50 }, (_, w) => writer(w)))
  expect([...found.values()].every((times) => times === 1)).toBe(true)
  const { stats, meters } = (await ask('GET', '/v1/sieves/shared')).json
  expect([found.size, stats.urls, meters]).toEqual([
    stats.urls,
    meters.fresh,
    { adds: 50 * 8 * 200, fresh: found.size, seen: 50 * 8 * 200 - found.size, asks: 0 },
  ])
  expect(found.size).toBeGreaterThan(2000)
  await stop()
})
