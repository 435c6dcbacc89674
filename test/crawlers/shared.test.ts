// Crawlers that share a frontier and a sieve on one Redis: the queue by hand, and two processes of which one is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Configuration, LogLevel, log, RequestQueue } from '@crawlee/core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { type SeenUrls, SieveQueue } from '../../src/crawlers/crawlee.ts'
import { Sieve } from '../../src/index.ts'
import { type Connection, connectRedis, RedisFrontier, RedisSieve } from '../../src/redis/index.ts'
import { type RedisNode, startNode, whyNoRedis } from '../redis/servers.ts'
import { builtLibrary } from '../support/built.ts'
import { answersOf } from './provider-calls.ts'
import { crawlOnPaper, Site, serve } from './site.ts'

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const PAGES = process.env.URLSIEVE_FULL ? 5000 : 300
const CONCURRENCY = 4
const page = (name: string | number) => `https://example.com/${name}`
const crawleeKey = (url: string) => keyOf(profiles.crawlee, url) ?? url

describe.skipIf(whyNoRedis)(`with Redis ${whyNoRedis}`, () => {
  let node: RedisNode
  let connection: Connection
  const running = new Set<ChildProcess>()
  beforeAll(async () => {
    log.setLevel(LogLevel.OFF)
    node = await startNode()
    connection = await connectRedis(node.url)
  })
  afterEach(() => {
    for (const one of running) one.kill('SIGKILL')
  })
  afterAll(async () => {
    await connection?.close()
    await node?.kill()
  })

  let names = 0
  const newName = () => `crawl-${names++}`
  async function openQueue(name: string, sieve?: SeenUrls) {
    const { client } = connection
    return SieveQueue.open({
      frontier: await RedisFrontier.open({ client, name }),
      sieve: sieve ?? (await RedisSieve.open({ client, name, profile: 'crawlee', tags: 1 })),
    })
  }
  async function handle(queue: SieveQueue): Promise<string | undefined> {
    const request = await queue.fetchNextRequest()
    if (request) expect(await queue.markRequestHandled(request)).not.toBeNull()
    return request?.url
  }

  it('answers as Crawlee’s own queue does', async () => {
    const queue = await openQueue(newName())
    const own = await RequestQueue.open(newName(), { config: new Configuration({ persistStorage: false }) })
    expect(await answersOf(queue)).toEqual(await answersOf(own))
    await queue.close()
    await own.drop()
  })

  it('two crawlers: what one finds the other fetches, each page once', async () => {
    const name = newName()
    const [one, two] = [await openQueue(name), await openQueue(name)]
    await one.addRequests([1, 2, 3].map(page))
    expect(await two.addRequest({ url: page(2) })).toMatchObject({ wasAlreadyPresent: true })
    await two.addRequests([page(4), page(5)], { forefront: true })
    expect([await handle(two), await handle(one), await handle(two)]).toEqual([page(5), page(4), page(1)])
    const request = (await one.fetchNextRequest())!
    expect([await two.getRequest(request.id!), await two.isFinished()]).toMatchObject([
      { url: page(2) },
      false,
    ])
    // It is in progress at the first crawler: the second cannot end it.
    expect(await two.markRequestHandled(request)).toBeNull()
    await one.close()
    expect([await handle(two), await handle(two), await handle(two)]).toEqual([page(2), page(3), undefined])
    expect(await two.getInfo()).toMatchObject({ id: name, totalRequestCount: 5, handledRequestCount: 5 })
    expect([await two.isEmpty(), await two.isFinished()]).toEqual([true, true])
    await two.drop()
  })

  it('while the sieve is away, what is found is in the frontier, and fetched once when it is back', async () => {
    const inner = await Sieve.create({ profile: 'crawlee' })
    const state = { isAway: true }
    const through = <T>(answer: () => T): T => {
      if (state.isAway) throw new Error('no connection')
      return answer()
    }
    const sieve: SeenUrls = {
      hasMany: async (urls) => through(() => inner.hasMany(urls)),
      addMany: async (urls) => through(() => inner.addMany(urls)),
    }
    const queue = await openQueue(newName(), sieve)
    for (let time = 0; time < 2; time++) {
      await expect(queue.addRequests([page('a'), page('b')])).rejects.toThrow('no connection')
    }
    const marksOnly = await openQueue(newName(), { addMany: sieve.addMany })
    await expect(marksOnly.addRequests([page('c')])).rejects.toThrow('no connection')
    state.isAway = false
    expect([await handle(queue), await handle(queue), await handle(queue)]).toEqual([
      page('a'),
      page('b'),
      undefined,
    ])
    expect(queue.stats()).toMatchObject({ offered: 4, repeats: 2, pending: 0, handled: 2 })
    inner.add(page('c'))
    expect(await handle(marksOnly)).toBe(page('c'))
    await queue.close()
    await marksOnly.close()
  })

  it('refuses options that belong to a folder', async () => {
    const frontier = await RedisFrontier.open({ client: connection.client, name: newName() })
    const sieve = await Sieve.create()
    await expect(SieveQueue.open({ frontier })).rejects.toThrow(
      'frontier: expected a sieve that the crawlers share',
    )
    for (const extra of [{ folder: 'x' }, { layers: true }, { perHostPerSecond: 1 }, { hostDelays: true }]) {
      await expect(SieveQueue.open({ frontier, sieve, ...extra })).rejects.toMatchObject({ code: 'option' })
    }
    const queue = await SieveQueue.open({ frontier, sieve })
    expect(() => queue.keepDelay(page(1), 1)).toThrow('keepDelay')
    await queue.close()
  })

  it(`two processes, one killed: all of ${PAGES} pages, twice only what was under way`, async () => {
    const library = builtLibrary()
    const site = new Site(PAGES, 5)
    const served = await serve(site)
    const child = fileURLToPath(new URL('./shared-child.mjs', import.meta.url))
    const start = (pages: number, onPage: (count: number) => void) => {
      const args = [child, library, served.origin, node.url, '4000', String(pages)]
      const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      running.add(process_)
      let [stdout, stderr] = ['', '']
      process_.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk
        onPage(stdout.split('\n').length - 1)
      })
      process_.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk
      })
      const ended = new Promise<{ signal: unknown; code: unknown; stderr: string; urls: string[] }>(
        (resolve) => {
          process_.on('close', (code, signal) => {
            resolve({ code, signal, stderr, urls: stdout.split('\n').slice(0, -1) })
          })
        },
      )
      return { process_, ended }
    }
    const most = Math.floor(PAGES / 10)
    // The first one comes to a stop with all its requests under way, and is killed.
    const first = start(most, (count) => {
      if (count === most + CONCURRENCY) first.process_.kill('SIGKILL')
    })
    const second = start(Number.MAX_SAFE_INTEGER, () => {})
    const [killed, survivor] = await Promise.all([first.ended, second.ended])
    expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    expect(survivor).toMatchObject({ code: 0, stderr: '' })
    expect(killed.urls).toHaveLength(most + CONCURRENCY)
    const keys = [...killed.urls, ...survivor.urls].map(crawleeKey)
    const paper = crawlOnPaper(site, served.origin, crawleeKey)
    expect(new Set(keys)).toEqual(new Set(paper.keys()))
    expect(keys.length - paper.size).toBeGreaterThan(0)
    expect(keys.length - paper.size).toBeLessThanOrEqual(CONCURRENCY)
    await served.close()
  })
})
