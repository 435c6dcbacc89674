// MULTI, EXEC, DISCARD, WATCH, UNWATCH: Redis' replies and words, all or nothing, and nothing before EXEC. And SELECT: no
// command is done in another database than the one a client asked for.
import { afterEach, describe, expect, it } from 'vitest'
import { encoded, plain, type Raw } from './raw.ts'
import { fresh, pair, type Served, type Setting, served } from './serving.ts'
import { answeringLater } from './slow-registry.ts'

const ABORTED = '!EXECABORT Transaction discarded because of previous errors.'

async function asked(client: Raw, lines: readonly (readonly string[])[]): Promise<unknown[]> {
  client.write(Buffer.concat(lines.map((words) => encoded(...words))))
  const replies: unknown[] = []
  for (const _ of lines) replies.push(plain(await client.read()))
  return replies
}

const { server, two, three } = await pair()

describe.each([
  ['RESP2', two, 1, 0],
  ['RESP3', three, true, false],
] as const)('%s', (_, client, yes, no) => {
  it('does what was queued, in order, at EXEC and not before', async () => {
    const [bloom, sieve] = [fresh(), fresh()]
    const other = await server.connect()
    expect(await client.ask('MULTI')).toBe('OK')
    const queued = await asked(client, [
      ['BF.ADD', bloom, 'a'],
      ['BF.ADD', bloom, 'a'],
      ['BF.MADD', bloom, 'a', 'b'],
      ['SIEVE.CREATE', sieve],
      ['SIEVE.ADD', sieve, 'http://a.example/', 'https://A.example/#x'],
      ['BF.ADD', sieve, 'x'],
      ['BF.EXISTS', bloom, 'b'],
      ['PING'],
    ])
    expect(queued).toEqual(queued.map(() => 'QUEUED'))
    expect(await other.ask('EXISTS', bloom, sieve)).toBe(0)
    expect(await client.ask('EXEC')).toEqual([
      yes,
      no,
      [no, yes],
      'OK',
      [yes, no],
      '!WRONGTYPE Operation against a key holding the wrong kind of value',
      yes,
      'PONG',
    ])
    expect(await client.ask('BF.CARD', bloom)).toBe(2)
  })

  it('does nothing when a queued command was refused', async () => {
    const name = fresh()
    const wrong: readonly (readonly string[])[] = [['NOPE'], ['BF.ADD', name], ['EXEC', 'x']]
    for (const words of wrong) {
      const replies = await asked(client, [['MULTI'], ['BF.ADD', name, 'a'], words])
      expect(replies.slice(0, 2)).toEqual(['OK', 'QUEUED'])
      if (words[0] === 'EXEC') {
        expect(replies[2]).toBe(
          "!EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command",
        )
      } else {
        expect(replies[2]).toMatch(/^!ERR (unknown command|wrong number)/)
        expect(await asked(client, [['BF.ADD', name, 'b'], ['EXEC']])).toEqual(['QUEUED', ABORTED])
      }
      expect(await asked(client, [['EXEC'], ['EXISTS', name]])).toEqual(['!ERR EXEC without MULTI', 0])
    }
  })

  it('has the words of Redis for what is out of order, and goes on', async () => {
    const name = fresh()
    expect(
      await asked(client, [
        ['EXEC'],
        ['DISCARD'],
        ['MULTI'],
        ['MULTI'],
        ['WATCH', name],
        ['UNWATCH'],
        ['BF.ADD', name, 'a'],
        ['EXEC'],
        ['MULTI'],
        ['EXEC'],
        ['MULTI'],
        ['BF.ADD', name, 'b'],
        ['DISCARD'],
        ['BF.EXISTS', name, 'b'],
      ]),
    ).toEqual([
      '!ERR EXEC without MULTI',
      '!ERR DISCARD without MULTI',
      'OK',
      '!ERR MULTI calls can not be nested',
      '!ERR WATCH inside MULTI is not allowed',
      'QUEUED',
      'QUEUED',
      ['OK', yes],
      'OK',
      [],
      'OK',
      'QUEUED',
      'OK',
      no,
    ])
  })

  it('WATCH: nothing is done when another client has changed, made or dropped the sieve', async () => {
    const name = fresh()
    const other = await server.connect()
    const changes: readonly (readonly string[])[] = [
      ['BF.ADD', name, 'x'], // makes it
      ['BF.ADD', name, 'y'],
      ['DEL', name],
      ['SIEVE.CREATE', name],
      ['SIEVE.ADD', name, 'https://a.example/'],
      ['SIEVE.FORGET', name, 'https://a.example/'],
      ['DEL', name],
    ]
    for (const change of changes) {
      expect(await client.ask('WATCH', name, fresh())).toBe('OK')
      await other.ask(...change)
      expect(await asked(client, [['MULTI'], ['BF.ADD', `${name}-2`, 'a'], ['EXEC']])).toEqual([
        'OK',
        'QUEUED',
        null,
      ])
    }
    expect(await client.ask('EXISTS', `${name}-2`)).toBe(0)
    await other.ask('BF.ADD', name, 'x')
    // Unchanged; only asked for; no longer watched; given up.
    await client.ask('WATCH', name)
    await other.ask('BF.EXISTS', name, 'x')
    expect(await asked(client, [['MULTI'], ['PING'], ['EXEC']])).toEqual(['OK', 'QUEUED', ['PONG']])
    await client.ask('WATCH', name)
    await other.ask('BF.ADD', name, 'z')
    expect(await asked(client, [['UNWATCH'], ['MULTI'], ['EXEC']])).toEqual(['OK', 'OK', []])
    await client.ask('WATCH', name)
    await other.ask('BF.ADD', name, 'zz')
    expect(await asked(client, [['MULTI'], ['DISCARD'], ['MULTI'], ['EXEC']])).toEqual(['OK', 'OK', 'OK', []])
  })
})

