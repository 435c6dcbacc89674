// Every limit, past it and just within, over real sockets: its status, one line, and a server that goes on.
import { request as open } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import type { HttpLimits } from '../../../src/server/http/index.ts'
import { type Dialled, defects, dial, isStuck, listening } from './served.ts'

afterEach(() => expect(defects).toEqual([]))

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const post = (name: string, body: string, length = Buffer.byteLength(body)) =>
  `POST /v1/sieves/${name}/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`

/** A server with one sieve, `s`. */
async function limited(limits: Partial<HttpLimits>) {
  const served = await listening({ limits })
  await served.registry.create('s', {})
  const add = (urls: string[]) =>
    fetch(`${served.url}/v1/sieves/s/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ urls }),
    })
  return { ...served, add }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('jsonBytes: 413, whether the length was announced or not', async () => {
  const { add, port } = await limited({ jsonBytes: 1000 })
  const body = (bytes: number) => ['x'.repeat(bytes - JSON.stringify({ urls: [''] }).length)]
  expect((await add(body(1000))).status).toBe(200)
  const refused = await add(body(1001))
  expect(refused.status).toBe(413)
  expect(await refused.json()).toMatchObject({
    detail: 'a JSON body of more than 1000 bytes: send less, or lines as text/plain',
  })
  const line = await dial(port)
  line.send(
    'POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  for (let i = 0; i < 11; i++) line.send(`64\r\n${'x'.repeat(100)}\r\n`)
  expect(await line.until(/\}$/)).toMatch(/^HTTP\/1.1 413 .*more than 1000 bytes/s)
})

test('a client that sends a large body hears why it is refused', async () => {
  const { port } = await limited({ jsonBytes: 1000 })
  for (let i = 0; i < 20; i++) {
    const status = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const request = open({ port, method: 'POST', path: '/v1/sieves/s/add', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      request.end(Buffer.alloc(3_000_000, 'x'))
    })
    expect(status).toBe(413)
  }
})

test('a body that does not end after its refusal is cut', async () => {
  const { port } = await limited({ jsonBytes: 1000 })
  const line = await dial(port)
  line.send(post('s', 'x'.repeat(500), 5000))
  await line.until(/413/)
  const started = performance.now()
  const drip = setInterval(() => line.socket.writable && line.send('x'), 20)
  await line.ended
  clearInterval(drip)
  expect(performance.now() - started).toBeLessThan(4000)
})

test('a body that ends after its refusal leaves the connection to the next request', async () => {
  const { port } = await limited({ jsonBytes: 1000 })
  const line = await dial(port)
  line.send(post('s', 'x'.repeat(500), 5000))
  await line.until(/413/)
  line.send(`${'x'.repeat(4500)}${get('/healthz')}`)
  await line.until(/ok\n$/)
  await wait(1200)
  line.send(get('/v1/server'))
  await line.until(/"version"/)
})

test('urlBytes: 413', async () => {
  const { add } = await limited({ urlBytes: 20 })
  expect((await add(['x'.repeat(20)])).status).toBe(200)
  const refused = await add(['a', 'x'.repeat(21)])
  expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
    413,
    'body/urls/1: 21 bytes; expected at most 20',
  ])
  expect((await add(['a', `"${'x'.repeat(20)}`])).status).toBe(413) // with an escape, read the other way
})

test('urlsPerRequest: 413, forget too', async () => {
  const { add, url } = await limited({ urlsPerRequest: 3 })
  expect((await add(['a', 'b', 'c'])).status).toBe(200)
  expect((await add(['a', 'b', 'c', 'd'])).status).toBe(413)
  expect((await add(['a', 'b', 'c', '"'])).status).toBe(413)
  const forget = await fetch(`${url}/v1/sieves/s/forget`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls: ['a', 'b', 'c', 'd'] }),
  })
  expect(forget.status).toBe(413)
})

