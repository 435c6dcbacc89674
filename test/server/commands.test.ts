// Every command's replies and errors over a bare connection, in RESP2 and RESP3, and pipelines: in order, in batches.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Items } from '../../src/index.ts'
import type { Hosted } from '../../src/server/house.ts'
import { commands } from '../../src/server/resp/registry.ts'
import { encoded, plain, type Raw } from './raw.ts'
import { type Served, served } from './serving.ts'

let server: Served
let two: Raw
let three: Raw
beforeAll(async () => {
  server = await served()
  two = await server.connect()
  three = await server.connect()
  const hello = (await three.ask('HELLO', '3')) as Map<string, unknown>
  expect(hello.get('proto')).toBe(3)
})

let names = 0
const fresh = () => `n${names++}`

describe('BF.*', () => {
  it('marks and asks, in integers or in booleans', async () => {
    for (const [client, yes, no] of [
      [two, 1, 0],
      [three, true, false],
    ] as const) {
      const k = fresh()
      expect(await client.ask('BF.EXISTS', k, 'a')).toBe(no)
      expect(await client.ask('BF.MEXISTS', k, 'a', 'b')).toEqual([no, no])
      expect(await client.ask('EXISTS', k)).toBe(0)
      expect(await client.ask('BF.ADD', k, 'a')).toBe(yes)
      expect(await client.ask('BF.ADD', k, 'a')).toBe(no)
      expect(await client.ask('BF.MADD', k, 'a', 'b', 'b', '')).toEqual([no, yes, no, yes])
      expect(await client.ask('BF.EXISTS', k, 'b')).toBe(yes)
      expect(await client.ask('BF.MEXISTS', k, 'a', 'x', '')).toEqual([yes, no, yes])
      expect(await client.ask('BF.CARD', k)).toBe(3)
    }
  })

  it('takes items as bytes, untouched', async () => {
    const k = fresh()
    const odd = [
      Buffer.from([0xff, 0, 13, 10]),
      Buffer.from([0xff, 0, 13]),
      Buffer.from('HTTP://A/'),
      Buffer.from('http://a/'),
    ]
    expect(await two.ask('BF.MADD', k, ...odd)).toEqual([1, 1, 1, 1])
    expect(await two.ask('BF.MADD', k, ...odd)).toEqual([0, 0, 0, 0])
  })

  it('BF.RESERVE, with the words of RedisBloom', async () => {
    const k = fresh()
    const reserve = (...rest: string[]) => two.ask('BF.RESERVE', k, ...rest)
    expect(await reserve('0.01')).toBe("!ERR wrong number of arguments for 'bf.reserve' command")
    expect(await reserve('0.01', '10', 'a', 'b', 'c', 'd')).toBe(
      "!ERR wrong number of arguments for 'bf.reserve' command",
    )
    expect(await reserve('x', '10')).toBe('!ERR bad error rate')
    expect(await reserve('1', '10')).toBe('!ERR error rate must be in the range (0.000000, 1.000000)')
    expect(await reserve('0', '10')).toBe('!ERR error rate must be in the range (0.000000, 1.000000)')
    expect(await reserve('0.01', 'x')).toBe('!ERR bad capacity')
    expect(await reserve('0.01', '0')).toBe('!ERR capacity must be in the range [1, 1073741824]')
    expect(await reserve('0.01', '10', 'EXPANSION')).toBe('!ERR no expansion')
    expect(await reserve('0.01', '10', 'EXPANSION', 'x')).toBe('!ERR bad expansion')
    expect(await reserve('0.01', '10', 'EXPANSION', '-1')).toBe(
      '!ERR expansion must be in the range [0, 32768]',
    )
    expect(await reserve('0.01', '10', 'NONSCALING', 'EXPANSION', '2')).toBe(
      '!Nonscaling filters cannot expand',
    )
    expect(await reserve('1e-3', '1000', 'expansion', '4')).toBe('OK')
    expect(await reserve('0.01', '10')).toBe('!ERR item exists')
    expect(await two.ask('TYPE', k)).toBe('MBbloom--')
  })

  it('a filter that shall not grow is full at its capacity, and then knows what it knew', async () => {
    for (const way of [['NONSCALING'], ['EXPANSION', '0']]) {
      const k = fresh()
      expect(await two.ask('BF.RESERVE', k, '0.0001', '3', ...way)).toBe('OK')
      expect(await two.ask('BF.MADD', k, 'a', 'b', 'a', 'c', 'd', 'e')).toEqual([
        1,
        1,
        0,
        1,
        '!ERR non scaling filter is full',
      ])
      expect(await two.ask('BF.ADD', k, 'a')).toBe(0)
      expect(await two.ask('BF.ADD', k, 'd')).toBe('!ERR non scaling filter is full')
      expect(await two.ask('BF.MADD', k, 'd', 'a')).toBe('!ERR non scaling filter is full')
      expect(await two.ask('BF.INFO', k, 'EXPANSION')).toEqual([null])
      expect(await two.ask('BF.CARD', k)).toBe(3)
      // In one pipeline: each command has its own answer.
      two.write(Buffer.concat(['b', 'x', 'c', 'y'].map((item) => encoded('BF.ADD', k, item))))
      const answers = [await two.read(), await two.read(), await two.read(), await two.read()].map(plain)
      const full = '!ERR non scaling filter is full'
      expect(answers).toEqual([0, full, 0, full])
    }
  })

  it('BF.INSERT, with all its options', async () => {
    const k = fresh()
    expect(await two.ask('BF.INSERT', k, 'NOCREATE', 'ITEMS', 'a')).toBe('!ERR not found')
    expect(
      await two.ask(
        'BF.INSERT',
        k,
        'CAPACITY',
        '5000',
        'ERROR',
        '0.001',
        'EXPANSION',
        '3',
        'ITEMS',
        'a',
        'b',
        'a',
      ),
    ).toEqual([1, 1, 0])
    expect(await two.ask('BF.INFO', k, 'CAPACITY')).toEqual([5000])
    expect(await two.ask('BF.INFO', k, 'EXPANSION')).toEqual([3])
    expect(await three.ask('BF.INSERT', k, 'NOCREATE', 'ITEMS', 'a', 'c')).toEqual([false, true])
    expect(await two.ask('BF.INSERT', fresh(), 'ITEMS')).toBe(
      "!ERR wrong number of arguments for 'bf.insert' command",
    )
    expect(await two.ask('BF.INSERT', fresh(), 'CAPACITY', '5', 'a')).toBe('!Unknown argument received')
    expect(await two.ask('BF.INSERT', fresh(), 'CAPACITY', '0', 'ITEMS', 'a')).toBe('!Bad capacity')
    expect(await two.ask('BF.INSERT', fresh(), 'ERROR', '2', 'ITEMS', 'a')).toBe('!Bad error rate')
    expect(await two.ask('BF.INSERT', fresh(), 'EXPANSION', 'x', 'ITEMS', 'a')).toBe('!Bad expansion')
    const n = fresh()
    expect(await two.ask('BF.INSERT', n, 'NONSCALING', 'CAPACITY', '2', 'ITEMS', 'a', 'b', 'c')).toEqual([
      1,
      1,
      '!ERR non scaling filter is full',
    ])
  })

  it('BF.INFO: all fields and each, and growth as RedisBloom counts it', async () => {
    const k = fresh()
    expect(await two.ask('BF.INFO', k)).toBe('!ERR not found')
    await two.ask('BF.RESERVE', k, '0.01', '100')
    await two.ask('BF.MADD', k, ...Array.from({ length: 250 }, (_, i) => `i${i}`))
    const items = (await two.ask('BF.CARD', k)) as number
    expect(items).toBeGreaterThan(240)
    const all = (await two.ask('BF.INFO', k)) as unknown[]
    expect(all).toEqual([
      'Capacity',
      300,
      'Size',
      expect.any(Number),
      'Number of filters',
      2,
      'Number of items inserted',
      items,
      'Expansion rate',
      2,
    ])
    expect(await three.ask('BF.INFO', k)).toEqual(
      new Map<unknown, unknown>([
        ['Capacity', 300],
        ['Size', all[3]],
        ['Number of filters', 2],
        ['Number of items inserted', items],
        ['Expansion rate', 2],
      ]),
    )
    expect(await two.ask('BF.INFO', k, 'capacity')).toEqual([300])
    expect(await two.ask('BF.INFO', k, 'SIZE')).toEqual([all[3]])
    expect(await two.ask('BF.INFO', k, 'FILTERS')).toEqual([2])
    expect(await two.ask('BF.INFO', k, 'ITEMS')).toEqual([items])
    expect(await three.ask('BF.INFO', k, 'ITEMS')).toEqual(new Map([['Number of items inserted', items]]))
    expect(await two.ask('BF.INFO', k, 'BOGUS')).toBe('!Invalid information value')
    const one = fresh()
    await two.ask('BF.RESERVE', one, '0.01', '10', 'EXPANSION', '1')
    await two.ask('BF.MADD', one, ...Array.from({ length: 95 }, (_, i) => `i${i}`))
    expect(await two.ask('BF.INFO', one, 'FILTERS')).toEqual([10])
    expect(await two.ask('BF.INFO', one, 'CAPACITY')).toEqual([100])
  })

  it('BF.SCANDUMP and BF.LOADCHUNK carry a filter to another name', async () => {
    const [k, copy] = [fresh(), fresh()]
    await two.ask('BF.RESERVE', k, '0.001', '500000')
    const items = Array.from({ length: 1000 }, (_, i) => `https://example.com/${i}`)
    await two.ask('BF.MADD', k, ...items)
    expect(await two.ask('BF.SCANDUMP', fresh(), '0')).toBe('!ERR not found')
    expect(await two.ask('BF.SCANDUMP', k, 'x')).toBe('!Second argument must be numeric')
    let chunks = 0
    for (let iterator = '0'; ; chunks++) {
      const [next, data] = (await two.ask('BF.SCANDUMP', k, iterator)) as [number, string]
      if (next === 0) break
      expect(await two.ask('BF.LOADCHUNK', copy, String(next), Buffer.from(data, 'latin1'))).toBe('OK')
      iterator = String(next)
    }
    expect(chunks).toBeGreaterThan(2)
    expect(await two.ask('BF.MEXISTS', copy, ...items)).toEqual(items.map(() => 1))
    expect(await two.ask('BF.CARD', copy)).toBe(await two.ask('BF.CARD', k))
    expect(await two.ask('BF.INFO', copy)).toEqual(await two.ask('BF.INFO', k))
    expect(await two.ask('BF.ADD', copy, items[5]!)).toBe(0)
    expect(await two.ask('BF.LOADCHUNK', copy, '1', 'x')).toBe('!ERR item exists')
    expect(await two.ask('BF.LOADCHUNK', fresh(), '1', 'x')).toBe('!ERR received bad data')
    expect(await two.ask('BF.LOADCHUNK', fresh(), '77', 'x')).toBe('!ERR not found')
    expect(await two.ask('BF.LOADCHUNK', fresh(), 'x', 'x')).toBe('!ERR Second argument must be numeric')
  })

  it('a dump that was changed on its way is refused', async () => {
    const [k, copy] = [fresh(), fresh()]
    await two.ask('BF.ADD', k, 'a')
    const [first, header] = (await two.ask('BF.SCANDUMP', k, '0')) as [number, string]
    expect(await two.ask('BF.LOADCHUNK', copy, String(first), Buffer.from(header, 'latin1'))).toBe('OK')
    const [next, data] = (await two.ask('BF.SCANDUMP', k, String(first))) as [number, string]
    const bytes = Buffer.from(data, 'latin1')
    bytes[bytes.length >> 1]! ^= 1
    expect(await two.ask('BF.LOADCHUNK', copy, String(next - 1), bytes)).toBe(
      '!ERR invalid offset - no link found',
    )
    expect(await two.ask('BF.LOADCHUNK', copy, String(next), bytes)).toMatch(/^!ERR received bad data: /)
    expect(await two.ask('EXISTS', copy)).toBe(0)
    const huge = `USBLOOM1${JSON.stringify({ bytes: 1e15, bloom: { capacity: 1, errorRate: 0.1, expansion: 2 } })}`
    expect(await two.ask('BF.LOADCHUNK', copy, '1', huge)).toMatch(/^!OOM a dump of 1000000000000000 bytes/)
  })

  it('does not touch a sieve of SIEVE.*', async () => {
    const s = fresh()
    await two.ask('SIEVE.CREATE', s)
    const wrong = '!WRONGTYPE Operation against a key holding the wrong kind of value'
    for (const words of [
      ['BF.ADD', s, 'a'],
      ['BF.MADD', s, 'a'],
      ['BF.INFO', s],
      ['BF.CARD', s],
      ['BF.RESERVE', s, '0.1', '5'],
      ['BF.INSERT', s, 'ITEMS', 'a'],
      ['BF.SCANDUMP', s, '0'],
    ]) {
      expect(await two.ask(...words)).toBe(wrong)
    }
    expect(await two.ask('BF.EXISTS', s, 'a')).toBe(0)
  })
})