it('a null of EXEC is the null of arrays in RESP2', async () => {
  const [client, other] = [await server.connect(), await server.connect()]
  const bytes: Buffer[] = []
  client.socket.on('data', (chunk: Buffer) => bytes.push(chunk))
  await client.ask('WATCH', 'null')
  await other.ask('BF.ADD', 'null', 'a')
  await asked(client, [['MULTI'], ['EXEC']])
  expect(Buffer.concat(bytes).toString()).toBe('+OK\r\n+OK\r\n*-1\r\n')
})

it('RESET gives the transaction up, QUIT and the end of a connection too', async () => {
  const name = fresh()
  const ends: readonly (readonly string[])[] = [['RESET'], ['QUIT'], []]
  for (const words of ends) {
    const client = await server.connect()
    await asked(client, [['WATCH', name], ['MULTI'], ['BF.ADD', name, 'a']])
    if (words.length > 0) await client.ask(...words)
    if (words[0] === 'RESET') expect(await client.ask('EXEC')).toBe('!ERR EXEC without MULTI')
    client.close()
  }
  const client = await server.connect()
  expect(await client.ask('EXISTS', name)).toBe(0)
})

it('no command of another client comes between those of a transaction', async () => {
  const name = fresh()
  const clients = await Promise.all([server.connect(), server.connect(), server.connect()])
  await clients[0].ask('SIEVE.CREATE', name)
  const rounds = 200
  const writing = clients.slice(1).map(async (client, c) => {
    for (let i = 0; i < rounds; i++) {
      const url = (n: number) => `https://example.com/${c}/${i}/${n}`
      const lines = [['MULTI'], ...[1, 2, 3].map((n) => ['SIEVE.ADD', name, url(n)]), ['EXEC']]
      expect((await asked(client, lines)).at(-1)).toEqual([[1], [1], [1]])
    }
  })
  let torn = 0
  const looking = (async () => {
    for (let i = 0; i < rounds; i++) {
      for (const c of [0, 1]) {
        const urls = [3, 2, 1].map((n) => `https://example.com/${c}/${i}/${n}`)
        const seen = (await asked(clients[0], [['SIEVE.HAS', name, ...urls]]))[0] as number[]
        if (new Set(seen).size > 1) torn++
      }
    }
  })()
  await Promise.all([...writing, looking])
  expect(torn).toBe(0)
})

