// Scrapy (Debian's) through `urlsieve serve` beside Scrapy with its own filter, on a site with traps: the same pages, each
// once; also across kill -9 of the spider, and with a server that goes away. 60 pages; URLSIEVE_FULL=1: 5,000.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { root } from '../e2e/command.ts'
import { newFolders } from '../support/folders.ts'
import { randomFrom } from '../support/random.mjs'
import { noScrapy, PYTHON } from './python.ts'
import { type SieveServer, startSieveServer } from './sieve-server.ts'
import { crawlOnPaper, type Served, Site, serve } from './site.ts'

const newFolder = newFolders()

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const isFull = Boolean(process.env.URLSIEVE_FULL)
const PAGES = isFull ? 5000 : 60
const KILLS = isFull ? 6 : 2
const CONCURRENCY = 8
const spider = fileURLToPath(new URL('./spider.py', import.meta.url))
const scrapyKey = (url: string) => keyOf(profiles.scrapy, url) ?? url

interface Report {
  readonly handled: string[]
  readonly stats: Record<string, number | string>
  readonly seconds: number
  readonly peakMB: number
}

const running = new Set<ChildProcess>()
function start(program: string, args: string[]): ChildProcess {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: join(root, 'integrations/scrapy'), PYTHONDONTWRITEBYTECODE: '1' },
  })
  running.add(child)
  child.on('close', () => running.delete(child))
  return child
}

const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))

