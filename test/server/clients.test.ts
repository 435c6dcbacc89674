// The same conversation through every client people have, in RESP2 and RESP3: the same answers.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeAll, describe, expect, it } from 'vitest'
import { whyMissing } from '../support/debian.ts'
import { atEnd } from './ends.ts'
import { type Served, served } from './serving.ts'

const noTools = whyMissing('redis-tools')
const noPython = whyMissing('python3-redis')

type Words = readonly string[]

const many = Array.from({ length: 300 }, (_, i) => `https://example.com/${i}`)
const conversation: readonly (readonly [words: Words, answer: unknown])[] = [
  [['PING'], 'PONG'],
  [['BF.RESERVE', 'bf', '0.0001', '1000'], 'OK'],
  [['BF.RESERVE', 'bf', '0.0001', '1000'], '!ERR item exists'],
  [['BF.ADD', 'bf', 'https://example.com/a?x=1&y=%20'], 1],
  [['BF.ADD', 'bf', 'https://example.com/a?x=1&y=%20'], 0],
  [
    ['BF.MADD', 'bf', 'a', 'b', 'a', 'ü', ''],
    [1, 1, 0, 1, 1],
  ],
  [['BF.EXISTS', 'bf', 'ü'], 1],
  [['BF.EXISTS', 'bf', 'never'], 0],
  [
    ['BF.MEXISTS', 'bf', 'a', 'never', ''],
    [1, 0, 1],
  ],
  [
    ['BF.MEXISTS', 'nothing', 'a', 'b'],
    [0, 0],
  ],
  [['BF.CARD', 'bf'], 5],
  [['BF.CARD', 'nothing'], 0],
  [['BF.MADD', 'auto', ...many], many.map(() => 1)],
  [['BF.MADD', 'auto', ...many], many.map(() => 0)],
  [
    ['BF.INSERT', 'made', 'CAPACITY', '70000', 'ERROR', '0.001', 'ITEMS', 'a', 'a', 'b'],
    [1, 0, 1],
  ],
  [['BF.INSERT', 'nothing', 'NOCREATE', 'ITEMS', 'a'], '!ERR not found'],
  [
    ['BF.INFO', 'made'],
    [
      'Capacity',
      70000,
      'Size',
      expect.any(Number),
      'Number of filters',
      1,
      'Number of items inserted',
      2,
      'Expansion rate',
      2,
    ],
  ],
  [['BF.INFO', 'nothing'], '!ERR not found'],
  [
    ['BF.INSERT', 'full', 'CAPACITY', '2', 'ERROR', '0.0000001', 'NONSCALING', 'ITEMS', 'a', 'b'],
    [1, 1],
  ],
  [['BF.ADD', 'full', 'c'], '!ERR non scaling filter is full'],
  [['SIEVE.CREATE', 'sieve', 'PROFILE', 'web'], 'OK'],
  [
    ['SIEVE.ADD', 'sieve', 'http://a.example/x', 'https://A.example/x#y', 'http://b.example/'],
    [1, 0, 1],
  ],
  [
    ['SIEVE.HAS', 'sieve', 'http://a.example/x', 'http://a.example/z'],
    [1, 0],
  ],
  [['SIEVE.FORGET', 'sieve', 'http://b.example/'], [1]],
  [['BF.ADD', 'sieve', 'a'], '!WRONGTYPE Operation against a key holding the wrong kind of value'],
  [['TYPE', 'bf'], 'MBbloom--'],
  [['EXISTS', 'bf', 'nothing'], 1],
  [['SELECT', '0'], 'OK'],
  [['NOPE', 'x'], "!ERR unknown command 'NOPE', with args beginning with: 'x' "],
  [['BF.ADD', 'bf'], "!ERR wrong number of arguments for 'bf.add' command"],
  [['DEL', 'bf', 'auto', 'made', 'full', 'sieve'], 5],
  [['DBSIZE'], 0],
]

/** One shape for what each client makes of a reply. */
function plain(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Error) return `!${value.message}`
  if (value instanceof Map) return [...value].flat().map(plain)
  if (Array.isArray(value)) return value.map(plain)
  if (value !== null && typeof value === 'object') return Object.entries(value).flat().map(plain)
  return value
}

let server: Served
beforeAll(async () => {
  server = await served()
})

async function converse(ask: (words: Words) => Promise<unknown>): Promise<void> {
  for (const [words, answer] of conversation) {
    const got = await ask(words).catch((error: unknown) => error)
    expect(plain(got), words.slice(0, 8).join(' ')).toEqual(answer)
  }
}

