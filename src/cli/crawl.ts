// `urlsieve crawl`: the web crawler of the papers. A sieve remembers, one line of JSON for each page.
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { keyOf, type Profile } from '../canonical/profiles.ts'
import type { CrawlPageData } from '../crawlers/crawl-page.ts'
import { CrawlQueue } from '../crawlers/crawl-queue.ts'
import type { SeenUrls } from '../crawlers/seen-urls.ts'
import { siteItems } from '../crawlers/site-item.ts'
import { ContentSieve } from '../index.ts'
import { parseCount, parseNumber } from '../quantities.ts'
import { isLearning, type LearnFlags, startLearning, withLearnOptions } from './crawl-learn.ts'
import { type CrawlLimitFlags, limitsOf, withCrawlLimits } from './crawl-limits.ts'
import { CrawlProgress } from './crawl-progress.ts'
import { CRAWL_FLAGS, type CrawlSieveFlags, openAudit, openCrawlSieve } from './crawl-sieve.ts'
import { ignoredBy, type SignalFlags, withSignalOptions } from './crawl-signals.ts'
import { crawlSummary } from './crawl-summary.ts'
import { CommandError, EXIT } from './exit.ts'
import {
  type LimitFlags,
  limitsOf as shapeLimitsOf,
  strippedProfile,
  withLimitOptions,
} from './limit-options.ts'
import { writeStderr } from './output.ts'
import { ownOutput } from './own-output.ts'
import { type Placing, placedOutput } from './placing.ts'
import { withRedisOptions } from './redis-options.ts'
import { withSieveOptions } from './sieve-options.ts'

interface Flags extends CrawlSieveFlags, CrawlLimitFlags, LimitFlags, LearnFlags, SignalFlags {
  shapeLimits: boolean
  pages?: number
  content?: true | 'report' | 'skip'
  concurrency: number
  rate: number
  userAgent?: string
  allHosts?: boolean
  allTypes?: boolean
  ignoreRobots?: boolean
  output?: string
  report?: string
  append?: boolean
  overwrite?: boolean
  stats?: boolean
  quiet?: boolean
}

/** Limits by shape of a crawl unless others are given. */
const KEEP_PER_TRAP = 1000
const MAX_REPEATS = 20

/** The exit code that shells give a program ended by Ctrl-C. */
const INTERRUPTED = 130

export function crawlCommand(program: Command): void {
  const command = withSieveOptions(program.command('crawl'), { renamed: CRAWL_FLAGS })
  withRedisOptions(command)
  withLearnOptions(withCrawlLimits(withSignalOptions(withLimitOptions(command))))
    .summary('crawl from a page, layer by layer')
    .description(
      'Starts at pages, takes their links, and goes layer by layer until the depth or until nothing is new. Prints one ' +
        'line of JSON for each page: url, depth, status, title, links. Keeps robots.txt and stays on the given hosts, ' +
        'also after redirects. What passes a limit is cut, refused or left out, and the summary counts it.',
    )
    .argument('<urls...>', 'where to start')
    .option('--pages <n>', 'request at most this many pages in this run', parseCount('--pages'))
    .option('--state <folder>', 'remember: the same command continues after Ctrl-C or kill -9')
    .option('--redis <url>', 'remember on Redis or Valkey: crawls on other machines share what is seen')
    .option('--name <name>', 'with --redis: which sieve', 'crawl')
    .option('--audit', 'keep the exact truth beside the filter and list every page lost to it')
    .addOption(
      new Option(
        '--content [way]',
        'report pages with the same or nearly the same text as another, or also skip their links',
      )
        .choices(['report', 'skip'])
        .preset('report'),
    )
    .option('--concurrency <n>', 'pages at a time', parseCount('--concurrency'), 8)
    .option('--rate <n>', 'requests per second to each host; 0: no limit', parseNumber('--rate', 0), 2)
    .option('--user-agent <name>', 'name of the crawler, also for robots.txt')
    .option('--all-hosts', 'follow links to other hosts')
    .option('--all-types', 'follow links to anything, not only to pages')
    .option('--ignore-robots', 'fetch what robots.txt closes, at your own pace: for a site of your own')
    .option(
      '--no-shape-limits',
      `no limits by shape; else --keep-per-trap ${KEEP_PER_TRAP} --max-repeats ${MAX_REPEATS}`,
    )
    .option('--dropped <file>', 'list what limits and learned rules leave out here: limit, reason, URL')
    .option('-o, --output <file>', 'write here instead of stdout')
    .option('--append', 'go on after the last whole line of each output file')
    .option('--overwrite', 'with --state: replace output files that are not empty')
    .option('--report <file>', 'write a page about the crawl here: pages, shapes, traps, repeats, errors')
    .option('--stats', 'the summary as one JSON object')
    .option('--quiet', 'no progress and no summary')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve crawl https://example.com/ --depth 2 > pages.jsonl
  urlsieve crawl https://example.com/ --state example --rate 5 --report example.html
  urlsieve crawl https://example.com/ --filter blocked --urls 1M --fpr 1e-4 --audit --content`,
    )
    .action(crawl)
}

