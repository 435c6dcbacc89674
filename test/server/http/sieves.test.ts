// The routes of the sieves, without a socket: make, look, list, drop; explain, under, forget, save; and the registries.
import { afterEach, beforeAll, expect, test } from 'vitest'
import { filters, profiles, Sieve } from '../../../src/index.ts'
import { MemoryRegistry } from './memory-registry.ts'
import { application, defects } from './served.ts'

const { app, registry } = await application()

afterEach(() => expect(defects).toEqual([]))
beforeAll(() => app.inject({ method: 'PUT', url: '/v1/sieves/crawl', payload: {} }))

const put = (name: string, payload: object) =>
  app.inject({ method: 'PUT', url: `/v1/sieves/${name}`, payload })
const post = (path: string, payload: object) =>
  app.inject({ method: 'POST', url: `/v1/sieves/${path}`, payload })

function expectProblem(response: Awaited<ReturnType<typeof put>>, status: number, words: RegExp): void {
  expect(response.statusCode).toBe(status)
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/)
  const problem = response.json()
  expect(problem).toMatchObject({
    status,
    type: expect.stringMatching(/^urn:urlsieve:problem:/),
    title: expect.any(String),
  })
  expect(problem.detail).toMatch(words)
  expect(problem.detail).not.toContain('\n')
}

test('a sieve is made once; the same options are answered 200, others 409', async () => {
  const options = {
    filter: 'classic',
    expectedUrls: 1000,
    falsePositiveRate: 0.01,
    profile: 'raw',
    hash: 'xxh64',
  }
  const made = await put('once', options)
  expect(made.statusCode).toBe(201)
  expect(made.json()).toMatchObject({
    name: 'once',
    kind: 'sieve',
    can: { forget: false, under: false },
    meters: { adds: 0, fresh: 0, seen: 0, asks: 0 },
    stats: {
      filter: 'classic',
      profile: 'raw',
      hash: 'xxh64',
      urls: 0,
      promisedRate: 0.01,
      bitsPerUrl: null,
    },
    plan: { filter: 'classic', expectedUrls: 1000, hashes: 7 },
  })
  const again = await put('once', options)
  expect(again.statusCode).toBe(200)
  expect(again.json()).toEqual(made.json())
  for (const other of [
    {},
    { ...options, expectedUrls: 1001 },
    { ...options, profile: 'web' },
    { ...options, hash: 'siphash' },
  ]) {
    expectProblem(await put('once', other), 409, /'once' exists with other options: drop it/)
  }
})

test('two requests that make the same sieve at once: one makes it, both get it', async () => {
  const both = await Promise.all([put('race', { profile: 'raw' }), put('race', { profile: 'raw' })])
  expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 201])
  const other = await Promise.all([put('race2', { profile: 'raw' }), put('race2', { profile: 'web' })])
  expect(other.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409])
})

test('a name made by BF.* is taken, whatever the options', async () => {
  await registry.create('bloom', {}, { capacity: 100, errorRate: 0.01, expansion: 2 })
  expectProblem(await put('bloom', {}), 409, /other options/)
  expect((await app.inject('/v1/sieves/bloom')).json()).toMatchObject({
    kind: 'bloom',
    bloom: { capacity: 100, errorRate: 0.01, expansion: 2 },
  })
})

test('options that cannot be are refused in one line that names them', async () => {
  expectProblem(
    await put('x', { filter: 'clasic' }),
    400,
    /^body\/filter: expected one of fingerprint, classic, /,
  )
  expectProblem(await put('x', { filter: 'linear' }), 400, /^body\/filter: expected one of /)
  expectProblem(await put('x', { profile: 'w3' }), 400, /^body\/profile: expected one of raw, whatwg, /)
  expectProblem(await put('x', { urls: 5 }), 400, /^body: 'urls' is unknown/)
  expectProblem(await put('x', { expectedUrls: '5' }), 400, /^body\/expectedUrls: expected to be integer/)
  expectProblem(await put('x', { expectedUrls: 0 }), 400, /^body\/expectedUrls: expected to be >= 1/)
  expectProblem(await put('x', { falsePositiveRate: 1 }), 400, /^body\/falsePositiveRate: /)
  expectProblem(
    await put('x', { window: { windowHours: 3 } }),
    400,
    /^body\/window: 'windowHours' is unknown/,
  )
  expectProblem(
    await put('x', { filter: 'classic' }),
    400,
    /filter 'classic' has a fixed size: give body\/expectedUrls/,
  )
  expectProblem(
    await put('x', { filter: 'classic', window: { windowUrls: 9 } }),
    400,
    /^body\/windowUrls 9: filter 'classic' does not take it; expected one of body\/expectedUrls, /,
  )
  const raw = (payload: string) =>
    app.inject({
      method: 'PUT',
      url: '/v1/sieves/x',
      payload,
      headers: { 'content-type': 'application/json' },
    })
  expectProblem(await raw('{"filter":'), 400, /^the body is not JSON \(.*\): expected an object/)
  expectProblem(await raw('[]'), 400, /^body: expected to be object/)
  expectProblem(await raw('{"__proto__":{"filter":"classic"}}'), 400, /'__proto__' is unknown/)
  expect(registry.get('x')).toBeUndefined()
})

