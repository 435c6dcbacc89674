// A connection that breaks in the middle of a body of lines: new lines that were not sent are not remembered.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import { afterEach, expect, test } from 'vitest'
import { HTTP_LIMITS, openHttp } from '../../../src/server/http/index.ts'
import { type LineAnswer, LineExchange } from '../../../src/server/http/lines.ts'
import { serverInfo } from '../../../src/server/info.ts'
import { LocalRegistry } from '../../../src/server/local-registry.ts'
import { until } from '../../redis/servers.ts'
import { itemsOf } from '../../support/items.mjs'
import { atEnd } from '../ends.ts'
import { defects, dial } from './served.ts'

afterEach(() => expect(defects).toEqual([]))

/** A response whose first writes leave, and no more. */
class Stuck extends Writable {
  readonly sent: string[] = []
  headersSent = false
  readonly #writes: number

  constructor(writes: number) {
    super({ highWaterMark: 1 })
    this.#writes = writes
    this.on('error', () => {})
  }

  writeHead() {
    this.headersSent = true
  }

  flushHeaders() {}

  override _write(chunk: Buffer, _: string, done: () => void) {
    if (this.sent.length === this.#writes) return
    this.sent.push(chunk.toString())
    done()
  }
}

async function cutAfter(writes: number, answer: LineAnswer): Promise<{ sent: string; forgotten: string[] }> {
  const request = Object.assign(new PassThrough(), { complete: false })
  const response = new Stuck(writes)
  const forgotten: string[] = []
  const exchange = new LineExchange(
    request as unknown as IncomingMessage,
    response as unknown as ServerResponse,
    HTTP_LIMITS,
    answer,
    {},
    serverInfo('0').unread,
    ({ bytes, starts, ends }) => {
      for (const [i, start] of starts.entries()) {
        forgotten.push(Buffer.from(bytes.subarray(start, ends[i])).toString())
      }
    },
  )
  const run = exchange.run(({ starts }) => Uint8Array.from(starts, (_, i) => Number(i > 0)))
  for (const chunk of ['old\na1\na2\n', 'old\nb1\n', 'old\nc1\n']) {
    request.write(chunk)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  request.destroy()
  response.destroy()
  expect(await run).toBeInstanceOf(Error)
  return { sent: response.sent.join(''), forgotten }
}

test.each([0, 1, 2])('after %i writes: the new lines of the others are forgotten, once', async (writes) => {
  const { sent, forgotten } = await cutAfter(writes, { as: 'text', keep: 'new' })
  const lines = sent.split('\n').filter(Boolean)
  expect(lines).toEqual(['a1', 'a2', 'b1'].slice(0, [0, 2, 3][writes]))
  // The next chunk is asked for only when the write before it has left.
  expect(forgotten).toEqual([['a1', 'a2'], ['b1'], ['c1']][writes])
})

test('counts and seen lines are not waited for', async () => {
  expect((await cutAfter(0, { as: 'counts' })).forgotten).toEqual([])
  expect((await cutAfter(0, { as: 'text', keep: 'seen' })).forgotten).toEqual([])
})

test('a client that reads nothing and resets: what stayed in the server is new again', async () => {
  const registry = await LocalRegistry.open({ memoryBytes: 256 * 1024 ** 2, mostSieves: 10 })
  const sieve = await registry.create('s', { profile: 'raw' })
  const { port, close } = await openHttp(registry, {
    host: '127.0.0.1',
    port: 0,
    limits: HTTP_LIMITS,
    server: serverInfo('0'),
    onDefect: (error) => defects.push(error),
  })
  atEnd(async () => {
    await close()
    await registry.close()
  })
  const client = await dial(port)
  client.socket.pause()
  client.send(
    'POST /v1/sieves/s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n',
  )
  const line = (i: number) => `https://a.example/${'x'.repeat(100)}/${i}`
  let lines = 0
  for (let last = -1; last !== sieve.meters.adds || client.socket.writableLength === 0; ) {
    last = sieve.meters.adds
    const body = Array.from({ length: 2000 }, () => `${line(lines++)}\n`).join('')
    client.send(`${body.length.toString(16)}\r\n${body}\r\n`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { fresh } = sieve.meters
  client.socket.resetAndDestroy()
  await until('it is forgotten', async () => (await sieve.stats()).urls < fresh)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const { urls } = await sieve.stats()
  const all = Array.from({ length: fresh }, (_, i) => line(i))
  const held = await sieve.has(itemsOf(all))
  // Those that are remembered are the first ones, whose answers the system had taken.
  expect(held.lastIndexOf(1)).toBe(urls - 1)
})