describe('SIEVE.*', () => {
  it('makes, marks, asks, explains, forgets', async () => {
    const s = fresh()
    expect(await two.ask('SIEVE.ADD', s, 'a')).toBe(`!ERR there is no sieve '${s}': SIEVE.CREATE makes one`)
    expect(await two.ask('SIEVE.CREATE', s)).toBe('OK')
    expect(await two.ask('SIEVE.CREATE', s)).toMatch(/^!ERR the name '.*' is taken/)
    expect(
      await two.ask('SIEVE.ADD', s, 'http://a.example/x#y', 'https://A.example/x', 'http://a.example/z'),
    ).toEqual([1, 0, 1])
    expect(await two.ask('SIEVE.HAS', s, 'http://a.example/x', 'http://a.example/q')).toEqual([1, 0])
    expect(await three.ask('SIEVE.ADD', s, 'http://a.example/x', 'http://b.example/')).toEqual([false, true])
    const explained = (await three.ask('SIEVE.EXPLAIN', s, 'HTTP://a.example/x#top')) as Map<string, unknown>
    expect(explained.get('key')).toBe('https://a.example/x')
    expect(explained.get('verdict')).toBe('seen')
    expect(explained.get('isUrl')).toBe(true)
    expect(await two.ask('SIEVE.FORGET', s, 'http://a.example/x', 'http://a.example/x')).toEqual([1, 0])
    expect(await two.ask('SIEVE.HAS', s, 'http://a.example/x')).toEqual([0])
    expect(await two.ask('SIEVE.FORGET', s, Buffer.from([0xff]))).toBe(
      '!ERR a URL is no UTF-8: expected text',
    )
    expect(await two.ask('SIEVE.UNDER', s, 'a.example')).toBe(
      "!ERR filter 'fingerprint' does not remember folders: FILTER prefix-layers does",
    )
    expect(await two.ask('SIEVE.SAVE', s)).toBe('OK')
    expect(await two.ask('TYPE', s)).toBe('sieve')
    const stats = (await three.ask('SIEVE.STATS', s)) as Map<string, unknown>
    expect(stats.get('urls')).toBe(2)
    expect(stats.get('filter')).toBe('fingerprint')
    expect(stats.get('meters')).toEqual(
      new Map([
        ['adds', 5],
        ['fresh', 3],
        ['seen', 2],
        ['asks', 4],
      ]),
    )
  })

  it('SIEVE.CREATE takes its options, and says what cannot be', async () => {
    const s = fresh()
    expect(
      await two.ask(
        'SIEVE.CREATE',
        s,
        'FILTER',
        'prefix-layers',
        'PROFILE',
        'raw',
        'URLS',
        '10k',
        'FPR',
        '0.1%',
      ),
    ).toBe('OK')
    await two.ask('SIEVE.ADD', s, 'https://a.example/blog/1')
    expect(await two.ask('SIEVE.UNDER', s, 'https://a.example/blog/')).toBe(1)
    expect(await three.ask('SIEVE.UNDER', s, 'https://b.example/')).toBe(false)
    expect(await two.ask('SIEVE.FORGET', s, 'a')).toBe(
      "!ERR filter 'prefix-layers' cannot forget: FILTER fingerprint can",
    )
    expect(await two.ask('SIEVE.CREATE', fresh(), 'WINDOW', '1000', 'GENERATIONS', '4')).toBe('OK')
    expect(await two.ask('SIEVE.CREATE', fresh(), 'WINDOW', '30d')).toBe('OK')
    expect(await two.ask('SIEVE.CREATE', fresh(), 'FILTER', 'blocked', 'URLS', '1M', 'MEMORY', '2M')).toBe(
      'OK',
    )
    const refused = async (...words: string[]) => (await two.ask('SIEVE.CREATE', fresh(), ...words)) as string
    expect(await refused('FILTER', 'linear')).toMatch(/^!ERR filter 'linear': expected one of fingerprint/)
    expect(await refused('FILTER', 'nope')).toMatch(/^!ERR filter 'nope': expected one of fingerprint/)
    expect(await refused('PROFILE', 'nope')).toMatch(/^!ERR unknown profile 'nope'|^!ERR profile 'nope'/)
    expect(await refused('URLS', 'x')).toBe(
      "!ERR URLS 'x': expected a whole number such as 1000000, 1e6 or 10M",
    )
    expect(await refused('FILTER', 'blocked')).toMatch(
      /^!ERR filter 'blocked' has a fixed size: give URLS with FPR or MEMORY/,
    )
    expect(await refused('FILTER', 'classic', 'WINDOW', '10')).toMatch(
      /^!ERR a window is for the filter 'window'/,
    )
    expect(await refused('BOGUS', 'x')).toMatch(/^!ERR unknown option 'BOGUS': expected FILTER/)
    expect(await refused('URLS')).toBe('!ERR syntax error')
    expect(await two.ask('SIEVE.CREATE', '')).toMatch(/^!ERR the name is empty/)
    expect(await two.ask('SIEVE.CREATE', 'x'.repeat(201))).toMatch(
      /^!ERR a name of 201 bytes: expected at most 200/,
    )
  })
})

