// Bodies of lines over real sockets: the same lines as a feed gives back, in whatever cuts they come; streamed both
// ways; held back by a slow reader; and what happens when it goes wrong in the middle.
import { type IncomingMessage, request as open } from 'node:http'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { Sieve } from '../../../src/index.ts'
import { draws } from '../../../src/lab/random.ts'
import { defects, dial, isStuck, listening } from './served.ts'

const { port, registry } = await listening({ limits: { urlBytes: 2000 } })
/** A line must end within so long: only for tests of that, since a busy machine is slow. */
const hasty = await listening({ limits: { bodyMs: 400 } })

beforeAll(() => registry.create('other', {}))
afterEach(() => {
  registry.slow = false
  expect(defects).toEqual([])
})

/** Numbers of [0, 1). */
function numbers(seed: number): () => number {
  const draw = draws(seed, 'lines')
  return () => draw() / 2 ** 32
}

/** Lines with repeats, empty ones, carriage returns, bytes that are no UTF-8, and maybe no newline at the end. */
function linesOf(random: () => number, count: number): Buffer {
  const parts: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const page = Math.floor(random() * count * 0.7)
    const odd = Math.floor(random() * 20)
    if (odd === 0) parts.push(Buffer.from('\n'))
    else if (odd === 1) parts.push(Buffer.from(`http://example.com/${page}\r\n`))
    else if (odd === 2) parts.push(Buffer.from([0xff, 0xfe, page & 127 || 1, 0x0d, 0x0a]))
    else parts.push(Buffer.from(`https://example.com/é/${page}${'x'.repeat(odd * odd)}\n`))
  }
  if (random() < 0.5) parts.push(Buffer.from('https://example.com/last'))
  return Buffer.concat(parts)
}

/** What a feed of an own sieve gives back. */
async function fed(bytes: Buffer, keep: 'new' | 'seen'): Promise<Buffer> {
  const feed = (await Sieve.create()).feed({ keep })
  feed.reserve(bytes.length).set(bytes)
  const out = Buffer.from(feed.push(bytes.length))
  return Buffer.concat([out, feed.end()])
}

async function post(
  path: string,
  pieces: Iterable<Uint8Array>,
  accept = 'text/plain',
): Promise<{ status: number; body: Buffer; type: string }> {
  const headers = { 'content-type': 'text/plain', accept }
  const request = open({ port, host: '127.0.0.1', method: 'POST', path: `/v1/sieves/${path}`, headers })
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  request.setNoDelay(true)
  request.flushHeaders()
  for (const piece of pieces) {
    // One who has his answer may be cut off: nothing drains then.
    if (!request.write(piece))
      await Promise.race([new Promise((resolve) => request.once('drain', resolve)), answered])
    if (piece.length < 50) await new Promise((resolve) => setImmediate(resolve))
  }
  request.end()
  const response = await answered
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return {
    status: response.statusCode!,
    body: Buffer.concat(chunks),
    type: response.headers['content-type']!,
  }
}

function* cuts(bytes: Buffer, size: () => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + size()
    yield bytes.subarray(at, end)
    at = end
  }
}

let made = 0
async function fresh(): Promise<string> {
  const name = `lines-${made++}`
  await registry.create(name, {})
  return name
}

test('whole, byte by byte and in random cuts: the lines a feed gives back', async () => {
  const random = numbers(6)
  const small = linesOf(random, 25)
  const large = linesOf(random, 20_000)
  for (const keep of ['new', 'seen'] as const) {
    for (const [bytes, size] of [
      [small, () => 1],
      [small, () => 1 + Math.floor(random() * 90)],
      [large, () => large.length],
      [large, () => 1 + Math.floor(random() * 50_000)],
    ] as const) {
      const { status, body, type } = await post(`${await fresh()}/add?keep=${keep}`, cuts(bytes, size))
      expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(body.equals(await fed(bytes, keep))).toBe(true)
    }
  }
})

test('the same from a registry that answers later', async () => {
  registry.slow = true
  const bytes = linesOf(numbers(7), 3000)
  const { body } = await post(
    `${await fresh()}/add`,
    cuts(bytes, () => 10_000),
  )
  expect(body.equals(await fed(bytes, 'new'))).toBe(true)
})