describe('limits', () => {
  const small = (limits: Setting['limits']) => served({ limits: { ...limits } })

  it('a transaction longer than --max-buffered is refused and leaves nothing', async () => {
    const few = await small({ bufferedBytes: 10_000 })
    const client = await few.connect()
    const lines = Array.from({ length: 400 }, (_, i) => ['BF.ADD', 'long', `item-${i}`])
    const replies = await asked(client, [['MULTI'], ...lines, ['EXEC'], ['EXISTS', 'long']])
    expect(replies.at(-1)).toBe(0)
    expect(replies.at(-2)).toBe(ABORTED)
    const refused = replies.filter((reply) => String(reply).startsWith('!ERR'))
    expect(refused).toEqual([
      expect.stringMatching(/^!ERR a transaction too long .*10000 bytes \(--max-buffered\)/),
    ])
    expect((await asked(client, [['MULTI'], ['BF.ADD', 'long', 'a'], ['EXEC']])).at(-1)).toEqual([1])
  })

  it('queues of all connections count for --max-buffered-all, until they are done or given up', async () => {
    const few = await small({ allBufferedBytes: 50_000 })
    const [a, b] = [await few.connect(), await few.connect()]
    const item = 'x'.repeat(15_000)
    const begin = [['MULTI'], ['BF.ADD', 'q', item]]
    expect(await asked(a, begin)).toEqual(['OK', 'QUEUED'])
    expect((await asked(b, [...begin, ['BF.ADD', 'q', item]])).at(-1)).toMatch(/^!ERR a transaction too long/)
    expect(await asked(b, [['EXEC']])).toEqual([ABORTED])
    expect(await asked(a, [['EXEC']])).toEqual([[1]])
    expect((await asked(b, [...begin, ['BF.ADD', 'q', item], ['EXEC']])).at(-1)).toEqual([0, 0])
  })

  it('so many sieves may be watched, of names that can be', async () => {
    const client = await server.connect()
    const names = Array.from({ length: 1024 }, (_, i) => `w${i}`)
    expect(await client.ask('WATCH', ...names)).toBe('OK')
    expect(await client.ask('WATCH', 'one-more')).toMatch(/^!ERR more than 1024 watched sieves/)
    expect(await client.ask('WATCH', 'w1')).toBe('OK')
    expect(await client.ask('WATCH', 'x'.repeat(300))).toMatch(/^!ERR a name of 300 bytes/)
  })

  it('one that is long lets others in, and is done to its end when its client goes', async () => {
    const long = await served()
    const [client, other] = [await long.connect(), await long.connect()]
    await client.ask('SIEVE.CREATE', 'big')
    const urls = (i: number) =>
      Array.from({ length: 100 }, (_, j) => `https://example.com/${i}/${j}/${'p'.repeat(100)}`)
    const lines = Array.from({ length: 400 }, (_, i) => ['SIEVE.ADD', 'big', ...urls(i)])
    await asked(client, [['MULTI'], ...lines])
    const { meters } = long.registry.get('big')!
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    client.write(encoded('EXEC'))
    while (meters.adds === 0) await turn()
    expect(meters.adds).toBeLessThan(40_000)
    client.close()
    while (meters.adds < 40_000) await turn()
    expect(await other.ask('SIEVE.HAS', 'big', ...urls(399))).toEqual(urls(399).map(() => 1))
  })
})