describe.skipIf(noScrapy !== '')(`Scrapy on a site of ${PAGES} pages ${noScrapy}`, () => {
  const site = new Site(PAGES, 6)
  let served: Served
  let paper: Map<string, number>
  /** One for all tests, with a sieve for each. */
  let server: SieveServer
  const sieves = newFolder()
  let data: string
  let name: string

  beforeAll(async () => {
    served = await serve(site)
    paper = crawlOnPaper(site, served.origin, scrapyKey)
    server = await startSieveServer(sieves)
  })
  afterAll(async () => {
    await server?.kill()
    await served?.close()
  })
  beforeEach(({ task }) => {
    data = newFolder()
    name = task.id
    served.hits.length = 0
    served.onHit = () => {}
  })
  afterEach(async () => {
    for (const child of running) {
      const gone = ended(child)
      child.kill('SIGKILL')
      await gone
    }
  })

  /** Runs the spider; kills it after so many hits. Null when it was killed. */
  async function crawl(
    kind: 'own' | 'sieve',
    settings: Record<string, string | number> = {},
    killAfter?: number,
    signal: NodeJS.Signals = 'SIGKILL',
  ) {
    const url = `redis://127.0.0.1:${server.port}`
    const all = kind === 'own' ? {} : { URLSIEVE_URL: url, URLSIEVE_NAME: name, ...settings }
    const child = start(PYTHON, [
      spider,
      served.origin,
      kind,
      ...Object.entries(all).map(([name, value]) => `${name}=${value}`),
    ])
    const until = served.hits.length + (killAfter ?? Number.POSITIVE_INFINITY)
    if (killAfter !== undefined) {
      served.onHit = (count) => {
        if (count === until) child.kill(signal)
      }
    }
    let out = ''
    let err = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      out += chunk
    })
    child.stderr!.on('data', (chunk: Buffer) => {
      err += chunk
    })
    await ended(child)
    return { report: out ? (JSON.parse(out) as Report) : null, stderr: err }
  }

  const expectAllOnce = (urls: readonly string[]) => {
    const keys = urls.map(scrapyKey)
    expect([...paper.keys()].filter((key) => !keys.includes(key))).toEqual([])
    expect(keys.length).toBe(new Set(keys).size)
  }

  it('method and body count; the journal cut at any byte holds a beginning of it', async () => {
    const child = start(PYTHON, [
      fileURLToPath(new URL('./dupefilter.py', import.meta.url)),
      `redis://127.0.0.1:${server.port}`,
      data,
    ])
    let out = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      out += chunk
    })
    await ended(child)
    const repeats = [false, true, false, false, true, false, false, true]
    expect(JSON.parse(out)).toEqual({
      singles: repeats,
      batched: repeats,
      fingerprints: repeats,
      own: { '': [false, false, false, true], url: [false, true, true, true] },
      lines: [
        'urlsieve: the keys of requests are fingerprints of __main__.WithHeaders',
        'urlsieve: the keys of requests are URLs',
      ],
      without: repeats,
      errors: 1,
      outage: [...repeats.map(() => true), false, true],
      lost: [[false, true, true, true, true, false, false, true], null, 1],
      restarted: [repeats, 8, 1], // errs towards new
      kept: [3985, true],
      left: [[], ['0'], ['0', '1'], ['0', '1', '2'], ['0', '1', '2', '3'], ['1', '2', '3']],
    })
  })

  it('by itself it fetches what it should on paper; through the sieve the same, and then only what a journal hands in', async () => {
    const own = await crawl('own')
    const ownHits = served.hits.map((hit) => scrapyKey(served.origin + hit))
    expectAllOnce(served.hits.map((hit) => served.origin + hit))
    served.hits.length = 0
    const { report, stderr } = await crawl('sieve')
    expect(stderr).toBe('')
    const hits = served.hits.map((hit) => scrapyKey(served.origin + hit))
    expect(new Set(hits)).toEqual(new Set(ownHits))
    expect(hits.length).toBe(ownHits.length)
    const { stats } = report!
    expect(stats['dupefilter/filtered']).toBe(own.report!.stats['dupefilter/filtered'])
    expect(stats['urlsieve/new']).toBe(ownHits.length)
    expect(Number(stats['urlsieve/new']) + Number(stats['urlsieve/seen'])).toBe(stats['urlsieve/asked'])
    expect(Number(stats['urlsieve/batches'])).toBeLessThan(Number(stats['urlsieve/asked']) / 5)
    if (isFull) {
      const rows = [own.report!, report!].map(({ seconds, peakMB }) => ({ seconds, peakMB }))
      console.table({ own: rows[0], sieve: rows[1] })
    }
    // Again: all of it is known, also to a server that was started anew. So are the pages that redirects lead to which a
    // journal hands in again.
    await server.kill()
    server = await startSieveServer(sieves)
    const journal = join(data, 'journal')
    const write =
      'import sys, scrapy; from urlsieve_dupefilter import Journal; journal = Journal(sys.argv[1]);' +
      'journal.add([scrapy.Request(url) for url in sys.argv[2:]], None); journal.close()'
    await ended(start(PYTHON, ['-c', write, journal, `${served.origin}/r/37`, `${served.origin}/r/1`]))
    served.hits.length = 0
    expect((await crawl('sieve', { URLSIEVE_JOURNAL: journal })).report).not.toBeNull()
    // The target of /r/37 is known; nothing links to /r/1, and its target /rr/1 is new.
    expect(served.hits.toSorted()).toEqual(['/r/1', '/r/37', '/rr/1'])
  })

  it(`killed ${KILLS} times, with a journal: every page, and twice at most what was under way`, async () => {
    const random = randomFrom(21)
    const settings = {
      URLSIEVE_JOURNAL: join(data, 'journal'),
      SCRAPER_SLOT_MAX_ACTIVE_SIZE: 8 * 1024,
    }
    for (let kill = 0; kill < KILLS; kill++) {
      const hits = 1 + Math.floor((random() * paper.size) / KILLS)
      expect((await crawl('sieve', settings, hits)).report).toBeNull()
    }
    const last = await crawl('sieve', settings)
    expect(last.report).not.toBeNull()
    const keys = served.hits.map((hit) => scrapyKey(served.origin + hit))
    expect([...paper.keys()].filter((key) => !keys.includes(key))).toEqual([])
    // Under way are downloads, and responses that wait to be parsed: few, by that setting.
    expect(keys.length - new Set(keys).size).toBeLessThanOrEqual(KILLS * 2 * CONCURRENCY)
  })

  /** `scrapy runspider` with a sieve, on one page. */
  async function runSpider(settings: Record<string, string>) {
    const file = fileURLToPath(new URL('./one_page.py', import.meta.url))
    const all = {
      DUPEFILTER_CLASS: 'urlsieve_dupefilter.UrlsieveDupeFilter',
      REQUEST_FINGERPRINTER_IMPLEMENTATION: '2.7',
      TELNETCONSOLE_ENABLED: '0',
      LOG_LEVEL: 'WARNING',
      START: `${served.origin}/`,
      URLSIEVE_NAME: name,
      ...settings,
    }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-s', `${name}=${value}`])
    const child = start(PYTHON, ['-m', 'scrapy', 'runspider', file, ...flags])
    let stderr = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      stderr += chunk
    })
    return { code: await ended(child), stderr }
  }

  it('a sieve that cannot be used ends the spider with one line and a failing exit', async () => {
    const away = await runSpider({ URLSIEVE_ON_ERROR: 'close', URLSIEVE_URL: 'redis://127.0.0.1:1' })
    expect(away.stderr).toMatch(
      /^[^\n]*urlsieve: the spider ends, its sieve at 127\.0\.0\.1:1 cannot be used: [^\n]*\n$/,
    )
    expect(away.code).toBe(1)
    const url = `redis://127.0.0.1:${server.port}`
    const refused = await runSpider({ URLSIEVE_CREATE: 'PROFILE,nonsense', URLSIEVE_URL: url })
    expect(refused.stderr).toMatch(/^[^\n]*urlsieve: the spider ends, [^\n]*nonsense[^\n]*\n$/)
    expect(refused.code).toBe(1)
    expect(served.hits).toEqual([])
    expect(await runSpider({ URLSIEVE_URL: url })).toEqual({ code: 0, stderr: '' })
    expect(served.hits).toEqual(['/'])
  })

  it('JOBDIR without a journal is warned of; with both, a clean stop hands in each request once', async () => {
    const url = `redis://127.0.0.1:${server.port}`
    const jobdir = join(data, 'job')
    const warned = await runSpider({ URLSIEVE_URL: url, JOBDIR: jobdir })
    expect(warned.code).toBe(0)
    expect(warned.stderr).toMatch(/^[^\n]*urlsieve: JOBDIR without URLSIEVE_JOURNAL: [^\n]*\n$/)
    served.hits.length = 0
    const settings = {
      JOBDIR: join(data, 'both'),
      URLSIEVE_JOURNAL: join(data, 'journal'),
      URLSIEVE_NAME: 'both',
    }
    await crawl('sieve', settings, Math.floor(paper.size / 3), 'SIGINT')
    expect(served.hits.length).toBeLessThan(paper.size)
    expect((await crawl('sieve', settings)).report).not.toBeNull()
    expectAllOnce(served.hits.map((hit) => served.origin + hit))
  })

  it('a server that is silent for a while: every page once', async () => {
    const [from, to] = [Math.floor(paper.size / 3), Math.floor((2 * paper.size) / 3)]
    // For longer than the spider waits, also when it needs less time for these pages.
    let pausedAt = 0
    let later: NodeJS.Timeout | undefined
    served.onHit = (count) => {
      if (count === from) {
        server.pause()
        pausedAt = performance.now()
      }
      if (count === to) later = setTimeout(() => server.resume(), pausedAt + 1000 - performance.now())
    }
    const settings = { URLSIEVE_RETRY_SECONDS: 0.2, URLSIEVE_TIMEOUT: 0.3 }
    const { report } = await crawl('sieve', settings)
    clearTimeout(later)
    server.resume()
    expect(Number(report!.stats['urlsieve/without_server'])).toBeGreaterThan(0)
    expectAllOnce(served.hits.map((hit) => served.origin + hit))
  })

  it('a server that goes away and comes back: every page, twice at most', async () => {
    let restart: Promise<unknown> | undefined
    served.onHit = (count) => {
      if (count !== Math.floor(paper.size / 3)) return
      const { port } = server
      restart = server
        .kill()
        .then(() => new Promise((resolve) => setTimeout(resolve, 300)))
        .then(async () => {
          server = await startSieveServer(sieves, port)
        })
    }
    const { report, stderr } = await crawl('sieve', { URLSIEVE_RETRY_SECONDS: 0.2 })
    await restart
    expect(stderr).toMatch(/urlsieve: .*count as new until the server is back/)
    const keys = served.hits.map((hit) => scrapyKey(served.origin + hit))
    expect([...paper.keys()].filter((key) => !keys.includes(key))).toEqual([])
    expect(Number(report!.stats['urlsieve/without_server'])).toBeGreaterThan(0)
    // Marks that a killed server had not written down are gone: those pages are fetched again. It errs towards "new".
    const times = new Map<string, number>()
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1)
    expect(Math.max(...times.values())).toBeLessThanOrEqual(2)
    served.hits.length = 0
    served.onHit = () => {}
    await crawl('sieve')
    expect(served.hits).toEqual([])
  })
})