test('NDJSON says the verdict of each line, JSON the counts; has marks nothing', async () => {
  const name = await fresh()
  const lines = [Buffer.from('https://a/1\nhttps://a/1\n"q\\\n\nhttps://a/é')]
  const asked = await post(`${name}/has`, lines, 'application/x-ndjson')
  expect(asked.type).toBe('application/x-ndjson')
  const objects = (body: Buffer) =>
    body
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  const urls = ['https://a/1', 'https://a/1', '"q\\', '', 'https://a/é']
  expect(objects(asked.body)).toEqual(urls.map((url) => ({ url, verdict: 'new' })))
  const added = await post(`${name}/add`, lines, 'application/x-ndjson')
  const verdicts = ['new', 'seen', 'new', 'new', 'new']
  expect(objects(added.body)).toEqual(urls.map((url, i) => ({ url, verdict: verdicts[i] })))
  const counted = await post(`${name}/has`, [...lines, Buffer.from('x\nhttps://a/2\n')], 'application/json')
  expect(counted.type).toBe('application/json')
  expect(JSON.parse(counted.body.toString())).toEqual({ lines: 6, new: 2, seen: 4 })
  expect(registry.get(name)!.meters).toEqual({ adds: 5, fresh: 4, seen: 1, asks: 11 })
})

test('an empty body gives an empty answer; an Accept that cannot be is 406', async () => {
  expect(await post('other/add', [])).toMatchObject({ status: 200, body: Buffer.alloc(0) })
  expect(JSON.parse((await post('other/add', [], 'application/json')).body.toString())).toEqual({
    lines: 0,
    new: 0,
    seen: 0,
  })
  const refused = await post('other/add', [], 'image/png')
  expect([refused.status, refused.type]).toEqual([406, 'application/problem+json; charset=utf-8'])
})

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const head = (name: string, accept: string) =>
  `POST /v1/sieves/${name}/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nAccept: ${accept}\r\nTransfer-Encoding: chunked\r\n\r\n`

test('answers come while the request still arrives', async () => {
  const line = await dial(port)
  line.send(head(await fresh(), 'text/plain') + chunk('https://a/1\nhttps://a/'))
  await line.until(/200 OK.*https:\/\/a\/1\n/s)
  line.send(chunk('2\nhttps://a/1\n'))
  await line.until(/https:\/\/a\/2\n/)
  line.send(`${chunk('https://a/3')}0\r\n\r\n`)
  await line.until(/https:\/\/a\/3\n\r\n0\r\n\r\n$/)
  // The connection serves the next request.
  line.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await line.until(/ok\n$/)
})

