// The limits of a crawl. A site controls its pages: without limits one page could end the crawl.

export interface CrawlLimits {
  /** Links to follow from the first pages. */
  readonly depth: number
  /** Bytes of a page, before and after decoding; links beyond them are not found. */
  readonly bodyBytes: number
  /** Bytes of a robots.txt; the rest is not read. RFC 9309 requires at least 500 KiB. */
  readonly robotsBytes: number
  /** Bytes of the headers of a response. */
  readonly headerBytes: number
  /** Redirects in a row. */
  readonly redirects: number
  /** Links of one page. */
  readonly links: number
  /** Characters of a link. */
  readonly urlCharacters: number
  /** From a request to the last byte of its response. */
  readonly timeoutSeconds: number
}

export const crawlLimits: CrawlLimits = {
  depth: 1000,
  bodyBytes: 10 * 1024 * 1024,
  robotsBytes: 500 * 1024,
  headerBytes: 16 * 1024,
  redirects: 10,
  links: 100_000,
  urlCharacters: 8192,
  timeoutSeconds: 30,
}