describe('over a registry that answers later', async () => {
  const shared = await served({
    wrap: (registry) => Object.assign(answeringLater(registry), { isShared: true }),
  })

  it('replies come in order, and WATCH is refused', async () => {
    const client = await shared.connect()
    expect(await client.ask('WATCH', 'a')).toMatch(/^!ERR WATCH is not possible with --redis/)
    const lines = [
      ['MULTI'],
      ['BF.ADD', 'a', 'x'],
      ['BF.MADD', 'a', 'x', 'y'],
      ['PING'],
      ['BF.EXISTS', 'a', 'y'],
      ['BF.ADD', 'b', 'x'],
      ['EXEC'],
      ['BF.CARD', 'a'],
    ]
    expect((await asked(client, lines)).slice(-2)).toEqual([[1, [0, 1], 'PONG', 1, 1], 2])
  })

  it('one that has begun is done to its end when its client goes', async () => {
    const [client, other] = [await shared.connect(), await shared.connect()]
    const name = fresh()
    await client.ask('BF.RESERVE', name, '0.001', '1000')
    const lines = Array.from({ length: 40 }, (_, i) => [
      ['BF.ADD', name, `item-${i}`],
      ['BF.EXISTS', name, `item-${i}`],
    ])
    await asked(client, [['MULTI'], ...lines.flat()])
    // Behind it in the same write: what a connection that has gone asked for is not done.
    client.write(Buffer.concat([encoded('EXEC'), encoded('BF.ADD', name, 'behind')]))
    const { meters } = shared.registry.get(name)!
    while (meters.adds === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(meters.adds).toBeLessThan(40)
    client.close()
    while (meters.adds < 40) await new Promise((resolve) => setImmediate(resolve))
    expect(await other.ask('BF.CARD', name)).toBe(40)
  })
})

it('a stranger may not begin one', async () => {
  const locked = await served({ password: 'p' })
  const client = await locked.connect()
  expect(await asked(client, [['MULTI'], ['BF.ADD', 'a', 'a'], ['EXEC']])).toEqual(
    Array.from({ length: 3 }, () => '!NOAUTH Authentication required.'),
  )
})

describe('SELECT', () => {
  const REFUSED = (index: string) =>
    `!ERR DB index is out of range: database '${index}' was selected, expected 0, the only one; nothing is done until SELECT 0`
  let one: Served | undefined
  const open = async (setting?: Setting) => {
    one = await served(setting)
    return one.connect()
  }
  afterEach(() => one?.close())

  it('of another database: nothing is done until SELECT 0', async () => {
    const client = await open()
    for (const index of ['1', '15', '-1', 'x', '99999999999999999999']) {
      expect(
        await asked(client, [
          ['SELECT', index],
          ['BF.ADD', 'a', 'a'],
          ['SIEVE.CREATE', 'b'],
          ['EXISTS', 'a'],
          ['SCAN', '0'],
          ['DBSIZE'],
          ['WATCH', 'a'],
          ['PING'],
          ['HELLO'],
          ['BF.EXISTS', 'a', 'a'],
          ['SELECT', '0'],
          ['DBSIZE'],
        ]),
      ).toEqual([
        ...Array.from({ length: 7 }, () => REFUSED(index)),
        'PONG',
        expect.anything(),
        REFUSED(index),
        'OK',
        0,
      ])
    }
    expect(await asked(client, [['SELECT', '1'], ['RESET'], ['BF.ADD', 'a', 'a']])).toEqual([
      REFUSED('1'),
      'RESET',
      1,
    ])
  })

  it('within a transaction counts for the commands behind it, and a transaction begun there does nothing', async () => {
    const client = await open()
    const queued = await asked(client, [
      ['MULTI'],
      ['BF.ADD', 'a', 'a'],
      ['SELECT', '1'],
      ['BF.ADD', 'a', 'b'],
      ['SELECT', '0'],
      ['BF.ADD', 'a', 'c'],
      ['SELECT', '2'],
      ['EXEC'],
    ])
    expect(queued.at(-1)).toEqual([1, REFUSED('1'), REFUSED('1'), 'OK', 1, REFUSED('2')])
    expect(await asked(client, [['MULTI'], ['BF.ADD', 'a', 'd'], ['EXEC']])).toEqual([
      'OK',
      REFUSED('2'),
      ABORTED,
    ])
    expect(
      await asked(client, [
        ['SELECT', '0'],
        ['BF.MEXISTS', 'a', 'a', 'b', 'c', 'd'],
      ]),
    ).toEqual(['OK', [1, 0, 1, 0]])
  })
})