test('headers come without a line to give back, too', async () => {
  const name = await fresh()
  await post(`${name}/add`, [Buffer.from('https://a/1\n')])
  const line = await dial(port)
  line.send(head(name, 'text/plain') + chunk('https://a/1\n'))
  expect(await line.until(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 200 OK/)
  line.send(`${chunk('https://a/2\n')}0\r\n\r\n`)
  await line.until(/https:\/\/a\/2\n\r\n0\r\n\r\n$/)
})

test('a reader that does not read holds the sender back, and loses nothing', async () => {
  const line = await dial(port)
  line.socket.pause()
  line.send(head(await fresh(), 'text/plain'))
  const batch = (i: number) =>
    Array.from({ length: 1000 }, (_, j) => `https://example.com/page/${i}/${j}/${'x'.repeat(60)}\n`).join('')
  const before = process.memoryUsage().rss
  let sent = 0
  // Both ends' socket buffers fill; then nothing moves any more.
  while (sent < 2000) {
    line.send(chunk(batch(sent++)))
    const held = line.socket.writableLength > 0 && (await isStuck(line.socket))
    if (held) break
  }
  expect(sent).toBeLessThan(1000) // of some 90 MB
  expect(process.memoryUsage().rss - before).toBeLessThan(200e6)
  line.send('0\r\n\r\n')
  line.socket.resume()
  await line.until(/\r\n0\r\n\r\n$/, 30_000)
  const found = line.text.match(/https:\/\/example\.com\/page\/\d+\/\d+\//g)!
  expect(new Set(found).size).toBe(sent * 1000)
})

test('what goes wrong before the first answer has its status', async () => {
  expect((await post('nope/add', [Buffer.from('x\n')])).status).toBe(404)
  const long = await post('other/add', [Buffer.alloc(2001, 'x')])
  expect(long.status).toBe(413)
  expect(JSON.parse(long.body.toString()).detail).toBe(
    'line 1 is longer than 2000 bytes: expected one URL per line',
  )
  const second = await post('other/add', [Buffer.from(`y\n${'x'.repeat(2001)}\nz\n`)])
  expect(JSON.parse(second.body.toString()).detail).toMatch(/^line 2 is longer than/)
  const third = await post('other/add', [Buffer.from(`y\nz\n${'x'.repeat(2001)}`)])
  expect(JSON.parse(third.body.toString()).detail).toMatch(/^line 3 is longer than/)
  expect((await post('other/add', [Buffer.alloc(2000, 'x')])).status).toBe(200)
})

test('a sender of lines that is refused hears why, however much it sends', async () => {
  const bytes = Buffer.alloc(3_000_000, 'https://example.com/a\n')
  for (const name of ['nope', 'nope', 'nope']) {
    expect(
      (
        await post(
          `${name}/add`,
          cuts(bytes, () => 60_000),
        )
      ).status,
    ).toBe(404)
  }
})

test('what goes wrong later ends the answer short; NDJSON says why', async () => {
  for (const accept of ['text/plain', 'application/x-ndjson']) {
    const line = await dial(port)
    line.send(head(await fresh(), accept) + chunk('https://a/1\n'))
    await line.until(/https:\/\/a\/1/)
    line.send(chunk('x'.repeat(2001)))
    const text = await line.ended
    expect(text).not.toMatch(/0\r\n\r\n$/)
    if (accept === 'text/plain') expect(text).not.toContain('413')
    else expect(text).toMatch(/"status":413,"detail":"line 2 is longer than 2000 bytes[^\n]*\n\r\n$/)
  }
})

test('a sender that does not end a line in time is given up: 408 at first, cut later', async () => {
  const name = 'drips'
  await hasty.registry.create(name, {})
  const drip = async (start: string) => {
    const line = await dial(hasty.port)
    line.send(head(name, 'text/plain') + start)
    const timer = setInterval(() => line.socket.writable && line.send(chunk('x')), 50)
    const text = await line.ended
    clearInterval(timer)
    return text
  }
  const [none, some] = await Promise.all([drip(''), drip(chunk('https://a/1\n'))])
  expect(none).toMatch(/^HTTP\/1.1 408 .*a line was incomplete after 400 ms/s)
  expect(some).toMatch(/^HTTP\/1.1 200 OK.*https:\/\/a\/1\n\r\n$/s)
})

test('a sender may pause between lines, longer than a line may take', async () => {
  const name = 'pauses'
  await hasty.registry.create(name, {})
  const line = await dial(hasty.port)
  line.send(head(name, 'text/plain') + chunk('https://a/1\n'))
  await new Promise((resolve) => setTimeout(resolve, 1000))
  line.send(chunk('https://a/'))
  await new Promise((resolve) => setTimeout(resolve, 100))
  line.send(`${chunk('2\n')}0\r\n\r\n`)
  await line.until(/https:\/\/a\/1\n.*https:\/\/a\/2\n\r\n0\r\n\r\n$/s)
})

test('a sender that goes away leaves what it sent marked', async () => {
  const name = await fresh()
  const line = await dial(port)
  line.send(head(name, 'text/plain') + chunk('https://a/1\nhttps://a/2\n'))
  await line.until(/https:\/\/a\/2/)
  line.socket.destroy()
  const again = await post(`${name}/add`, [Buffer.from('https://a/1\nhttps://a/2\nhttps://a/3\n')])
  expect(again.body.toString()).toBe('https://a/3\n')
})

test.each(['text/plain', 'application/x-ndjson', 'application/json'])(
  'a sieve dropped while lines come, and made again, ends the stream with an error (%s)',
  async (accept) => {
    const name = `dropped-${accept.length}`
    await registry.create(name, {})
    const client = await dial(port)
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    client.send(
      `POST /v1/sieves/${name}/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nAccept: ${accept}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    client.send(chunk('https://example.com/1\nhttps://example.com/2\n'))
    await client.until(/200 OK[\s\S]*\r\n\r\n/)
    await registry.drop(name)
    await registry.create(name, {})
    client.send(chunk('https://example.com/1\nhttps://example.com/3\n'))
    const text = await client.ended
    expect(text.endsWith('0\r\n\r\n')).toBe(false)
    expect(text).not.toContain('example.com/3')
    if (accept === 'application/x-ndjson')
      expect(text).toMatch(/"status":410,"detail":"the sieve 'dropped-\d+' was dropped/)
    expect(await registry.get(name)!.stats()).toMatchObject({ urls: 0, seen: 0 })
  },
)
