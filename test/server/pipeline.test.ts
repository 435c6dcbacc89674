// Pipelines: answered in order, in batches, however they are cut, and by a registry that answers later too.
import { describe, expect, it } from 'vitest'
import { type Items, SieveError } from '../../src/index.ts'
import type { ServedSieve } from '../../src/server/registry.ts'
import { encoded, plain, type Raw } from './raw.ts'
import { fresh, pair, served } from './serving.ts'
import { answeringLater } from './slow-registry.ts'

const { server, two } = await pair()

/** Every kind of command in turn, with its answer. */
function mixed(a: string, b: string): [words: string[], answer: unknown][] {
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
    if (i % 50 === 5) script.push([['NOPE'], expect.stringMatching(/^!ERR unknown command/)])
    if (i === 150) script.push([['DEL', b], 1], [['BF.ADD', b, 'again'], 1], [['BF.ADD', b, 'again'], 0])
  }
  return script
}

async function checkMixed(client: Raw): Promise<void> {
  const [a, b] = [fresh(), fresh()]
  const script = mixed(a, b)
  const stream = Buffer.concat(script.map(([words]) => encoded(...words)))
  for (const size of [stream.length, 1000, 37]) {
    await client.ask('DEL', a, b)
    for (let at = 0; at < stream.length; at += size) {
      client.write(stream.subarray(at, at + size))
      if (size < 100) await new Promise(setImmediate)
    }
    for (const [words, answer] of script) expect(plain(await client.read()), words.join(' ')).toEqual(answer)
  }
}

describe('a pipeline', () => {
  it('is answered in order, whatever it mixes and however it is cut', async () => {
    await checkMixed(await server.connect())
  })

  it('is answered the same by a registry that answers later', async () => {
    const other = await served({ wrap: answeringLater })
    const client = await other.connect()
    await checkMixed(client)
    // More than one batch holds, in one piece.
    const long = Array.from({ length: 1000 }, (_, i) =>
      encoded('BF.MADD', 'long', ...Array.from({ length: 50 }, (_, j) => String((i % 800) * 50 + j))),
    )
    client.write(Buffer.concat([...long, encoded('BF.CARD', 'long')]))
    for (let i = 0; i < 1000; i++)
      expect(plain(await client.read())).toEqual(new Array(50).fill(i < 800 ? 1 : 0))
    expect(plain(await client.read())).toBe(40_000)
    // Also where it fails on the way: what was answered stands, what comes after is tried.
    await client.ask('BF.RESERVE', 'full', '0.0000001', '3', 'NONSCALING')
    const full = '!ERR non scaling filter is full'
    const script: [words: string[], answer: unknown][] = [
      [
        ['BF.MADD', 'full', 'a', 'b'],
        [1, 1],
      ],
      [
        ['BF.MADD', 'full', 'a', 'c', 'd', 'e'],
        [0, 1, full],
      ],
      [['BF.ADD', 'full', 'f'], full],
      [['BF.ADD', 'full', 'c'], 0],
      [['BF.MADD', 'full', 'g', 'a'], [full]],
      [
        ['BF.MADD', 'full', 'a', 'b'],
        [0, 0],
      ],
      [['PING'], 'PONG'],
    ]
    client.write(Buffer.concat(script.map(([words]) => encoded(...words))))
    for (const [words, answer] of script) expect(plain(await client.read()), words.join(' ')).toEqual(answer)
    expect(await client.ask('BF.SCANDUMP', 'full', '0')).toMatch(
      /^!ERR this server keeps its filters elsewhere/,
    )
    expect(await client.ask('BF.LOADCHUNK', 'new', '1', 'x')).toMatch(
      /^!ERR this server keeps its filters elsewhere/,
    )
    expect(other.logged).toEqual([])
    await other.close()
  })

  it('fails whole, at once, where nobody answers', async () => {
    const other = await served()
    const client = await other.connect()
    await client.ask('BF.ADD', 'k', 'a')
    const sieve = other.registry.get('k') as { -readonly [P in keyof ServedSieve]: ServedSieve[P] }
    let calls = 0
    sieve.add = async () => {
      calls++
      await new Promise(setImmediate)
      throw Object.assign(new SieveError('network', 'nobody there'), { answered: Uint8Array.of(1, 0, 1) })
    }
    const words = [
      ['BF.ADD', 'k', 'a'],
      ['BF.MADD', 'k', 'b', 'c', 'd'],
      ['BF.ADD', 'k', 'e'],
      ['BF.MADD', 'k', 'f'],
    ]
    client.write(Buffer.concat([...words.map((one) => encoded(...one)), encoded('PING')]))
    const answers = []
    for (let i = 0; i < 5; i++) answers.push(plain(await client.read()))
    const no = '!ERR nobody there'
    expect(answers).toEqual([1, [0, 1, no], no, no, 'PONG'])
    expect(calls).toBe(1)
    await other.close()
  })

  it('of adds to one sieve goes to it as one batch for each read, BF.ADD and BF.MADD together', async () => {
    const k = fresh()
    await two.ask('BF.RESERVE', k, '0.01', '1000')
    const served = server.registry.get(k) as { -readonly [P in keyof ServedSieve]: ServedSieve[P] }
    const batches: number[] = []
    const add = served.add.bind(served)
    served.add = (items: Items) => {
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
