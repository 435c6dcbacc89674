// What a crawl reports: one line for each page, and counts of all it did, left out and cut.
import type { ContentVerdict } from '../content/content-sieve.ts'
import type { Cut } from './fetcher.ts'

/** One line of the output. */
export interface CrawledPage {
  readonly url: string
  /** Where redirects led, if elsewhere. */
  readonly at?: string
  readonly depth: number
  /** Null when there was no answer. */
  readonly status: number | null
  readonly title?: string
  /** Links on it. */
  readonly links: number
  /** Of what is not HTML. */
  readonly type?: string
  /** The same text as that page. */
  readonly same?: string
  /** Nearly the same text as that page, and in how many bits its SimHash differs. */
  readonly near?: string
  readonly distance?: number
  /** Its links were not followed, since its text repeats that of another. */
  readonly skipped?: true
  /** Only a part was read: what passed its limit. */
  readonly cut?: Cut | 'links'
  readonly error?: string
}

export interface CrawlCounts {
  /** Fetched, whatever their status. */
  pages: number
  /** Found on them, http and https. */
  links: number
  /** Of those, on other hosts: not followed. */
  elsewhere: number
  /** Of those, deeper than the limit: not followed. */
  deeper: number
  /** Of those, longer than the limit: not followed. */
  longLinks: number
  /** Past the links that are taken from one page: not followed. */
  linksOver: number
  /** Not fetched since robots.txt closes them. */
  closed: number
  /** Not fetched in this run since their robots.txt was unreachable. */
  unreachable: number
  /** Hosts whose robots.txt asks for a delay between requests. */
  delayed: number
  /** Of those, who ask for more than is kept. */
  capped: number
  /** robots.txt files that were longer than the limit. */
  robotsCut: number
  /** Redirects that were not followed, for any reason; those pages have failed. */
  redirectsRefused: number
  /** Of those, to other hosts. */
  redirectsElsewhere: number
  /** Not HTML: left out before their body came. */
  otherTypes: number
  failed: number
  /** Pages of which only a part was read. */
  cut: number
  /** Pages whose text was there under another URL. */
  same: number
  near: number
  /** Of those, not followed. */
  skipped: number
  /** Pages with too little text to compare. */
  short: number
}

export const noCounts = (): CrawlCounts => ({
  ...{ pages: 0, links: 0, elsewhere: 0, deeper: 0, longLinks: 0, linksOver: 0 },
  ...{ closed: 0, unreachable: 0, delayed: 0, capped: 0, robotsCut: 0 },
  ...{ redirectsRefused: 0, redirectsElsewhere: 0, otherTypes: 0, failed: 0, cut: 0 },
  ...{ same: 0, near: 0, skipped: 0, short: 0 },
})

export function repeatOf(verdict: ContentVerdict | undefined): Partial<CrawledPage> {
  if (verdict?.verdict === 'same') return { same: verdict.of }
  if (verdict?.verdict === 'near') return { near: verdict.of, distance: verdict.distance }
  return {}
}
