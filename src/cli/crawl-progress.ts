// Progress of a crawl, on a terminal only: pages, links, repeats, rate, and who slows it down. The first line appears after a second.
import { isatty } from 'node:tty'
import { formatCount, formatCounted } from '../quantities.ts'
import { delayedHosts } from './crawl-summary.ts'
import { writeStderr } from './output.ts'

const STEP_MS = 250
const FIRST_MS = 1000

export interface CrawlReading {
  readonly pages: number
  readonly links: number
  readonly repeats: number
  readonly pending: number
  readonly delayed: number
}

export class CrawlProgress {
  readonly #timer: NodeJS.Timeout | undefined
  readonly #start = performance.now()
  #shown = false

  /** `quiet` turns it off; so does a stderr that is no terminal. */
  constructor(read: () => CrawlReading, quiet = false, terminal = isatty(2)) {
    if (quiet || !terminal) return
    this.#timer = setInterval(() => this.#show(read()), STEP_MS)
    this.#timer.unref()
  }

  #show(reading: CrawlReading): void {
    const ms = performance.now() - this.#start
    if (ms < FIRST_MS) return
    this.#shown = true
    writeStderr(`\r\x1b[K${this.text(reading, ms / 1000)}`)
  }

  text({ pages, links, repeats, pending, delayed }: CrawlReading, seconds: number): string {
    return [
      formatCounted(pages, 'page'),
      `${(pages / seconds).toFixed(1)}/s`,
      formatCounted(links, 'link'),
      formatCounted(repeats, 'repeat'),
      `${formatCount(pending)} to fetch`,
      ...delayedHosts(delayed),
    ].join(' · ')
  }

  /** Takes the line away. */
  done(): void {
    clearInterval(this.#timer)
    if (this.#shown) writeStderr('\r\x1b[K')
  }
}
