// Mutated requests over bare sockets, in random cuts: no crash, no defect, no hang and no growth. 20,000 here, 1 M with
// URLSIEVE_FULL=1.
import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { draws } from '../../../src/lab/random.ts'
import { HTTP_LIMITS, openHttp } from '../../../src/server/http/index.ts'
import { serverInfo } from '../../../src/server/info.ts'
import { LocalRegistry } from '../../../src/server/local-registry.ts'

const REQUESTS = process.env.URLSIEVE_FULL ? 1_000_000 : 20_000
const AT_ONCE = 40
/** Longer than any of the server's own limits below. */
const HUNG_MS = 8000

const defects: unknown[] = []
const registry = await LocalRegistry.open({ memoryBytes: 64 * 1024 ** 2, mostSieves: 40 })
const { port, close } = await openHttp(registry, {
  host: '127.0.0.1',
  port: 0,
  server: serverInfo('0'),
  limits: {
    ...HTTP_LIMITS,
    jsonBytes: 20_000,
    urlBytes: 1000,
    urlsPerRequest: 100,
    headersMs: 2000,
    bodyMs: 2000,
    idleMs: 3000,
  },
  onDefect: (error) => defects.push(error),
})
afterAll(async () => {
  await close()
  await registry.close()
})

const head = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
const json = (method: string, path: string, body: unknown) => {
  const text = JSON.stringify(body)
  return (
    head(method, path, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`) + text
  )
}
const lines = (path: string, accept: string, ...texts: string[]) =>
  head('POST', path, 'Content-Type: text/plain', `Accept: ${accept}`, 'Transfer-Encoding: chunked') +
  texts.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`).join('') +
  '0\r\n\r\n'

const seeds = [
  head('GET', '/v1/sieves'),
  head('GET', '/v1/sieves/s/explain?url=https%3A%2F%2Fexample.com%2Fa'),
  head('GET', '/v1/sieves/p/under?folder=example.com/'),
  head('GET', '/openapi.json', 'Authorization: Basic eDp5', 'Origin: http://localhost'),
  head('GET', '/metrics', 'Accept-Encoding: gzip', 'Connection: keep-alive'),
  head('GET', '/healthz') + head('GET', '/v1/server'),
  head('DELETE', '/v1/sieves/x'),
  json('PUT', '/v1/sieves/x', {
    filter: 'classic',
    expectedUrls: 1000,
    falsePositiveRate: 0.01,
    profile: 'aggressive',
  }),
  json('PUT', '/v1/sieves/w', { filter: 'window', window: { windowUrls: 100, generations: 4 } }),
  json('POST', '/v1/sieves/s/add', {
    urls: ['https://example.com/a', 'http://example.com/é?b=c#d', 'x\u0000"\\'],
  }),
  json('POST', '/v1/sieves/p/add', { urls: ['https://example.com/a/b/c/d/e', 'no url'] }),
  json('POST', '/v1/sieves/s/has', { urls: [] }),
  json('POST', '/v1/sieves/s/forget', { urls: ['https://example.com/a'] }),
  json('POST', '/v1/explain', {
    url: 'HTTP://user:pw@EXAMPLE.com:80/%7e/../?utm_x=1&b=2#f',
    profile: 'crawlee',
  }),
  head('POST', '/v1/sieves/s/save', 'Content-Length: 0'),
  lines(
    '/v1/sieves/s/add',
    'text/plain',
    'https://example.com/1\nhttps://exam',
    'ple.com/2\n',
    '\n\n\r\nlast',
  ),
  lines('/v1/sieves/s/has?keep=seen', 'application/x-ndjson', 'https://example.com/1\n'),
  lines('/v1/sieves/s/add', 'application/json', 'a\n'.repeat(200)),
].map((text) => Buffer.from(text))

const tokens = [
  '\r\n',
  '\r\n\r\n',
  '\0',
  '0\r\n\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: h2c\r\n',
  '%00',
  '%ff',
  '../',
  '\ud83d\ude00',
  '"',
  '\\u0000',
  '[',
  '{',
  '-1',
  '1e999',
  '99999999999999999999',
  'null',
  '?',
  '//',
  'text/plain',
  'HTTP/1.0',
  'HTTP/2.0',
  'x'.repeat(2000),
].map((text) => Buffer.from(text))

const draw = draws(6, 'requests')
const pick = (n: number) => draw() % n

/** With a Content-Length, where it has one, that is right again: what is behind it gets a look. */
function fitted(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const body = text.indexOf('\r\n\r\n') + 4
  if (body < 4) return bytes
  const top = text.slice(0, body).replace(/^Content-Length: .*$/m, `Content-Length: ${text.length - body}`)
  return Buffer.from(top + text.slice(body), 'latin1')
}

function mutated(): Buffer {
  let bytes = Buffer.from(seeds[pick(seeds.length)]!)
  for (let changes = pick(4); changes > 0; changes--) {
    const at = pick(bytes.length + 1)
    const end = Math.min(bytes.length, at + 1 + pick(20))
    const kind = pick(7)
    if (kind === 0 && at < bytes.length) bytes[at]! ^= 1 << pick(8)
    else if (kind === 1 && at < bytes.length) bytes[at] = pick(256)
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
    else if (kind === 4)
      bytes = Buffer.concat([bytes.subarray(0, at), tokens[pick(tokens.length)]!, bytes.subarray(at)])
    else if (kind === 5) bytes = bytes.subarray(0, at)
    else {
      const other = seeds[pick(seeds.length)]!
      bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(pick(other.length))])
    }
  }
  return pick(2) === 0 ? fitted(bytes) : bytes
}

