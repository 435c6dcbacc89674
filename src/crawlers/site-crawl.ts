// The web crawler of the papers, on Crawlee: starts at pages, takes their links, goes layer by layer until the depth or
// until nothing is new. Polite: robots.txt with its Crawl-delay, a pace for each host (the queue's), its own name, the
// hosts it was given.
import type { CheerioCrawlingContext } from '@crawlee/cheerio'
import type { ContentSieve, ContentVerdict } from '../content/content-sieve.ts'
import { crawleeCheerio } from '../peers.ts'
import type { CrawleeQueue } from './crawlee.ts'
import { hostOf, MOST_DELAY_SECONDS } from './pace.ts'
import { linksOf, textIn, titleOf } from './page-links.ts'
import { robotsCrawler } from './robots.ts'

export interface SiteCrawlOptions {
  /** Where it starts; their hosts are the ones it stays on. */
  readonly urls: readonly string[]
  /** Opened with `layers`, a pace, and `hostDelays` unless robots.txt is ignored. */
  readonly queue: CrawleeQueue
  /** Marks a URL that was reached by a redirect, so that it is not fetched again under its own name. */
  readonly mark: (urls: readonly string[]) => unknown
  /** Links to follow from the first pages on. Default: no end. */
  readonly depth?: number
  /** Pages to fetch in this run. Default: no end. */
  readonly pages?: number
  readonly concurrency: number
  readonly userAgent: string
  readonly allHosts: boolean
  /** Not HTML only. */
  readonly allTypes: boolean
  readonly ignoreRobots: boolean
  /** Pages of the same text: reported, or not followed either. */
  readonly content?: { readonly sieve: ContentSieve; readonly skip: boolean }
  readonly onPage: (page: CrawledPage) => void
}

/** One line of the output. */
export interface CrawledPage {
  readonly url: string
  /** Where it was found after redirects, if elsewhere. */
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
  readonly error?: string
}

export interface CrawlCounts {
  /** Fetched, whatever their status. */
  pages: number
  /** Found on them, http and https. */
  links: number
  /** Of those, on other hosts: not followed. */
  elsewhere: number
  /** Not fetched since robots.txt closes them: links, as often as found. */
  closed: number
  /** Hosts whose robots.txt asks for a delay between requests. */
  delayed: number
  /** Of those, who ask for more than is kept. */
  capped: number
  /** Not HTML: left out before their body came. */
  otherTypes: number
  failed: number
  /** Pages whose text was there under another URL. */
  same: number
  near: number
}

const RETRIES = 2
const TIMEOUT_SECONDS = 30
/** How often the pool looks for a host whose turn it is. */
const LOOK_SECONDS = 0.02

export class SiteCrawl {
  readonly counts: CrawlCounts = {
    pages: 0,
    links: 0,
    elsewhere: 0,
    closed: 0,
    delayed: 0,
    capped: 0,
    otherTypes: 0,
    failed: 0,
    same: 0,
    near: 0,
  }
  readonly #options: SiteCrawlOptions
  readonly #hosts: Set<string>
  readonly #delayed = new Set<string>()
  readonly #capped = new Set<string>()
  #stopped = false

  constructor(options: SiteCrawlOptions) {
    this.#options = options
    this.#hosts = new Set(options.urls.map((url) => new URL(url).host))
  }

  /** Crawls to the end, to a limit, or until `stop`. */
  async run(): Promise<void> {
    const crawlee = await crawleeCheerio()
    crawlee.log.setLevel(crawlee.LogLevel.OFF)
    const { queue, depth, concurrency, userAgent, ignoreRobots, allTypes, pages } = this.#options
    const mayStart = () => !this.#stopped && (pages === undefined || this.#begun() < pages)
    const Crawler = ignoreRobots
      ? crawlee.CheerioCrawler
      : robotsCrawler(crawlee.CheerioCrawler, userAgent, (url, seconds) => this.#delay(url, seconds))
    const crawler = new Crawler(
      {
        requestQueue: queue,
        useSessionPool: false,
        maxRequestRetries: RETRIES,
        navigationTimeoutSecs: TIMEOUT_SECONDS,
        maxConcurrency: concurrency,
        ...(depth !== undefined && { maxCrawlDepth: depth }),
        ...(allTypes && { additionalMimeTypes: ['*/*'] }),
        ...(!ignoreRobots && { respectRobotsTxtFile: { userAgent } }),
        autoscaledPoolOptions: {
          desiredConcurrency: concurrency,
          maybeRunIntervalSecs: LOOK_SECONDS,
          loggingIntervalSecs: null,
          isTaskReadyFunction: async () => mayStart() && !(await queue.isEmpty()),
          isFinishedFunction: async () => !mayStart() || (await queue.isFinished()),
        },
        preNavigationHooks: [
          (_, gotOptions) => {
            gotOptions.useHeaderGenerator = false
            gotOptions.headers = { ...gotOptions.headers, 'user-agent': userAgent }
            gotOptions.hooks = { beforeRedirect: [({ url }) => queue.redirected(String(url))] }
          },
        ],
        requestHandler: (context) => this.#page(context),
        failedRequestHandler: (context, error) => this.#failed(context, error),
        onSkippedRequest: ({ reason }) => {
          if (reason === 'robotsTxt') this.counts.closed++
        },
      },
      new crawlee.Configuration({ persistStorage: false, purgeOnStart: false }),
    )
    try {
      await crawler.run(this.#options.urls.map((url) => ({ url, crawlDepth: 0 })))
    } catch (error) {
      throw error instanceof crawlee.CriticalError ? error.cause : error
    }
  }

  /** Lets the pages that are under way end, and no other begin. */
  stop(): void {
    this.#stopped = true
  }

  /** Pages of this run, done or under way. */
  #begun(): number {
    const { pages, failed, otherTypes } = this.counts
    return pages + failed + otherTypes + this.#options.queue.stats().inProgress
  }

  #delay(url: string, seconds: number): void {
    this.#options.queue.keepDelay(url, seconds)
    if (seconds === 0) return
    this.#delayed.add(hostOf(url))
    if (seconds > MOST_DELAY_SECONDS) this.#capped.add(hostOf(url))
    this.counts.delayed = this.#delayed.size
    this.counts.capped = this.#capped.size
  }

