// `urlsieve serve --redis`: two servers before one Redis are one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFailure, urlsieve } from '../e2e/command.ts'
import { freePort, type RedisNode, startNode, until, whyNoRedis } from '../redis/servers.ts'
import { type Process, started } from './process.ts'
import { encoded, plain } from './raw.ts'

describe.skipIf(whyNoRedis)(`servers before one Redis ${whyNoRedis}`, () => {
  let node: RedisNode
  const servers: Process[] = []
  beforeAll(async () => {
    node = await startNode()
    const url = `redis://127.0.0.1:${node.port}`
    servers.push(await started(['--no-http', '--redis', url]), await started(['--no-http', '--redis', url]))
  })
  afterAll(async () => {
    for (const { child } of servers) child.kill('SIGTERM')
    for (const server of servers) expect(await server.ended()).toBe(0)
    await node?.kill()
  })

  it('answer "new" once, whoever is asked, in pipelines too', async () => {
    const [one, two] = [await servers[0]!.connect(), await servers[1]!.connect()]
    expect(await one.ask('SIEVE.CREATE', 'crawl')).toBe('OK')
    await until('the other finds it', async () => (await two.ask('EXISTS', 'crawl')) === 1)
    expect(await one.ask('SIEVE.ADD', 'crawl', 'http://a.example/', 'http://b.example/')).toEqual([1, 1])
    expect(await two.ask('SIEVE.ADD', 'crawl', 'https://a.example/', 'http://c.example/')).toEqual([0, 1])
    const commands = Array.from({ length: 200 }, (_, i) => encoded('BF.ADD', 'bloom', `x${i % 150}`))
    one.write(Buffer.concat([...commands, encoded('BF.CARD', 'bloom')]))
    for (let i = 0; i < 200; i++) expect(plain(await one.read())).toBe(i < 150 ? 1 : 0)
    expect(plain(await one.read())).toBe(150)
    expect(await one.ask('BF.SCANDUMP', 'bloom', '0')).toMatch(
      /^!ERR this server keeps its filters elsewhere/,
    )
    expect(await one.ask('SIEVE.CREATE', 'x', 'FILTER', 'blocked', 'URLS', '10')).toMatch(
      /^!ERR FILTER 'blocked' is not for Redis/,
    )
    one.close()
    two.close()
  })

  it('share sets; what needs the sieves in this process is refused', async () => {
    const [one, two] = [await servers[0]!.connect(), await servers[1]!.connect()]
    expect(await one.ask('SADD', 'set', 'a', 'b', 'a', Buffer.from([0xff]))).toBe(3)
    await until('the other finds it', async () => (await two.ask('EXISTS', 'set')) === 1)
    expect(await two.ask('TYPE', 'set')).toBe('set')
    expect(await two.ask('SADD', 'set', 'a', 'c')).toBe(1)
    expect(await two.ask('SMISMEMBER', 'set', 'a', Buffer.from([0xff]), 'z')).toEqual([1, 1, 0])
    expect(await one.ask('SREM', 'set', Buffer.from([0xff]), 'z')).toBe(1)
    expect(await two.ask('SCARD', 'set')).toBe(3)
    expect(await one.ask('EXPIRE', 'set', '10')).toMatch(/^!ERR sieves do not expire with --redis/)
    expect(await one.ask('RENAME', 'set', 'x')).toMatch(/^!ERR RENAME is not possible with --redis/)
    expect(await one.ask('FLUSHALL')).toMatch(/^!ERR FLUSHALL and FLUSHDB are not allowed/)
    expect(await one.ask('TTL', 'set')).toBe(-1)
    one.close()
    two.close()
  })

  it('say where they keep their sieves, and when nobody is there', async () => {
    expect(servers[0]!.output()).toMatch(new RegExp(`"data":"127.0.0.1:${node.port}"`))
    const nobody = `redis://user:secret@127.0.0.1:${await freePort()}`
    const ended = await urlsieve(['serve', '--port', '0', '--redis', nobody])
    expect(ended.stderr).toMatch(/^urlsieve: cannot connect to Redis at /)
    expect(ended.stderr).not.toMatch(/secret/)
    expect(ended.code).not.toBe(0)
    expectFailure(
      await urlsieve(['serve', '--data', 'x', '--redis', nobody]),
      2,
      /--data with --redis: expected one of them/,
    )
  })
})