test('a window is made with its own options', async () => {
  const made = await put('window', { filter: 'window', window: { windowUrls: 1000, generations: 4 } })
  expect(made.json()).toMatchObject({ plan: { shape: { windowUrls: 1000, generations: 4 } } })
})

test('the options of a filter are taken by their names in the library', async () => {
  const made = await put('flat window', { windowMs: 60_000, generations: 3, inner: 'fingerprint' })
  expect(made.json()).toMatchObject({
    plan: { filter: 'window', shape: { windowMs: 60_000, generations: 3 } },
  })
  const layered = await put('layers', { filter: 'multilayer', expectedUrls: 10, layers: 2, depth: 'grow' })
  expect(layered.json()).toMatchObject({ plan: { shape: { layers: 2, mode: 'grow' } } })
  expectProblem(await put('x', { layers: 2 }), 400, /^body\/layers 2: filter 'fingerprint' does not take it/)
  expectProblem(await put('x', { depth: 'down' }), 400, /^body\/depth: expected one of join, grow/)
})

test('list, look at and drop', async () => {
  await put('drop me', { profile: 'raw' }) // with a space: encoded by the client
  const { sieves } = (await app.inject('/v1/sieves')).json()
  expect(sieves.map(({ name }: { name: string }) => name)).toEqual(registry.list().map(({ name }) => name))
  expect((await app.inject('/v1/sieves/drop%20me')).json()).toMatchObject({
    name: 'drop me',
    stats: { profile: 'raw' },
  })
  const gone = await app.inject({ method: 'DELETE', url: '/v1/sieves/drop%20me' })
  expect([gone.statusCode, gone.body]).toEqual([204, ''])
  expectProblem(
    await app.inject({ method: 'DELETE', url: '/v1/sieves/drop%20me' }),
    404,
    /no sieve 'drop me'/,
  )
})

test('nothing is made on its own: a sieve that is not there is 404 with what to do', async () => {
  for (const verb of ['add', 'has', 'forget']) {
    expectProblem(
      await post(`nope/${verb}`, { urls: [] }),
      404,
      /^no sieve 'nope': create it with PUT \/v1\/sieves\/nope$/,
    )
  }
  expectProblem(await app.inject('/v1/sieves/nope'), 404, /create it with PUT/)
  expectProblem(await app.inject('/v1/sieves/a%2Fb/explain?url=x'), 404, /PUT \/v1\/sieves\/a%2Fb$/)
  expectProblem(
    await app.inject(`/v1/sieves/${'x'.repeat(1025)}`),
    414,
    /^a name of more than 1024 characters/,
  )
  expectProblem(await app.inject('/v1/sieves/%ff'), 400, /^the path is not correctly encoded/)
  expectProblem(await app.inject('/v2/sieves'), 404, /nothing at GET \/v2\/sieves: see \/openapi.json/)
  expectProblem(await app.inject({ method: 'PATCH', url: '/v1/sieves' }), 404, /nothing at PATCH/)
})

