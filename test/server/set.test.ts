// SADD and its relatives at size, and on sieves of other kinds.
import { describe, expect, it } from 'vitest'
import { encoded, plain } from './raw.ts'
import { folder, fresh, pair, served } from './serving.ts'

const { two, three } = await pair()

describe('a set', () => {
  it('agrees with a Set, in pipelines and long lists, with any bytes', async () => {
    const name = fresh()
    const model = new Set<string>()
    let state = 12345
    const random = (n: number) => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state % n
    }
    for (let round = 0; round < 200; round++) {
      const members = Array.from({ length: 1 + random(20) }, () => `\xff\x00m${random(500)}`)
      const bytes = members.map((one) => Buffer.from(one, 'latin1'))
      const isAdd = random(3) > 0
      const before = model.size
      for (const one of members) isAdd ? model.add(one) : model.delete(one)
      expect(await two.ask(isAdd ? 'SADD' : 'SREM', name, ...bytes)).toBe(Math.abs(model.size - before))
      expect(await three.ask('SMISMEMBER', name, ...bytes)).toEqual(members.map((m) => Number(model.has(m))))
      expect(await two.ask('SCARD', name)).toBe(model.size)
      expect(await two.ask('EXISTS', name)).toBe(Number(model.size > 0))
    }
  })

  it('a pipeline of SADD is one reply each, also between other commands', async () => {
    const name = fresh()
    const commands = [
      ['SADD', name, 'a'],
      ['SADD', name, 'a', 'b'],
      ['SADD', name, 'a', 'b'],
      ['SISMEMBER', name, 'a'],
      ['SMISMEMBER', name, 'a', 'z'],
      ['SADD', name, 'z'],
      ['SREM', name, 'a', 'z'],
      ['SCARD', name],
      ['SIEVE.HAS', name, 'a', 'b'],
    ]
    two.write(Buffer.concat(commands.map((words) => encoded(...words))))
    const replies: unknown[] = []
    for (const _ of commands) replies.push(plain(await two.read()))
    expect(replies).toEqual([1, 1, 0, 1, [1, 0], 1, 2, 1, [0, 1]])
  })

  it('a list of 50,000 is counted', async () => {
    const name = fresh()
    const members = Array.from({ length: 50_000 }, (_, i) => `https://example.com/${i}`)
    expect(await two.ask('SADD', name, ...members)).toBe(50_000)
    expect(await two.ask('SADD', name, ...members)).toBe(0)
    expect(await two.ask('SREM', name, ...members.slice(0, 20_000))).toBe(20_000)
    expect(await two.ask('SCARD', name)).toBe(30_000)
  })

  it('no memory: an error, and no empty set is left', async () => {
    const server = await served({ registry: { memoryBytes: 1024 ** 2 } })
    const client = await server.connect()
    const members = Array.from({ length: 50_000 }, (_, i) => `https://example.com/${i}`)
    expect(await client.ask('SADD', 's', ...members)).toMatch(/^!OOM no memory/)
    expect(await client.ask('EXISTS', 's')).toBe(0)
    await server.close()
  })

  it('survives a restart', async () => {
    const data = folder()
    const first = await served({ registry: { data } })
    const client = await first.connect()
    await client.ask('SADD', 's', 'a', 'b')
    await client.ask('SREM', 's', 'b')
    await first.close()
    const second = await served({ registry: { data } })
    const again = await second.connect()
    expect(await again.ask('SMISMEMBER', 's', 'a', 'b')).toEqual([1, 0])
    expect(await again.ask('TYPE', 's')).toBe('set')
    expect(await again.ask('OBJECT', 'ENCODING', 's')).toBe('hashtable')
    await second.close()
  })

  it('SADD on a sieve has its profile; the sieve stays when it is empty', async () => {
    const name = fresh()
    await two.ask('SIEVE.CREATE', name, 'PROFILE', 'web')
    expect(await two.ask('SADD', name, 'http://a.example/x', 'https://A.example/x#y')).toBe(1)
    expect(await two.ask('SISMEMBER', name, 'https://a.example/x')).toBe(1)
    expect(await two.ask('SREM', name, 'http://a.example/x#z')).toBe(1)
    expect(await two.ask('EXISTS', name)).toBe(1)
    const fixed = fresh()
    await two.ask('SIEVE.CREATE', fixed, 'FILTER', 'blocked', 'URLS', '1000')
    expect(await two.ask('SREM', fixed, 'a')).toBe(
      "!ERR filter 'blocked' cannot forget: FILTER fingerprint can",
    )
  })
})
