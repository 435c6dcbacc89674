// What pages and servers state about links: nofollow, meta robots, X-Robots-Tag, canonical, refresh, <base>, hreflang and
// sitemaps, each obeyed or used by default, and not with its flag.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CrawlQueue } from '../../src/crawlers/crawl-queue.ts'
import type { CrawledPage } from '../../src/crawlers/crawl-report.ts'
import { directivesOf, type PageSignal, pageSignals, refreshTarget } from '../../src/crawlers/page-signals.ts'
import { RobotsFile } from '../../src/crawlers/robots-file.ts'
import { SiteCrawl } from '../../src/crawlers/site-crawl.ts'
import { siteItems } from '../../src/crawlers/site-item.ts'
import { Sieve } from '../../src/index.ts'
import { SitemapReader } from '../../src/records/url-reader.ts'
import { urlsieve } from '../e2e/command.ts'

const go = (path: string, more = '') => `<a href="${path}"${more}>x</a>`

const pages: Record<string, string> = {
  '/': [
    go('/plain'),
    go('/rel', ' rel="external NoFollow"'),
    ...['/meta', '/agent', '/other-agent', '/header', '/canonical?x=1', '/refresh', '/base', '/hreflang'].map(
      (path) => go(path),
    ),
    go('/file.pdf'),
  ].join(''),
  '/meta': `<meta name=ROBOTS content="noarchive, NOFOLLOW">${go('/below-meta')}`,
  '/agent': `<meta name=urlsieve content=none>${go('/below-agent')}`,
  '/other-agent': `<meta name=googlebot content=none>${go('/below-other-agent')}`,
  '/header': go('/below-header'),
  '/canonical?x=1': '<link rel="shortlink canonical" href="/canonical"><link rel=stylesheet href=/style>',
  '/refresh': `<noscript><meta http-equiv=Refresh content="0; URL='/refreshed'"></noscript>`,
  '/base': `<base href=/folder/>${go('below-base')}`,
  '/hreflang':
    '<link rel=alternate hreflang=de href=/de><link rel=alternate type=application/rss+xml href=/feed>',
}
const sitemaps: Record<string, Buffer | string> = {
  '/index.xml': `<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.xml.gz</loc></sitemap></sitemapindex>`,
  '/one.xml':
    '<urlset><url><loc> /map/1?a&amp;b </loc></url><url><loc><![CDATA[/map/2]]></loc></url></urlset>',
  '/two.xml.gz': gzipSync(
    '<urlset><url><loc>/map/3</loc></url><url><loc>http://elsewhere.example/</loc></url></urlset>',
  ),
  '/sitemap.xml': '<urlset><url><loc>/usual</loc></url></urlset>',
}

