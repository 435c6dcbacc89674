// robots.txt beyond what Crawlee makes of it: each origin is asked for it once, and the delay that it asks for between
// requests (Crawl-delay) is told. The reading is Crawlee's own, by robots-parser.
import type { CheerioCrawler } from '@crawlee/cheerio'
import type { RobotsTxtFile } from '@crawlee/utils'

/** As many as Crawlee keeps. */
const MOST_ORIGINS = 1000
/** When to ask again for a robots.txt that could not be had. */
const AGAIN_MS = 60_000

interface Asked {
  /** Undefined: could not be had. */
  readonly file: Promise<RobotsTxtFile | undefined>
  until: number
}

/**
 * Crawlee's crawler, which says the Crawl-delay of a URL's host, in seconds, before each request and each link: 0 when
 * robots.txt has none for this agent, or nonsense.
 */
export function robotsCrawler(
  Crawler: typeof CheerioCrawler,
  userAgent: string,
  onDelay: (url: string, seconds: number) => void,
): typeof CheerioCrawler {
  return class extends Crawler {
    readonly #asked = new Map<string, Asked>()

    // Crawlee's own asks again for each link while one answer is under way, and whenever there was none.
    protected override async getRobotsTxtFileForUrl(url: string): Promise<RobotsTxtFile | undefined> {
      const { origin } = new URL(url)
      let asked = this.#asked.get(origin)
      if (!asked || asked.until < performance.now()) {
        asked = { file: super.getRobotsTxtFileForUrl(url), until: Number.POSITIVE_INFINITY }
      }
      // Set anew, so that the first one is the one longest not asked for.
      this.#asked.delete(origin)
      this.#asked.set(origin, asked)
      if (this.#asked.size > MOST_ORIGINS) this.#asked.delete(this.#asked.keys().next().value!)
      const file = await asked.file
      if (!file) asked.until = Math.min(asked.until, performance.now() + AGAIN_MS)
      onDelay(url, delayIn(file, userAgent))
      return file
    }
  }
}

/** What robots-parser can say; the stand-in for a file that is not there cannot. */
interface Parser {
  getCrawlDelay?(userAgent: string): number | undefined
}

// Crawlee's class has no word for it (apify/crawlee#2436), so its parser is asked.
function delayIn(file: RobotsTxtFile | undefined, userAgent: string): number {
  const parser = (file as { robots?: Parser } | undefined)?.robots
  const seconds = parser?.getCrawlDelay?.(userAgent) ?? 0
  return Math.max(seconds, 0)
}
