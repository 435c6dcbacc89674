// How far a crawl goes with what a site gives it. A site chooses its pages: without limits one of them ends the crawl.

export interface CrawlLimits {
  /** Links to follow from the first pages on. */
  readonly depth: number
  /** Bytes of a page, on the wire and unpacked; links of the rest are not found. */
  readonly bodyBytes: number
  /** Bytes of a robots.txt; the rest is not read. RFC 9309 asks for 500 KiB at least. */
  readonly robotsBytes: number
  /** Bytes of the headers of an answer. */
  readonly headerBytes: number
  /** One after another, before a page. */
  readonly redirects: number
  /** Links of one page. */
  readonly links: number
  /** Of a link. */
  readonly urlCharacters: number
  /** From a request to the last byte of its answer. */
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