test('headerBytes: 431', async () => {
  const { port } = await limited({ headerBytes: 2000 })
  const ask = async (bytes: number) => {
    const line = await dial(port)
    line.send(get('/healthz', `x: ${'x'.repeat(bytes)}\r\n`))
    return line.until(/(ok\n|\})$/)
  }
  expect(await ask(1500)).toMatch(/^HTTP\/1.1 200/)
  expect(await ask(2500)).toMatch(
    /^HTTP\/1.1 431 .*application\/problem\+json.*headers of more than 2000 bytes/s,
  )
})

test('bufferBytes: 503 while other bodies wait, and 200 again when they have gone', async () => {
  const { port, add } = await limited({ bufferBytes: 5000 })
  const one = await dial(port)
  one.send(post('s', `{"urls":["${'x'.repeat(4000)}`, 5000))
  await wait(100)
  const refused = await add(['x'.repeat(2000)])
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({
    detail: 'incomplete bodies of all clients exceed 5000 bytes: try again',
  })
  one.socket.destroy()
  await wait(100)
  expect((await add(['x'.repeat(2000)])).status).toBe(200)
})

test('connections: 503 past the limit, and room again when one has gone', async () => {
  const { port, info } = await limited({ connections: 3 })
  const lines: Dialled[] = []
  for (let i = 0; i < 4; i++) lines.push(await dial(port))
  for (const line of lines) line.send(get('/healthz'))
  for (const line of lines.slice(0, 3)) await line.until(/^HTTP\/1.1 200.*ok\n$/s)
  expect(await lines[3]!.ended).toMatch(
    /^HTTP\/1.1 503 .*retry-after: 1.*more than 3 connections: close some/s,
  )
  lines[0]!.socket.destroy()
  await lines[0]!.ended
  await wait(50)
  expect(info.connections.http).toBe(2)
  const next = await dial(port)
  next.send(get('/healthz'))
  await next.until(/^HTTP\/1.1 200/)
})

test('far past the limit connections are closed at once, silent ones past it soon', async () => {
  const { port, info } = await limited({ connections: 2 })
  const lines = await Promise.all(Array.from({ length: 100 }, () => dial(port)))
  await wait(1500)
  expect(info.connections.http).toBe(2)
  expect(lines.filter(({ socket }) => !socket.closed).length).toBe(2)
  expect(info.refused).toBe(98)
})

test('connections without the password give way to others, the oldest first', async () => {
  const { port, info } = await listening({ limits: { connections: 2 }, password: 'p' })
  const trusted = await dial(port)
  trusted.send(get('/v1/server', 'Authorization: Bearer p\r\n'))
  await trusted.until(/^HTTP\/1.1 200/)
  for (let i = 0; i < 5; i++) {
    const stranger = await dial(port)
    if (i % 2 === 0) stranger.send(get('/healthz')) // alive, but with no password
    const next = await dial(port)
    await stranger.ended
    next.send(get('/v1/server', 'Authorization: Bearer p\r\n'))
    await next.until(/^HTTP\/1.1 200/)
    next.socket.destroy()
    await next.ended
    await wait(20)
  }
  expect(trusted.socket.closed).toBe(false)
  expect(info.refused).toBe(5)
})

test('TLS on the port is named', async () => {
  const { port } = await listening()
  const line = await dial(port)
  line.send(Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3, 13, 10]))
  expect(await line.ended).toMatch(/^HTTP\/1.1 400 .*this looks like TLS: expected http:/s)
})

test('headers that decide are refused when there are two', async () => {
  const { port } = await listening()
  for (const more of ['Host: localhost', 'HOST: evil.example', 'Origin: a\r\nOrigin: b']) {
    const line = await dial(port)
    line.send(get('/healthz', `${more}\r\n`))
    await line.until(/^HTTP\/1.1 400 .*two headers '(host|origin)': expected one/s)
  }
  const fine = await dial(port)
  fine.send(get('/healthz', 'Accept: a\r\nAccept: b\r\n'))
  await fine.until(/^HTTP\/1.1 200/)
})