let robots = ''
let hits: string[] = []
const server = createServer(({ url = '/' }, response) => {
  if (url === '/robots.txt') return response.end(robots)
  hits.push(url)
  if (url in sitemaps)
    return response.writeHead(200, { 'content-type': 'application/xml' }).end(sitemaps[url])
  if (url === '/file.pdf') return response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF')
  if (url === '/header')
    response.setHeader('x-robots-tag', ['noindex', 'otherbot: index', 'urlsieve: nofollow'])
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${url}</title>${pages[url] ?? ''}`)
})
let origin = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function crawl(
  ignored: readonly PageSignal[] = [],
  more: { sitemaps?: boolean; ignoreRobots?: boolean } = {},
) {
  hits = []
  const sieve = await Sieve.create()
  const queue = await CrawlQueue.open(sieve, siteItems, { layers: true })
  const lines = new Map<string, CrawledPage>()
  const site = new SiteCrawl({
    ...{ urls: [`${origin}/`], queue, keyOf: (url) => url, concurrency: 4, userAgent: 'urlsieve/0.2' },
    ...{ allHosts: false, allTypes: false, ignoreRobots: false, ...more },
    ignored: new Set(ignored),
    onPage: (page) => lines.set(page.url.slice(origin.length), page),
  })
  await site.run()
  queue.close()
  return { lines, counts: site.counts, hits: new Set(hits) }
}

/** What is fetched only if the signal is ignored, or only if it is not. */
const effects: Record<PageSignal, { ignored?: string; used?: string }> = {
  nofollow: { ignored: '/rel' },
  metaRobots: { ignored: '/below-meta' },
  xRobotsTag: { ignored: '/below-header' },
  canonical: { used: '/canonical' },
  refresh: { used: '/refreshed' },
  base: { used: '/folder/below-base', ignored: '/below-base' },
  hreflang: { used: '/de' },
}

describe('signals of pages', () => {
  it('are obeyed and used by default', async () => {
    robots = ''
    const { lines, counts, hits } = await crawl()
    for (const { used, ignored } of Object.values(effects)) {
      if (used) expect(hits).toContain(used)
      if (ignored) expect(hits).not.toContain(ignored)
    }
    expect(hits).not.toContain('/below-agent')
    expect(hits).toContain('/below-other-agent')
    for (const path of ['/style', '/feed', '/sitemap.xml']) expect(hits).not.toContain(path)
    expect(counts).toMatchObject({ nofollow: 4, noindex: 2, otherTypes: 1, sitemaps: 0 })
    expect(lines.get('/header')).toMatchObject({ noindex: true, nofollow: true, links: 1 })
    expect(lines.get('/meta')).not.toHaveProperty('noindex')
    expect(lines.get('/canonical?x=1')).toMatchObject({ canonical: `${origin}/canonical` })
    // What is not HTML leaves a line.
    expect(lines.get('/file.pdf')).toEqual({
      ...{ url: `${origin}/file.pdf`, depth: 1, status: 200, links: 0, type: 'application/pdf' },
    })
  })

  it.each(Object.keys(effects) as PageSignal[])('%s, ignored', async (signal) => {
    robots = ''
    const { hits } = await crawl([signal])
    const { used, ignored } = effects[signal]
    if (used) expect(hits).not.toContain(used)
    if (ignored) expect(hits).toContain(ignored)
  })
})

describe('sitemaps', () => {
  it('in robots.txt: an index, gzip, CDATA and entities; other hosts are left out', async () => {
    robots = `User-agent: x\nDisallow: /\nSITEMAP : ${origin}/index.xml\nSitemap: http://elsewhere.example/s.xml`
    const { counts, hits, lines } = await crawl([], { sitemaps: true })
    for (const path of ['/map/1?a&b', '/map/2', '/map/3']) expect(hits).toContain(path)
    expect(hits).not.toContain('/sitemap.xml')
    expect(counts.sitemaps).toBe(3)
    expect(lines.get('/index.xml')).toMatchObject({ depth: 0, status: 200, links: 2, type: 'sitemap' })
    expect(lines.get('/map/3')).toMatchObject({ depth: 2 })
  })

  it('else /sitemap.xml, also without robots.txt', async () => {
    robots = ''
    expect((await crawl([], { sitemaps: true })).hits).toContain('/usual')
    expect((await crawl([], { sitemaps: true, ignoreRobots: true })).hits).toContain('/usual')
  })

  it('a damaged or too large file is an error of its line', async () => {
    robots = `Sitemap: ${origin}/sitemap.xml`
    const before = sitemaps['/sitemap.xml']!
    sitemaps['/sitemap.xml'] = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '))
    const { lines, counts } = await crawl([], { sitemaps: true })
    sitemaps['/sitemap.xml'] = before
    expect(lines.get('/sitemap.xml')!.error).toMatch(/larger/)
    expect(counts).toMatchObject({ sitemaps: 0, failed: 1 })
  })

  it('a long <loc> takes linear time', () => {
    const reader = new SitemapReader()
    for (const text of [' '.repeat(60_000), '<loc>'.repeat(12_000), `<![CDATA[${']'.repeat(50_000)}`])
      expect(reader.push(Buffer.from(`<loc>${text}`)).ends).toEqual([])
  })
})

it('the command has a flag for each', async () => {
  robots = `Sitemap: ${origin}/sitemap.xml`
  const flags = ['--ignore-nofollow', '--ignore-x-robots-tag', '--ignore-meta-robots', '--ignore-canonical']
  const more = ['--ignore-refresh', '--ignore-base', '--ignore-hreflang', '--sitemaps']
  hits = []
  const ended = await urlsieve(['crawl', `${origin}/`, '--rate', '0', ...flags, ...more])
  expect(ended.code).toBe(0)
  expect(flags.length + more.length).toBe(Object.keys(pageSignals).length + 1)
  for (const { used, ignored } of Object.values(effects)) {
    if (used) expect(hits).not.toContain(used)
    if (ignored) expect(hits).toContain(ignored)
  }
  expect(hits).toContain('/usual')
  expect(ended.stderr).toMatch(/ · 1 sitemap · 1 not HTML · /)
})

it.each([
  [['nofollow'], true, false],
  [['noindex', 'NoFollow , x'], true, true],
  [['none'], true, true],
  [['otherbot: none'], false, false],
  [['otherbot: none, urlsieve: noindex'], false, true],
  [['unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow'], true, false],
  [['index, follow', ''], false, false],
])('directives %j', (values, nofollow, noindex) => {
  expect(directivesOf(values, 'urlsieve')).toEqual({ nofollow, noindex })
})

it.each([
  ['5; url=/a', '/a'],
  [' 0.5 , URL = "/a b" x', '/a b'],
  ["1;url='/a", '/a'],
  ['3 /a', '/a'],
  ['5', null],
  ['5;', null],
  ['/a', null],
])('refresh %j', (content, target) => {
  expect(refreshTarget(content)).toBe(target)
})

it('sitemaps of a robots.txt: each once, at most 1,000', () => {
  const text = Array.from({ length: 3000 }, (_, i) => `Sitemap: /s${i % 2000}`).join('\n')
  expect(new RobotsFile(text, 'x').sitemaps).toHaveLength(1000)
  expect(new RobotsFile('# Sitemap: /a\nsitemap:/b # c\n', 'x').sitemaps).toEqual(['/b'])
})
