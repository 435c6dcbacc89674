// A call that is sent again because its answer was lost gets the first answers, over RESP and HTTP.
import { describe, expect, it } from 'vitest'
import { RepeatedCalls } from '../../src/server/repeated-calls.ts'
import { startProxy } from '../redis/proxy.ts'
import { until } from '../redis/servers.ts'
import { atEnd } from './ends.ts'
import { Raw } from './raw.ts'
import { served } from './serving.ts'

/** A server behind a line that can lose its answers. */
async function behindLine(setting = {}) {
  const server = await served(setting)
  const line = await startProxy(server.listener.port)
  atEnd(() => line.stop())
  return { server, line, direct: await server.connect(), proxied: () => Raw.connect(line.port) }
}

describe('answers', () => {
  const clocked = (mostBytes?: number) => {
    let now = 0
    const calls = new RepeatedCalls(mostBytes, () => now)
    return { calls, pass: (ms: number) => (now += ms) }
  }

  it('are kept for a minute, and then forgotten with their memory', async () => {
    const { calls, pass } = clocked()
    expect(await calls.begin('a', 'x', 10)).toBe('new')
    calls.end('a', { answer: 1, bytes: 10 })
    pass(59_999)
    expect(await calls.begin('a', 'x', 10)).toMatchObject({ answer: 1 })
    expect(await calls.begin('a', 'y', 10)).toBe('other')
    expect([calls.count, calls.repeated]).toEqual([1, 1])
    pass(1)
    expect(await calls.begin('a', 'y', 10)).toBe('new')
    calls.end('a', null)
    expect([calls.count, calls.sizeBytes]).toEqual([0, 0])
  })

  it('are bounded: a call whose answer does not fit is refused before it runs, and counted', async () => {
    const { calls, pass } = clocked(2000)
    expect(await calls.begin('a', 'x', 1000)).toBe('new')
    expect(await calls.begin('b', 'x', 1000)).toBe('full')
    calls.end('a', { answer: 1, bytes: 400 })
    expect(await calls.begin('b', 'x', 500)).toBe('new')
    calls.end('b', { answer: 2, bytes: 500 })
    expect(await calls.begin('c', 'x', 0)).toBe('full')
    expect(calls.refused).toBe(2)
    expect(calls.sizeBytes).toBeLessThanOrEqual(2000)
    pass(60_000)
    expect(await calls.begin('c', 'x', 0)).toBe('new')
  })

  it('of a call under way are waited for; a different call of that name is not', async () => {
    const { calls } = clocked()
    await calls.begin('a', 'x', 10)
    const again = calls.begin('a', 'x', 10)
    expect(await calls.begin('a', 'y', 10)).toBe('other')
    calls.end('a', { answer: 'first', bytes: 10 })
    expect(await again).toMatchObject({ answer: 'first' })
    // One that changed nothing is executed again, by one of those that wait.
    await calls.begin('b', 'x', 10)
    const waiting = [calls.begin('b', 'x', 10), calls.begin('b', 'x', 10)]
    calls.end('b', null)
    expect(await waiting[0]).toBe('new')
    calls.end('b', { answer: 2, bytes: 10 })
    expect(await waiting[1]).toMatchObject({ answer: 2 })
  })
})

