// The web crawler of the papers: starts at pages, follows their links, and goes layer by layer until the depth is reached
// or nothing is new. It obeys robots.txt with its Crawl-delay, keeps the queue's pace per host, sends its name, and stays
// on the given hosts. A redirect is a page of its own: scope, sieve, robots.txt and pace apply to its target too.
import type { ContentSieve } from '../content/content-sieve.ts'
import type { CrawlQueue, Taken } from './crawl-queue.ts'
import { type CrawlCounts, type CrawledPage, noCounts } from './crawl-report.ts'
import type { CrawlRules, Merged } from './crawl-rules.ts'
import { type Answer, Fetcher } from './fetcher.ts'
import { resolve } from './html-page.ts'
import { type CrawlLimits, crawlLimits } from './limits.ts'
import { hostOf, MOST_DELAY_SECONDS } from './pace.ts'
import { PageError, PageReader, type PageResult } from './page-reader.ts'
import type { PageSignal } from './page-signals.ts'
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
  /** Signals of pages that are not obeyed or used. Default: none. */
  readonly ignored?: ReadonlySet<PageSignal>
  /** Read the sitemaps that robots.txt names, else /sitemap.xml. Default false. */
  readonly sitemaps?: boolean
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
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** The types with links; a page without a type is parsed too, as browsers do. */
const PAGE_TYPES = new Set(['text/html', 'application/xhtml+xml', 'text/xml', 'application/xml', ''])

type Page = Pick<Taken<SiteItem>, 'item' | 'place'>

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
  readonly #reader: PageReader
  /** Origins whose sitemaps are queued. */
  readonly #origins = new Set<string>()
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
    this.#reader = new PageReader({
      ...options,
      limits: this.#limits,
      counts: this.counts,
      scope: this.#scope,
      isOver: () => this.#failure !== undefined,
    })
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
    const { pages, failed, otherTypes, sitemaps } = this.counts
    return most === undefined || pages + failed + otherTypes + sitemaps + this.#visits.size < most
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
    if (!this.#robots) await this.#addSitemaps(item, [])
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
    await this.#addSitemaps(item, file.sitemaps)
    this.#delay(item.url, file.delaySeconds)
    if (file.allows(item.url)) return true
    this.counts.closed++
    if (item.via.length > 0) {
      this.#refuse(item, null, item.url, 'disallowed by robots.txt')
    }
    queue.giveBack(place)
    return false
  }

  // Once per origin: its sitemaps go through the queue as pages do.
  async #addSitemaps({ url, depth }: SiteItem, named: readonly string[]): Promise<void> {
    const { sitemaps, queue } = this.#options
    const { origin } = new URL(url)
    if (!sitemaps || depth + 1 > this.#limits.depth || this.#origins.has(origin)) return
    this.#origins.add(origin)
    const addresses = (named.length > 0 ? named : ['/sitemap.xml']).map((address) => resolve(address, url))
    await queue.add(
      addresses
        .filter((address) => address !== null && /^https?:/.test(address) && this.#scope.has(address))
        .map((address) => ({ url: address!, depth, via: [], retries: 0, isSitemap: true as const })),
    )
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
      if (page.item.isSitemap)
        return this.#report(page, await this.#reader.readSitemap(page.item, answer), 'sitemaps')
      const type = answer.contentType.split(';', 1)[0]!.trim().toLowerCase()
      if (PAGE_TYPES.has(type)) await this.#read(page, answer, type)
      else this.#report(page, { status, links: 0, type }, allTypes ? 'pages' : 'otherTypes')
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
    const { isSitemap } = page.item
    const item = { url: target, depth, via: chain, retries: 0, ...(isSitemap && { isSitemap }) }
    const [isNew] = await queue.add([item], { first: true, sieve })
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
    const isLast = page.item.retries >= RETRIES
    const result = await this.#reader.read(page.item, answer, type, isLast)
    if (result && !this.#failure) this.#report(page, result)
  }

  // The page's links are in the queue by now; the page counts as handled after its line is written.
  #report(
    { item, place }: Page,
    result: PageResult,
    counted: 'pages' | 'otherTypes' | 'sitemaps' = 'pages',
  ): void {
    this.counts[result.error === undefined ? counted : 'failed']++
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