/** A program that takes commands on stdin and answers with a line of JSON each. */
function talker(program: string, args: readonly string[]): (line: string) => Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.setMaxListeners(0)
  atEnd(() => child.kill())
  let text = ''
  const waiting: ((line: string) => void)[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      waiting.shift()?.(text.slice(0, end))
      text = text.slice(end + 1)
    }
  })
  return (line) =>
    new Promise((resolve, reject) => {
      waiting.push(resolve)
      child.once('error', reject)
      child.once('close', () => reject(new Error(`${program} has ended`)))
      child.stdin.write(`${line}\n`)
    })
}

const ended = (program: string, args: readonly string[]): Promise<{ code: number | null; text: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, text }))
  })

describe.each([2, 3] as const)('RESP%i', (version) => {
  it.skipIf(noTools)(`redis-cli ${noTools}`, async () => {
    const ask = talker('redis-cli', ['-p', String(server.listener.port), `-${version}`, '--json'])
    await converse(async (words) => {
      const line = words.map(
        (word) =>
          `"${Buffer.from(word)
            .toString('latin1')
            .replaceAll(/[^ -!#-[\]-~]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`,
      )
      const answer = await ask(line.join(' '))
      if (!answer.startsWith('error:')) return JSON.parse(answer) as unknown
      return `!${JSON.parse(answer.slice('error:'.length)) as string}`
    })
  })

  it('the official redis package, client.bf.*', async () => {
    const client = createClient({ url: `redis://127.0.0.1:${server.listener.port}`, RESP: version })
    await client.connect()
    const { bf } = client
    await converse(async ([name, key = '', ...rest]) => {
      if (name === 'BF.RESERVE') return bf.reserve(key, Number(rest[0]), Number(rest[1]))
      if (name === 'BF.ADD' && rest.length === 1) return bf.add(key, rest[0]!)
      if (name === 'BF.MADD') return bf.mAdd(key, rest)
      if (name === 'BF.EXISTS') return bf.exists(key, rest[0]!)
      if (name === 'BF.MEXISTS') return bf.mExists(key, rest)
      if (name === 'BF.CARD') return bf.card(key)
      if (name === 'BF.INFO') return bf.info(key)
      if (name === 'BF.INSERT') {
        const value = (word: string) =>
          rest.includes(word) ? Number(rest[rest.indexOf(word) + 1]) : undefined
        const [CAPACITY, ERROR] = [value('CAPACITY'), value('ERROR')]
        return bf.insert(key, rest.slice(rest.indexOf('ITEMS') + 1), {
          ...(CAPACITY !== undefined && { CAPACITY }),
          ...(ERROR !== undefined && { ERROR }),
          NOCREATE: rest.includes('NOCREATE'),
          NONSCALING: rest.includes('NONSCALING'),
        })
      }
      return client.sendCommand([name!, ...(key ? [key] : []), ...rest])
    })
    await client.close()
  })

  it('ioredis', async () => {
    const client = new Redis({ port: server.listener.port, protocol: version, retryStrategy: () => null })
    await converse(([name, ...rest]) => client.call(name!, ...rest))
    await client.quit()
  })

  it.skipIf(noTools)(`redis-benchmark ${noTools}`, async () => {
    const args = [
      '-p',
      String(server.listener.port),
      ...(version === 3 ? ['-3'] : []),
      '-n',
      '5000',
      '-c',
      '20',
      '-q',
    ]
    const { code, text } = await ended('redis-benchmark', [
      ...args,
      '-P',
      '16',
      '-r',
      '100000',
      'BF.ADD',
      'bench',
      'https://example.com/__rand_int__',
    ])
    expect(text).toMatch(/BF\.ADD bench .*: [\d.]+ requests per second/)
    expect(text).not.toMatch(/error/i)
    expect(code).toBe(0)
    const client = await server.connect()
    expect(await client.ask('BF.CARD', 'bench')).toBeGreaterThan(4500)
    expect(await client.ask('DEL', 'bench')).toBe(1)
    expect((await ended('redis-benchmark', [...args, '-t', 'ping'])).text).toMatch(
      /PING_INLINE: .*PING_MBULK: /s,
    )
  })
})

