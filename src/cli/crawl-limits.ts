// The options that limit what a site can make a crawl do, with their defaults.
import { type Command, Option } from 'commander'
import { type CrawlLimits, crawlLimits } from '../crawlers/limits.ts'
import { parseCount, parseNumber, parseSize } from '../quantities.ts'

export interface CrawlLimitFlags {
  depth: number
  maxBody: number
  maxRobots: number
  maxHeaders: number
  maxRedirects: number
  maxLinks: number
  maxUrl: number
  timeout: number
}

const readable = (bytes: number) => (bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2}M` : `${bytes / 1024}K`)

/** Longer waits do not fit into a timer. */
const MOST_SECONDS = 86_400

export function withCrawlLimits(command: Command): Command {
  const { depth, bodyBytes, robotsBytes, headerBytes, redirects, links, urlCharacters, timeoutSeconds } =
    crawlLimits
  const limit = (name: string, what: string, parse: (name: string) => (text: string) => number) =>
    new Option(name, what).argParser(parse(name.split(' ', 1)[0]!))
  const from = (least: number) => (name: string) => parseNumber(name, least)
  return command
    .addOption(
      limit('--depth <n>', 'follow links this many times; 0: these pages only', from(0)).default(depth),
    )
    .addOption(
      limit('--max-body <size>', 'read this much of a page, on the wire and unpacked', parseSize).default(
        bodyBytes,
        readable(bodyBytes),
      ),
    )
    .addOption(
      limit('--max-robots <size>', 'read this much of a robots.txt', parseSize).default(
        robotsBytes,
        readable(robotsBytes),
      ),
    )
    .addOption(
      limit('--max-headers <size>', 'accept headers of this size', parseSize).default(
        headerBytes,
        readable(headerBytes),
      ),
    )
    .addOption(
      limit('--max-redirects <n>', 'follow this many redirects in a row', from(0)).default(redirects),
    )
    .addOption(limit('--max-links <n>', 'take this many links from a page', parseCount).default(links))
    .addOption(
      limit('--max-url <n>', 'follow URLs of up to this many characters', parseCount).default(urlCharacters),
    )
    .addOption(
      limit('--timeout <seconds>', 'from a request to the last byte of its answer', from(0.001)).default(
        timeoutSeconds,
      ),
    )
}

export function limitsOf(flags: CrawlLimitFlags): CrawlLimits {
  return {
    depth: flags.depth,
    bodyBytes: flags.maxBody,
    robotsBytes: flags.maxRobots,
    headerBytes: flags.maxHeaders,
    redirects: flags.maxRedirects,
    links: flags.maxLinks,
    urlCharacters: flags.maxUrl,
    timeoutSeconds: Math.min(flags.timeout, MOST_SECONDS),
  }
}
