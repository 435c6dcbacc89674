// Each limit of a connection has its error, and a client that does not read, or does not finish, costs little.
import { describe, expect, it } from 'vitest'
import { encoded, plain, type Raw } from './raw.ts'
import { served } from './serving.ts'

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until it is so. */
async function until(isSo: () => boolean, ms = 5000): Promise<void> {
  const end = performance.now() + ms
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come')
    await later(5)
  }
}

/** Writes until the server takes no more for a while; gives the bytes written, and those it took. */
async function flooded(
  client: Raw,
  bytes: Buffer,
  most: number,
): Promise<{ written: number; taken: number }> {
  let written = 0
  while (written < most) {
    client.write(bytes)
    written += bytes.length
    if (client.socket.writableLength > 0) await later(1)
    if (client.socket.writableLength > 8 * 1024 ** 2) break
  }
  await later(300)
  return { written, taken: written - client.socket.writableLength }
}

describe('limits of what is sent', () => {
  it('bytes of an item', async () => {
    const server = await served({ limits: { itemBytes: 1000 } })
    const client = await server.connect()
    expect(await client.ask('BF.ADD', 'k', 'x'.repeat(1000))).toBe(1)
    expect(await client.ask('BF.ADD', 'k', 'x'.repeat(1001))).toBe(
      '!ERR an item of 1001 bytes: expected at most 1000 (--max-item-bytes)',
    )
    await client.closed()
    // Also in the quick way of a pipeline: those before it are answered.
    const other = await server.connect()
    other.write(Buffer.concat(['a', 'b', 'y'.repeat(1001), 'c'].map((item) => encoded('BF.ADD', 'k', item))))
    expect([await other.read(), await other.read(), await other.read()].map(plain)).toEqual([
      1,
      1,
      '!ERR an item of 1001 bytes: expected at most 1000 (--max-item-bytes)',
    ])
    await other.closed()
    expect(await (await server.connect()).ask('BF.CARD', 'k')).toBe(3)
  })

  it('items of a command', async () => {
    const server = await served({ limits: { commandItems: 10 } })
    const client = await server.connect()
    const items = Array.from({ length: 9 }, (_, i) => `i${i}`)
    expect(await client.ask('BF.MADD', 'k', ...items.slice(0, 8))).toHaveLength(8)
    expect(await client.ask('BF.MADD', 'k', ...items)).toBe(
      '!ERR a command of 11 arguments: expected at most 10 (--max-items)',
    )
    await client.closed()
  })

  it('bytes of a command that waits for its end', async () => {
    const server = await served({ limits: { bufferedBytes: 100_000, itemBytes: 50_000 } })
    const client = await server.connect()
    expect(await client.ask('BF.MADD', 'k', 'x'.repeat(49_000), 'y'.repeat(49_000))).toEqual([1, 1])
    client.write(
      Buffer.from(`*9\r\n$7\r\nBF.MADD\r\n$1\r\nk\r\n${`$50000\r\n${'z'.repeat(50_000)}\r\n`.repeat(3)}`),
    )
    expect(plain(await client.read())).toBe('!ERR a command of more than 100000 bytes (--max-buffered)')
    await client.closed()
  })

  it('and of all connections together', async () => {
    const server = await served({ limits: { allBufferedBytes: 200_000 } })
    const half = `*3\r\n$7\r\nBF.MADD\r\n$1\r\nk\r\n$90000\r\n${'x'.repeat(80_000)}`
    const [one, two, three] = [await server.connect(), await server.connect(), await server.connect()]
    for (const client of [one, two]) {
      client.write(half)
      await later(50)
    }
    three.write(half)
    expect(plain(await three.read())).toMatch(
      /^!ERR incomplete commands of all connections exceed 200000 bytes/,
    )
    await three.closed()
    // What is whole is done all the same, and when others are done there is room again.
    expect(await (await server.connect()).ask('BF.ADD', 'k', 'y'.repeat(90_000))).toBe(1)
    one.write(`${'x'.repeat(10_000)}\r\n`)
    expect(plain(await one.read())).toEqual([1])
    two.close()
    await until(() => server.info.connections.resp === 2)
    for (let i = 0; i < 5; i++) {
      const late = await server.connect()
      late.write(half)
      await later(20)
      late.write(`${'x'.repeat(10_000)}\r\n`)
      expect(plain(await late.read())).toEqual([0])
    }
  })

  it('commands behind one that is not done wait outside', async () => {
    const server = await served()
    const create = server.registry.create.bind(server.registry)
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    server.registry.create = async (...asked) => {
      await gate
      return create(...asked)
    }
    const client = await server.connect()
    client.write(encoded('SIEVE.CREATE', 's'))
    await later(20)
    const echo = encoded('ECHO', 'x'.repeat(100))
    const { taken } = await flooded(
      client,
      Buffer.concat(Array.from({ length: 500 }, () => echo)),
      64 * 1024 ** 2,
    )
    // What the system's own buffers hold, and little more.
    expect(taken).toBeLessThan(16 * 1024 ** 2)
    expect(await (await server.connect()).ask('PING')).toBe('PONG')
    go()
    expect(plain(await client.read())).toBe('OK')
    for (let i = 0; i < 5000; i++) expect(plain(await client.read())).toBe('x'.repeat(100))
  })

  it('connections', async () => {
    const server = await served({ limits: { connections: 3 } })
    const clients = [await server.connect(), await server.connect(), await server.connect()]
    for (const client of clients) expect(await client.ask('PING')).toBe('PONG')
    const late = await server.connect()
    expect(plain(await late.read())).toBe('!ERR max number of clients reached: 3 (--max-connections)')
    await late.closed()
    expect(server.info.refused).toBe(1)
    clients[0]!.close()
    await until(() => server.info.connections.resp === 2)
    expect(await (await server.connect()).ask('PING')).toBe('PONG')
  })

  it('connections without the password give way to others, the oldest first', async () => {
    const server = await served({ limits: { connections: 3 }, password: 'p' })
    const trusted = await server.connect()
    expect(await trusted.ask('AUTH', 'p')).toBe('OK')
    const strangers = [await server.connect(), await server.connect()]
    for (const stranger of strangers) expect(await stranger.ask('PING')).toMatch(/^!NOAUTH/)
    const next = await server.connect()
    await strangers[0]!.closed()
    expect(await next.ask('AUTH', 'p')).toBe('OK')
    const last = await server.connect()
    await strangers[1]!.closed()
    expect(await last.ask('AUTH', 'p')).toBe('OK')
    expect(server.info).toMatchObject({ refused: 2, connections: { resp: 3 } })
    // All are trusted: as before.
    const late = await server.connect()
    expect(plain(await late.read())).toBe('!ERR max number of clients reached: 3 (--max-connections)')
    expect(await trusted.ask('PING')).toBe('PONG')
  })

  it('memory and number of sieves, as replies', async () => {
    const server = await served({ registry: { memoryBytes: 4 * 1024 ** 2, mostSieves: 3 } })
    const client = await server.connect()
    expect(await client.ask('BF.RESERVE', 'big', '0.01', '100000000')).toMatch(
      /^!OOM no memory to create this sieve: /,
    )
    expect(await client.ask('SIEVE.CREATE', 's', 'PROFILE', 'raw')).toBe('OK')
    let answer: unknown
    for (let i = 0; i < 2000 && !String(answer).startsWith('!'); i++) {
      answer = await client.ask('SIEVE.ADD', 's', ...Array.from({ length: 500 }, (_, j) => `u${i}-${j}`))
    }
    expect(answer).toMatch(/^!OOM no memory to add to 's': /)
    expect(await client.ask('SIEVE.HAS', 's', 'u0-0', 'nope')).toEqual([1, 0])
    expect(await client.ask('DEL', 's')).toBe(1)
    for (const name of ['a', 'b', 'c']) expect(await client.ask('SIEVE.CREATE', name)).toBe('OK')
    expect(await client.ask('BF.ADD', 'd', 'x')).toBe(
      '!OOM there are 3 sieves, the most allowed (--max-sieves): drop one',
    )
  })
})