  async #page(context: CheerioCrawlingContext): Promise<void> {
    const { request, response, contentType, $ } = context
    const { content, allTypes, allHosts, onPage } = this.#options
    const at = request.loadedUrl ?? request.url
    const status = response.statusCode ?? null
    const isHtml = typeof $ === 'function'
    // What was enqueued is on a host to stay on, also when an earlier run was led there.
    this.#hosts.add(new URL(request.url).host)
    if (at !== request.url) await this.#orEnd(() => this.#redirected(request.crawlDepth, at))
    this.counts.pages++
    const links = isHtml && status !== null && status < 400 ? linksOf($, at, allTypes) : []
    const title = isHtml ? titleOf($) : undefined
    const verdict = isHtml && content && status === 200 ? content.sieve.add(textIn($), at) : undefined
    if (verdict && verdict.verdict !== 'new') this.counts[verdict.verdict]++
    const isSkipped = content?.skip === true && verdict !== undefined && verdict.verdict !== 'new'
    if (!isSkipped) {
      const here = allHosts ? links : links.filter((link) => this.#hosts.has(new URL(link).host))
      this.counts.links += links.length
      this.counts.elsewhere += links.length - here.length
      if (here.length > 0 && (allHosts || this.#hosts.has(new URL(at).host))) {
        await this.#orEnd(() => context.addRequests(here))
      }
    }
    if (isSkipped) return
    const page = {
      url: request.url,
      ...(at !== request.url && { at }),
      depth: request.crawlDepth,
      status,
      ...(title !== undefined && { title }),
      links: links.length,
      ...(!isHtml && { type: contentType.type }),
      ...repeatOf(verdict),
    }
    await this.#orEnd(() => onPage(page))
  }

  // A first page that leads to another host leads the crawl there: http to https, example.org to www.example.org.
  async #redirected(depth: number, at: string): Promise<void> {
    if (depth === 0) this.#hosts.add(new URL(at).host)
    await this.#options.mark([at])
  }

  async #failed({ request, response }: CheerioCrawlingContext, error: Error): Promise<void> {
    const type = /served Content-Type (\S+),/.exec(error.message)?.[1]
    this.counts[type === undefined ? 'failed' : 'otherTypes']++
    if (type !== undefined) return
    const page = {
      url: request.url,
      depth: request.crawlDepth,
      status: response?.statusCode ?? null,
      links: 0,
      error: reasonOf(error),
    }
    await this.#orEnd(() => this.#options.onPage(page))
  }

  // What is no fault of the page (a full disk, a reader of the output that has gone) ends the crawl: the page stays pending.
  async #orEnd(step: () => unknown): Promise<void> {
    try {
      await step()
    } catch (error) {
      const { CriticalError } = await crawleeCheerio()
      throw Object.assign(new CriticalError('the crawl cannot go on'), { cause: error })
    }
  }
}

function repeatOf(verdict: ContentVerdict | undefined): Partial<CrawledPage> {
  if (verdict?.verdict === 'same') return { same: verdict.of }
  if (verdict?.verdict === 'near') return { near: verdict.of, distance: verdict.distance }
  return {}
}

/** One line; Crawlee puts a word about sessions before what the network said. */
function reasonOf({ message }: Error): string {
  const [first = ''] = message.replace(/^Detected a session error, rotating session\.\.\.\s*/, '').split('\n')
  return first
}
