// What a crawl keeps open between and after its requests: connections, listeners, pages that are under way.
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CrawlQueue } from '../../src/crawlers/crawl-queue.ts'
import { Fetcher } from '../../src/crawlers/fetcher.ts'
import { crawlLimits } from '../../src/crawlers/limits.ts'
import { Robots } from '../../src/crawlers/robots.ts'
import { SiteCrawl } from '../../src/crawlers/site-crawl.ts'
import { siteItems } from '../../src/crawlers/site-item.ts'
import { Sieve } from '../../src/index.ts'

const SLOW_MS = 4000
const { bodyBytes, headerBytes, robotsBytes } = crawlLimits

let port = 0
const server = createServer(({ url }, response) => {
  if (url === '/silent') return
  if (url === '/slow') setTimeout(() => response.end('slow'), SLOW_MS)
  else if (url === '/robots.txt') response.writeHead(203).end('User-agent: *\nDisallow: /closed\n')
  else response.end('page')
})
server.keepAliveTimeout = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const connections = () =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

/** Every name is this machine. */
const lookup: LookupFunction = (_, { all }, done) =>
  all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
const fetcherFor = () => new Fetcher('urlsieve', { bodyBytes, headerBytes, timeoutMs: 30_000 }, lookup)

it('connections to many hosts are not kept, and many requests at a time need no warning', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  const fetcher = fetcherFor()
  const read = async (url: string) => {
    const pieces: Buffer[] = []
    for await (const piece of (await fetcher.get(url)).body()) pieces.push(piece)
    return String(Buffer.concat(pieces))
  }
  try {
    const slow = read(`http://slow.example:${port}/slow`)
    const pages = await Promise.all(
      Array.from({ length: 20 }, (_, i) => read(`http://h${i}.example:${port}/`)),
    )
    expect(pages).toEqual(Array(20).fill('page'))
    expect(await slow).toBe('slow')
    await expect.poll(connections, { timeout: 20_000 }).toBeLessThanOrEqual(1)
    expect(warnings).toEqual([])
  } finally {
    fetcher.close()
    process.off('warning', note)
  }
}, 30_000)

it('a robots.txt of any 2xx status counts', async () => {
  const fetcher = fetcherFor()
  const robots = new Robots({ fetcher, userAgent: 'urlsieve', maxBytes: robotsBytes, mayFollow: () => true })
  const file = await robots.of(`http://127.0.0.1:${port}/`)
  fetcher.close()
  const isAllowed = (path: string) => 'allows' in file && file.allows(`http://127.0.0.1:${port}${path}`)
  expect(['/open', '/closed'].map(isAllowed)).toEqual([true, false])
})

it('a queue that fails ends the crawl: pages under way stay pending, and nothing comes after the end', async () => {
  const queue = await CrawlQueue.open(await Sieve.create(), siteItems)
  const url = `http://127.0.0.1:${port}/silent`
  await queue.add([{ url, depth: 0, via: [], retries: 2 }])
  const next = queue.next.bind(queue)
  let calls = 0
  queue.next = () => (calls++ === 0 ? next() : Promise.reject(new Error('cannot be read')))
  const lines: unknown[] = []
  const crawl = new SiteCrawl({
    ...{ urls: [url], queue, keyOf: (text) => text, concurrency: 2, userAgent: 'urlsieve' },
    ...{ allHosts: false, allTypes: false, ignoreRobots: true },
    onPage: (page) => lines.push(page),
  })
  await expect(crawl.run()).rejects.toThrow('cannot be read')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(queue.stats()).toMatchObject({ pending: 1, handled: 0 })
  expect(lines).toEqual([])
  queue.close()
})
