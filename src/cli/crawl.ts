// `urlsieve crawl`: the web crawler of the papers. Crawlee fetches, a sieve remembers, one line of JSON for each page.
import { type Command, Option } from 'commander'
import { SieveQueue } from '../crawlers/crawlee.ts'
import { SiteCrawl } from '../crawlers/site-crawl.ts'
import { ContentSieve } from '../index.ts'
import { crawleeCheerio } from '../peers.ts'
import { CrawlProgress } from './crawl-progress.ts'
import { type CrawlSieveFlags, openAudit, openCrawlSieve } from './crawl-sieve.ts'
import { crawlSummary } from './crawl-summary.ts'
import { CommandError, EXIT } from './exit.ts'
import { Output, tell } from './output.ts'
import { redisRetry } from './redis-retry.ts'
import { withSieveOptions } from './sieve-options.ts'
import { count } from './values.ts'

interface Flags extends CrawlSieveFlags {
  depth?: number
  pages?: number
  content?: true | 'report' | 'skip'
  concurrency: number
  rate: number
  userAgent?: string
  allHosts?: boolean
  allTypes?: boolean
  ignoreRobots?: boolean
  output?: string
  stats?: boolean
  quiet?: boolean
}

/** As a shell says of a program that Ctrl-C ended. */
const INTERRUPTED = 130

export function crawlCommand(program: Command): void {
  withSieveOptions(program.command('crawl'), {}, [], '--filter-depth')
    .summary('crawl from a page, layer by layer')
    .description(
      'Starts at pages, takes their links, and goes layer by layer until the depth or until nothing is new. One line of ' +
        'JSON for each page: url, depth, status, title, links. Keeps robots.txt, stays on the hosts it was given, asks ' +
        'each host a few times a second. Needs Crawlee: npm install @crawlee/cheerio @crawlee/core',
    )
    .argument('<urls...>', 'where to start')
    .option('--depth <n>', 'follow links so many times; 0: these pages only', number('--depth', 0))
    .option('--pages <n>', 'ask for at most so many pages in this run', count('--pages'))
    .option('--state <folder>', 'remember: the same command goes on after Ctrl-C or kill -9')
    .option('--redis <url>', 'remember on Redis or Valkey: crawls on other machines share what is seen')
    .option('--name <name>', 'with --redis: which sieve', 'crawl')
    .addOption(redisRetry())
    .option('--audit', 'keep the exact truth beside the filter and list every page lost to it')
    .addOption(
      new Option('--content [way]', 'say which pages have the same or nearly the same text, or skip them')
        .choices(['report', 'skip'])
        .preset('report'),
    )
    .option('--concurrency <n>', 'pages at a time', count('--concurrency'), 8)
    .option('--rate <n>', 'requests a second to each host; 0: no limit', number('--rate', 0), 2)
    .option('--user-agent <name>', 'who asks, also for robots.txt')
    .option('--all-hosts', 'follow links to other hosts')
    .option('--all-types', 'fetch what is not HTML too')
    .option('--ignore-robots', 'fetch what robots.txt closes, at your own pace: for a site of your own')
    .option('-o, --output <file>', 'write here instead of stdout')
    .option('--stats', 'the summary as one JSON object')
    .option('--quiet', 'no progress and no summary')
    .addHelpText(
      'after',
      `
Examples:
  urlsieve crawl https://example.com/ --depth 2 > pages.jsonl
  urlsieve crawl https://example.com/ --state example --rate 5
  urlsieve crawl https://example.com/ --filter blocked --urls 1M --fpr 1e-4 --audit --content`,
    )
    .action(crawl)
}

/** A number from `least` on, fractions too. */
function number(option: string, least: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least))
      throw new CommandError(EXIT.usage, `${option} '${text}': expected a number from ${least} on`)
    return value
  }
}

async function crawl(urls: string[], flags: Flags, command: Command): Promise<void> {
  const started = performance.now()
  for (const url of urls) checkUrl(url)
  await crawleeCheerio()
  const output = new Output(flags.output)
  const { state: folder, rate: perHostPerSecond } = flags
  const { depth: _, ...sieveFlags } = flags
  const sieve = await openCrawlSieve(sieveFlags, command)
  const audit = flags.audit
    ? await openAudit(sieve, folder, (lost) => output.print(`${JSON.stringify({ lost })}\n`))
    : null
  const queue = await SieveQueue.open({
    ...(folder !== undefined && { folder }),
    sieve: audit ?? sieve.urls,
    layers: true,
    perHostPerSecond,
    hostDelays: !flags.ignoreRobots,
  })
  const site = new SiteCrawl({
    urls,
    queue,
    mark: (marked) => (audit ? audit.mark(marked) : sieve.urls.addMany(marked)),
    ...(flags.depth !== undefined && { depth: flags.depth }),
    ...(flags.pages !== undefined && { pages: flags.pages }),
    concurrency: flags.concurrency,
    userAgent: flags.userAgent ?? `urlsieve/${command.parent?.version()}`,
    allHosts: flags.allHosts ?? false,
    allTypes: flags.allTypes ?? false,
    ignoreRobots: flags.ignoreRobots ?? false,
    ...(flags.content && {
      content: { sieve: await ContentSieve.create(), skip: flags.content === 'skip' },
    }),
    onPage: (page) => output.print(`${JSON.stringify(page)}\n`),
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
    const counts = { ...site.counts, ...queue.stats(), ...audit?.counts() }
    await queue.close()
    await audit?.close()
    await sieve.close()
    output.close()
    const seconds = (performance.now() - started) / 1000
    if (flags.stats) tell(`${JSON.stringify({ ...counts, seconds })}\n`)
    else if (!flags.quiet) tell(crawlSummary(counts, seconds, folder))
    // Connections that are kept open would hold the process for seconds.
    setTimeout(() => process.exit(), 0)
  }
  const { pages, failed } = site.counts
  if (pages === 0 && failed > 0) process.exitCode ??= EXIT.input
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  throw new CommandError(
    EXIT.usage,
    `'${url}' is no page: expected a URL with http:// or https://, such as https://example.com/`,
  )
}
