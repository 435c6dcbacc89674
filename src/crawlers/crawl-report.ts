// The report of a crawl: one line per page, and counts of everything fetched, omitted and cut.
import type { ContentVerdict } from '../content/content-sieve.ts'
import type { Cut } from './fetcher.ts'

/** One line of the output. */
export interface CrawledPage {
  readonly url: string
  /** The URL after redirects, if different. */
  readonly at?: string
  readonly depth: number
  /** Null when there was no response. */
  readonly status: number | null
  readonly title?: string
  /** Number of links. */
  readonly links: number
  /** The type, if not HTML. */
  readonly type?: string
  /** The URL that the page names as its canonical one, if different. */
  readonly canonical?: string
  /** Meta robots or X-Robots-Tag: not to be indexed; its links are not to be followed. */
  readonly noindex?: true
  readonly nofollow?: true
  /** The same text as that page. */
  readonly same?: string
  /** Nearly the same text as that page, and in how many bits its SimHash differs. */
  readonly near?: string
  readonly distance?: number
  /** Too little text to compare. */
  readonly short?: true
  /** Its links were not followed, because its text repeats that of another page. */
  readonly skipped?: true
  /** Only a part was read: the limit that was exceeded. */
  readonly cut?: Cut | 'links'
  readonly error?: string
}

export interface CrawlCounts {
  /** Pages fetched, with any status. */
  pages: number
  /** Links on them, http and https. */
  links: number
  /** Of those, on other hosts: not followed. */
  elsewhere: number
  /** Of those, deeper than the limit: not followed. */
  deeper: number
  /** Of those, longer than the limit: not followed. */
  longLinks: number
  /** Beyond the limit of links per page: not followed. */
  linksOver: number
  /** Links with rel=nofollow, and those on pages with the directive nofollow: not followed. */
  nofollow: number
  /** Pages with the directive noindex. */
  noindex: number
  /** Sitemaps read. */
  sitemaps: number
  /** Not fetched because robots.txt disallows them. */
  closed: number
  /** Not fetched in this run because their robots.txt was unreachable. */
  unreachable: number
  /** Hosts whose robots.txt has a Crawl-delay. */
  delayed: number
  /** Of those, hosts with a longer delay than the maximum. */
  capped: number
  /** robots.txt files longer than the limit. */
  robotsCut: number
  /** Redirects that were not followed, for any reason; those pages have failed. */
  redirectsRefused: number
  /** Of those, to other hosts. */
  redirectsElsewhere: number
  /** Not HTML: listed, and discarded before their body. */
  otherTypes: number
  failed: number
  /** Pages of which only a part was read. */
  cut: number
  /** Pages with the text of another URL. */
  same: number
  near: number
  /** Of those, not followed. */
  skipped: number
  /** Pages with too little text to compare. */
  short: number
}

export const noCounts = (): CrawlCounts => ({
  ...{ pages: 0, links: 0, elsewhere: 0, deeper: 0, longLinks: 0, linksOver: 0 },
  ...{ nofollow: 0, noindex: 0, sitemaps: 0 },
  ...{ closed: 0, unreachable: 0, delayed: 0, capped: 0, robotsCut: 0 },
  ...{ redirectsRefused: 0, redirectsElsewhere: 0, otherTypes: 0, failed: 0, cut: 0 },
  ...{ same: 0, near: 0, skipped: 0, short: 0 },
})

export function repeatOf(verdict: ContentVerdict | undefined): Partial<CrawledPage> {
  if (verdict?.verdict === 'same') return { same: verdict.of }
  if (verdict?.verdict === 'near') return { near: verdict.of, distance: verdict.distance }
  return {}
}
