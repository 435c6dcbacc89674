// Shapes of recent URLs: found, bounded in sieves, URLs and time; replaced as time passes; over HTTP only when they are on.
import { afterAll, expect, test } from 'vitest'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { serverInfo } from '../../src/server/info.ts'
import { LocalRegistry } from '../../src/server/local-registry.ts'
import { RecentShapes } from '../../src/server/recent-shapes.ts'

const MINUTE = 60_000
const BEGIN = Date.UTC(2026, 0, 1)

function itemsOf(urls: readonly string[]) {
  const parts = urls.map((url) => Buffer.from(url))
  const ends = Uint32Array.from(
    parts,
    (
      (end) => (part: Buffer) =>
        (end += part.length)
    )(0),
  )
  return {
    bytes: new Uint8Array(Buffer.concat(parts)),
    starts: Uint32Array.from(ends, (end, i) => end - parts[i]!.length),
    ends,
  }
}

const pages = (host: string, count: number) =>
  Array.from({ length: count }, (_, i) => `https://${host}/post/${i}?page=${i % 7}`)

test('a sample of a long list is spread over all of it, and a second takes at most a thousand', () => {
  const shapes = new RecentShapes()
  const sieve = {}
  shapes.take(sieve, itemsOf([...pages('a.example', 500), ...pages('b.example', 500)]), BEGIN)
  const { urls, list } = shapes.report(sieve)!
  expect(urls).toBe(20)
  expect(list.map(({ host, count }) => [host, count]).sort()).toEqual([
    ['a.example', 10],
    ['b.example', 10],
  ])
  expect(list[0]!.shapes[0]!.shape).toBe('/post/{number}?page={number}')
  for (let i = 0; i < 200; i++) shapes.take(sieve, itemsOf(pages('c.example', 20)), BEGIN + 500)
  expect(shapes.report(sieve)!.urls).toBe(1000)
  shapes.take(sieve, itemsOf(pages('c.example', 20)), BEGIN + 1000)
  expect(shapes.report(sieve)!.urls).toBe(1020)
})

test('what is older than ten minutes is no longer there', () => {
  const shapes = new RecentShapes()
  const sieve = {}
  const hosts = () => shapes.report(sieve)!.list.map(({ host }) => host)
  for (let minute = 0; minute < 22; minute++) {
    shapes.take(sieve, itemsOf(pages(`m${minute}.example`, 3)), BEGIN + minute * MINUTE)
  }
  expect(hosts().sort()).toEqual(['m15', 'm16', 'm17', 'm18', 'm19', 'm20', 'm21'].map((m) => `${m}.example`))
  expect(shapes.report(sieve)!.since).toEqual(new Date(BEGIN + 15 * MINUTE))
})

test('at most 32 sieves; one without adds for a minute gives its place up', () => {
  const shapes = new RecentShapes()
  const sieves = Array.from({ length: 40 }, () => ({}))
  for (const sieve of sieves) shapes.take(sieve, itemsOf(['https://a.example/']), BEGIN)
  const known = () => sieves.map((sieve) => shapes.report(sieve) !== null)
  expect(known().filter(Boolean).length).toBe(32)
  for (const sieve of sieves.slice(1, 32)) shapes.take(sieve, itemsOf(['https://a.example/']), BEGIN + MINUTE)
  shapes.take(sieves[39]!, itemsOf(['https://a.example/']), BEGIN + MINUTE)
  expect([known()[0], known()[1], known()[39]]).toEqual([false, true, true])
  const [odd] = [{}]
  shapes.take(odd, itemsOf([]), BEGIN)
  expect(shapes.report(odd)).toBeNull()
})

test('over HTTP: on with the option, refused without; a sieve without URLs has none', async () => {
  for (const isOn of [true, false]) {
    const shapes = isOn ? { shapes: new RecentShapes() } : {}
    const registry = await LocalRegistry.open({ memoryBytes: 2 ** 28, mostSieves: 3, ...shapes })
    const options = { host: '127.0.0.1', port: 0, limits: HTTP_LIMITS, server: serverInfo('1') }
    const { app, close } = await makeApp(registry, options)
    afterAll(close)
    await registry.create('a', {})
    const get = async () => {
      const answer = await app.inject('/v1/sieves/a/shapes')
      return { status: answer.statusCode, body: answer.json() }
    }
    expect((await app.inject('/v1/server')).json().hasShapes).toBe(isOn || undefined)
    if (!isOn) {
      expect(await get()).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/--shapes/) } })
      continue
    }
    expect(await get()).toEqual({ status: 200, body: { urls: 0, invalid: 0, list: [] } })
    const urls = [...pages('a.example', 10), 'not a URL']
    await app.inject({ method: 'POST', url: '/v1/sieves/a/add', payload: { urls } })
    const { body } = await get()
    expect(body).toMatchObject({ urls: 10, invalid: 1 })
    expect(body.list[0]).toMatchObject({ host: 'a.example', count: 10, share: 1 })
    expect(body.list[0].shapes[0]).toMatchObject({ shape: '/post/{number}?page={number}', count: 10 })
    expect(body.list[0].shapes[0].examples[0]).toBe(urls[0])
    await registry.close()
  }
})
