// The web crawler of the papers: starts at pages, follows their links, and goes layer by layer until the depth is reached
// or nothing is new. It obeys robots.txt with its Crawl-delay, keeps the queue's pace per host, sends its name, and stays
// on the given hosts. A redirect is a page of its own: scope, sieve, robots.txt and pace apply to its target too.
import type { ContentSieve, ContentVerdict } from '../content/content-sieve.ts'
import { CharsetDecoder } from './charset.ts'
import type { CrawlQueue, Taken } from './crawl-queue.ts'
import { type CrawlCounts, type CrawledPage, noCounts, repeatOf } from './crawl-report.ts'
import type { CrawlRules, Merged } from './crawl-rules.ts'
import { type Answer, Fetcher } from './fetcher.ts'
import { HtmlPage, resolve } from './html-page.ts'
import { type CrawlLimits, crawlLimits } from './limits.ts'
import { hostOf, MOST_DELAY_SECONDS } from './pace.ts'
import { Robots } from './robots.ts'
import { RobotsFile } from './robots-file.ts'
import { Scope } from './scope.ts'
import type { SiteItem } from './site-item.ts'

export interface SiteCrawlOptions {
  /** The first pages; the crawl stays on their hosts. */
  readonly urls: readonly string[]
  /** Opened with `layers`, a pace, and `hostDelays` unless robots.txt is ignored. */
  readonly queue: CrawlQueue<SiteItem>
  /** The key that the sieve compares: a redirect to its own key is followed although that key is seen. */
  readonly keyOf: (url: string) => string
  readonly limits?: Partial<CrawlLimits>
  /** Pages to fetch in this run. Default: no limit. */
  readonly pages?: number
  readonly concurrency: number
  readonly userAgent: string
  readonly allHosts: boolean
  /** Also other types than HTML. */
  readonly allTypes: boolean
  readonly ignoreRobots: boolean
  /** Pages of the same text: reported, and with `skip` their links are not followed. */
  readonly content?: { readonly sieve: ContentSieve; readonly skip: boolean }
  /** With `content`: rules learned on the way, and what gets each URL that they leave out. */
  readonly learning?: {
    readonly rules: CrawlRules
    readonly onSkip: (url: string, merged: Merged) => void
  }
  readonly onPage: (page: CrawledPage) => void
}

const RETRIES = 2
/** How often to look for a host that is due. */
const LOOK_MS = 20
/** Links added to the queue at a time. */
const BATCH = 1000
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** The types with links; a page without a type is parsed too, as browsers do. */
const PAGE_TYPES = new Set(['text/html', 'application/xhtml+xml', 'text/xml', 'application/xml', ''])

type Page = Pick<Taken<SiteItem>, 'item' | 'place'>

interface Compared {
  readonly verdict: ContentVerdict
  readonly isShort: boolean
}

/** A failure of the page or the network: the page is tried again. */
class PageError extends Error {
  readonly status: number | null
  constructor(message: string, status: number | null) {
    super(message)
    this.status = status
  }
}

export class SiteCrawl {
  readonly counts: CrawlCounts = noCounts()
  readonly #options: SiteCrawlOptions
  readonly #limits: CrawlLimits
  readonly #scope: Scope
  readonly #fetcher: Fetcher
  readonly #robots: Robots | null
  readonly #delayed = new Set<string>()
  readonly #capped = new Set<string>()
  readonly #visits = new Set<Promise<void>>()
  #wake = () => {}
  #stopped = false
  #failure: { readonly error: unknown } | undefined

  constructor(options: SiteCrawlOptions) {
    const { urls, userAgent, allHosts, ignoreRobots, limits } = options
    this.#options = options
    this.#limits = { ...crawlLimits, ...limits }
    this.#scope = new Scope(urls, allHosts)
    const { bodyBytes, headerBytes, timeoutSeconds, robotsBytes } = this.#limits
    const timeoutMs = timeoutSeconds * 1000
    this.#fetcher = new Fetcher(userAgent, { bodyBytes, headerBytes, timeoutMs }, this.#scope.lookup)
    this.#robots = ignoreRobots
      ? null
      : new Robots({
          fetcher: this.#fetcher,
          userAgent,
          maxBytes: robotsBytes,
          mayFollow: (url) => this.#scope.hasRobots(url),
        })
  }

