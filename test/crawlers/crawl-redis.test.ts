// Two `urlsieve crawl --redis` at once, from different pages of one site: together they fetch all of it, each page once.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { expectFailure, urlsieve } from '../e2e/command.ts'
import { type RedisNode, startNode, whyNoRedis } from '../redis/servers.ts'
import { pagesIn, siteForTests, unreached, webKey } from './crawled.ts'

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

describe.skipIf(whyNoRedis)(`with Redis ${whyNoRedis}`, () => {
  const site = siteForTests(process.env.URLSIEVE_FULL ? 5000 : 150, 8)
  let node: RedisNode
  beforeAll(async () => {
    node = await startNode()
  })
  afterAll(() => node?.kill())

  const crawl = (path: string, ...args: string[]) =>
    urlsieve(['crawl', site.served.origin + path, '--redis', node.url, '--rate', '0', '--quiet', ...args])

  it('two crawls share what is seen', async () => {
    const { paper, served } = site
    // Both begin at once, however long each takes to start: with what it may fetch neither is told before the other asks.
    let asking = 0
    let bothAsk = () => {}
    const asked = new Promise<void>((resolve) => {
      bothAsk = resolve
    })
    served.onRobots = () => {
      if (++asking === 2) bothAsk()
      return asked
    }
    const both = await Promise.all([crawl('/', '--concurrency', '4'), crawl('/p/77.html')])
    for (const ended of both) expect(ended).toMatchObject({ code: 0, stderr: '' })
    const [first, second] = both.map(({ stdout }) => pagesIn(stdout).pages) as [
      ReturnType<typeof pagesIn>['pages'],
      ReturnType<typeof pagesIn>['pages'],
    ]
    expect(Math.min(first.length, second.length)).toBeGreaterThan(20)
    const keys = [...first, ...second].map(({ url }) => webKey(url))
    expect(new Set(keys).size).toBe(keys.length)
    expect(unreached(paper, [...first, ...second])).toEqual([])
  })

  it('mistakes are one line', async () => {
    expectFailure(await crawl('/', '--filter', 'blocked'), 2, /--filter with --redis: expected one of them/)
    expectFailure(await crawl('/', '--audit'), 2, /--audit with --redis: expected one of them/)
    const nobody = await urlsieve(['crawl', site.served.origin, '--redis', 'redis://127.0.0.1:9'])
    expect(nobody.code).not.toBe(0)
    expect(nobody.stderr).toMatch(/^urlsieve: cannot connect to Redis at 127.0.0.1\S*: [^\n]+\n$/)
  })
})