test('add and has answer one verdict for each URL and count', async () => {
  await put('counted', {})
  const urls = ['http://example.com/a', 'https://example.com/a#x', 'https://example.com/é', 'no url']
  const first = await post('counted/add', { urls })
  expect(first.json()).toEqual({ verdicts: ['new', 'seen', 'new', 'new'], new: 3, seen: 1 })
  expect(first.headers['content-type']).toMatch(/^application\/json/)
  const asked = await post('counted/has', { urls: [...urls, 'https://example.com/other'] })
  expect(asked.json()).toEqual({ verdicts: ['seen', 'seen', 'seen', 'seen', 'new'], new: 1, seen: 4 })
  expect((await post('counted/add', { urls: [] })).json()).toEqual({ verdicts: [], new: 0, seen: 0 })
  expect(registry.get('counted')!.meters).toEqual({ adds: 4, fresh: 3, seen: 1, asks: 5 })
  expect((await app.inject('/v1/sieves/counted')).json()).toMatchObject({
    meters: { adds: 4, fresh: 3, seen: 1, asks: 5 },
    stats: { urls: 3 },
  })
})

test('what add and has do not take', async () => {
  const add = (payload: object) => post('crawl/add', payload)
  expectProblem(
    await app.inject({ method: 'POST', url: '/v1/sieves/crawl/add' }),
    400,
    /^no body: expected {"urls"/,
  )
  expectProblem(await add({}), 400, /^body: 'urls' is missing/)
  expectProblem(await add({ urls: 'https://example.com/' }), 400, /^body\/urls: expected to be array/)
  expectProblem(await add({ urls: ['a', 5] }), 400, /^body\/urls\/1: expected to be string/)
  expectProblem(await add({ urls: [], url: 'x' }), 400, /^body: 'url' is unknown/)
  expectProblem(await add({ urls: ['\ud800'] }), 400, /^body\/urls\/0: half a character/)
  const form = {
    method: 'POST',
    url: '/v1/sieves/crawl/add',
    payload: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  } as const
  const zipped = { ...form, headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' } }
  expectProblem(
    await app.inject(zipped),
    415,
    /^Content-Encoding 'gzip': expected a body that is not compressed/,
  )
  expectProblem(await app.inject(form), 415, /expected 'application\/json', or 'text\/plain' for lines/)
})

test('explain says the key, each rule, the verdict; and marks nothing', async () => {
  const url = encodeURIComponent('http://Example.com:80/a/../b#top')
  for (let i = 0; i < 2; i++) {
    const explained = (await app.inject(`/v1/sieves/crawl/explain?url=${url}`)).json()
    expect(explained).toMatchObject({
      url: 'http://Example.com:80/a/../b#top',
      key: 'https://example.com/b',
      isUrl: true,
      verdict: 'new',
    })
    expect(explained.steps.map(({ rule }: { rule: string }) => rule)).toEqual([
      'whatwg',
      'no-fragment',
      'https',
      'escapes',
    ])
    expect(explained.steps[1]).toEqual({
      rule: 'no-fragment',
      does: expect.any(String),
      before: 'http://example.com/b#top',
      after: 'http://example.com/b',
      changed: true,
      notes: expect.any(Array),
    })
    expect(explained).not.toHaveProperty('layers')
  }
  expectProblem(await app.inject('/v1/sieves/crawl/explain'), 400, /^querystring: 'url' is missing/)
})

test('explain of prefix-layers and multilayer says which layer decided', async () => {
  const size = { expectedUrls: 1000, falsePositiveRate: 1e-6 }
  await put('prefixes', { filter: 'prefix-layers', ...size })
  await put('layers', { filter: 'multilayer', ...size })
  for (const name of ['prefixes', 'layers'])
    await post(`${name}/add`, { urls: ['https://example.com/a/b', 'https://example.com/x/y'] })
  const explain = async (name: string, url: string) => {
    const { verdict, layers, decidedBy } = (await app.inject(`/v1/sieves/${name}/explain?url=${url}`)).json()
    const words = layers.map(({ of, verdict }: { of: string; verdict: string }) => `${of} ${verdict}`)
    return [verdict, decidedBy, ...words]
  }
  expect(await explain('prefixes', 'https://example.com/a/c')).toEqual([
    'new',
    'whole keys',
    'https://example.com/ seen',
    'https://example.com/a/ seen',
    'https://example.com/a/c new',
  ])
  expect(await explain('prefixes', 'https://example.com/z/c?q=/')).toEqual([
    'new',
    'folders of depth 2',
    'https://example.com/ seen',
    'https://example.com/z/ new',
    'https://example.com/z/c?q=/ new',
  ])
  expect((await explain('prefixes', 'https://example.com/a/b'))[1]).toBe('whole keys')
  expect(await explain('layers', 'https://example.com/a/c')).toEqual([
    'new',
    'layer 3',
    'example.com seen',
    'a seen',
    'c new',
    'example.com ⊕ a ⊕ c new',
  ])
  // All segments known, of different URLs: the XOR layer decides.
  expect((await explain('layers', 'https://example.com/a/y')).slice(0, 2)).toEqual(['new', 'XOR layer'])
  expect((await explain('layers', 'https://example.com/x/y')).slice(0, 2)).toEqual(['seen', 'XOR layer'])
})

test('under and forget, where the filter can; else 409 with the ones that can', async () => {
  await put('folders', { filter: 'prefix-layers', expectedUrls: 1000 })
  await post('folders/add', { urls: ['https://example.com/a/b'] })
  const under = async (folder: string) =>
    (await app.inject(`/v1/sieves/folders/under?folder=${folder}`)).json()
  expect(await under('example.com/a/')).toEqual({ folder: 'example.com/a/', seen: true })
  expect(await under('example.com/b/')).toEqual({ folder: 'example.com/b/', seen: false })
  expectProblem(
    await app.inject('/v1/sieves/crawl/under?folder=x'),
    409,
    /fingerprint, which cannot answer .*: expected prefix-layers$/,
  )

  await post('crawl/add', { urls: ['https://example.com/f'] })
  const forgotten = await post('crawl/forget', { urls: ['http://example.com/f', 'https://example.com/g'] })
  expect(forgotten.json()).toEqual({ forgotten: [true, false], count: 1 })
  expect((await post('crawl/add', { urls: ['https://example.com/f'] })).json().verdicts).toEqual(['new'])
  expectProblem(
    await post('folders/forget', { urls: ['x'] }),
    409,
    /prefix-layers, which cannot forget: expected fingerprint, cuckoo$/,
  )
})

test('save saves', async () => {
  const saved = await app.inject({ method: 'POST', url: '/v1/sieves/crawl/save' })
  expect(saved.json()).toMatchObject({ name: 'crawl' })
  expect(registry.saved).toBe(1)
  const withType = {
    method: 'POST',
    url: '/v1/sieves/crawl/save',
    headers: { 'content-type': 'application/json' },
  } as const
  expect((await app.inject(withType)).statusCode).toBe(200)
})

test('the registries say what there is', async () => {
  const found = (await app.inject('/v1/filters')).json().filters
  for (const { name, does, errs, can } of found)
    expect(filters[name as 'classic']).toMatchObject({ does, errs, can })
  expect(found.map(({ name }: { name: string }) => name)).toContain('prefix-layers')
  expect(
    (await app.inject('/v1/profiles')).json().profiles.map(({ name }: { name: string }) => name),
  ).toEqual(Object.keys(profiles))
  expect((await app.inject('/v1/hashes')).json().hashes[0]).toMatchObject({ name: 'siphash' })
})

test('only filters that the registry can create are listed, so that no form has others', async () => {
  const few = new MemoryRegistry()
  few.filters = ['fingerprint', 'window']
  const { app } = await application({ registry: few })
  const found = (await app.inject('/v1/filters')).json().filters
  expect(found.map(({ name }: { name: string }) => name)).toEqual(['fingerprint', 'window'])
})

test('the key of a URL without a sieve', async () => {
  const explain = (payload: object) => app.inject({ method: 'POST', url: '/v1/explain', payload })
  const { key, steps } = (await explain({ url: 'http://example.com' })).json()
  const { key: expected, steps: all } = (await Sieve.create()).explain('http://example.com')
  expect([key, steps]).toEqual([expected, all])
  expect((await explain({ url: 'http://example.com', profile: 'raw' })).json()).toMatchObject({
    key: 'http://example.com',
    steps: [],
  })
  expectProblem(await explain({ url: 'x', profile: 'y' }), 400, /^body\/profile: expected one of raw/)
})

test('verdicts from another machine come later and are the same', async () => {
  registry.slow = true
  await put('far', {})
  expect((await post('far/add', { urls: ['https://a/', 'https://a/'] })).json().verdicts).toEqual([
    'new',
    'seen',
  ])
  expect((await post('far/has', { urls: ['https://a/', 'https://b/'] })).json().verdicts).toEqual([
    'seen',
    'new',
  ])
  registry.slow = false
  expect(registry.get('far')!.meters).toEqual({ adds: 2, fresh: 1, seen: 1, asks: 2 })
})