  /** Crawls to the end, to a limit, or until `stop`. */
  async run(): Promise<void> {
    const { queue, urls, concurrency } = this.#options
    try {
      await queue.add(urls.map((url) => ({ url: resolve(url, url)!, depth: 0, via: [], retries: 0 })))
      for (;;) {
        while (this.#visits.size < concurrency && this.#mayStart()) {
          const taken = await queue.next()
          if (!taken) break
          this.#start(taken)
        }
        if (this.#visits.size === 0 && (!this.#mayStart() || queue.isFinished)) break
        await this.#change()
      }
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#fetcher.close()
    }
    // After a failure some visits may still be running: they must not use the queue after this returns.
    await Promise.all(this.#visits)
    if (this.#failure) throw this.#failure.error
  }

  /** Finishes the pages in progress and starts no other. */
  stop(): void {
    this.#stopped = true
  }

  #mayStart(): boolean {
    if (this.#stopped || this.#failure) return false
    const { pages: most } = this.#options
    const { pages, failed, otherTypes } = this.counts
    return most === undefined || pages + failed + otherTypes + this.#visits.size < most
  }

  // Waits until a visit ends or a host may be due.
  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  // Any other failure (a full disk, a closed output) ends the crawl: the page stays pending.
  #start(taken: Page): void {
    const visit = this.#visit(taken)
      .catch((error: unknown) => {
        this.#failure ??= { error }
        this.#fetcher.close()
      })
      .finally(() => {
        this.#visits.delete(visit)
        this.#wake()
      })
    this.#visits.add(visit)
  }

  async #visit(page: Page): Promise<void> {
    const { item, place } = page
    this.#scope.admit(item.url)
    if (this.#isCovered(page)) return
    if (this.#robots && !(await this.#isAllowed(page, this.#robots))) return
    try {
      await this.#fetch(page)
    } catch (error) {
      if (!(error instanceof PageError)) throw error
      // The end of the crawl aborts its requests: they stay pending.
      if (this.#failure) return
      if (item.retries < RETRIES) this.#options.queue.again(place, { ...item, retries: item.retries + 1 })
      else this.#fail(page, error.status, error.message)
    }
  }

  // Whether a learned rule takes a fetched page for this one; if so, the page is handled.
  #isCovered({ item, place }: Page): boolean {
    const { queue, learning } = this.#options
    const merged = learning?.rules.skip(item)
    if (!merged) return false
    learning?.onSkip(item.url, merged)
    queue.giveBack(place)
    return true
  }

  // Whether robots.txt allows the page; if not, the page is handled or postponed.
  async #isAllowed(page: Page, robots: Robots): Promise<boolean> {
    const { queue, onPage } = this.#options
    const { item, place } = page
    const file = await robots.of(item.url)
    this.counts.robotsCut = robots.cut
    if (this.#failure) return false
    if (!(file instanceof RobotsFile)) {
      this.counts.unreachable++
      this.counts.failed++
      onPage({ ...named(item), depth: item.depth, status: null, links: 0, error: file.reason })
      queue.postpone(place)
      return false
    }
    this.#delay(item.url, file.delaySeconds)
    if (file.allows(item.url)) return true
    this.counts.closed++
    if (item.via.length > 0) {
      this.#refuse(item, null, item.url, 'disallowed by robots.txt')
    }
    queue.giveBack(place)
    return false
  }

  #delay(url: string, seconds: number): void {
    this.#options.queue.keepDelay(url, seconds)
    if (seconds === 0) return
    this.#delayed.add(hostOf(url))
    if (seconds > MOST_DELAY_SECONDS) this.#capped.add(hostOf(url))
    this.counts.delayed = this.#delayed.size
    this.counts.capped = this.#capped.size
  }

  async #fetch(page: Page): Promise<void> {
    const { allTypes } = this.#options
    const answer = await this.#fetcher.get(page.item.url).catch((error: Error) => {
      throw new PageError(error.message, null)
    })
    const { status, location } = answer
    try {
      if (REDIRECTS.has(status) && location !== undefined) return await this.#redirect(page, status, location)
      if (status >= 500) throw new PageError(`HTTP ${status}`, status)
      const type = answer.contentType.split(';', 1)[0]!.trim().toLowerCase()
      if (PAGE_TYPES.has(type)) await this.#read(page, answer, type)
      else if (allTypes) this.#report(page, { status, links: 0, type })
      else {
        this.counts.otherTypes++
        this.#options.queue.finish(page.place)
      }
    } finally {
      answer.discard()
    }
  }

  // The target goes to the head of the queue, and is checked like any page when its turn comes.
  async #redirect(page: Page, status: number, location: string): Promise<void> {
    const { queue, keyOf } = this.#options
    const { url, depth, via } = page.item
    const target = resolve(location, url)
    const chain = [...via, url]
    const reason = this.#reasonAgainst(target, chain, depth)
    if (target === null || reason !== null) {
      this.#refuse(page.item, status, target ?? location, reason ?? 'not a URL')
      queue.finish(page.place)
      return
    }
    // A redirect from http to https, or to www., may have the same key, which is then seen already.
    const key = keyOf(target)
    const sieve = chain.some((one) => keyOf(one) === key) ? 'never' : 'now'
    const [isNew] = await queue.add([{ url: target, depth, via: chain, retries: 0 }], { first: true, sieve })
    if (isNew) queue.finish(page.place)
    else this.#report(page, { at: target, status, links: 0 })
  }

  #reasonAgainst(target: string | null, chain: readonly string[], depth: number): string | null {
    const { redirects, urlCharacters } = this.#limits
    if (target === null) return 'not a URL'
    if (!/^https?:/.test(target)) return 'not http or https'
    if (chain.length > redirects) return `more than ${redirects} redirects`
    if (chain.includes(target)) return 'a loop'
    if (target.length > urlCharacters) return `longer than ${urlCharacters} characters`
    if (this.#scope.hasRedirect(target, depth)) return null
    this.counts.redirectsElsewhere++
    return 'another host'
  }

  #refuse(item: SiteItem, status: number | null, target: string, reason: string): void {
    this.counts.redirectsRefused++
    this.counts.failed++
    const error = `redirect to ${target.slice(0, this.#limits.urlCharacters)} not followed: ${reason}`
    this.#options.onPage({ url: item.via[0] ?? item.url, depth: item.depth, status, links: 0, error })
  }

  async #read(page: Page, answer: Answer, type: string): Promise<void> {
    const { allTypes, content } = this.#options
    const { links, urlCharacters } = this.#limits
    const { status } = answer
    const html = new HtmlPage({
      ...{ allTypes, links, urlCharacters },
      isXml: type.includes('xml'),
      wantsText: content !== undefined && status === 200,
    })
    const broken = await this.#parse(answer, html)
    if (broken && page.item.retries < RETRIES) throw new PageError(broken.message, status)
    if (this.#failure) return
    // An incomplete text is not compared: it errs towards "new".
    const isWhole = answer.cut === null && !broken
    const compared = isWhole && status === 200 ? await this.#compare(page.item, html.text) : undefined
    const verdict = compared?.verdict
    const isSkipped = content?.skip === true && verdict !== undefined && verdict.verdict !== 'new'
    const found = status < 400 ? await this.#follow(page.item, html, !isSkipped) : 0
    const cut = answer.cut ?? (html.linksOver > 0 ? 'links' : null)
    if (cut) this.counts.cut++
    if (isSkipped) this.counts.skipped++
    this.#report(page, {
      status,
      title: html.title,
      links: found,
      ...repeatOf(verdict),
      ...(compared?.isShort && { short: true as const }),
      ...(isSkipped && { skipped: true as const }),
      ...(cut && { cut }),
      ...(broken && { error: broken.message }),
    })
  }

  // What the content sieve answers for the page's text; learned rules get it too.
  async #compare({ url, via }: SiteItem, text: string): Promise<Compared | undefined> {
    const { content, learning, queue } = this.#options
    if (!content) return undefined
    const verdict = content.sieve.add(text, url)
    if (verdict.verdict !== 'new') this.counts[verdict.verdict]++
    const { short } = content.sieve.stats()
    const isShort = short > this.counts.short
    this.counts.short = short
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

  // Adds the links in scope to the queue; returns the number of all links.
  async #follow({ url, depth }: SiteItem, html: HtmlPage, follows: boolean): Promise<number> {
    const { queue } = this.#options
    const isDeep = depth + 1 > this.#limits.depth
    let found = 0
    let batch: SiteItem[] = []
    for (const link of html.linksAt(url, this.#limits.bodyBytes)) {
      found++
      if (!follows) continue
      if (!this.#scope.has(link)) this.counts.elsewhere++
      else if (isDeep) this.counts.deeper++
      else batch.push({ url: link, depth: depth + 1, via: [], retries: 0 })
      if (batch.length === BATCH) {
        await queue.add(batch)
        batch = []
      }
    }
    await queue.add(batch)
    if (follows) this.counts.links += found
    this.counts.longLinks += html.longLinks
    this.counts.linksOver += html.linksOver
    return found
  }

  // The page's links are in the queue by now; the page counts as handled after its line is written.
  #report({ item, place }: Page, result: Omit<CrawledPage, 'url' | 'depth'>): void {
    this.counts[result.error === undefined ? 'pages' : 'failed']++
    const { at, ...rest } = result
    this.#options.onPage({ ...named(item), ...(at !== undefined && { at }), depth: item.depth, ...rest })
    this.#options.queue.finish(place)
  }

  #fail({ item, place }: Page, status: number | null, error: string): void {
    this.counts.failed++
    this.#options.onPage({ ...named(item), depth: item.depth, status, links: 0, error })
    this.#options.queue.finish(place)
  }
}

/** A page is identified by the URL that was found; `at` is the URL after redirects. */
function named({ url, via }: SiteItem): Pick<CrawledPage, 'url' | 'at'> {
  return via.length > 0 ? { url: via[0]!, at: url } : { url }
}
