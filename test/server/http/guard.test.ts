// Who may ask: the password in its two forms, the names a loopback server answers to, and no page of another origin.
import { afterEach, expect, test } from 'vitest'
import { isLoopback } from '../../../src/server/http/index.ts'
import { application, defects } from './served.ts'

afterEach(() => expect(defects).toEqual([]))

const locked = (await application({ password: 'sésame: öffne dich' })).app
const open = (await application()).app
const wide = (await application({ host: '0.0.0.0', password: 'x' })).app

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

test('the password: Bearer, or Basic with any user', async () => {
  const ask = (authorization?: string) =>
    locked.inject({ url: '/v1/sieves', headers: authorization ? { authorization } : {} })
  for (const right of [
    'Bearer sésame: öffne dich',
    `Bearer ${Buffer.from('sésame: öffne dich').toString('latin1')}`, // as it comes from a client that sends UTF-8
    'bearer  sésame: öffne dich',
    basic('anyone:sésame: öffne dich'),
    basic(':sésame: öffne dich'),
  ]) {
    expect((await ask(right)).statusCode).toBe(200)
  }
  for (const wrong of [
    undefined,
    'Bearer',
    'Bearer sesame',
    'Bearer sésame: öffne dich!',
    basic('sésame: öffne dich'),
    basic('x:'),
    'Digest x',
    'x'.repeat(9000),
  ]) {
    const refused = await ask(wrong)
    expect(refused.statusCode).toBe(401)
    expect(refused.headers['www-authenticate']).toMatch(/^Basic realm="urlsieve"/)
    expect(refused.json().detail).toMatch(
      /^(no|a wrong) password: expected 'Authorization: Bearer <password>'/,
    )
  }
})

test('the page’s own requests are not asked for a password by the browser', async () => {
  const challenge = async (mode: string) =>
    (await locked.inject({ url: '/v1/sieves', headers: { 'sec-fetch-mode': mode } })).headers[
      'www-authenticate'
    ]
  expect(await challenge('navigate')).toMatch(/^Basic /)
  expect(await challenge('cors')).toBe('Bearer realm="urlsieve"')
})

test('nothing but /healthz and /readyz is open', async () => {
  for (const url of ['/healthz', '/readyz', '/healthz?x'])
    expect((await locked.inject(url)).statusCode).toBe(200)
  for (const url of [
    '/',
    '/metrics',
    '/openapi.json',
    '/v1/live',
    '/v1/server',
    '/report/',
    '/nothing',
    '/healthz/',
    '/healthz/../metrics',
    '//healthz',
    '/%68ealthz/x',
  ]) {
    expect((await locked.inject(url)).statusCode).toBe(401)
  }
  const post = await locked.inject({ method: 'POST', url: '/v1/sieves/x/add', payload: { urls: [] } })
  expect(post.statusCode).toBe(401)
})

test('on loopback, only its own names: a name that was bent to this machine is refused', async () => {
  const ask = (host: string) => open.inject({ url: '/v1/sieves', headers: { host } })
  for (const right of [
    'localhost',
    'LOCALHOST:8390',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.9.9.9',
    '[::1]',
    '[::1]:8390',
  ]) {
    expect((await ask(right)).statusCode).toBe(200)
  }
  for (const wrong of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:80',
    'evil.example:127.0.0.1',
    '192.168.1.1',
  ]) {
    const refused = await ask(wrong)
    expect(refused.statusCode).toBe(421)
    expect(refused.json().detail).toMatch(/: expected localhost, 127.0.0.1 or \[::1\]/)
  }
  const elsewhere = await wide.inject({
    url: '/v1/sieves',
    headers: { host: 'sieve.example', authorization: 'Bearer x' },
  })
  expect(elsewhere.statusCode).toBe(200)
})

test('a page of another origin is refused, its link to the page is not', async () => {
  const add = (headers: Record<string, string>) =>
    open.inject({
      method: 'POST',
      url: '/v1/sieves/x/add',
      payload: 'https://a/',
      headers: { host: 'localhost:8390', 'content-type': 'text/plain', ...headers },
    })
  for (const wrong of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:9999' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-mode': 'navigate' },
  ]) {
    const refused = await add(wrong)
    expect([refused.statusCode, refused.json().detail]).toEqual([
      403,
      expect.stringMatching(/^a request from another origin/),
    ])
  }
  for (const right of [
    {},
    { origin: 'http://localhost:8390', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ]) {
    expect((await add(right)).statusCode).toBe(404) // no such sieve: it was let in
  }
  const link = await open.inject({
    url: '/v1/sieves',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  })
  expect(link.statusCode).toBe(200)
})

test('no answer may be read by another origin', async () => {
  for (const method of ['GET', 'OPTIONS'] as const) {
    const { headers } = await open.inject({
      method,
      url: '/v1/sieves',
      headers: { 'access-control-request-method': 'PUT' },
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  }
})

test('which addresses are loopback', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) expect(isLoopback(host)).toBe(true)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '::2', '127.evil', ''])
    expect(isLoopback(host)).toBe(false)
})
