// Reads one response of a crawl: the title, text and links of a page, or the addresses in a sitemap. Links in scope go to the
// queue; the rest is counted.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { ContentVerdict } from '../content/content-sieve.ts'
import { SitemapReader } from '../records/url-reader.ts'
import { CharsetDecoder } from './charset.ts'
import { type CrawlCounts, type CrawledPage, repeatOf } from './crawl-report.ts'
import type { Answer } from './fetcher.ts'
import { HtmlPage, resolve } from './html-page.ts'
import type { CrawlLimits } from './limits.ts'
import { directivesOf } from './page-signals.ts'
import { productOf } from './robots-file.ts'
import type { Scope } from './scope.ts'
import type { SiteCrawlOptions } from './site-crawl.ts'
import type { SiteItem } from './site-item.ts'

export interface PageReaderOptions
  extends Pick<SiteCrawlOptions, 'allTypes' | 'content' | 'ignored' | 'learning' | 'queue' | 'userAgent'> {
  readonly limits: CrawlLimits
  readonly counts: CrawlCounts
  readonly scope: Scope
  /** Whether the crawl has ended with a failure. */
  readonly isOver: () => boolean
}

/** A page's line without its name. */
export type PageResult = Omit<CrawledPage, 'url' | 'depth'>

/** A failure of the page or the network: the page is tried again. */
export class PageError extends Error {
  readonly status: number | null
  constructor(message: string, status: number | null) {
    super(message)
    this.status = status
  }
}

interface Compared {
  readonly verdict: ContentVerdict
  readonly isShort: boolean
}

/** Links added to the queue at a time. */
const BATCH = 1000
const unpack = promisify(gunzip)

export class PageReader {
  readonly #options: PageReaderOptions
  readonly #product: string

  constructor(options: PageReaderOptions) {
    this.#options = options
    this.#product = productOf(options.userAgent)
  }