describe('SIEVE.CALL', () => {
  it.each([
    ['BF.MADD', ['f', 'a', 'b', 'a'], [1, 1, 0]],
    ['BF.ADD', ['f', 'a'], 1],
    ['BF.INSERT', ['f', 'ITEMS', 'a', 'b'], [1, 1]],
    ['SADD', ['s', 'a', 'b', 'a'], 2],
    ['SIEVE.ADD', ['u', 'https://a.example/', 'https://a.example/#x'], [1, 0]],
  ])('%s whose reply is lost is answered as the first time', async (command, args, reply) => {
    const { line, direct, proxied, server } = await behindLine()
    await direct.ask('SIEVE.CREATE', 'u')
    const caller = (await direct.ask('SIEVE.CALLER')) as string
    const call = ['SIEVE.CALL', caller, '1', command, ...args] as const
    line.loseAnswers()
    const first = await proxied()
    first.ask(...call).catch(() => {})
    await until('it was executed', async () => server.info.repeated.count === 1)
    line.cut()
    line.mend()
    const second = await proxied()
    expect(await second.ask(...call)).toEqual(reply)
    expect(await second.ask(...call)).toEqual(reply)
    expect(await second.ask('INFO', 'stats')).toMatch(/\r\nkept_answers:1\r\n.*\r\nrepeated_calls:2\r\n/s)
    // Another number is another call.
    const next = await second.ask('SIEVE.CALL', caller, '2', command, ...args)
    expect(Array.isArray(next) ? next.every((one) => one === 0) : next === 0).toBe(true)
    first.close()
    second.close()
  })

  it('in RESP3 and in transactions too', async () => {
    const { direct } = await behindLine()
    await direct.ask('HELLO', '3')
    const caller = (await direct.ask('SIEVE.CALLER')) as string
    expect(await direct.ask('SIEVE.CALL', caller, '1', 'BF.ADD', 'f', 'a')).toBe(true)
    await direct.ask('HELLO', '2')
    expect(await direct.ask('SIEVE.CALL', caller, '1', 'BF.ADD', 'f', 'a')).toBe(1)
    for (let i = 0; i < 2; i++) {
      await direct.ask('MULTI')
      await direct.ask('SIEVE.CALL', caller, '2', 'BF.MADD', 'f', 'a', 'b')
      expect(await direct.ask('EXEC')).toEqual([[0, 1]])
    }
  })

  it('is refused for another command, another server, what does not write, and unauthenticated', async () => {
    const { server, direct } = await behindLine({ password: 'p' })
    const other = await (await served()).connect()
    expect(await direct.ask('SIEVE.CALLER')).toMatch(/^!NOAUTH/)
    expect(await direct.ask('SIEVE.CALL', 'x', '1', 'BF.ADD', 'f', 'a')).toMatch(/^!NOAUTH/)
    await direct.ask('AUTH', 'p')
    const caller = (await direct.ask('SIEVE.CALLER')) as string
    expect(await direct.ask('SIEVE.CALLER')).not.toBe(caller)
    const call = (...words: string[]) => direct.ask('SIEVE.CALL', caller, ...words)
    expect(await call('1', 'BF.ADD', 'f', 'a')).toBe(1)
    expect(await call('1', 'BF.ADD', 'f', 'b')).toMatch(/^!ERR this call number was used for another command/)
    expect(await call('1.5', 'BF.ADD', 'f', 'b')).toMatch(/^!ERR value is not an integer/)
    for (const words of [
      ['PING'],
      ['BF.EXISTS', 'f', 'a'],
      ['SIEVE.CALL', caller, '3', 'BF.ADD', 'f', 'a'],
    ]) {
      expect(await call('2', ...words)).toMatch(/expected a command that writes$/)
    }
    expect(await call('2', 'BF.ADD', 'f')).toMatch(/^!ERR wrong number of arguments for 'bf.add'/)
    expect(await call('2', 'NOPE')).toMatch(/^!ERR unknown command/)
    // A refusal changed nothing: the number is free.
    expect(await call('2', 'SIEVE.ADD', 'none', 'x')).toMatch(/^!ERR there is no sieve/)
    expect(await call('2', 'BF.ADD', 'f', 'c')).toBe(1)
    const stranger = (await other.ask('SIEVE.CALLER')) as string
    expect(await direct.ask('SIEVE.CALL', stranger, '1', 'BF.ADD', 'f', 'd')).toMatch(/^!NOCALLER /)
    expect(await direct.ask('BF.EXISTS', 'f', 'd')).toBe(0)
    expect(server.info.repeated.count).toBe(2)
  })

  it('keeps the verdicts of a list that failed halfway', async () => {
    const { direct } = await behindLine()
    await direct.ask('BF.RESERVE', 'f', '0.001', '2', 'NONSCALING')
    const caller = (await direct.ask('SIEVE.CALLER')) as string
    const call = () => direct.ask('SIEVE.CALL', caller, '1', 'BF.MADD', 'f', 'a', 'b', 'c')
    const first = await call()
    expect(first).toEqual([1, 1, expect.stringMatching(/^!.*full/)])
    expect(await call()).toEqual(first)
  })
})
