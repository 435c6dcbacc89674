// What a crawl did, in a few lines for people.
import type { AuditCounts } from '../crawlers/audit.ts'
import type { QueueStats } from '../crawlers/crawlee.ts'
import { MOST_DELAY_SECONDS } from '../crawlers/pace.ts'
import type { CrawlCounts } from '../crawlers/site-crawl.ts'
import { grouped } from './values.ts'

type Counts = CrawlCounts & QueueStats & Partial<AuditCounts>

/** Lines with their newlines. `folder`: where the crawl can go on. */
export function crawlSummary(counts: Counts, seconds: number, folder?: string): string {
  const { pages, links, repeats, elsewhere, closed, otherTypes, failed, same, near, pending } = counts
  const parts = [
    `${grouped(pages)} ${pages === 1 ? 'page' : 'pages'} fetched`,
    `${grouped(links)} links found`,
    `${grouped(repeats)} repeats skipped`,
    ...counted(elsewhere, 'to other hosts'),
    ...counted(closed, 'closed by robots.txt'),
    ...delayedHosts(counts.delayed),
    ...counted(counts.capped, `asking for more than ${MOST_DELAY_SECONDS} s`),
    ...counted(otherTypes, 'not HTML'),
    ...counted(failed, 'failed'),
    ...counted(same, 'of the same text'),
    ...counted(near, 'of nearly the same text'),
    `${seconds.toFixed(1)} s`,
  ]
  const lines = [parts.join(' · ')]
  const { lost, asked, expectedLosses } = counts
  if (lost !== undefined && asked !== undefined) {
    const expected = typeof expectedLosses === 'number' ? `, ${expectedLosses.toPrecision(2)} expected` : ''
    lines.push(`audit: ${grouped(lost)} of ${grouped(asked)} pages lost to a false positive${expected}`)
  }
  if (pending > 0) {
    const on = folder === undefined ? '' : `: the same command goes on (--state ${folder})`
    lines.push(`${grouped(pending)} pages still to fetch${on}`)
  }
  return lines.map((line) => `urlsieve: ${line}\n`).join('')
}

/** None are not worth a word. */
export const delayedHosts = (count: number) =>
  counted(count, `${count === 1 ? 'host' : 'hosts'} with a Crawl-delay`)

const counted = (count: number, what: string) => (count > 0 ? [`${grouped(count)} ${what}`] : [])
