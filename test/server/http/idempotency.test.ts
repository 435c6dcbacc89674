// The header Idempotency-Key: a request whose answer was lost is answered as the first time.
import { afterEach, expect, test } from 'vitest'
import { startProxy } from '../../redis/proxy.ts'
import { until } from '../../redis/servers.ts'
import { atEnd } from '../ends.ts'
import { defects, dial, listening } from './served.ts'

afterEach(() => expect(defects).toEqual([]))

type Sent = { body?: unknown; key?: string; method?: string; headers?: Record<string, string> }

async function asker(given: Parameters<typeof listening>[0] = {}) {
  const server = await listening(given)
  await server.registry.create('s', {})
  const ask = async (path: string, { body, key, method = 'POST', headers = {} }: Sent = {}) => {
    const response = await fetch(`${server.url}/v1/sieves/${path}`, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
        }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...headers,
      },
    })
    const text = await response.text()
    const isAgain = response.headers.get('idempotency-replayed') === 'true'
    return { status: response.status, json: text && JSON.parse(text), isAgain }
  }
  return { ...server, ask }
}

test('an add whose connection is cut after it was executed: the repetition has the first verdicts', async () => {
  const { port, registry, info, ask } = await asker()
  registry.slow = true
  const line = await startProxy(port)
  atEnd(() => line.stop())
  const body = '{"urls":["https://a/1","https://a/2","https://a/1"]}'
  const client = await dial(line.port)
  line.loseAnswers()
  client.send(
    `POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: k1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await until('it was executed', async () => info.repeated.count === 1)
  line.cut()
  await client.ended
  const again = await ask('s/add', { body: JSON.parse(body), key: 'k1' })
  expect(again).toEqual({
    status: 200,
    isAgain: true,
    json: { verdicts: ['new', 'new', 'seen'], new: 2, seen: 1 },
  })
  expect((await ask('s/add', { body: JSON.parse(body), key: 'k2' })).json.new).toBe(0)
  expect((await ask('s/add', { body: JSON.parse(body) })).json.new).toBe(0)
})

test('a connection that is cut while the add is under way: the repetition waits for its verdicts', async () => {
  const { port, registry, info, ask } = await asker()
  const sieve = registry.sieves.get('s')!
  const { add } = sieve
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  let adds = 0
  sieve.add = async (items) => {
    adds++
    await gate
    return add(items)
  }
  const body = '{"urls":["https://a/1"]}'
  const client = await dial(port)
  client.send(
    `POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await until('it has begun', async () => adds === 1)
  client.socket.destroy()
  await client.ended
  const again = ask('s/add', { body: JSON.parse(body), key: 'k' })
  expect((await ask('s/add', { body: { urls: ['https://a/2'] }, key: 'k' })).status).toBe(422)
  go()
  expect(await again).toMatchObject({ status: 200, isAgain: true, json: { new: 1 } })
  expect([adds, info.repeated.repeated]).toEqual([1, 1])
})

test('creating, forgetting, saving and dropping are answered as the first time', async () => {
  const { ask, registry } = await asker()
  const twice = async (path: string, sent: Sent) => [await ask(path, sent), await ask(path, sent)]
  const [made, again] = await twice('t', { method: 'PUT', body: {}, key: 'a' })
  expect([made!.status, again!.status, again!.isAgain]).toEqual([201, 201, true])
  await ask('t/add', { body: { urls: ['https://a/'] } })
  const [forgot, still] = await twice('t/forget', { body: { urls: ['https://a/'] }, key: 'b' })
  expect([forgot!.json, still!.json]).toEqual([{ forgotten: [true], count: 1 }, forgot!.json])
  await twice('t/save', { key: 'c' })
  expect(registry.saved).toBe(1)
  const [dropped, gone] = await twice('t', { method: 'DELETE', key: 'd' })
  expect([dropped!.status, gone!.status]).toEqual([204, 204])
})

test('another request under the same key is 422; lines, empty and long keys are 400', async () => {
  const { ask } = await asker()
  const body = { urls: ['https://a/'] }
  expect((await ask('s/add', { body, key: 'k' })).status).toBe(200)
  for (const [path, sent] of [
    ['s/add', { body: { urls: ['https://b/'] } }],
    ['s/add?keep=seen', { body }],
    ['s/forget', { body }],
  ] as const) {
    const refused = await ask(path, { ...sent, key: 'k' })
    expect([refused.status, refused.json.detail]).toEqual([
      422,
      expect.stringMatching(/^this Idempotency-Key was used/),
    ])
  }
  expect((await ask('s/add', { body: 'https://c/\n', key: 'l' })).json.detail).toMatch(
    /^Idempotency-Key with lines/,
  )
  expect((await ask('s/add', { body, key: 'x'.repeat(256) })).status).toBe(400)
  expect((await ask('s/has', { body, key: 'k' })).isAgain).toBe(false)
})

test('a refused request is executed again, and its key is not spent', async () => {
  const { ask, registry } = await asker()
  const body = { urls: ['https://a/'] }
  expect((await ask('none/add', { body, key: 'k' })).status).toBe(404)
  await registry.create('none', {})
  expect(await ask('none/add', { body, key: 'k' })).toMatchObject({
    status: 200,
    isAgain: false,
    json: { new: 1 },
  })
})

test('nobody gets the answer of another credential', async () => {
  const { url, registry } = await listening({ password: 'p' })
  await registry.create('s', {})
  const add = async (user: string) => {
    const response = await fetch(`${url}/v1/sieves/s/add`, {
      method: 'POST',
      body: '{"urls":["https://a/"]}',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': 'k',
        authorization: `Basic ${Buffer.from(`${user}:p`).toString('base64')}`,
      },
    })
    return ((await response.json()) as { new: number }).new
  }
  expect([await add('one'), await add('one'), await add('other')]).toEqual([1, 1, 0])
})
