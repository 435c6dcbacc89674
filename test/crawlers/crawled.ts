// A site to crawl for the length of a test file, and the output of `urlsieve crawl`, read back.
import { afterAll, beforeAll } from 'vitest'
import { keyOf, profiles } from '../../src/canonical/profiles.ts'
import type { CrawledPage } from '../../src/crawlers/crawl-report.ts'
import { linesOf } from '../e2e/command.ts'
import { crawlOnPaper, type Served, Site, serve } from './site.ts'

/** A site that is served until the file's tests have ended, and what a polite crawl of it fetches, on paper. */
export function siteForTests(pages: number, seed: number) {
  const site = new Site(pages, seed)
  const here = {} as { served: Served; paper: ReadonlyMap<string, number> }
  beforeAll(async () => {
    here.served = await serve(site)
    here.paper = crawlOnPaper(site, here.served.origin, webKey, { robots: true })
  })
  afterAll(() => here.served?.close())
  return here
}

/** The HTML pages on paper that a crawl has not reached, under their own URL or one that led to them. */
export function unreached(paper: ReadonlyMap<string, number>, pages: readonly CrawledPage[]): string[] {
  const reached = new Set(pages.flatMap(({ url, at }) => [webKey(url), webKey(at ?? url)]))
  return [...paper.keys()].filter((key) => !key.includes('/file/') && !reached.has(key))
}

/** Its pages, and those it says are lost. */
export function pagesIn(stdout: Buffer): { pages: CrawledPage[]; lost: string[] } {
  const lines = linesOf(stdout).map((line) => JSON.parse(line) as CrawledPage & { lost?: string })
  return {
    pages: lines.filter(({ lost }) => lost === undefined),
    lost: lines.flatMap(({ lost }) => lost ?? []),
  }
}

export const webKey = (url: string) => keyOf(profiles.web, url) ?? url
