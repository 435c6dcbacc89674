// The page, the lab's report and the live feed: what is served, with which headers, and what is not.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { application, defects, dial, listening } from './served.ts'

const folder = mkdtempSync(join(tmpdir(), 'urlsieve-pages-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => expect(defects).toEqual([]))

const siteFolder = join(folder, 'site')
const reportFolder = join(folder, 'report')
mkdirSync(join(siteFolder, 'assets'), { recursive: true })
mkdirSync(join(reportFolder, 'deeper'), { recursive: true })
writeFileSync(join(folder, 'secret.txt'), 'secret')
writeFileSync(join(siteFolder, 'index.html'), '<!doctype html><title>page</title>')
writeFileSync(join(siteFolder, '.hidden'), 'secret')
writeFileSync(join(siteFolder, 'assets', 'main-4f3a.js'), 'export {}')
writeFileSync(join(reportFolder, 'report.html'), '<!doctype html><style>p{}</style>')
writeFileSync(join(reportFolder, 'fair.csv'), 'a,b\n')
writeFileSync(join(reportFolder, '.env'), 'secret')
writeFileSync(join(reportFolder, 'notes.txt'), 'secret')
writeFileSync(join(reportFolder, 'deeper', 'x.html'), 'secret')

const { app } = await application({ siteFolder, reportFolder })

test('the page and its files, with a policy that allows no inline script', async () => {
  const page = await app.inject('/')
  expect([page.statusCode, page.headers['content-type'], page.headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ])
  const policy = String(page.headers['content-security-policy'])
  expect(policy).not.toContain('unsafe-inline')
  expect(policy).not.toMatch(/'unsafe-eval'|\*|https?:/)
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]),
  )
  expect(page.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  const script = await app.inject('/assets/main-4f3a.js')
  expect([script.statusCode, script.headers['content-type'], script.headers['cache-control']]).toEqual([
    200,
    expect.stringMatching(/^(text|application)\/javascript; charset=utf-8$/),
    'public, max-age=31536000, immutable',
  ])
})

test('the report, its tables, and nothing else of its folder', async () => {
  const report = await app.inject('/report/')
  expect([report.statusCode, report.body]).toEqual([200, '<!doctype html><style>p{}</style>'])
  const policy = String(report.headers['content-security-policy'])
  expect(policy).toMatch(/default-src 'none'; style-src 'unsafe-inline'.*sandbox allow-downloads$/)
  expect(policy).not.toMatch(/script-src|allow-scripts|allow-same-origin/)
  expect((await app.inject('/report')).headers.location).toBe('/report/')
  expect((await app.inject('/report/fair.csv')).body).toBe('a,b\n')
  for (const path of [
    'notes.txt',
    '.env',
    'deeper/x.html',
    '../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
  ]) {
    const refused = await app.inject(`/report/${path}`)
    expect([path, refused.statusCode]).toEqual([path, 404])
    expect(refused.body).not.toBe('secret')
  }
  expect((await app.inject('/v1/server')).json()).toMatchObject({ report: true })
})

test('no file outside the page’s folder, and none that is hidden', async () => {
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/.hidden',
    '/assets/',
    '/nothing.js',
    '/%00',
  ]) {
    const refused = await app.inject(path)
    expect([path, refused.statusCode >= 400 && refused.statusCode < 500]).toEqual([path, true])
    expect(refused.body).not.toContain('secret.txt\n')
    expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/)
  }
})

test('without a page or a report there is none', async () => {
  const { app: bare } = await application({ siteFolder: join(folder, 'nowhere'), reportFolder: siteFolder })
  expect((await bare.inject('/')).statusCode).toBe(404)
  expect((await bare.inject('/report/')).statusCode).toBe(404)
  expect((await bare.inject('/v1/server')).json()).toMatchObject({ report: false })
})

test('a report that is made later is shown', async () => {
  const later = join(folder, 'later')
  const { app: early } = await application({ reportFolder: later })
  expect((await early.inject('/report/')).statusCode).toBe(404)
  mkdirSync(later)
  writeFileSync(join(later, 'report.html'), 'here')
  expect((await early.inject('/report/')).body).toBe('here')
  expect((await early.inject('/v1/server')).json()).toMatchObject({ report: true })
})

test('the live feed: a snapshot at once and then each second, the same for all listeners', async () => {
  const { port, registry, url } = await listening()
  await registry.create('s', { filter: 'classic', expectedUrls: 100, falsePositiveRate: 0.01 })
  const [one, two] = [await dial(port), await dial(port)]
  for (const line of [one, two]) line.send('GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await one.until(/data: /)
  await fetch(`${url}/v1/sieves/s/add`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"urls":["https://a/","https://a/"]}',
  })
  await two.until(/"adds":2/)
  expect(one.text).toMatch(/^HTTP\/1.1 200 .*content-type: text\/event-stream; charset=utf-8/s)
  const events = [...two.text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!))
  expect(events[0].sieves[0]).toMatchObject({ name: 's', adds: 0 })
  const stats = await registry.get('s')!.stats()
  expect(events.at(-1)).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    uptimeSeconds: expect.any(Number),
    faults: [],
    sizeBytes: registry.sizeBytes,
    connections: { resp: 0, http: expect.any(Number) },
    load: expect.objectContaining({ respPerSecond: 0, respP99: null, refusedPerSecond: 0 }),
    sieves: [
      {
        name: 's',
        kind: 'sieve',
        filter: 'classic',
        profile: 'web',
        ...{ adds: 2, fresh: 1, seen: 1, asks: 0, urls: 1 },
        sizeBytes: stats.sizeBytes,
        fill: stats.fill,
        expectedRate: stats.expectedRate,
        promisedRate: 0.01,
        pastCapacity: false,
      },
    ],
  })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('\nurlsieve_live_listeners 2\n')
})
