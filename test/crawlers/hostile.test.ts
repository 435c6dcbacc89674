// `urlsieve crawl` on a site that does what it can against it: the crawl ends, its memory stays small, scope and
// robots.txt hold after every redirect, and whatever was cut, refused or left out is in the output and the summary.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CrawledPage } from '../../src/crawlers/crawl-report.ts'
import { main, spawned, temporaryFolder } from '../e2e/command.ts'
import { pagesIn } from './crawled.ts'
import {
  endlessRobots,
  type HostileSite,
  hostileSite,
  robotsStatus,
  robotsText,
  SLOW_PATHS,
} from './hostile-site.ts'

/** What the command takes without a page is about 90 MB. Each of the bombs unpacks to more than this. */
const MOST_MEGABYTES = 400

/** Runs the command; its peak of memory too. */
async function crawl(...args: string[]) {
  const report = join(temporaryFolder(), 'peak')
  const hook = `import { writeFileSync } from 'node:fs'
    process.on('exit', () => writeFileSync('${report}', String(process.resourceUsage().maxRSS)))`
  const preload = `data:text/javascript,${encodeURIComponent(hook)}`
  const ended = await spawned(process.execPath, ['--import', preload, main, 'crawl', ...args])
  const { pages } = pagesIn(ended.stdout)
  return { ...ended, pages, peakMegabytes: Number(readFileSync(report, 'utf8')) / 1024 }
}

const open: HostileSite[] = []
afterAll(() => Promise.all(open.map((site) => site.close())))
async function site(other: string, robots: Parameters<typeof hostileSite>[1]): Promise<HostileSite> {
  const made = await hostileSite(other, robots)
  open.push(made)
  return made
}

