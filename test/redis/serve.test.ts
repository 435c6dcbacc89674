// `urlsieve serve --redis`: two servers in front of one Redis give the verdicts of one sieve.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFailure, urlsieve } from '../e2e/command.ts'
import { type Process, started } from '../server/process.ts'
import { type RedisNode, startNode, until, whyNoRedis } from './servers.ts'

describe.skipIf(whyNoRedis)('urlsieve serve --redis', () => {
  let node: RedisNode
  let servers: Process[]
  beforeAll(async () => {
    node = await startNode()
    servers = [await started(['--redis', node.url]), await started(['--redis', node.url])]
  })
  afterAll(async () => {
    for (const { child } of servers ?? []) child.kill('SIGKILL')
    await node?.kill()
  })

  it('what one server marks the other has seen, by RESP and by HTTP', async () => {
    const [one, two] = await Promise.all(servers.map((server) => server.connect()))
    expect(await one!.ask('SIEVE.CREATE', 'links', 'PROFILE', 'web')).toBe('OK')
    expect(await one!.ask('SIEVE.MADD', 'links', 'http://a.example/', 'https://a.example/#x')).toEqual([1, 0])
    await until('the other finds it', async () => (await two!.ask('EXISTS', 'links')) === 1)
    expect(await two!.ask('SIEVE.ADD', 'links', 'https://a.example/')).toBe(0)
    expect(await two!.ask('SIEVE.ADD', 'links', 'https://b.example/')).toBe(1)
    expect(await two!.ask('BF.ADD', 'bloom', 'x')).toBe(1)
    await until('the first finds it', async () => (await one!.ask('EXISTS', 'bloom')) === 1)
    expect(await one!.ask('BF.MEXISTS', 'bloom', 'x', 'y')).toEqual([1, 0])
    const http = `http://127.0.0.1:${servers[1]!.httpPort}`
    const answer = await fetch(`${http}/sieves/links`)
    expect(await answer.json()).toMatchObject({ name: 'links', stats: { urls: 2 } })
    one!.close()
    two!.close()
  })

  it('says in one line what cannot be', async () => {
    expectFailure(
      await urlsieve(['serve', '--redis', 'redis://127.0.0.1:1']),
      3,
      /cannot connect to Redis at 127/,
    )
    expectFailure(await urlsieve(['serve', '--redis', node.url, '--data', 'x']), 2, /--redis with --data/)
  })
})
