// The command: how it starts, what it refuses, how it stops; and that nothing acknowledged is lost, also with kill -9.
// 2 kills of each kind; URLSIEVE_FULL=1: 100.

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { expectFailure, urlsieve } from '../e2e/command.ts'
import { randomFrom } from '../support/random.mjs'
import { started } from './process.ts'
import { encoded, plain, type Raw } from './raw.ts'
import { folder } from './serving.ts'

const KILLS = process.env.URLSIEVE_FULL === '1' ? 100 : 2
const WRITERS = 50

describe('starting', () => {
  it('says in one line where it is, and has one registry behind both listeners', async () => {
    const server = await started([])
    expect(JSON.parse(server.output().trim())).toMatchObject({
      level: 'info',
      event: 'listening',
      host: '127.0.0.1',
      resp: server.port,
      http: server.httpPort,
      sieves: 0,
      pid: server.child.pid,
    })
    expect((await fetch(`http://127.0.0.1:${server.httpPort}/healthz`)).status).toBe(200)
    const client = await server.connect()
    expect(await client.ask('SIEVE.CREATE', 'both')).toBe('OK')
    expect(await client.ask('SIEVE.ADD', 'both', 'https://example.com/a')).toEqual([1])
    const added = await fetch(`http://127.0.0.1:${server.httpPort}/v1/sieves/both/add`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ urls: ['http://example.com/a', 'http://example.com/b'] }),
    })
    expect(await added.json()).toMatchObject({ verdicts: ['seen', 'new'] })
    expect(await client.ask('SIEVE.HAS', 'both', 'https://example.com/b')).toEqual([1])
    client.close()
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
    const lines = server
      .output()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event)
    expect(lines).toEqual(['listening', 'stopping', 'stopped'])
  })

  it('refuses to listen beyond this machine without a password', async () => {
    expectFailure(
      await urlsieve(['serve', '--host', '0.0.0.0', '--port', '0']),
      2,
      /--host 0\.0\.0\.0 is beyond this machine and there is no password/,
    )
    expectFailure(await urlsieve(['serve', '--host', '::', '--port', '0']), 2, /beyond this machine/)
    expectFailure(await urlsieve(['serve', '--password', '']), 2, /the password is empty/)
    const server = await started(['--host', '0.0.0.0'], { URLSIEVE_PASSWORD: 'secret' })
    const client = await server.connect()
    expect(await client.ask('PING')).toBe('!NOAUTH Authentication required.')
    expect(await client.ask('AUTH', 'secret')).toBe('OK')
    expect(await client.ask('PING')).toBe('PONG')
    expect(server.output()).not.toMatch(/secret/)
    client.close()
    server.child.kill('SIGINT')
    expect(await server.ended()).toBe(0)
  })

  it('says what cannot be', async () => {
    expectFailure(await urlsieve(['serve', '--port', '70000']), 2, /--port '70000': expected a port/)
    expectFailure(await urlsieve(['serve', '--idle-timeout', '5']), 2, /--idle-timeout '5': expected a time/)
    expectFailure(await urlsieve(['serve', '--memory', 'x']), 2, /--memory 'x': expected a size/)
    expectFailure(
      await urlsieve(['serve', '--data', '/dev/null/x', '--port', '0', '--http', '0']),
      4,
      /cannot write \/dev\/null\/x/,
    )
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    expectFailure(
      await urlsieve(['serve', '--port', String(port), '--no-http']),
      3,
      /cannot listen on 127\.0\.0\.1:\d+: the port is in use/,
    )
    expectFailure(await urlsieve(['serve', '--port', '0', '--http', String(port)]), 3, /the port is in use/)
    taken.close()
  })

  it('takes the limits of HTTP from its flags', async () => {
    const server = await started(['--http-max-body', '100', '--http-max-headers', '1k', '--max-items', '2'])
    const ask = (urls: string[], headers = {}) =>
      fetch(`http://127.0.0.1:${server.httpPort}/v1/sieves/s/add`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ urls }),
      })
    await fetch(`http://127.0.0.1:${server.httpPort}/v1/sieves/s`, { method: 'PUT' })
    expect((await ask(['https://a/'])).status).toBe(200)
    expect((await ask(['x'.repeat(200)])).status).toBe(413)
    expect((await ask(['a', 'b', 'c'])).status).toBe(413)
    expect((await ask(['a'], { 'x-long': 'x'.repeat(2000) })).status).toBe(431)
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })

  it('takes its limits from its flags', async () => {
    const flags = [
      '--no-http',
      '--max-item-bytes',
      '100',
      '--max-items',
      '10',
      '--max-connections',
      '3',
      '--max-sieves',
      '1',
      '--memory',
      '2M',
      '--max-buffered',
      '1k',
      '--max-unread',
      '1k',
      '--stalled-timeout',
      '1s',
      '--idle-timeout',
      '2s',
    ]
    const server = await started(flags)
    expect(server.httpPort).toBeUndefined()
    const client = await server.connect()
    expect(await client.ask('BF.ADD', 'k', 'a')).toBe(1)
    expect(await client.ask('BF.ADD', 'l', 'a')).toMatch(/--max-sieves/)
    expect(await client.ask('CONFIG', 'GET', 'max*')).toEqual([
      'maxclients',
      '3',
      'maxmemory',
      String(2 * 1024 ** 2),
      'maxmemory-policy',
      'noeviction',
    ])
    const other = await server.connect()
    expect(await other.ask('ECHO', 'x'.repeat(101))).toMatch(/--max-item-bytes/)
    await other.closed()
    const third = await server.connect()
    expect(await third.ask('BF.MADD', 'k', ...'abcdefghij')).toMatch(/--max-items/)
    await third.closed()
    await client.closed() // idle
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})

