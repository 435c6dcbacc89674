// What a server reports of its clients and commands, and the settings that can be changed while it runs.
import { describe, expect, it } from 'vitest'
import { encoded, plain } from './raw.ts'
import { pair, served } from './serving.ts'

describe('clients', () => {
  it('CLIENT KILL ends others, and itself after the reply', async () => {
    const { server, two, three } = await pair()
    const id = (await three.ask('CLIENT', 'ID')) as number
    expect(await two.ask('CLIENT', 'KILL', 'ID', String(id))).toBe(1)
    await three.closed()
    const address = ((await two.ask('CLIENT', 'INFO')) as string).match(/addr=(\S+)/)![1]!
    expect(await two.ask('CLIENT', 'KILL', 'ADDR', address)).toBe(0) // not itself, unless SKIPME no
    expect(await two.ask('CLIENT', 'KILL', 'ADDR', address, 'SKIPME', 'no')).toBe(1)
    await two.closed()
    await server.close()
  })

  it('CLIENT LIST has a line for each, with its last command', async () => {
    const { server, two, three } = await pair()
    await three.ask('SADD', 's', 'a')
    const lines = ((await two.ask('CLIENT', 'LIST')) as string).trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines.some((line) => / cmd=sadd .* resp=3 /.test(line))).toBe(true)
    await server.close()
  })
})

