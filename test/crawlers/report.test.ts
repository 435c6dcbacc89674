// What `urlsieve crawl` says of itself: the line of progress, and the summary.
import { describe, expect, it } from 'vitest'
import { CrawlProgress } from '../../src/cli/crawl-progress.ts'
import { crawlSummary } from '../../src/cli/crawl-summary.ts'
import { noCounts } from '../../src/crawlers/crawl-report.ts'

const counts = {
  ...{ ...noCounts(), pages: 1234, links: 20_000, closed: 2 },
  ...{ offered: 19_000, repeats: 17_000, inProgress: 0, pending: 0, handled: 1234 },
}

it('progress: pages, rate, links, repeats', () => {
  const progress = new CrawlProgress(() => counts, false, false)
  expect(progress.text({ ...counts, pending: 766 }, 100)).toBe(
    '1,234 pages · 12.3/s · 20,000 links · 17,000 repeats · 766 to fetch',
  )
  expect(progress.text({ ...counts, delayed: 1 }, 100)).toMatch(/ · 0 to fetch · 1 host with a Crawl-delay$/)
  progress.done()
})

describe('summary', () => {
  it('what was found, and what not', () => {
    expect(crawlSummary(counts, 61.23)).toBe(
      'urlsieve: 1,234 pages fetched · 20,000 links found · 17,000 repeats skipped · 2 disallowed by robots.txt · 61.2 s\n',
    )
  })

  it('who asked for a delay', () => {
    expect(crawlSummary({ ...counts, delayed: 2, capped: 1 }, 1)).toContain(
      ' · 2 disallowed by robots.txt · 2 hosts with a Crawl-delay · 1 requesting a delay of more than 60 s · ',
    )
  })

  it('what was cut, refused and left out, with the option that decides', () => {
    const cut = { cut: 1, linksOver: 2, longLinks: 3, deeper: 4, redirectsRefused: 11, redirectsElsewhere: 5 }
    const rest = { robotsCut: 7, unreachable: 8, skipped: 9, short: 10 }
    const lines = crawlSummary({ ...counts, ...cut, ...rest }, 1).split('\n')
    expect(lines[0]).toContain(' · 9 of those skipped · 10 with too little text to compare · ')
    expect(lines[1]).toBe(
      'urlsieve: limits: 1 page cut (--max-body, --timeout, --max-links) · 2 links past --max-links · ' +
        '3 links longer than --max-url · 4 links deeper than --depth · 5 redirects to other hosts not followed · ' +
        '6 other redirects not followed · 7 robots.txt longer than --max-robots · ' +
        '8 pages not fetched: robots.txt unreachable',
    )
  })

  it('what an audit says, and how to go on', () => {
    const audited = { ...counts, pages: 1, pending: 766, asked: 2000, lost: 3, expectedLosses: 2.71 }
    expect(crawlSummary(audited, 1, 'state').split('\n').slice(1)).toEqual([
      'urlsieve: audit: 3 of 2,000 pages lost to a false positive, 2.7 expected',
      'urlsieve: 766 pages still to fetch: the same command continues (--state state)',
      '',
    ])
  })
})