/** Adds items of its own, some batches at a time, until the connection ends; gives those acknowledged. */
async function writeUntilEnd(
  client: Raw,
  own: string,
  isBloom: boolean,
  onAnswer: () => void,
): Promise<string[]> {
  const acknowledged: string[] = []
  const name = isBloom ? 'bloom' : 'sieve'
  try {
    for (let i = 0; ; i++) {
      const batches = Array.from({ length: 4 }, (_, j) =>
        Array.from({ length: 25 }, (_, k) => `https://example.com/${own}/${i}/${j}/${k}`),
      )
      client.write(
        Buffer.concat(batches.map((batch) => encoded(isBloom ? 'BF.MADD' : 'SIEVE.ADD', name, ...batch))),
      )
      for (const batch of batches) {
        const answers = plain(await client.read()) as number[]
        expect(answers).toHaveLength(25)
        acknowledged.push(...batch)
        onAnswer()
      }
    }
  } catch (error) {
    expect(String(error)).toMatch(/the connection ended/)
  }
  return acknowledged
}

async function missing(client: Raw, isBloom: boolean, items: readonly string[]): Promise<number> {
  let gone = 0
  for (let at = 0; at < items.length; at += 5000) {
    const answers = await client.ask(
      isBloom ? 'BF.MEXISTS' : 'SIEVE.HAS',
      isBloom ? 'bloom' : 'sieve',
      ...items.slice(at, at + 5000),
    )
    gone += (answers as number[]).filter((answer) => answer !== 1).length
  }
  return gone
}

async function prepare(client: Raw): Promise<void> {
  expect(['OK', '!ERR item exists']).toContain(await client.ask('BF.RESERVE', 'bloom', '0.000001', '100000'))
  if ((await client.ask('EXISTS', 'sieve')) === 0)
    expect(await client.ask('SIEVE.CREATE', 'sieve')).toBe('OK')
}

