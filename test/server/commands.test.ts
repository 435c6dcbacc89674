// Every command's replies and errors over a bare connection, in RESP2 and RESP3.
import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { commands } from '../../src/server/resp/command-table.ts'
import { plain } from './raw.ts'
import { fresh, pair, served } from './serving.ts'

const { server, two, three } = await pair()

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
    const folders = ['FILTER', 'prefix-layers', 'URLS', '1000', 'LAYERS', '2', 'FOLDERHASHES', '4']
    expect(await two.ask('SIEVE.CREATE', fresh(), ...folders)).toBe('OK')
    expect(await two.ask('SIEVE.CREATE', fresh(), 'FILTER', 'SCALABLE', 'INNER', 'Classic')).toBe('OK')
    const refused = async (...words: string[]) => (await two.ask('SIEVE.CREATE', fresh(), ...words)) as string
    expect(await refused(...folders, 'LAYERS', '64')).toBe(
      '!ERR LAYERS 64: expected a whole number from 1 to 63',
    )
    expect(await refused('LAYERS', '2')).toMatch(/^!ERR LAYERS 2: filter 'fingerprint' does not take it/)
    expect(await refused('FILTER', 'linear')).toMatch(/^!ERR FILTER 'linear': expected one of fingerprint/)
    expect(await refused('FILTER', 'nope')).toMatch(/^!ERR FILTER 'nope': expected one of fingerprint/)
    expect(await refused('PROFILE', 'nope')).toMatch(/^!ERR unknown profile 'nope'|^!ERR profile 'nope'/)
    expect(await refused('URLS', 'x')).toBe(
      "!ERR URLS 'x': expected a whole number such as 1000000, 1e6 or 10M",
    )
    expect(await refused('FILTER', 'blocked')).toMatch(
      /^!ERR filter 'blocked' has a fixed size: give URLS with FPR or MEMORY/,
    )
    expect(await refused('FILTER', 'classic', 'WINDOW', '10')).toMatch(
      /^!ERR WINDOW 10: filter 'classic' does not take it; expected one of URLS, FPR, MEMORY, BITS, HASHES$/,
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
    expect(await client.ask('SELECT', '1')).toMatch(
      /^!ERR DB index is out of range: database '1' was selected/,
    )
    expect(await client.ask('SELECT', '0')).toBe('OK')
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
    expect(await client.ask('CLIENT', 'GETNAME')).toBe(null)
    expect(await client.ask('BF.INFO', 'nope')).toBe('!ERR not found')
    expect(await client.ask('QUIT')).toBe('OK')
    await client.closed()
  })

  it('COMMAND, INFO, CONFIG GET', async () => {
    expect(await two.ask('COMMAND', 'COUNT')).toBe(commands.size)
    expect(await two.ask('COMMAND')).toHaveLength(commands.size)
    expect(await two.ask('COMMAND', 'INFO', 'bf.add', 'nope')).toEqual([
      [
        'bf.add',
        3,
        ['write', 'denyoom'],
        1,
        1,
        1,
        ['@write', '@slow'],
        [],
        [
          [
            'flags',
            ['RW'],
            'begin_search',
            ['type', 'index', 'spec', ['index', 1]],
            'find_keys',
            ['type', 'range', 'spec', ['lastkey', 0, 'keystep', 1, 'limit', 0]],
          ],
        ],
        [],
      ],
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
    const methods = [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'OPTIONS',
      'PATCH',
      'CONNECT',
      'TRACE',
      'x-own',
      'PRI',
    ]
    const lines = methods.map((method) => `${method} /a%20b?c HTTP/1.1`)
    for (const line of [...lines, 'get / http/1.0', 'POST /', 'Host: localhost:6390']) {
      const client = await server.connect()
      client.write(`${line}\r\nBF.ADD evil x\r\n\r\nBF.ADD evil y\r\n`)
      expect(plain(await client.read())).toMatch(/^!ERR this is not an HTTP port: /)
      await client.closed()
      await expect(client.read()).rejects.toThrow('ended')
    }
    const queueing = await server.connect()
    queueing.write('MULTI\r\nGET / HTTP/1.1\r\nBF.ADD evil x\r\nEXEC\r\n')
    await queueing.closed()
    expect(await two.ask('EXISTS', 'evil')).toBe(0)
    // A line for all of them, not one each.
    expect(server.logged.filter((line) => line.startsWith('warn http '))).toHaveLength(1)
    // GET as a command of Redis is one that is not known here.
    const client = await server.connect()
    client.write('GET /\r\nPING\r\n')
    expect(plain(await client.read())).toMatch(/^!ERR unknown command 'GET'/)
    expect(plain(await client.read())).toBe('PONG')
  })

  it('a client that speaks TLS is told so in one line, and none of it is a command', async () => {
    const own = await served()
    const secure = connect({ port: own.listener.port, host: '127.0.0.1', rejectUnauthorized: false })
    await expect(once(secure, 'secureConnect')).rejects.toThrow()
    secure.destroy()
    const raw = await own.connect()
    raw.write(Buffer.from('\x16\x03\x01\x00\x05\r\nBF.ADD evil x\r\nBF.ADD evil y\r\n', 'latin1'))
    expect(plain(await raw.read())).toMatch(/^!ERR this looks like TLS: expected RESP without it/)
    await raw.closed()
    await expect(raw.read()).rejects.toThrow('ended')
    expect(own.registry.list()).toEqual([])
    expect(own.logged.filter((line) => line.startsWith('warn tls '))).toHaveLength(1)
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