test('headersMs: 408 for headers that do not end, silent connections too', async () => {
  const { port } = await limited({ headersMs: 300 })
  const [half, silent] = [await dial(port), await dial(port)]
  half.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n')
  const drip = setInterval(() => half.socket.writable && half.send('x: y\r\n'), 50)
  expect(await half.ended).toMatch(/^HTTP\/1.1 408 .*the request was incomplete after 300 ms/s)
  clearInterval(drip)
  expect(await silent.ended).toMatch(/^(HTTP\/1.1 408 .*)?$/s)
})

test('bodyMs: 408 for a JSON body that does not end', async () => {
  const { port } = await limited({ bodyMs: 300 })
  const line = await dial(port)
  line.send(post('s', '{"urls":["', 1000))
  const drip = setInterval(() => line.socket.writable && line.send('x'), 50)
  expect(await line.until(/\}$/)).toMatch(/^HTTP\/1.1 408 .*the body was incomplete after 300 ms/s)
  clearInterval(drip)
})

test('idleMs: a connection on which nothing moves is cut in the middle of a request', async () => {
  const { port } = await limited({ idleMs: 300 })
  const line = await dial(port)
  line.send(post('s', '{"urls":["', 1000))
  expect(await line.ended).toBe('')
})

test('idleMs: so is a sender of lines that has fallen silent between two', async () => {
  const { port } = await limited({ idleMs: 300 })
  const line = await dial(port)
  line.send(
    'POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nx\n\r\n',
  )
  expect(await line.ended).toMatch(/^HTTP\/1.1 200 OK.*x\n\r\n$/s)
})

test('keepAliveMs: a connection without a next request is closed', async () => {
  const { port } = await limited({ keepAliveMs: 200 })
  const line = await dial(port)
  line.send(get('/healthz'))
  await line.until(/ok\n$/)
  const started = performance.now()
  await line.ended
  expect(performance.now() - started).toBeLessThan(5000)
})

test('listeners: 503, and room again when one has gone', async () => {
  const { port } = await limited({ listeners: 1 })
  const one = await dial(port)
  one.send(get('/v1/live'))
  await one.until(/data: /)
  const two = await dial(port)
  two.send(get('/v1/live'))
  expect(await two.until(/\}$/)).toMatch(/^HTTP\/1.1 503 .*more than 1 listeners/s)
  one.socket.destroy()
  await wait(100)
  const three = await dial(port)
  three.send(get('/v1/live'))
  await three.until(/data: /)
})

test('requests in a row whose answers nobody reads are held back, or their connection is closed', async () => {
  const { port } = await limited({})
  const line = await dial(port)
  line.socket.pause()
  const hundred = get('/openapi.json').repeat(100)
  const before = process.memoryUsage().rss
  let sent = 0
  // More than the buffers of the system take, which grow to 10 MB.
  const most = 1_000_000
  while (sent < most && !line.socket.destroyed) {
    line.send(hundred)
    sent += 100
    if (line.socket.writableLength > 0 && (await isStuck(line.socket))) break
  }
  expect(sent).toBeLessThan(most)
  expect(process.memoryUsage().rss - before).toBeLessThan(150e6) // of gigabytes of answers
  line.socket.destroy()
})

test('what is no HTTP is told so', async () => {
  const { port } = await limited({})
  for (const text of [
    '*1\r\n$4\r\nPING\r\n',
    '\x16\x03\x01',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /healthz HTTP/1.1\r\n\r\n',
  ]) {
    const line = await dial(port)
    line.send(text)
    expect(await line.ended).toMatch(/^HTTP\/1.1 400 /)
  }
  const old = await dial(port)
  old.send('GET /healthz HTTP/1.0\r\n\r\n')
  expect(await old.ended).toMatch(/^HTTP\/1.1 421 .*no Host header: expected localhost/s)
})