describe('a client that does not read', () => {
  it('is not read either, costs little, and gets all its replies when it reads again', async () => {
    const unreadBytes = 64 * 1024
    const server = await served({ limits: { unreadBytes } })
    const client = await server.connect()
    client.socket.pause()
    const echo = encoded('ECHO', 'x'.repeat(1000))
    const before = process.memoryUsage().rss
    const { written, taken } = await flooded(
      client,
      Buffer.concat(Array.from({ length: 100 }, () => echo)),
      256 * 1024 ** 2,
    )
    expect(taken).toBeLessThan(32 * 1024 ** 2)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2)
    // Others are served meanwhile.
    expect(await (await server.connect()).ask('PING')).toBe('PONG')
    client.socket.resume()
    for (let i = 0; i < written / echo.length; i++)
      expect((plain(await client.read()) as string).length).toBe(1000)
  })

  it('with long replies to short commands either', async () => {
    const server = await served({ limits: { unreadBytes: 64 * 1024 } })
    const client = await server.connect()
    client.socket.pause()
    client.write('INFO\n'.repeat(40_000))
    await later(300)
    // 40,000 replies are some 25 MB: what is not in the system's buffers is not made yet.
    expect(server.info.answered.resp).toBeLessThan(40_000)
    client.socket.resume()
    for (let i = 0; i < 40_000; i++) {
      const answer = plain(await client.read()) as string
      if (!answer.startsWith('# Server')) expect.fail(answer)
    }
  })

  it('with replies that take so long that other clients are served in between either', async () => {
    const server = await served()
    const [client, other] = [await server.connect(), await server.connect()]
    const sentBytes = async () =>
      Number(/total_net_output_bytes:(\d+)/.exec((await other.ask('INFO')) as string)![1])
    await client.ask('COMMAND', 'DOCS')
    const replyBytes = await sentBytes()
    const most = 20e6 // the limit, the replies of a turn and the buffers of the system; all replies are 30 MB
    const replies = Math.ceil(30e6 / replyBytes)
    client.socket.pause()
    client.write('COMMAND DOCS\n'.repeat(replies))
    // Until only the replies to INFO are added.
    for (let before = 0, now = replyBytes; now - before >= replyBytes; ) {
      await later(200)
      ;[before, now] = [now, await sentBytes()]
      expect(now).toBeLessThan(most)
    }
    client.socket.resume()
    for (let i = 0; i < replies; i++) await client.read()
    expect(await sentBytes()).toBeGreaterThan(30e6)
  })

  it('and never will is let go', async () => {
    const server = await served({ limits: { unreadBytes: 64 * 1024, stalledMs: 200 } })
    const client = await server.connect()
    client.socket.pause()
    const echo = encoded('ECHO', 'x'.repeat(10_000))
    client.write(Buffer.concat(Array.from({ length: 1000 }, () => echo)))
    await until(() => server.info.connections.resp === 0)
    expect(server.logged.join('\n')).toMatch(/info timeout/)
  })
})