async function crawl(urls: string[], flags: Flags, command: Command): Promise<void> {
  const started = performance.now()
  for (const url of urls) checkUrl(url)
  // When it is needed: no other command waits for its parser.
  const { SiteCrawl } = await import('../crawlers/site-crawl.ts')
  const output = placedOutput(flags.output, placingOf(flags))
  const { state: folder, rate: perHostPerSecond } = flags
  const { depth: _, ...sieveFlags } = flags
  if (flags.strip) {
    command.setOptionValueWithSource('profile', strippedProfile(flags.profile, flags), 'cli')
    sieveFlags.profile = command.opts().profile
  }
  const sieve = await openCrawlSieve(sieveFlags, command)
  const { profile } = sieve
  const audit = flags.audit
    ? await openAudit(sieve, folder, (lost) => output.print(`${JSON.stringify({ lost })}\n`))
    : null
  const list = flags.dropped === undefined ? null : placedOutput(flags.dropped, placingOf(flags))
  const drop = (url: string, limit: string, reason: string) => list?.print(`${limit}\t${reason}\t${url}\n`)
  const learning = isLearning(flags)
    ? await startLearning(flags, profile, (url, reason) => drop(url, 'learned', reason))
    : null
  const limited = await limitUrls(audit ?? sieve.urls, profile, flags, drop)
  const queue = await CrawlQueue.open(limited?.urls ?? audit ?? sieve.urls, siteItems, {
    ...(folder !== undefined && { folder }),
    layers: true,
    perHostPerSecond,
    hostDelays: !flags.ignoreRobots,
  })
  const report = flags.report === undefined ? null : await startReport(flags.report)
  const site = new SiteCrawl({
    urls,
    queue,
    keyOf: (url) => keyOf(profile, url) ?? url,
    limits: limitsOf(flags),
    ...(flags.pages !== undefined && { pages: flags.pages }),
    concurrency: flags.concurrency,
    userAgent: flags.userAgent ?? `urlsieve/${command.parent?.version()}`,
    allHosts: flags.allHosts ?? false,
    allTypes: flags.allTypes ?? false,
    ignoreRobots: flags.ignoreRobots ?? false,
    ignored: ignoredBy(flags),
    sitemaps: flags.sitemaps ?? false,
    ...((flags.content || learning) && {
      content: { sieve: await ContentSieve.create(), skip: flags.content === 'skip' },
    }),
    ...(learning && { learning: learning.option }),
    onPage(page) {
      output.print(`${JSON.stringify(page)}\n`)
      report?.tally.add(page)
      sieve.capacity?.watch()
    },
  })
  const progress = new CrawlProgress(() => ({ ...site.counts, ...queue.stats() }), flags.quiet)
  const interrupt = () => {
    process.exitCode = INTERRUPTED
    site.stop()
  }
  process.once('SIGINT', interrupt)
  try {
    await site.run()
  } finally {
    process.off('SIGINT', interrupt)
    progress.done()
    const counts = {
      ...site.counts,
      ...queue.stats(),
      ...audit?.counts(),
      ...limited?.counts(queue.stats().repeats),
      ...learning?.counts(),
    }
    queue.close()
    await audit?.close()
    await sieve.close()
    output.close()
    learning?.close()
    limited?.close()
    list?.close()
    sieve.capacity?.summarise()
    const seconds = (performance.now() - started) / 1000
    report?.write({ urls, seconds, counts })
    if (flags.stats) writeStderr(`${JSON.stringify({ ...counts, seconds })}\n`)
    else if (!flags.quiet) writeStderr(crawlSummary(counts, seconds, folder))
  }
  const { pages, failed } = site.counts
  if (pages === 0 && failed > 0) process.exitCode ??= EXIT.input
}

// A crawl that is continued prints no page again.
function placingOf({ append, overwrite, state, redis }: Flags): Placing {
  if (append && overwrite)
    throw new CommandError(EXIT.usage, '--append with --overwrite: expected one of them')
  const outlivesRun = (state ?? redis) !== undefined
  return { append, overwrite, outlivesRun, end: { byte: 10, isQuoted: false } }
}

// Loaded only when there is a report. The file is opened before the crawl, so that a mistake shows then.
async function startReport(path: string) {
  const [{ PageTally }, { crawlPage }] = await Promise.all([
    import('../crawlers/page-tally.ts'),
    import('../crawlers/crawl-page.ts'),
  ])
  const file = ownOutput(path)
  const tally = new PageTally()
  return {
    tally,
    write(data: Omit<CrawlPageData, 'tally'>) {
      file.print(crawlPage({ ...data, tally }))
      file.close()
    },
  }
}

async function openKeptLog(state: string | undefined) {
  if (state === undefined) return null
  const { KeptLog } = await import('../crawlers/kept-log.ts')
  return new KeptLog(join(state, 'kept-urls.log'))
}

// Loaded only when there are limits.
async function limitUrls(
  urls: SeenUrls,
  profile: Profile,
  flags: Flags,
  onDrop: (url: string, limit: string, reason: string) => void,
) {
  const given = shapeLimitsOf(flags)
  if (!flags.shapeLimits && given === null) return null
  const limits = flags.shapeLimits
    ? { keepPerTrap: KEEP_PER_TRAP, maxRepeats: MAX_REPEATS, ...given }
    : given!
  const { LimitedUrls } = await import('../crawlers/limited-urls.ts')
  const log = await openKeptLog(flags.state)
  const limited = new LimitedUrls(
    urls,
    { profile, ...limits },
    (url, { limit, reason }) => onDrop(url, limit, reason),
    log,
  )
  return {
    urls: limited,
    close: () => log?.close(),
    // The queue takes what is dropped for repeats.
    counts: (repeats: number) => ({
      repeats: repeats - limited.dropped,
      dropped: limited.dropped,
      limitedShapes: limited.shapes(),
    }),
  }
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  throw new CommandError(
    EXIT.usage,
    `'${url}' is no page: expected a URL with http:// or https://, such as https://example.com/`,
  )
}