describe('counts', () => {
  it('commandstats counts each command of a pipeline, errors and refusals', async () => {
    const { server, two } = await pair()
    const commands = [
      ...Array.from({ length: 100 }, (_, i) => encoded('BF.ADD', 'f', `a${i}`)),
      encoded('BF.EXISTS', 'f', 'a1'),
      encoded('BF.EXISTS', 'none', 'a1'),
      encoded('BF.ADD', 'f'),
      encoded('BF.RESERVE', 'f', '0.01', '100'),
    ]
    two.write(Buffer.concat(commands))
    for (const _ of commands) await two.read()
    const stats = (await two.ask('INFO', 'commandstats')) as string
    expect(stats).toMatch(
      /cmdstat_bf\.add:calls=100,usec=\d+,usec_per_call=[\d.]+,rejected_calls=1,failed_calls=0/,
    )
    expect(stats).toMatch(/cmdstat_bf\.exists:calls=2,/)
    expect(stats).toMatch(/cmdstat_bf\.reserve:calls=1,.*failed_calls=1/)
    expect(await two.ask('INFO', 'stats')).toMatch(/keyspace_hits:1\r\nkeyspace_misses:1\r\n/)
    const histogram = (await two.ask('LATENCY', 'HISTOGRAM', 'bf.add')) as unknown[]
    expect(histogram).toEqual(['bf.add', ['calls', 100, 'histogram_usec', expect.any(Array)]])
    expect(await two.ask('CONFIG', 'RESETSTAT')).toBe('OK')
    expect(await two.ask('INFO', 'commandstats')).not.toMatch(/bf\.add/)
    await server.close()
  })

  it('SLOWLOG has the arguments of a command, shortened, and of a batch its size', async () => {
    const { server, two } = await pair()
    expect(await two.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0')).toBe('OK')
    await two.ask('ECHO', 'x'.repeat(200))
    await two.ask('BF.MADD', 'f', 'a', 'b')
    const [batch, echo] = (await two.ask('SLOWLOG', 'GET', '2')) as [unknown[], unknown[]]
    expect(batch[3]).toEqual(['BF.MADD', 'f', '... (2 items of 1 commands)'])
    expect(echo[3]).toEqual(['ECHO', `${'x'.repeat(128)}... (72 more bytes)`])
    expect(await two.ask('CONFIG', 'SET', 'slowlog-max-len', '1')).toBe('OK')
    expect(await two.ask('SLOWLOG', 'LEN')).toBe(1)
    await server.close()
  })
})

describe('passwords', () => {
  it('SLOWLOG leaves them out, also of clients that are not authenticated', async () => {
    const server = await served({ password: 'right-secret' })
    const [trusted, stranger] = [await server.connect(), await server.connect()]
    await trusted.ask('AUTH', 'right-secret')
    await trusted.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0')
    const calls = [
      ['AUTH', 'wrong-secret'],
      ['AUTH', 'user-secret', 'wrong-secret'],
      ['auth', 'default', 'wrong-secret', 'more-secret'],
      ['HELLO', '3', 'AUTH', 'user-secret', 'wrong-secret'],
      ['HELLO', '3', 'SETNAME', 'me', 'auth', 'default', 'wrong-secret', 'more-secret'],
      ['HELLO', 'x', 'AUTH', 'wrong-secret'],
      ['AUTH', 'right-secret'],
      ['HELLO', '2', 'AUTH', 'default', 'right-secret', 'SETNAME', 'me'],
      ['CONFIG', 'SET', 'requirepass', 'new-secret'],
      ['CONFIG', 'SET', 'slowlog-max-len', '100', 'MASTERAUTH', 'new-secret'],
    ]
    for (const call of calls) await stranger.ask(...call)
    const slow = (await trusted.ask('SLOWLOG', 'GET', '-1')) as unknown[][]
    expect(slow.length).toBeGreaterThanOrEqual(calls.length)
    expect(JSON.stringify(slow)).not.toContain('secret')
    const args = slow.map((one) => (one[3] as string[]).join(' '))
    expect(args).toContain('AUTH (redacted)')
    expect(args).toContain('HELLO 3 SETNAME me auth (redacted) (redacted) (redacted)')
    expect(args).toContain('CONFIG SET slowlog-max-len 100 MASTERAUTH (redacted)')
    expect(server.logged.join('\n')).not.toContain('secret')
  })
})

describe('settings', () => {
  it('CONFIG SET changes all or none, of this server only; limits are not among them', async () => {
    const { server, two } = await pair()
    const other = await pair()
    const [slower, length] = ['slowlog-log-slower-than', 'slowlog-max-len']
    expect(await two.ask('CONFIG', 'SET', slower, '77', length, '5')).toBe('OK')
    expect(await two.ask('CONFIG', 'SET', slower, '88', length, '-1')).toMatch(/^!ERR CONFIG SET failed/)
    expect(await two.ask('CONFIG', 'SET', length, '1000000')).toMatch(/must be between 0 and 1024 inclusive$/)
    expect(await two.ask('CONFIG', 'GET', 'slowlog*')).toEqual([slower, '77', length, '5'])
    expect(await other.two.ask('CONFIG', 'GET', slower)).toEqual([slower, '10000'])
    for (const name of ['maxclients', 'maxmemory', 'timeout']) {
      expect(await two.ask('CONFIG', 'SET', name, '1')).toMatch(/^!ERR CONFIG SET is not possible for/)
    }
    await server.close()
    await other.server.close()
  })
})

describe('the dialect valkey', () => {
  it('a full filter takes all items of a command or none, also in a pipeline', async () => {
    const server = await served({ dialect: 'valkey' })
    const client = await server.connect()
    await client.ask('BF.RESERVE', 'n', '0.0000001', '3', 'NONSCALING')
    const full = '!ERR non scaling filter is full'
    const script: [string[], unknown][] = [
      [
        ['BF.MADD', 'n', 'a', 'b'],
        [1, 1],
      ],
      [['BF.MADD', 'n', 'a', 'c', 'd'], full],
      [
        ['BF.MADD', 'n', 'a', 'c'],
        [0, 1],
      ],
      [['BF.ADD', 'n', 'd'], full],
      [['BF.ADD', 'n', 'c'], 0],
      [['BF.INSERT', 'n', 'ITEMS', 'c', 'e'], full],
      [['BF.CARD', 'n'], 3],
    ]
    client.write(Buffer.concat(script.map(([words]) => encoded(...words))))
    for (const [words, answer] of script) expect(plain(await client.read()), words.join(' ')).toEqual(answer)
    await server.close()
  })

  it('BF.LOAD restores the chunks of BF.SCANDUMP', async () => {
    const server = await served({ dialect: 'valkey' })
    const client = await server.connect()
    await client.ask('BF.RESERVE', 'f', '0.01', '20000')
    await client.ask('BF.MADD', 'f', 'a', 'b')
    const chunks: Buffer[] = []
    for (let iterator = '0'; ; ) {
      const [next, chunk] = (await client.ask('BF.SCANDUMP', 'f', iterator)) as [number, string]
      if (next === 0) break
      chunks.push(Buffer.from(chunk, 'latin1'))
      iterator = String(next)
    }
    const data = Buffer.concat(chunks)
    expect(await client.ask('BF.LOAD', 'g', data.subarray(0, -1))).toBe('!ERR bloom object decoding failed')
    expect(await client.ask('BF.LOAD', 'g', data)).toBe('OK')
    expect(await client.ask('BF.LOAD', 'g', data)).toBe('!BUSYKEY Target key name already exists.')
    expect(await client.ask('BF.MEXISTS', 'g', 'a', 'b', 'c')).toEqual([1, 1, 0])
    await server.close()
  })
})