describe('a connection on which nothing moves', () => {
  it('ends after the idle time; one that speaks does not', async () => {
    const server = await served({ limits: { idleMs: 250 } })
    const [idle, busy] = [await server.connect(), await server.connect()]
    const started = performance.now()
    let isOver = false
    void idle.closed().then(() => {
      isOver = true
    })
    while (!isOver) {
      expect(await busy.ask('PING')).toBe('PONG')
      await later(20)
      expect(performance.now() - started).toBeLessThan(5000)
    }
    expect(performance.now() - started).toBeGreaterThan(200)
    expect(await busy.ask('PING')).toBe('PONG')
  })

  it('ends sooner when a command is half sent', async () => {
    const server = await served({ limits: { stalledMs: 200 } })
    const [half, whole] = [await server.connect(), await server.connect()]
    half.write('*2\r\n$4\r\nECHO\r\n$10\r\nab')
    expect(await whole.ask('PING')).toBe('PONG')
    await half.closed()
    expect(await whole.ask('PING')).toBe('PONG')
  })

  it('ends sooner when it does not say the password', async () => {
    const server = await served({ password: 'secret', limits: { stalledMs: 200 } })
    const [silent, known] = [await server.connect(), await server.connect()]
    expect(await known.ask('AUTH', 'secret')).toBe('OK')
    await silent.closed()
    expect(await known.ask('PING')).toBe('PONG')
  })
})

describe('a password', () => {
  it('is needed for everything but saying it', async () => {
    const server = await served({ password: 'secret' })
    const client = await server.connect()
    const no = '!NOAUTH Authentication required.'
    for (const words of [
      ['PING'],
      ['BF.ADD', 'k', 'a'],
      ['SIEVE.CREATE', 's'],
      ['INFO'],
      ['COMMAND'],
      ['NOPE'],
      ['CLIENT', 'LIST'],
      ['DEL', 'k'],
    ]) {
      expect(await client.ask(...words)).toBe(no)
    }
    const wrong = '!WRONGPASS invalid username-password pair or user is disabled.'
    expect(await client.ask('AUTH', 'wrong')).toBe(wrong)
    expect(await client.ask('AUTH', 'other', 'secret')).toBe(wrong)
    expect(await client.ask('HELLO', '3')).toMatch(/^!NOAUTH HELLO must be called/)
    expect(await client.ask('HELLO', '3', 'AUTH', 'default', 'wrong')).toBe(wrong)
    expect(await client.ask('PING')).toBe(no)
    expect(await client.ask('HELLO', '3', 'AUTH', 'default', 'secret')).toBeInstanceOf(Map)
    expect(await client.ask('BF.ADD', 'k', 'a')).toBe(true)
    expect(await client.ask('RESET')).toBe('RESET')
    expect(await client.ask('BF.ADD', 'k', 'a')).toBe(no)
    expect(await client.ask('AUTH', 'default', 'secret')).toBe('OK')
    expect(await client.ask('BF.ADD', 'k', 'a')).toBe(0)
    expect(server.registry.list().map(({ name }) => name)).toEqual(['k'])
    expect(server.logged.join('\n')).not.toMatch(/secret/)
  })

  it('who has not said it may not send much', async () => {
    const server = await served({ password: 'secret' })
    const long = await server.connect()
    expect(await long.ask('AUTH', 'x'.repeat(20_000))).toBe(
      '!ERR an item of 20000 bytes: expected at most 16384 (--max-item-bytes)',
    )
    await long.closed()
    const many = await server.connect()
    expect(await many.ask('AUTH', ...new Array(30).fill('x'))).toBe(
      '!ERR a command of 31 arguments: expected at most 16 (--max-items)',
    )
    await many.closed()
    const known = await server.connect()
    known.write(
      Buffer.concat([
        encoded('AUTH', 'secret'),
        encoded('BF.ADD', 'k', 'x'.repeat(20_000)),
        encoded('BF.MADD', 'k', ...new Array(30).fill('x')),
      ]),
    )
    expect([await known.read(), await known.read()].map(plain)).toEqual(['OK', 1])
    expect(plain(await known.read())).toHaveLength(30)
  })
})
