// After a refused call everything is as if it had not been made, over RESP and HTTP; where a call of many items fails on
// the way, its answer says which of them stand. And one who holds a sieve that was dropped gets no more answers from it.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SieveError } from '../../src/errors.ts'
import { makeApp } from '../../src/server/http/app.ts'
import { HTTP_LIMITS } from '../../src/server/http/index.ts'
import { atEnd } from './ends.ts'
import type { Raw } from './raw.ts'
import { encoded, plain } from './raw.ts'
import { folder, fresh, type Served, type Setting, served } from './serving.ts'

const URLS = Array.from({ length: 50 }, (_, i) => `https://example.com/${i}`)

async function both(setting: Setting = {}) {
  const server = await served(setting)
  const { app, close } = await makeApp(server.registry, {
    host: '127.0.0.1',
    port: 0,
    server: server.info,
    limits: { ...HTTP_LIMITS, urlBytes: 1000, urlsPerRequest: 100, jsonBytes: 20_000 },
  })
  atEnd(close)
  return { server, app, client: await server.connect() }
}

/** Every sieve by name, with all it counts and what it answers. */
async function stateOf({ registry }: Served, client: Raw): Promise<unknown> {
  const state: unknown[] = []
  for (const served of [...registry.list()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { urls, seen, invalid } = await served.stats()
    const has = await client.ask('SIEVE.HAS', served.name, ...URLS, 'https://example.com/never')
    state.push([served.name, served.kind, urls, seen, invalid, { ...served.meters, asks: 0 }, has])
  }
  return state
}

describe('a refused call changes nothing', async () => {
  const { server, app, client } = await both({ registry: { memoryBytes: 40 * 1024 ** 2, mostSieves: 4 } })
  await client.ask('SIEVE.CREATE', 's')
  await client.ask('SIEVE.ADD', 's', ...URLS)
  await client.ask('BF.RESERVE', 'b', '0.001', '1000')
  await client.ask('BF.MADD', 'b', ...URLS)

  const never = 'https://example.com/never'
  it.each(
    [
      ['BF.RESERVE', 'n', '0', '100'],
      ['BF.RESERVE', 'n', '0.01', '0'],
      ['BF.RESERVE', 'n', '0.01', '100', 'EXPANSION', 'x'],
      ['BF.RESERVE', 'n', '1e-9', '1000000000'],
      ['BF.RESERVE', 'b', '0.01', '100'],
      ['BF.RESERVE', 's', '0.01', '100'],
      ['BF.INSERT', 'n', 'CAPACITY', '0', 'ITEMS', never],
      ['BF.INSERT', 'n', 'CAPACITY', '1000000000', 'ERROR', '1e-9', 'ITEMS', never],
      ['BF.INSERT', 'n', 'ERROR', '2', 'ITEMS', never],
      ['BF.INSERT', 'n', 'NOCREATE', 'ITEMS', never],
      ['BF.INSERT', 'b', 'WRONG', 'ITEMS', never],
      ['BF.INSERT', 'b', 'CAPACITY', '-1', 'ITEMS', never],
      ['BF.INSERT', 'b', 'ITEMS'],
      ['BF.INSERT', 's', 'ITEMS', never],
      ['BF.MADD', 's', never],
      ['BF.ADD', 'b', never, 'x'],
      ['BF.MADD', 'b'],
      ['BF.ADD', 'x'.repeat(300), never],
      ['SIEVE.ADD', 'n', never],
      ['SIEVE.ADD', 's'],
      ['SIEVE.CREATE', 's'],
      ['SIEVE.CREATE', 'n', 'FILTER', 'nope'],
      ['SIEVE.CREATE', 'n', 'URLS', '10', 'WRONG', '1'],
      ['SIEVE.CREATE', 'n', 'MEMORY', '1G'],
      ['SIEVE.CREATE', '', 'URLS', '10'],
      ['SIEVE.FORGET', 's', URLS[0]!, '\xff\xfe'],
      ['SIEVE.FORGET', 'b', URLS[0]!],
      ['SIEVE.UNDER', 's', 'example.com/'],
      ['BF.LOADCHUNK', 'n', '1', 'no dump'],
      ['BF.LOADCHUNK', 'n', '5', 'no dump'],
      ['BF.LOADCHUNK', 'b', '1', 'no dump'],
      ['BF.SCANDUMP', 'b', '7'],
    ].map((words) => [words.join(' ').slice(0, 60), words] as const),
  )('%s', async (_, words) => {
    const before = await stateOf(server, client)
    const bytes = words.map((word) => (/[\x80-\xff]/.test(word) ? Buffer.from(word, 'latin1') : word))
    expect(await client.ask(...bytes)).toMatch(/^!/)
    expect(await stateOf(server, client)).toEqual(before)
  })

  const long = `https://example.com/${'x'.repeat(2000)}`
  const json = (body: unknown) => ({
    type: 'application/json',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const lines = (...urls: string[]) => ({ type: 'text/plain', body: `${urls.join('\n')}\n` })
  it.each([
    ['PUT', 'n', json({ filter: 'nope' })],
    ['PUT', 'n', json({ expectedUrls: 0 })],
    ['PUT', 'n', json({ sizeBytes: 2 ** 40 })],
    ['PUT', 'n', json({ wrong: 1 })],
    ['PUT', 's', json({ filter: 'classic', expectedUrls: 10, falsePositiveRate: 0.1 })],
    ['POST', 's/add', json('{"urls":["https://example.com/never"')],
    ['POST', 's/add', json({ urls: [never, 5] })],
    ['POST', 's/add', json({ urls: [never], wrong: 1 })],
    ['POST', 's/add', json({ urls: [never, long] })],
    ['POST', 's/add', json({ urls: [never, '\ud800'] })],
    ['POST', 's/add', json({ urls: Array.from({ length: 101 }, (_, i) => `${never}${i}`) })],
    ['POST', 's/add', json({ urls: [never, 'x'.repeat(30_000)] })],
    ['POST', 's/add?keep=wrong', lines(never)],
    ['POST', 's/add', { ...lines(never), accept: 'image/png' }],
    ['POST', 's/add', { ...lines(never), encoding: 'gzip' }],
    ['POST', 's/add', lines(never, long)],
    ['POST', 's/add', { type: 'text/plain', body: `${never}\n${long}` }],
    ['POST', 's/add', { type: 'text/csv', body: never }],
    ['POST', 'n/add', json({ urls: [never] })],
    ['POST', 'n/add', lines(never)],
    ['POST', 's/forget', json({ urls: [URLS[0], long] })],
    ['POST', 's/forget', json({ urls: [URLS[0], '\ud800'] })],
    ['POST', 'b/forget', json({ urls: [URLS[0]] })],
    ['DELETE', 'n', undefined],
  ] as const)('%s %s %j', async (method, path, given) => {
    const before = await stateOf(server, client)
    const { statusCode } = await app.inject({
      method,
      url: `/v1/sieves/${path}`,
      ...(given && {
        body: given.body,
        headers: {
          'content-type': given.type,
          ...('accept' in given && { accept: given.accept }),
          ...('encoding' in given && { 'content-encoding': given.encoding }),
        },
      }),
    })
    expect(statusCode).toBeGreaterThanOrEqual(400)
    expect(statusCode).toBeLessThan(508)
    expect(await stateOf(server, client)).toEqual(before)
  })

  it('an add that makes its filter and finds no memory for its items leaves no filter', async () => {
    const tight = await both({ registry: { memoryBytes: 2 * 1024 ** 2 } })
    const many = Array.from({ length: 25_000 }, (_, i) => `item-${i}`)
    for (const words of [
      ['BF.MADD', 'n', ...many],
      ['BF.INSERT', 'n', 'ITEMS', ...many],
    ]) {
      expect(await tight.client.ask(...words)).toMatch(/^!OOM /)
      expect(await tight.client.ask('DBSIZE')).toBe(0)
    }
  })
})

describe('a call of many items that fails on the way', () => {
  it('BF.MADD: the verdicts before the error are of what is marked, nothing behind it is', async () => {
    const { client } = await both()
    await client.ask('BF.RESERVE', 'f', '0.0001', '3', 'NONSCALING')
    const reply = await client.ask('BF.MADD', 'f', 'a', 'b', 'a', 'c', 'd', 'e')
    expect(reply).toEqual([1, 1, 0, 1, '!ERR non scaling filter is full'])
    expect(await client.ask('BF.MEXISTS', 'f', 'a', 'b', 'c', 'd', 'e')).toEqual([1, 1, 1, 0, 0])
  })

  it('forget: the answers before the error are of what is forgotten, nothing behind it is', async () => {
    const { server, app, client } = await both()
    const served = await server.registry.create('s', {})
    const forget = served.forget!
    // A disk that refuses from the third on.
    Object.assign(served, {
      async forget(urls: readonly string[]) {
        const answered = await forget(urls.slice(0, 2))
        throw Object.assign(new SieveError('disk', 'cannot write'), { answered })
      },
    })
    const urls = URLS.slice(0, 4)
    const add = () => client.ask('SIEVE.ADD', 's', ...urls)
    expect(await add()).toEqual([1, 1, 1, 1])
    expect(await client.ask('SIEVE.FORGET', 's', ...urls)).toEqual([1, 1, '!MISCONF cannot write'])
    expect(await add()).toEqual([1, 1, 0, 0])
    const answer = await app.inject({ method: 'POST', url: '/v1/sieves/s/forget', payload: { urls } })
    expect([answer.statusCode, answer.json()]).toMatchObject([507, { code: 'disk', forgotten: [true, true] }])
    expect(await add()).toEqual([1, 1, 0, 0])
  })
})

describe('a sieve that was dropped', () => {
  it('answers no verb, whoever still holds it', async () => {
    for (const data of [undefined, folder()]) {
      const { server, client } = await both(data === undefined ? {} : { registry: { data } })
      const served = await server.registry.create('s', {})
      const one = { bytes: Buffer.from('a'), starts: Uint32Array.of(0), ends: Uint32Array.of(1) }
      await served.add(one)
      await client.ask('DEL', 's')
      await server.registry.create('s', {})
      const gone = "the sieve 's' was dropped meanwhile: create it again"
      expect(() => served.add(one)).toThrow(gone)
      expect(() => served.has(one)).toThrow(gone)
      expect(() => served.explain('a')).toThrow(gone)
      expect(() => served.forget!(['a'])).toThrow(gone)
      await expect(served.save()).rejects.toThrow(gone)
      await expect(served.dump!(join(folder(), 'dump'))).rejects.toThrow(gone)
      expect(await client.ask('SIEVE.HAS', 's', 'a')).toEqual([0])
    }
  })

  it('a dump of it ends with an error, also when another of its name is there', async () => {
    const { client } = await both()
    const name = fresh()
    await client.ask('BF.RESERVE', name, '0.01', '100000')
    await client.ask('BF.ADD', name, 'a')
    expect(await client.ask('BF.SCANDUMP', name, '0')).toEqual([1, expect.any(String)])
    const [next] = (await client.ask('BF.SCANDUMP', name, '1')) as [number]
    await client.ask('DEL', name)
    expect(await client.ask('BF.SCANDUMP', name, String(next))).toBe('!ERR not found')
    await client.ask('BF.RESERVE', name, '0.01', '100000')
    expect(await client.ask('BF.SCANDUMP', name, String(next))).toBe(
      '!ERR no dump of this filter is in progress: begin with iterator 0',
    )
  })

  it('commands of a pipeline that drops it and makes it again go to the new one', async () => {
    const { client } = await both()
    const lines = [
      ['BF.ADD', 's', 'a'],
      ['BF.ADD', 's', 'a'],
      ['DEL', 's'],
      ['BF.ADD', 's', 'a'],
      ['DEL', 's'],
      ['BF.EXISTS', 's', 'a'],
    ]
    client.write(Buffer.concat(lines.map((words) => encoded(...words))))
    const replies: unknown[] = []
    for (const _ of lines) replies.push(plain(await client.read()))
    expect(replies).toEqual([1, 0, 1, 1, 1, 0])
  })

  it('a drop that the disk refuses: it is served on, with all it knows', async () => {
    const data = folder()
    const { server, client } = await both({ registry: { data } })
    await client.ask('SIEVE.CREATE', 's')
    await client.ask('SIEVE.ADD', 's', ...URLS)
    // Wherever its folder shall go there is something else.
    const places = Array.from({ length: 9 }, (_, i) => join(data, `.dropped-${process.pid}-${i}`))
    for (const place of places) {
      mkdirSync(place)
      writeFileSync(join(place, 'file'), '')
    }
    expect(await client.ask('DEL', 's')).toMatch(/^!MISCONF cannot write/)
    expect(await client.ask('SIEVE.ADD', 's', ...URLS)).toEqual(URLS.map(() => 0))
    expect(server.registry.faults.list()).toEqual([])
    for (const place of places) rmSync(place, { recursive: true })
    expect(await client.ask('DEL', 's')).toBe(1)
    expect(await client.ask('DBSIZE')).toBe(0)
  })
})