interface Outcome {
  readonly text: string
  readonly hung: boolean
}

/** Sends in random cuts and waits for the server to end it. */
function send(bytes: Buffer): Promise<Outcome> {
  const cut = pick(3) === 0 ? pick(bytes.length + 1) : bytes.length
  const goesAway = pick(20) === 0
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const timer = setTimeout(() => {
      resolve({ text, hung: true })
      socket.destroy()
    }, HUNG_MS)
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      text += part
      if (text.includes('text/event-stream')) socket.destroy() // it has no end of its own
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ text, hung: false })
    })
    socket.on('connect', () => {
      socket.write(bytes.subarray(0, cut))
      setImmediate(() => {
        if (goesAway) socket.destroy()
        else socket.end(bytes.subarray(cut))
      })
    })
  })
}

async function run(count: number, statuses: Map<string, number>): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const bytes = mutated()
      const { text, hung } = await send(bytes)
      if (hung)
        expect.fail(`hung: ${JSON.stringify(bytes.toString('latin1'))}, answered ${JSON.stringify(text)}`)
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? (text === '' ? 'none' : 'odd')
      if (status === 'odd' || status === '500')
        expect.fail(`${status}: ${JSON.stringify(bytes.toString('latin1'))} gave ${text}`)
      statuses.set(status, 1 + (statuses.get(status) ?? 0))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

test(`${REQUESTS} mutated requests`, { timeout: REQUESTS * 10 }, async () => {
  for (const name of ['s', 'x']) await registry.create(name, {})
  await registry.create('p', { filter: 'prefix-layers', expectedUrls: 1000 })
  const statuses = new Map<string, number>()
  const warm = REQUESTS / 4
  await run(warm, statuses)
  const before = process.memoryUsage().rss
  await run(REQUESTS - warm, statuses)
  const grown = process.memoryUsage().rss - before
  process.stdout.write(
    `HTTP fuzz: ${REQUESTS} requests, statuses ${JSON.stringify(Object.fromEntries([...statuses].sort()))}, memory ${(grown / 1e6).toFixed(1)} MB more\n`,
  )
  expect(defects).toEqual([])
  expect(grown).toBeLessThan(100e6)
  // It was no wall that all bounced off.
  for (const status of ['200', '400', '404', '409', '415'])
    expect([status, statuses.get(status)! > REQUESTS / 2000]).toEqual([status, true])
  const alive = await fetch(`http://127.0.0.1:${port}/healthz`)
  expect(alive.status).toBe(200)
})