describe('nothing acknowledged is lost', () => {
  it.for(['interval', 'always'])(
    `kill -9 under load, ${KILLS} times, durability %s`,
    { timeout: 1_800_000 },
    async (durability) => {
      const data = folder()
      const random = randomFrom(durability.length)
      const held = { bloom: [] as string[], sieve: [] as string[] }
      for (let kill = 0; kill < KILLS; kill++) {
        const server = await started(['--no-http', '--data', data, '--durability', durability])
        const asker = await server.connect()
        if (kill > 0) {
          expect(await missing(asker, true, held.bloom), `after kill ${kill}`).toBe(0)
          expect(await missing(asker, false, held.sieve), `after kill ${kill}`).toBe(0)
        }
        await prepare(asker)
        let answers = 0
        const limit = 20 + Math.floor(random() * 300)
        const onAnswer = () => {
          if (++answers === limit) server.child.kill('SIGKILL')
        }
        const clients = await Promise.all(Array.from({ length: 6 }, () => server.connect()))
        const done = await Promise.all(
          clients.map((client, i) => writeUntilEnd(client, `${kill}-${i}`, i % 2 === 0, onAnswer)),
        )
        expect(await server.ended()).toBe('SIGKILL')
        for (const [i, some] of done.entries()) held[i % 2 === 0 ? 'bloom' : 'sieve'].push(...some)
      }
      const server = await started(['--no-http', '--data', data])
      const client = await server.connect()
      expect(await missing(client, true, held.bloom)).toBe(0)
      expect(await missing(client, false, held.sieve)).toBe(0)
      expect(held.bloom.length + held.sieve.length).toBeGreaterThan(KILLS * 500)
      // It is not that it says "seen" of everything.
      expect(await missing(client, false, ['https://example.com/never'])).toBe(1)
      client.close()
      server.child.kill('SIGTERM')
      expect(await server.ended()).toBe(0)
    },
  )

  it('SIGTERM under load: what came is answered, what was answered is there, exit code 0', async () => {
    const data = folder()
    const server = await started(['--data', data])
    await prepare(await server.connect())
    let answers = 0
    const onAnswer = () => {
      if (++answers === 300) server.child.kill('SIGTERM')
    }
    const clients = await Promise.all(Array.from({ length: 6 }, () => server.connect()))
    const done = await Promise.all(
      clients.map((client, i) => writeUntilEnd(client, String(i), i % 2 === 0, onAnswer)),
    )
    expect(await server.ended()).toBe(0)
    expect(server.output()).toMatch(/"stopped"/)
    const again = await started(['--data', data])
    const client = await again.connect()
    for (const [i, some] of done.entries()) expect(await missing(client, i % 2 === 0, some)).toBe(0)
    again.child.kill('SIGTERM')
    expect(await again.ended()).toBe(0)
  })

  it('a client that does not go does not keep the server from stopping', async () => {
    const server = await started(['--no-http'])
    const client = await server.connect()
    client.socket.pause()
    client.write('COMMAND DOCS\n'.repeat(20_000))
    expect(await (await server.connect()).ask('PING')).toBe('PONG')
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})

describe('many writers at once', () => {
  it(`${WRITERS} that add overlapping URLs: each URL is new exactly once`, async () => {
    const server = await started(['--no-http'])
    const first = await server.connect()
    await first.ask('SIEVE.CREATE', 'sieve', 'PROFILE', 'raw')
    await first.ask('BF.RESERVE', 'bloom', '1e-9', '100000')
    const urls = Array.from({ length: 5000 }, (_, i) => `https://example.com/page/${i}`)
    for (const [command, name] of [
      ['SIEVE.ADD', 'sieve'],
      ['BF.MADD', 'bloom'],
    ] as const) {
      const news = new Map<string, number>()
      const write = async (writer: number) => {
        const client = await server.connect()
        const random = randomFrom(writer)
        // Each takes a tenth of all, in an order of its own: every URL comes from about five of them.
        const mine = urls.filter(() => random() < 0.1).sort(() => random() - 0.5)
        for (let at = 0; at < mine.length; at += 100) {
          const batch = mine.slice(at, at + 100)
          client.write(
            Buffer.concat([
              encoded(command, name, ...batch.slice(0, 60)),
              encoded(command, name, ...batch.slice(60), 'same'),
            ]),
          )
          const answers = [
            ...(plain(await client.read()) as number[]),
            ...(plain(await client.read()) as number[]),
          ]
          for (const [i, url] of [...batch, 'same'].entries()) {
            if (answers[i] === 1) news.set(url, (news.get(url) ?? 0) + 1)
          }
        }
        client.close()
        return mine
      }
      const all = await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)))
      const sent = new Set([...all.flat(), 'same'])
      expect(all.flat().length).toBeGreaterThan(4 * sent.size)
      expect([...news.values()].filter((times) => times !== 1)).toEqual([])
      expect(news.size).toBe(sent.size)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})
