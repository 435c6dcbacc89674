// `urlsieve crawl` on a site with traps: every page once, layer by layer, polite; limits, repeats of text, mistakes.
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { bash, expectFailure, main, root, spawned, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { pagesIn, siteForTests, unreached, webKey } from './crawled.ts'

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const site = siteForTests(process.env.URLSIEVE_FULL ? 5000 : 120, 2)

const crawl = async (...args: string[]) => {
  const { served } = site
  served.hits.length = 0
  const ended = await urlsieve(['crawl', `${served.origin}/`, '--rate', '0', '--stats', ...args])
  expect(ended).toMatchObject({ code: 0, signal: null })
  return { ...pagesIn(ended.stdout), stats: JSON.parse(ended.stderr) as Record<string, number> }
}

describe('a crawl', () => {
  it('fetches every page once, in layers, and nothing that is closed, elsewhere or no HTML', async () => {
    const { served, paper } = site
    const cwd = temporaryFolder()
    served.hits.length = 0
    const ended = await urlsieve(['crawl', `${served.origin}/`, '--rate', '0'], { cwd })
    const { pages } = pagesIn(ended.stdout)
    const keys = pages.map(({ url }) => webKey(url))
    expect(new Set(keys).size).toBe(keys.length)
    expect(unreached(paper, pages)).toEqual([])
    expect(keys.filter((key) => !paper.has(key))).toEqual([])
    for (const { url, depth } of pages) expect([url, depth]).toEqual([url, paper.get(webKey(url))])
    const depths = pages.map(({ depth }) => depth)
    expect(depths).toEqual([...depths].sort((a, b) => a - b))
    expect(pages[0]).toMatchObject({ url: `${served.origin}/`, depth: 0, status: 200, title: 'Home' })
    expect(pages.filter(({ status }) => status === 404).length).toBeGreaterThan(0)
    expect(served.hits.filter((hit) => hit.startsWith('/closed/'))).toEqual([])
    expect([...served.agents]).toEqual([expect.stringMatching(/^urlsieve\/\d/)])
    expect(ended.stderr).toMatch(
      /^urlsieve: [\d,]+ pages fetched · [\d,]+ links found · [\d,]+ repeats skipped · .*disallowed by robots.txt/,
    )
    expect(readdirSync(cwd)).toEqual([])
  })

  it('warns of a filter past its capacity', async () => {
    const filter = ['--filter', 'blocked', '--urls', '20', '--fpr', '1e-6']
    const args = ['crawl', `${site.served.origin}/`, '--rate', '0', '--quiet', '--pages', '40', ...filter]
    const { stderr } = await urlsieve(args)
    expect(stderr).toMatch(/^urlsieve: warning: filter 'blocked' is past its capacity of 20 URLs: .*\n/)
    expect(stderr).toMatch(/\nurlsieve: warning: [\d,]+ URLs in a filter for 20: .*\n$/)
  })

  it('stops at a depth, and at a number of pages', async () => {
    const shallow = await crawl('--depth', '1', '--concurrency', '4')
    expect(new Set(shallow.pages.map(({ depth }) => depth))).toEqual(new Set([0, 1]))
    const few = await crawl('--pages', '20')
    expect(few.stats.pages! + few.stats.otherTypes!).toBe(20)
    expect(few.stats.pending).toBeGreaterThan(0)
  })

  it('follows a first page to the host it leads to, also when it goes on later', async () => {
    const { served, paper } = site
    const other = served.origin.replace('127.0.0.1', 'localhost')
    const args = ['crawl', `${other}/`, '--rate', '0', '--quiet', '--state', temporaryFolder()]
    const begun = await urlsieve([...args, '--pages', '5'])
    const rest = await urlsieve(args)
    expect([begun.code, rest.code]).toEqual([0, 0])
    const pages = [begun, rest].flatMap(({ stdout }) => pagesIn(stdout).pages)
    expect(pages[0]).toMatchObject({ url: `${other}/`, at: `${served.origin}/` })
    expect(unreached(paper, pages)).toEqual([])
  })

  it('with --state goes on in its output, and never empties it unasked', async () => {
    const { served, paper } = site
    const folder = temporaryFolder()
    const output = join(folder, 'pages.jsonl')
    const args = ['crawl', `${served.origin}/`, '--rate', '0', '--quiet', '--state', join(folder, 'state')]
    const begun = await urlsieve([...args, '--pages', '5', '-o', output])
    expect(begun).toMatchObject({ code: 0, stderr: '' })
    const first = readFileSync(output, 'utf8')
    expectFailure(
      await urlsieve([...args, '-o', output]),
      4,
      /it is not empty.+expected --append, --overwrite/,
    )
    expect(readFileSync(output, 'utf8')).toBe(first)
    // As a kill leaves it: a line that is not whole, whose page is printed again.
    appendFileSync(output, '{"url":"http')
    expect(await urlsieve([...args, '-o', output, '--append'])).toMatchObject({ code: 0, stderr: '' })
    const all = readFileSync(output)
    expect(all.toString().startsWith(first)).toBe(true)
    expect(unreached(paper, pagesIn(all).pages)).toEqual([])
  })

  it('keeps a pace', async () => {
    const started = performance.now()
    await crawl('--pages', '11', '--rate', '10')
    expect(performance.now() - started).toBeGreaterThan(1000)
  })

  it('says which pages repeat the text of others, and skips them', async () => {
    const { pages, stats } = await crawl('--content')
    const near = pages.filter(({ url }) => url.includes('/near/'))
    // The hash has a key of its own in each run: of a dozen such pages at least one is found.
    expect(near.length).toBeGreaterThan(10)
    expect(near.filter((page) => page.near).length).toBeGreaterThan(0)
    const same = pages.filter((page) => page.same)
    expect(same.length).toBe(stats.same)
    expect(same.map(({ url }) => new URL(url).search)).toContain('?a=1&b=2')
    const skipping = await crawl('--content', 'skip')
    // What is skipped is listed with the page it repeats, which is listed too and was followed.
    const skipped = skipping.pages.filter((page) => page.same || page.near)
    expect(skipped.length).toBe(skipping.stats.skipped)
    expect(skipped.length).toBe(skipping.stats.same! + skipping.stats.near!)
    expect(skipping.pages.filter((page) => page.skipped)).toEqual(skipped)
    const followed = new Set(skipping.pages.filter((page) => !page.skipped).map(({ url, at }) => at ?? url))
    for (const { same, near } of skipped) expect(followed).toContain(same ?? near)
    expect(skipping.stats.pages! + skipping.stats.otherTypes!).toBe(skipping.pages.length)
  })

  it('a reader that has enough is a normal end', async () => {
    const ended = await bash(`$URLSIEVE crawl ${site.served.origin}/ --rate 0 --quiet | head -n 1`)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(pagesIn(ended.stdout).pages).toHaveLength(1)
  })
})

describe('mistakes are one line', () => {
  it.each([
    [['ftp://example.com/'], /'ftp:\/\/example.com\/' is no page: expected a URL with http/],
    [['example.com'], /is no page/],
    [['http://example.com/', '--depth', 'x'], /--depth 'x': expected a number of at least 0/],
    [['http://example.com/', '--filter', 'blocked'], /blocked/],
  ])('%s', async (args, words) => {
    expectFailure(await urlsieve(['crawl', ...args]), 2, words)
  })

  it('an audit of a crawl that began without it', async () => {
    const state = temporaryFolder()
    await crawl('--state', state, '--pages', '1')
    const ended = await urlsieve(['crawl', site.served.origin, '--state', state, '--audit'])
    expectFailure(ended, 2, /--audit: the crawl in .* began without it/)
  })

  it('no page could be had', async () => {
    const ended = await urlsieve([
      'crawl',
      'http://127.0.0.1:9/',
      '--ignore-robots',
      '--rate',
      '0',
      '--quiet',
    ])
    expect(ended.code).toBe(3)
    expect(JSON.parse(ended.stdout.toString())).toEqual({
      url: 'http://127.0.0.1:9/',
      depth: 0,
      status: null,
      links: 0,
      error: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('Crawlee is not installed: a crawl needs none, its queue says so', async () => {
    const folder = temporaryFolder()
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    // An empty folder, so that none further up is found.
    mkdirSync(join(folder, 'node_modules/@crawlee/core'), { recursive: true })
    const bare = join(folder, main.slice(root.length))
    const ended = await spawned(process.execPath, [bare, 'crawl', `${site.served.origin}/`, '--depth', '0'])
    expect(ended.code).toBe(0)
    expect(pagesIn(ended.stdout).pages).toHaveLength(1)
    const script = `import { SieveQueue } from '${join(folder, 'dist/crawlers/crawlee.js')}'
      await SieveQueue.open().catch(({ message }) => console.log(message))`
    const queue = await spawned(process.execPath, ['--input-type=module', '-e', script])
    expect(queue.stdout.toString()).toBe('Crawlee is not installed: npm install @crawlee/core\n')
  })
})
