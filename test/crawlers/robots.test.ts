// Crawl-delay in robots.txt: what is read, whose turn it is, and what a site sees of a crawl that keeps it. Times have
// lower bounds only.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CrawlQueue, type CrawlQueueOptions } from '../../src/crawlers/crawl-queue.ts'
import { Fetcher } from '../../src/crawlers/fetcher.ts'
import { crawlLimits } from '../../src/crawlers/limits.ts'
import { Pace } from '../../src/crawlers/pace.ts'
import { Robots } from '../../src/crawlers/robots.ts'
import { RobotsFile } from '../../src/crawlers/robots-file.ts'
import { SiteCrawl } from '../../src/crawlers/site-crawl.ts'
import { siteItems } from '../../src/crawlers/site-item.ts'
import { Sieve } from '../../src/index.ts'
import { temporaryFolder, urlsieve } from '../e2e/command.ts'

const AGENT = 'urlsieve/0.1.0'

/** A site of five pages, and when each was asked for. `/to/…` leads to `/…`; another name of the host leads to its own. */
function siteForTests() {
  const site = {
    origin: '',
    robots: '' as string | number,
    robotsHits: 0,
    hits: [] as { readonly path: string; readonly at: number }[],
    begin(robots: string | number) {
      site.robots = robots
      site.robotsHits = 0
      site.hits = []
    },
    /** Milliseconds between one hit and the next. */
    gaps: () => site.hits.slice(1).map(({ at }, i) => at - site.hits[i]!.at),
  }
  const links = ['/1', '/2', '/3', '/4', '/5'].map((path) => `<a href="${path}">go</a>`).join('')
  const server = createServer(({ url: path = '/', headers }, response) => {
    if (path === '/robots.txt') {
      site.robotsHits++
      const { robots } = site
      response.writeHead(typeof robots === 'number' ? robots : 200, { 'content-type': 'text/plain' })
      return response.end(String(robots))
    }
    site.hits.push({ path, at: performance.now() })
    const to = headers.host?.startsWith('127.') ? /^\/to(\/.*)/.exec(path)?.[1] : site.origin + path
    if (to !== undefined) return response.writeHead(302, { location: to }).end()
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<title>${path}</title>${links}`)
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return site
}

const site = siteForTests()

describe('what robots.txt asks for', () => {
  /** Of so many links at a time. */
  async function heard(robots: string | number, links = 1): Promise<number[]> {
    site.begin(robots)
    const { bodyBytes, headerBytes, robotsBytes: maxBytes } = crawlLimits
    const fetcher = new Fetcher(AGENT, { bodyBytes, headerBytes, timeoutMs: 30_000 })
    const asked = new Robots({ fetcher, userAgent: AGENT, maxBytes, mayFollow: () => true })
    const files = await Promise.all(Array.from({ length: links }, (_, i) => asked.of(`${site.origin}/${i}`)))
    fetcher.close()
    return files.map((file) => (file instanceof RobotsFile ? file.delaySeconds : Number.NaN))
  }
  const star = (delay: string) => `User-agent: *\nCrawl-delay: ${delay}\nDisallow: /closed/\n`

  it.each([
    ['a number', star('3'), 3],
    ['a decimal', star('0.3'), 0.3],
    ['spaces, case and a comment', 'user-AGENT: *\r\n  crawl-DELAY :  1.5  # please\r\n', 1.5],
    ['our own group before all others', `${star('9')}\nUser-agent: UrlSieve\nCrawl-delay: 2\n`, 2],
    ['our own group, which has none', `${star('9')}\nUser-agent: urlsieve\nDisallow: /x\n`, 0],
    ['one of several names', `User-agent: other\nUser-agent: urlsieve\nCrawl-delay: 4\n\n${star('9')}`, 4],
    ['the group of another', 'User-agent: urlsieve-news\nCrawl-delay: 5\n', 0],
    ['a word', star('slowly'), 0],
    ['a unit', star('10 s'), 0],
    ['a comma', star('0,5'), 0],
    ['nothing', star(''), 0],
    ['less than nothing', star('-5'), 0],
    ['no number', star('NaN'), 0],
    ['a huge one', star('1e300'), 1e300],
    ['one beyond numbers', star('1e999'), Number.POSITIVE_INFINITY],
    ['no group', 'Crawl-delay: 5\n', 0],
    ['no line', 'User-agent: *\nDisallow:\n', 0],
    ['no text', '', 0],
    ['a page instead', '<!doctype html><title>Not here: sorry</title>', 0],
    ['no file', 404, 0],
  ])('%s', async (_, robots, seconds) => {
    expect(await heard(robots)).toEqual([seconds])
  })

  it('is asked for once at each origin, however many links, also when it cannot be had', async () => {
    expect(await heard(star('2'), 20)).toEqual(Array(20).fill(2))
    expect(site.robotsHits).toBe(1)
    expect(await heard(403, 20)).toEqual(Array(20).fill(0))
    expect(site.robotsHits).toBe(1)
  })
})

describe('whose turn it is', () => {
  it('a delay counts from the end of a request, one at a time; other hosts do not wait', () => {
    const pace = new Pace(0, true)
    for (const host of ['slow', 'fast']) pace.keep(host, host === 'slow' ? 1000 : 0, 0)
    for (const host of ['slow', 'fast']) pace.take(host, 0)
    expect([pace.isDue('slow', 5000), pace.isDue('fast', 0)]).toEqual([false, true])
    pace.end('slow', 5000)
    expect([pace.isDue('slow', 5999), pace.isDue('slow', 6000)]).toEqual([false, true])
  })

  it('the larger of the pace and the delay, and the largest delay', () => {
    const pace = new Pace(1, true)
    pace.keep('host', 300, 0)
    pace.take('host', 0)
    pace.end('host', 10)
    expect([pace.isDue('host', 999), pace.isDue('host', 1000)]).toEqual([false, true])
    pace.keep('host', 5000, 1000)
    pace.keep('host', 0, 1000)
    pace.take('host', 1000)
    pace.end('host', 1010)
    expect([pace.isDue('host', 6009), pace.isDue('host', 6010)]).toEqual([false, true])
  })

  it('until the host is heard it is asked by one at a time', () => {
    const pace = new Pace(0, true)
    expect(pace.isDue('host', 0)).toBe(true)
    pace.take('host', 0)
    expect(pace.isDue('host', 10)).toBe(false)
    pace.keep('host', 0, 20)
    expect(pace.isDue('host', 20)).toBe(true)
  })

  it('a redirect counts as a request', () => {
    const pace = new Pace(0, true)
    for (const host of ['host', 'other']) pace.keep(host, 1000, 0)
    pace.take('host', 0)
    pace.redirect('host', 10)
    pace.redirect('other', 20)
    pace.end('host', 30)
    expect([pace.isDue('host', 2029), pace.isDue('host', 2030)]).toEqual([false, true])
    expect([pace.isDue('other', 1019), pace.isDue('other', 1020)]).toEqual([false, true])
  })

  it.each([86_400_000, 1e300, Number.POSITIVE_INFINITY])(
    'of %d ms a minute is kept, redirects or not',
    (delayMs) => {
      const pace = new Pace(0, true)
      pace.keep('host', delayMs, 0)
      pace.take('host', 0)
      pace.redirect('host', 0)
      pace.end('host', 10)
      expect([pace.isDue('host', 60_009), pace.isDue('host', 60_010)]).toEqual([false, true])
    },
  )

  it('a host that is waited for is not forgotten among ten thousand', () => {
    const pace = new Pace(0, true)
    pace.keep('slow', 1000, 0)
    pace.take('slow', 0)
    pace.end('slow', 0)
    for (let i = 0; i < 20_001; i++) pace.keep(`host ${i}`, 0, 500)
    expect(pace.isDue('slow', 999)).toBe(false)
  })

  it('without delays nothing waits', () => {
    const pace = new Pace(0)
    pace.keep('host', 1000, 0)
    pace.take('host', 0)
    expect(pace.isDue('host', 0)).toBe(true)
  })
})

describe('a crawl', () => {
  interface Setting extends Pick<CrawlQueueOptions, 'folder' | 'perHostPerSecond'> {
    depth?: number
    pages?: number
  }
  async function crawl(urls: string[], { depth = 0, pages, ...options }: Setting = {}) {
    const { folder } = options
    const sieve = folder === undefined ? await Sieve.create() : await Sieve.open(`${folder}/seen`)
    const queue = await CrawlQueue.open(sieve, siteItems, { layers: true, hostDelays: true, ...options })
    const crawled = new SiteCrawl({
      urls: urls.map((url) => new URL(url, site.origin).href),
      queue,
      keyOf: (url) => url,
      limits: { depth },
      ...(pages !== undefined && { pages }),
      concurrency: 8,
      userAgent: AGENT,
      ...{ allHosts: false, allTypes: false, ignoreRobots: false, onPage: () => {} },
    })
    await crawled.run()
    queue.close()
    await sieve.close()
    return crawled.counts
  }

  it('keeps the delay that its own group asks for', async () => {
    site.begin('User-agent: *\nCrawl-delay: 30\n\nUser-agent: urlsieve\nCrawl-delay: 0.3\n')
    expect(await crawl(['/1'], { depth: 1, pages: 4 })).toMatchObject({ pages: 4, delayed: 1, capped: 0 })
    expect(site.gaps()).toHaveLength(3)
    expect(Math.min(...site.gaps())).toBeGreaterThanOrEqual(300)
    expect(site.robotsHits).toBe(1)
  })

  it('keeps it when it goes on, also at a host that it has not heard in this run', async () => {
    site.begin('User-agent: *\nCrawl-delay: 0.2\n')
    // By that name it is led to the other: the second run finds the pages of that host in the queue.
    const begin = site.origin.replace('127.0.0.1', 'localhost')
    const folder = temporaryFolder()
    await crawl([begin], { folder, depth: 1, pages: 1 })
    site.begin(site.robots)
    expect(await crawl([begin], { folder, depth: 1 })).toMatchObject({ pages: 5, delayed: 1 })
    expect(site.hits.map(({ path }) => path)).toEqual(['/1', '/2', '/3', '/4', '/5'])
    expect(Math.min(...site.gaps())).toBeGreaterThanOrEqual(200)
    // Of the host that is fetched from; the other has nothing pending.
    expect(site.robotsHits).toBe(1)
  })

  it.each([
    ['60', 0],
    ['86400', 1],
    ['1e999', 1],
  ])('counts who asks for more than is kept: %s', async (delay, capped) => {
    site.begin(`User-agent: *\nCrawl-delay: ${delay}\n`)
    expect(await crawl(['/1'])).toMatchObject({ pages: 1, delayed: 1, capped })
  })

  it('holds a redirect back like any request', async () => {
    site.begin('User-agent: *\nCrawl-delay: 0.2\n')
    await crawl(['/to/1', '/2'])
    expect(site.hits.map(({ path }) => path)).toEqual(['/to/1', '/1', '/2'])
    expect(Math.min(...site.gaps())).toBeGreaterThanOrEqual(200)
  })

  it.each(['0.01', 'slowly'])('keeps its own pace where robots.txt says %s', async (delay) => {
    site.begin(`User-agent: *\nCrawl-delay: ${delay}\n`)
    const started = performance.now()
    await crawl(['/1', '/2', '/3'], { perHostPerSecond: 10 })
    expect(performance.now() - started).toBeGreaterThan(140)
  })
})

describe('urlsieve crawl', () => {
  const other = siteForTests()
  const crawl = async ({ origin }: typeof site, ...args: string[]) => {
    const ended = await urlsieve(['crawl', `${origin}/1`, '--rate', '0', '--stats', ...args])
    expect(ended).toMatchObject({ code: 0, signal: null })
    return JSON.parse(ended.stderr) as Record<string, number>
  }

  it('keeps the delay; --ignore-robots keeps none', async () => {
    site.begin('User-agent: *\nCrawl-delay: 0.3\n')
    other.begin('User-agent: *\nCrawl-delay: 86400\n')
    const [keeping, ignoring] = await Promise.all([
      crawl(site, '--pages', '3'),
      crawl(other, '--ignore-robots'),
    ])
    expect(keeping).toMatchObject({ pages: 3, delayed: 1, capped: 0 })
    expect(Math.min(...site.gaps())).toBeGreaterThanOrEqual(300)
    expect(ignoring).toMatchObject({ pages: 5, delayed: 0, capped: 0 })
    expect([site.robotsHits, other.robotsHits]).toEqual([1, 0])
  })
})