describe('what clients send on their own', () => {
  it('HELLO, AUTH, CLIENT, SELECT, PING, ECHO, RESET, QUIT', async () => {
    const client = await server.connect()
    expect(await client.ask('PING')).toBe('PONG')
    expect(await client.ask('ping', 'x y')).toBe('x y')
    expect(await client.ask('ECHO', 'x')).toBe('x')
    expect(await client.ask('SELECT', '0')).toBe('OK')
    expect(await client.ask('SELECT', '1')).toBe('!ERR DB index is out of range')
    expect(await client.ask('AUTH', 'x')).toMatch(/^!ERR AUTH <password> called without any password/)
    expect(await client.ask('HELLO', '4')).toBe('!NOPROTO unsupported protocol version')
    expect(await client.ask('HELLO', 'x')).toBe('!ERR Protocol version is not an integer or out of range')
    expect(await client.ask('HELLO', '2', 'SETNAME', 'me')).toEqual(
      expect.arrayContaining(['server', 'redis', 'proto', 2]),
    )
    expect(await client.ask('CLIENT', 'GETNAME')).toBe('me')
    expect(await client.ask('CLIENT', 'SETNAME', 'a b')).toMatch(/^!ERR Client names cannot contain/)
    expect(await client.ask('CLIENT', 'SETNAME', 'you')).toBe('OK')
    expect(await client.ask('CLIENT', 'SETINFO', 'LIB-NAME', 'x')).toBe('OK')
    expect(await client.ask('CLIENT', 'INFO')).toMatch(/name=you .*lib-name=x/)
    expect(await client.ask('CLIENT', 'LIST')).toMatch(/name=you/)
    expect(await client.ask('CLIENT', 'ID')).toBeGreaterThan(0)
    expect(await client.ask('CLIENT', 'NOPE')).toBe("!ERR unknown subcommand 'NOPE'. Try CLIENT HELP.")
    expect(await client.ask('HELLO', '3')).toBeInstanceOf(Map)
    expect(await client.ask('RESET')).toBe('RESET')
    expect(await client.ask('CLIENT', 'GETNAME')).toBe('')
    expect(await client.ask('BF.INFO', 'nope')).toBe('!ERR not found')
    expect(await client.ask('QUIT')).toBe('OK')
    await client.closed()
  })

  it('COMMAND, INFO, CONFIG GET', async () => {
    expect(await two.ask('COMMAND', 'COUNT')).toBe(commands.size)
    expect(await two.ask('COMMAND')).toHaveLength(commands.size)
    expect(await two.ask('COMMAND', 'INFO', 'bf.add', 'nope')).toEqual([
      ['bf.add', 3, ['write', 'denyoom'], 1, 1, 1],
      null,
    ])
    const docs = (await three.ask('COMMAND', 'DOCS')) as Map<string, Map<string, string>>
    expect(docs.size).toBe(commands.size)
    expect(docs.get('bf.add')?.get('summary')).toMatch(/Marks/)
    expect(await two.ask('INFO')).toMatch(/redis_version:.*urlsieve_version:0\.0\.0-test.*loading:0/s)
    expect(await two.ask('INFO', 'clients')).toMatch(/^# Clients\r\nconnected_clients:\d+\r\n/)
    expect(await two.ask('CONFIG', 'GET', 'save')).toEqual(['save', ''])
    expect(await two.ask('CONFIG', 'GET', 'append*', 'databases')).toEqual([
      'appendonly',
      'no',
      'databases',
      '1',
    ])
    expect(await two.ask('CONFIG', 'GET', 'nope')).toEqual([])
    expect(await two.ask('CONFIG', 'SET', 'a', 'b')).toMatch(/^!ERR CONFIG SET is not possible/)
  })

  it('EXISTS, DEL, TYPE, DBSIZE', async () => {
    const [a, b] = [fresh(), fresh()]
    const before = (await two.ask('DBSIZE')) as number
    await two.ask('BF.ADD', a, 'x')
    await two.ask('SIEVE.CREATE', b)
    expect(await two.ask('EXISTS', a, b, a, 'nope')).toBe(3)
    expect(await two.ask('DBSIZE')).toBe(before + 2)
    expect(await two.ask('DEL', a, b, 'nope')).toBe(2)
    expect(await two.ask('TYPE', a)).toBe('none')
    expect(await two.ask('DBSIZE')).toBe(before)
  })

  it('SCAN gives every name once, with patterns, also while others go', async () => {
    const other = await served()
    const client = await other.connect()
    const all = Array.from({ length: 25 }, (_, i) => `key:${i}`)
    for (const name of all) await client.ask('BF.ADD', name, 'x')
    await client.ask('SIEVE.CREATE', Buffer.from([0xff, 0xfe]))
    const scanned = async (...words: string[]) => {
      const found: string[] = []
      let cursor = '0'
      do {
        const [next, some] = (await client.ask('SCAN', cursor, ...words)) as [string, string[]]
        found.push(...some)
        cursor = next
      } while (cursor !== '0')
      return found
    }
    expect(await scanned()).toEqual([...all, '\xff\xfe'])
    expect(await scanned('COUNT', '3')).toEqual([...all, '\xff\xfe'])
    expect(await scanned('MATCH', 'key:1?', 'COUNT', '100')).toEqual(
      all.filter((name) => /^key:1.$/.test(name)),
    )
    expect(await scanned('MATCH', '*[^0-3]', 'TYPE', 'mbbloom--')).toEqual(
      all.filter((name) => /[^0-3]$/.test(name)),
    )
    expect(await scanned('TYPE', 'sieve')).toEqual(['\xff\xfe'])
    const [cursor, first] = (await client.ask('SCAN', '0', 'COUNT', '5')) as [string, string[]]
    for (const name of first) await client.ask('DEL', name)
    const [, rest] = (await client.ask('SCAN', cursor, 'COUNT', '100')) as [string, string[]]
    expect(rest).toEqual([...all.slice(5), '\xff\xfe'])
    expect(await client.ask('SCAN', 'x')).toBe('!ERR invalid cursor')
    expect(await client.ask('SCAN', '0', 'COUNT', '0')).toBe('!ERR syntax error')
    expect(await client.ask('SCAN', '0', 'BOGUS', '1')).toBe('!ERR syntax error')
    // A pattern that takes a careless matcher for ever.
    expect(await client.ask('SCAN', '0', 'MATCH', `${'*a'.repeat(100)}b`)).toEqual(
      ['10', []].map((one) => (one === '10' ? expect.any(String) : one)),
    )
    await other.close()
  })

  it('what is unknown or wrong is an error, and the connection goes on', async () => {
    expect(await two.ask('GET', 'a')).toBe("!ERR unknown command 'GET', with args beginning with: 'a' ")
    expect(await two.ask('SUBSCRIBE', 'a')).toMatch(/^!ERR unknown command 'SUBSCRIBE'/)
    expect(await two.ask('BF.ADD', 'k')).toBe("!ERR wrong number of arguments for 'bf.add' command")
    expect(await two.ask('BF.ADD', 'k', 'a', 'b')).toBe("!ERR wrong number of arguments for 'bf.add' command")
    expect(await two.ask('PING')).toBe('PONG')
    for (const { name, arity } of commands.values()) {
      if (Math.abs(arity) < 2) continue
      expect(await two.ask(name)).toBe(`!ERR wrong number of arguments for '${name.toLowerCase()}' command`)
    }
  })

  it('a broken protocol is said, and ends the connection', async () => {
    const client = await server.connect()
    client.write('PING\r\n*1\r\n:5\r\n')
    expect(plain(await client.read())).toBe('PONG')
    expect(plain(await client.read())).toBe("!ERR Protocol error: expected '$', got ':'")
    await client.closed()
  })

  it('what a browser sends is not read as commands', async () => {
    for (const line of ['POST / HTTP/1.1', 'PUT /x HTTP/1.1', 'Host: localhost:6390']) {
      const client = await server.connect()
      client.write(`${line}\r\nBF.ADD evil x\r\n\r\nBF.ADD evil y\r\n`)
      expect(plain(await client.read())).toMatch(/^!ERR this is no HTTP: /)
      await client.closed()
    }
    expect(await two.ask('EXISTS', 'evil')).toBe(0)
  })

  it('lines as people type them', async () => {
    const client = await server.connect()
    client.write('PING\r\nbf.add typed "a b"\nBF.EXISTS typed "a\\x20b"\r\n\r\nQUIT\r\n')
    expect(
      [await client.read(), await client.read(), await client.read(), await client.read()].map(plain),
    ).toEqual(['PONG', 1, 1, 'OK'])
    await client.closed()
  })
})

describe('a pipeline', () => {
  it('is answered in order, whatever it mixes and however it is cut', async () => {
    const client = await server.connect()
    const [a, b] = [fresh(), fresh()]
    const script: [words: string[], answer: unknown][] = []
    for (let i = 0; i < 300; i++) {
      script.push([['BF.ADD', a, `x${i % 200}`], i < 200 ? 1 : 0])
      if (i % 7 === 0)
        script.push([
          ['BF.MADD', b, `x${i}`, `y${i}`],
          [1, 1],
        ])
      if (i % 11 === 0) script.push([['BF.EXISTS', a, `x${i % 200}`], 1])
      if (i % 13 === 0) script.push([['ECHO', `e${i}`], `e${i}`])
      if (i % 50 === 49) script.push([['BF.CARD', a], Math.min(i + 1, 200)])
      if (i === 150) script.push([['DEL', b], 1], [['BF.ADD', b, 'again'], 1], [['BF.ADD', b, 'again'], 0])
    }
    const stream = Buffer.concat(script.map(([words]) => encoded(...words)))
    for (const size of [stream.length, 1000, 37]) {
      await client.ask('DEL', a, b)
      for (let at = 0; at < stream.length; at += size) {
        client.write(stream.subarray(at, at + size))
        if (size < 100) await new Promise(setImmediate)
      }
      for (const [words, answer] of script)
        expect(plain(await client.read()), words.join(' ')).toEqual(answer)
    }
  })

  it('of adds to one sieve goes to it as one batch for each read, BF.ADD and BF.MADD together', async () => {
    const k = fresh()
    await two.ask('BF.RESERVE', k, '0.01', '1000')
    const hosted = server.house.get(k) as { -readonly [P in keyof Hosted]: Hosted[P] }
    const batches: number[] = []
    const add = hosted.add.bind(hosted)
    hosted.add = (items: Items) => {
      batches.push(items.starts.length)
      return add(items)
    }
    const commands = Array.from({ length: 100 }, (_, i) =>
      i % 10 === 9 ? encoded('BF.MADD', k, `${i}`, `m${i}`) : encoded('BF.ADD', k, `${i}`),
    )
    two.write(Buffer.concat(commands))
    for (let i = 0; i < 100; i++) expect(plain(await two.read())).toEqual(i % 10 === 9 ? [1, 1] : 1)
    expect(batches.reduce((sum, n) => sum + n, 0)).toBe(110)
    expect(batches.length).toBeLessThan(4)
  })

  it('of a hundred connections that make the same filter at once makes one', async () => {
    const k = fresh()
    const clients = await Promise.all(Array.from({ length: 100 }, () => server.connect()))
    const answers = await Promise.all(clients.map((client) => client.ask('BF.ADD', k, 'same')))
    expect(answers.filter((answer) => answer === 1)).toHaveLength(1)
    expect(answers.filter((answer) => answer === 0)).toHaveLength(99)
    for (const client of clients) client.close()
  })

  it('of a client that says all and closes its side is answered to the end', async () => {
    const client = await server.connect()
    const k = fresh()
    client.socket.end(
      Buffer.concat([
        encoded('BF.ADD', k, 'a'),
        encoded('BF.ADD', k, 'b'),
        encoded('SIEVE.CREATE', fresh()),
        encoded('PING'),
      ]),
    )
    expect(
      [await client.read(), await client.read(), await client.read(), await client.read()].map(plain),
    ).toEqual([1, 1, 'OK', 'PONG'])
    await client.closed()
  })
})