describe('a hostile site', () => {
  let other: HostileSite
  let here: HostileSite
  let crawled: Awaited<ReturnType<typeof crawl>>
  let stats: Record<string, number>
  beforeAll(async () => {
    other = await site('http://127.0.0.1:9', robotsText('User-agent: *\nDisallow: /\n'))
    here = await site(other.origin, endlessRobots)
    const args = ['--rate', '0', '--content', '--stats', '--depth', '12', '--concurrency', '4']
    crawled = await crawl(`${here.origin}/`, ...args)
    stats = JSON.parse(crawled.stderr) as Record<string, number>
  })
  const lineOf = (path: string): CrawledPage | undefined =>
    crawled.pages.find(({ url }) => url === here.origin + path)
  const times = (pattern: RegExp) => here.hits.filter((hit) => pattern.test(hit)).length

  it('ends, and its memory stays small', () => {
    expect(crawled).toMatchObject({ code: 0, signal: null })
    if (process.env.URLSIEVE_FULL) console.log('peak of memory, MB:', Math.round(crawled.peakMegabytes))
    expect(crawled.peakMegabytes).toBeLessThan(MOST_MEGABYTES)
    expect(stats.pending).toBe(0)
  })

  it('every page that was asked for has a line', () => {
    const missing = here.paths.filter((path) => path !== '/closed/link' && !lineOf(path))
    expect(missing).toEqual([])
  })

  it.each(['endless', 'gzip-bomb', 'br-bomb', 'gzip-name'])('%s is cut by size', (name) => {
    expect(lineOf(`/${name}`)).toMatchObject({ status: 200, cut: 'size' })
    expect(times(new RegExp(`^/${name}$`))).toBe(1)
  })

  it('what was found before a cut, and behind megabytes of nonsense, is followed', () => {
    const found = here.hits.filter((hit) => hit.startsWith('/found/')).sort()
    expect(found).toEqual(
      'attributes br cdata charset closers comment endless entities gzip length long nested redirect type'
        .split(' ')
        .map((name) => `/found/${name}`),
    )
  })

  it.each([
    ['/gzip-broken', /header check/],
    ['/encoding', /content encoding 'rot13': expected gzip, deflate or br/],
    ['/encodings', /4 content encodings: expected at most 2/],
    ['/long-headers', /Header overflow/],
    ['/bad-headers', /Parse Error/],
    ['/bad-status', /Parse Error/],
    ['/bad-length', /aborted/],
    ['/reset', /ECONNRESET|socket hang up/],
  ])('%s has failed, in one line', (path, reason) => {
    expect(lineOf(path)?.error).toMatch(reason)
    expect(times(new RegExp(`^${path}$`))).toBeLessThanOrEqual(3)
  })

  it('links: too many, too long, and short ones that a base makes long', () => {
    expect(lineOf('/many')).toMatchObject({ links: 100_000, cut: 'links' })
    expect(lineOf('/long')).toMatchObject({ links: 1 })
    expect(lineOf('/base')).toMatchObject({ cut: 'links' })
    expect(stats.longLinks).toBe(1)
    expect(stats.linksOver).toBe(20_000 + 20_000 - lineOf('/base')!.links)
  })

  it.each([
    ['/self', 'a loop'],
    ['/loop/a', 'a loop'],
    ['/chain/0', 'more than 10 redirects'],
    ['/off', 'another host'],
    ['/off-name', 'another host'],
    ['/private', 'another host'],
    ['/private-name', 'another host'],
    ['/file', 'not http or https'],
    ['/javascript', 'not http or https'],
    ['/data', 'not http or https'],
    ['/no-url', 'not a URL'],
    ['/long-redirect', 'longer than 8192 characters'],
    ['/to-closed', 'disallowed by robots.txt'],
  ])('redirect %s: not followed, %s', (path, reason) => {
    expect(lineOf(path)).toMatchObject({ links: 0 })
    expect(lineOf(path)?.error).toMatch(new RegExp(`^redirect to .* not followed: ${reason}$`))
  })

  it('redirects cost what they are worth', () => {
    expect(times(/^\/self$/)).toBe(1)
    expect(times(/^\/loop\//)).toBe(2)
    expect(times(/^\/chain\//)).toBe(11)
    expect(lineOf('/to-found')).toMatchObject({ at: `${here.origin}/found/redirect`, status: 200 })
  })

  it('scope and robots.txt hold', () => {
    expect(other.hits).toEqual([])
    expect(times(/^\/closed\//)).toBe(0)
    expect(times(/^\/robots\.txt$/)).toBe(1)
    expect(stats.closed).toBe(2)
  })

  it('a path without end ends at the depth', () => {
    expect(times(/^\/deep\//)).toBe(12)
    expect(stats.deeper).toBe(2)
  })

  it('the summary counts what was cut and refused', () => {
    const cut = crawled.pages.filter((page) => page.cut)
    const refused = crawled.pages.filter((page) => page.error?.startsWith('redirect to'))
    expect(stats).toMatchObject({
      cut: cut.length,
      redirectsRefused: refused.length,
      redirectsElsewhere: 4,
      robotsCut: 1,
      failed: crawled.pages.filter((page) => page.error).length,
    })
  })
})

it('a body that takes too long is cut, an answer that never comes has failed', async () => {
  const here = await site('http://127.0.0.1:9', robotsStatus(404))
  const urls = SLOW_PATHS.map((path) => here.origin + path)
  const { pages, stderr } = await crawl(...urls, '--rate', '0', '--timeout', '2', '--depth', '0')
  const never = { status: null, error: 'no answer within 2 s' }
  const results: Record<string, object> = { '/drip': { status: 200, cut: 'time', links: 1 } }
  for (const { url, ...page } of pages) expect(page).toMatchObject(results[new URL(url).pathname] ?? never)
  expect(pages.map(({ url }) => url).sort()).toEqual(urls.sort())
  expect(stderr).toContain('1 page cut (--max-body, --timeout, --max-links)')
})

describe('a first page that leads to another host', () => {
  it('leads the crawl there, if that host’s robots.txt lets it', async () => {
    const closed = await site('http://127.0.0.1:9', robotsText('User-agent: *\nDisallow: /\n'))
    const begin = await site(closed.origin, robotsStatus(404))
    const { pages, code, stderr } = await crawl(`${begin.origin}/off`, '--rate', '0')
    expect(code).toBe(3)
    expect(pages).toEqual([
      expect.objectContaining({
        error: `redirect to ${closed.origin}/secret not followed: disallowed by robots.txt`,
      }),
    ])
    expect(closed.hits).toEqual(['/robots.txt'])
    expect(stderr).toContain('urlsieve: limits: 1 other redirect not followed\n')
  })
})

describe('robots.txt', () => {
  it('that is unreachable closes the site: the page is reported, and stays pending', async () => {
    const here = await site('http://127.0.0.1:9', robotsStatus(503))
    const args = [`${here.origin}/deep/`, '--depth', '0', '--rate', '0', '--state', temporaryFolder()]
    const { pages, code, stderr } = await crawl(...args)
    expect(code).toBe(3)
    expect(pages).toEqual([expect.objectContaining({ error: `${here.origin}/robots.txt: HTTP 503` })])
    expect(new Set(here.hits)).toEqual(new Set(['/robots.txt']))
    expect(stderr).toMatch(
      /1 page not fetched: robots.txt unreachable\n.*1 page still to fetch: the same command/,
    )
    const again = await crawl(...args, '--ignore-robots')
    expect(again.pages).toEqual([expect.objectContaining({ url: `${here.origin}/deep/`, status: 200 })])
  })

  it.each([
    ['refused (403)', robotsStatus(403), 1],
    [
      'a loop',
      (_: unknown, response: { writeHead(s: number, h: object): { end(): void } }) =>
        response.writeHead(302, { location: '/robots.txt' }).end(),
      1,
    ],
    [
      'leading to a page of another host',
      (_: unknown, response: { writeHead(s: number, h: object): { end(): void } }) =>
        response.writeHead(302, { location: 'http://127.0.0.1:9/x' }).end(),
      0,
    ],
  ])('%s', async (_, robots, fetched) => {
    const here = await site('http://127.0.0.1:9', robots as never)
    const { pages } = await crawl(`${here.origin}/deep/`, '--depth', '0', '--rate', '0', '--quiet')
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(fetched)
    expect(here.hits.filter((hit) => hit === '/robots.txt').length).toBeLessThanOrEqual(6)
  })
})
