// What a crawl did, left out and cut, in a few lines for people.
import type { AuditCounts } from '../crawlers/audit.ts'
import type { QueueStats } from '../crawlers/crawl-queue.ts'
import type { CrawlCounts } from '../crawlers/crawl-report.ts'
import type { RuleCounts } from '../crawlers/crawl-rules.ts'
import type { LimitedShape } from '../crawlers/limited-urls.ts'
import { MOST_DELAY_SECONDS } from '../crawlers/pace.ts'
import { formatCount, formatCounted } from '../quantities.ts'
import { learnedLines } from './crawl-learn.ts'

type Counts = CrawlCounts &
  QueueStats &
  Partial<AuditCounts> & {
    readonly dropped?: number
    readonly limitedShapes?: readonly LimitedShape[]
    readonly learned?: RuleCounts
  }

/** Shapes that hit a limit in the summary. */
const SHOWN_SHAPES = 10

/** Lines with their newlines. `folder`: where the crawl can go on. */
export function crawlSummary(counts: Counts, seconds: number, folder?: string): string {
  const { pages, links, repeats, elsewhere, closed, otherTypes, failed, same, near, pending } = counts
  const parts = [
    `${formatCounted(pages, 'page')} fetched`,
    `${formatCounted(links, 'link')} found`,
    `${formatCounted(repeats, 'repeat')} skipped`,
    ...counted(counts.dropped ?? 0, 'dropped by limits'),
    ...counted(elsewhere, 'to other hosts'),
    ...counted(counts.nofollow, 'not followed by nofollow'),
    ...counted(closed, 'disallowed by robots.txt'),
    ...delayedHosts(counts.delayed),
    ...counted(counts.capped, `requesting a delay of more than ${MOST_DELAY_SECONDS} s`),
    ...counted(counts.sitemaps, counts.sitemaps === 1 ? 'sitemap' : 'sitemaps'),
    ...counted(otherTypes, 'not HTML'),
    ...counted(failed, 'failed'),
    ...counted(same, 'of the same text'),
    ...counted(near, 'of nearly the same text'),
    ...counted(counts.skipped, 'of those skipped'),
    ...counted(counts.short, 'with too little text to compare'),
    `${seconds.toFixed(1)} s`,
  ]
  const lines = [parts.join(' · ')]
  const limits = limitsPassed(counts)
  if (limits.length > 0) lines.push(`limits: ${limits.join(' · ')}`)
  for (const { shape, limit, reason, dropped } of counts.limitedShapes?.slice(0, SHOWN_SHAPES) ?? [])
    lines.push(`${formatCount(dropped)} dropped by ${limit}${shape && `: ${shape}`} (${reason})`)
  if (counts.learned) lines.push(...learnedLines(counts.learned))
  const { lost, asked, expectedLosses } = counts
  if (lost !== undefined && asked !== undefined) {
    const expected = typeof expectedLosses === 'number' ? `, ${expectedLosses.toPrecision(2)} expected` : ''
    lines.push(
      `audit: ${formatCount(lost)} of ${formatCounted(asked, 'page')} lost to a false positive${expected}`,
    )
  }
  if (pending > 0) {
    const on = folder === undefined ? '' : `: the same command continues (--state ${folder})`
    lines.push(`${formatCounted(pending, 'page')} still to fetch${on}`)
  }
  return lines.map((line) => `urlsieve: ${line}\n`).join('')
}

// What was not followed or not read, with the option that decides.
function limitsPassed(counts: Counts): string[] {
  const { redirectsElsewhere } = counts
  return [
    ...counted(
      counts.cut,
      'page cut (--max-body, --timeout, --max-links)',
      'pages cut (--max-body, --timeout, --max-links)',
    ),
    ...counted(counts.linksOver, 'link past --max-links', 'links past --max-links'),
    ...counted(counts.longLinks, 'link longer than --max-url', 'links longer than --max-url'),
    ...counted(counts.deeper, 'link deeper than --depth', 'links deeper than --depth'),
    ...counted(
      redirectsElsewhere,
      'redirect to another host not followed',
      'redirects to other hosts not followed',
    ),
    ...counted(
      counts.redirectsRefused - redirectsElsewhere,
      'other redirect not followed',
      'other redirects not followed',
    ),
    ...counted(counts.robotsCut, 'robots.txt longer than --max-robots'),
    ...counted(
      counts.unreachable,
      'page not fetched: robots.txt unreachable',
      'pages not fetched: robots.txt unreachable',
    ),
  ]
}

/** None are not worth a word. */
export const delayedHosts = (count: number) =>
  counted(count, 'host with a Crawl-delay', 'hosts with a Crawl-delay')

const counted = (count: number, one: string, many = one) =>
  count > 0 ? [formatCounted(count, one, many)] : []