  /** Null when the crawl is over. A broken body throws unless it `isLast`: then what was read counts. */
  async read(item: SiteItem, answer: Answer, type: string, isLast: boolean): Promise<PageResult | null> {
    const { allTypes, content, counts, ignored, isOver, limits } = this.#options
    const { status } = answer
    const html = new HtmlPage({
      ...{ allTypes, links: limits.links, urlCharacters: limits.urlCharacters, product: this.#product },
      ...(ignored && { ignored }),
      isXml: type.includes('xml'),
      wantsText: content !== undefined && status === 200,
    })
    const broken = await this.#parse(answer, html)
    if (broken && !isLast) throw new PageError(broken.message, status)
    if (isOver()) return null
    // An incomplete text is not compared: it errs towards "new".
    const isWhole = answer.cut === null && !broken
    const compared = isWhole && status === 200 ? await this.#compare(item, html.text) : undefined
    const verdict = compared?.verdict
    const isSkipped = content?.skip === true && verdict !== undefined && verdict.verdict !== 'new'
    const { nofollow, noindex } = this.#directives(answer, html)
    const links = status < 400 ? [...html.linksAt(item.url, limits.bodyBytes)] : []
    if (!isSkipped && !nofollow) await this.#follow(item, links)
    counts.nofollow += html.nofollowLinks + (nofollow ? links.length : 0)
    counts.longLinks += html.longLinks
    counts.linksOver += html.linksOver
    const cut = answer.cut ?? (html.linksOver > 0 ? 'links' : null)
    if (cut) counts.cut++
    if (isSkipped) counts.skipped++
    if (noindex) counts.noindex++
    const canonical = html.canonicalAt(item.url)
    return {
      status,
      title: html.title,
      links: links.length,
      ...(canonical !== null && canonical !== item.url && { canonical }),
      ...(noindex && { noindex }),
      ...(nofollow && { nofollow }),
      ...repeatOf(verdict),
      ...(compared?.isShort && { short: true as const }),
      ...(isSkipped && { skipped: true as const }),
      ...(cut && { cut }),
      ...(broken && { error: broken.message }),
    }
  }

  /** Queues the pages, or further sitemaps, that a sitemap lists: plain or gzip. */
  async readSitemap(item: SiteItem, answer: Answer): Promise<PageResult> {
    const { limits, counts } = this.#options
    const { status } = answer
    const result = { status, links: 0, type: 'sitemap' }
    if (status >= 400) return result
    let text: Buffer
    try {
      const pieces: Buffer[] = []
      for await (const piece of answer.body()) pieces.push(piece)
      const body = Buffer.concat(pieces)
      const isPacked = body[0] === 0x1f && body[1] === 0x8b
      text = isPacked ? await unpack(body, { maxOutputLength: limits.bodyBytes }) : body
    } catch (error) {
      return { ...result, error: (error as Error).message }
    }
    const reader = new SitemapReader()
    const rows = Buffer.concat([reader.push(text).urls, reader.end().urls]).toString()
    const found = rows
      .split('\n')
      .map((address) => (address === '' ? null : resolve(address, item.url)))
      .filter((address) => address !== null && /^https?:/.test(address))
      .map((address) => address!)
    const short = found.filter(({ length }) => length <= limits.urlCharacters)
    const links = short.slice(0, limits.links)
    counts.longLinks += found.length - short.length
    counts.linksOver += short.length - links.length
    const isIndex = text.subarray(0, 4096).includes('<sitemapindex')
    await this.#follow(item, links, isIndex)
    const cut = answer.cut ?? (links.length < short.length ? ('links' as const) : null)
    if (cut) counts.cut++
    return { ...result, links: links.length, ...(cut && { cut }) }
  }

  #directives(answer: Answer, html: HtmlPage) {
    const header = this.#options.ignored?.has('xRobotsTag')
      ? directivesOf([], '')
      : directivesOf(answer.robotsTags, this.#product)
    const { nofollow, noindex } = html.directives
    return { nofollow: nofollow || header.nofollow, noindex: noindex || header.noindex }
  }

  // What the content sieve answers for the page's text; learned rules get it too.
  async #compare({ url, via }: SiteItem, text: string): Promise<Compared | undefined> {
    const { content, counts, learning, queue } = this.#options
    if (!content) return undefined
    const verdict = content.sieve.add(text, url)
    if (verdict.verdict !== 'new') counts[verdict.verdict]++
    const { short } = content.sieve.stats()
    const isShort = short > counts.short
    counts.short = short
    if (!learning || isShort) return { verdict, isShort }
    const digest = verdict.verdict === 'same' ? verdict.of : url
    for (const one of [url, ...via]) {
      const again = learning.rules.add(one, digest)
      const items = again.map((skipped) => ({ ...skipped, via: [], retries: 0 }))
      await queue.add(items, { sieve: 'never' })
    }
    return { verdict, isShort }
  }

  // Parses the body up to an error of the connection or the encoding, which it returns.
  async #parse(answer: Answer, html: HtmlPage): Promise<Error | null> {
    const decoder = new CharsetDecoder(answer.contentType)
    let broken: Error | null = null
    try {
      for await (const piece of answer.body()) html.write(decoder.write(piece))
    } catch (error) {
      broken = error as Error
    }
    html.write(decoder.end())
    html.end()
    return broken
  }

  // Adds the links in scope to the queue.
  async #follow({ depth }: SiteItem, links: readonly string[], isIndex = false): Promise<void> {
    const { counts, limits, queue, scope } = this.#options
    const isDeep = depth + 1 > limits.depth
    let batch: SiteItem[] = []
    for (const url of links) {
      if (!scope.has(url)) counts.elsewhere++
      else if (isDeep) counts.deeper++
      else
        batch.push({
          url,
          depth: depth + 1,
          via: [],
          retries: 0,
          ...(isIndex && { isSitemap: true as const }),
        })
      if (batch.length === BATCH) {
        await queue.add(batch)
        batch = []
      }
    }
    await queue.add(batch)
    counts.links += links.length
  }
}