describe('RESP2 only', () => {
  it.skipIf(noPython)(`python3-redis ${noPython}`, async () => {
    const script = fileURLToPath(new URL('conversation.py', import.meta.url))
    const ask = talker('/usr/bin/python3', [script, String(server.listener.port)])
    await converse(async (words) => {
      const answer = JSON.parse(await ask(JSON.stringify(words))) as unknown
      // Its own way with error codes: it cuts ERR off, and gives bools where Redis gives numbers.
      const shown = typeof answer === 'string' && answer.startsWith('!') && !/^![A-Z]{4,} /.test(answer)
      return shown ? `!ERR ${(answer as string).slice(1)}` : answer
    })
  })

  it.skipIf(noTools)(`redis-cli --pipe and SCAN through redis-cli ${noTools}`, async () => {
    const child = spawn('redis-cli', ['-p', String(server.listener.port), '--pipe'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk
    })
    for (let i = 0; i < 200; i++)
      child.stdin.write(`BF.MADD piped ${Array.from({ length: 50 }, (_, j) => `u${i}-${j}`).join(' ')}\r\n`)
    child.stdin.end()
    await new Promise((resolve) => child.on('close', resolve))
    expect(text).toMatch(/errors: 0, replies: 200/)
    expect(
      (await ended('redis-cli', ['-p', String(server.listener.port), '--scan', '--pattern', 'pi*'])).text,
    ).toBe('piped\n')
  })
})

describe('transactions and databases', () => {
  const other = "database '1' was selected, expected 0, the only one; nothing is done until SELECT 0"
  const unseen = async (...names: string[]) => {
    const client = await server.connect()
    expect(await client.ask('EXISTS', ...names)).toBe(0)
  }

  it.skipIf(noTools)(`redis-cli: MULTI and EXEC, and -n 1 ${noTools}`, async () => {
    const ask = talker('redis-cli', ['-p', String(server.listener.port)])
    expect(await ask('MULTI')).toBe('OK')
    expect(await ask('BF.ADD cli a')).toBe('QUEUED')
    expect(await ask('BF.ADD cli a')).toBe('QUEUED')
    expect(await ask('EXEC')).toBe('1')
    const { text } = await ended('redis-cli', [
      '-p',
      String(server.listener.port),
      '-n',
      '1',
      'BF.ADD',
      'cli-1',
      'x',
    ])
    expect(text).toContain(other)
    await unseen('cli-1')
  })

  it.each([2, 3] as const)(
    'the official redis package, RESP%i: multi().exec(), watch, a URL with /1',
    async (version) => {
      const url = `redis://127.0.0.1:${server.listener.port}`
      const client = createClient({ url, RESP: version })
      client.on('error', () => {})
      await client.connect()
      const name = `node-${version}`
      const multi = client.multi().bf.add(name, 'a').bf.mAdd(name, ['a', 'b']).ping()
      expect(await multi.exec()).toEqual([true, [false, true], 'PONG'])
      await expect(client.multi().bf.add(`${name}-no`, 'a').addCommand(['NOPE']).exec()).rejects.toThrow()
      await client.watch(name)
      const rival = await server.connect()
      await rival.ask('BF.ADD', name, 'c')
      await expect(client.multi().bf.add(`${name}-no`, 'a').exec()).rejects.toThrow(
        /watched keys has been changed/i,
      )
      await unseen(`${name}-no`)
      await client.close()
      const elsewhere = createClient({ url: `${url}/1`, RESP: version, socket: { reconnectStrategy: false } })
      elsewhere.on('error', () => {})
      await expect(elsewhere.connect().then(() => elsewhere.bf.add(`${name}-no`, 'x'))).rejects.toThrow(other)
      await unseen(`${name}-no`)
      if (elsewhere.isOpen) elsewhere.destroy()
    },
  )

  it('ioredis: multi().exec(), and { db: 1 }, whose refusal it does not report', async () => {
    const client = new Redis({ port: server.listener.port, retryStrategy: () => null })
    expect(await client.multi().call('BF.ADD', 'io', 'a').call('BF.ADD', 'io', 'a').ping().exec()).toEqual([
      [null, 1],
      [null, 0],
      [null, 'PONG'],
    ])
    await expect(client.multi().call('BF.ADD', 'io-no', 'a').call('NOPE').exec()).rejects.toThrow(/EXECABORT/)
    await client.quit()
    for (const db of [1, 2]) {
      const elsewhere = new Redis({ port: server.listener.port, db, retryStrategy: () => null })
      elsewhere.on('error', () => {})
      await expect(elsewhere.call('BF.ADD', 'io-no', 'x')).rejects.toThrow(`database '${db}' was selected`)
      elsewhere.disconnect()
    }
    await unseen('io-no')
  })

  it.skipIf(noPython)(`python3-redis: pipeline(), watch, db=1 ${noPython}`, async () => {
    const script = fileURLToPath(new URL('transaction.py', import.meta.url))
    const { text } = await ended('/usr/bin/python3', [script, String(server.listener.port)])
    expect(JSON.parse(text)).toEqual({
      pipeline: [1, 1, 0, 'OK', [1]],
      refused: expect.stringMatching(/^!(ResponseError|ExecAbortError) .*NOPE/),
      watched: expect.stringMatching(/^!WatchError /),
      left: 0,
      other: expect.stringContaining(other),
    })
  })
})
