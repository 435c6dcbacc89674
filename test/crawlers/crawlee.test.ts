// Crawlee with our queue beside Crawlee with its own, on a site with traps: the same pages, each once. 80 pages;
// URLSIEVE_FULL=1: 5,000.
import { CheerioCrawler, Configuration, LogLevel, log, type RequestProvider } from '@crawlee/cheerio'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import { type SeenUrls, SieveQueue } from '../../src/crawlers/crawlee.ts'
import { Sieve } from '../../src/index.ts'
import { newFolders } from '../support/folders.ts'
import { crawlOnPaper, type Served, Site, serve } from './site.ts'

const newFolder = newFolders()

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const PAGES = process.env.URLSIEVE_FULL ? 5000 : 80
const site = new Site(PAGES)
let served: Served
beforeAll(async () => {
  log.setLevel(LogLevel.OFF)
  served = await serve(site)
})
afterAll(() => served.close())

const crawleeKey = (url: string) => keyOf(profiles.crawlee, url) ?? url

/** Crawls the site and gives the URLs handled, in order. */
async function crawl(requestQueue?: RequestProvider): Promise<string[]> {
  const handled: string[] = []
  const crawler = new CheerioCrawler(
    {
      ...(requestQueue && { requestQueue }),
      maxConcurrency: 8,
      autoscaledPoolOptions: { desiredConcurrency: 8, maybeRunIntervalSecs: 0.05 },
      maxRequestRetries: 0,
      async requestHandler({ request, response, enqueueLinks }) {
        handled.push(request.url)
        if (response.statusCode === 200) await enqueueLinks()
      },
      failedRequestHandler: ({ request }) => {
        handled.push(request.url)
      },
    },
    new Configuration({ persistStorage: false }),
  )
  await crawler.run([`${served.origin}/`])
  return handled
}

describe(`a site of ${PAGES} pages`, () => {
  let paper: ReadonlyMap<string, number>
  beforeAll(() => {
    paper = crawlOnPaper(site, served.origin, crawleeKey)
    expect(paper.size).toBeGreaterThan(1.1 * PAGES)
  })

  const expectAllOnce = (handled: string[]) => {
    const keys = handled.map(crawleeKey)
    expect(new Set(keys)).toEqual(new Set(paper.keys()))
    expect(keys.length).toBe(paper.size)
  }

  it('Crawlee by itself fetches what it should on paper', async () => {
    expectAllOnce(await crawl())
  })

  it('our queue in memory', async () => {
    const queue = await SieveQueue.open()
    expectAllOnce(await crawl(queue))
    expect(queue.stats()).toMatchObject({ pending: 0, handled: paper.size })
    await queue.close()
  })

  it('our queue on disk, also opened again: nothing is left', async () => {
    const folder = newFolder()
    const queue = await SieveQueue.open({ folder })
    expectAllOnce(await crawl(queue))
    await queue.close()
    const again = await SieveQueue.open({ folder })
    expect(await crawl(again)).toEqual([])
    expect(again.stats()).toMatchObject({ offered: 1, repeats: 1, handled: paper.size })
    await again.close()
  })

  it('a sieve that answers later, as a cluster does, and has no hasMany', async () => {
    const sieve = await Sieve.create({ profile: 'crawlee' })
    const slow: SeenUrls = {
      addMany: async (urls) => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        return sieve.addMany(urls)
      },
    }
    const queue = await SieveQueue.open({ sieve: slow })
    expectAllOnce(await crawl(queue))
    await queue.close()
  })
})
