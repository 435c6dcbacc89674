// A crawl of a site with few pages and many URLs: every page is found with few fetches, and every drop has a reason.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { RuleCounts } from '../../src/crawlers/crawl-rules.ts'
import { describeRule } from '../../src/learn/learned-rule.ts'
import { parseRules } from '../../src/learn/rule-file.ts'
import { linesOf, temporaryFolder, urlsieve } from '../e2e/command.ts'
import { serveTraps } from './trap-site.ts'

const isFull = process.env.URLSIEVE_FULL === '1'
const PAGES = isFull ? 3000 : 300
/** Fetches beyond the pages: the samples of the traps, redirects, and what a second spelling costs. */
const MOST_FETCHES = isFull ? 4000 : 600
const folder = temporaryFolder()

interface Line {
  readonly url: string
  readonly at?: string
  readonly status: number
}

const pagesIn = (lines: readonly string[]) =>
  new Set(
    lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ status }) => status === 200)
      .flatMap(({ url, at }) => /\/p\/(\d+)(?:$|\?(?!rev))/i.exec(at ?? url)?.[1] ?? []),
  )

it(`finds all of ${PAGES} pages with at most ${MOST_FETCHES} fetches, none lost, each drop with a reason`, async () => {
  const site = await serveTraps(PAGES)
  try {
    const dropped = join(folder, 'dropped.tsv')
    const args = ['--rate', '0', '--profile', 'aggressive', '--keep-per-trap', '60']
    const ended = await urlsieve([
      'crawl',
      `${site.origin}/`,
      ...args,
      '--max-repeats',
      '10',
      '--dropped',
      dropped,
    ])
    expect(ended.code).toBe(0)
    // The start page is page 0.
    expect(pagesIn(linesOf(ended.stdout)).add('0').size).toBe(PAGES)
    expect(site.requests()).toBeLessThanOrEqual(MOST_FETCHES)
    expect(ended.stderr).toMatch(/[\d,]+ dropped by limits/)
    expect(ended.stderr).toMatch(
      /dropped by keepPerTrap: 127\.0\.0\.1:\d+\/calendar\?date=\{date\} \(calendar: /,
    )
    expect(ended.stderr).toMatch(/dropped by keepPerTrap: 127\.0\.0\.1:\d+\/p\/\{number\}\?rev=\{number\} \(/)
    const reasons = new Set(linesOf(readFileSync(dropped)).map((line) => line.split('\t')[0]))
    expect([...reasons].sort()).toEqual(['keepPerTrap', 'maxRepeats'])
  } finally {
    await site.close()
  }
}, 120_000)

it(`--learn: all pages with the default profile, fetches saved by rules found on the way`, async () => {
  const site = await serveTraps(PAGES)
  try {
    const dropped = join(folder, 'learned.tsv')
    const file = join(folder, 'learned.rules.json')
    const risk = isFull ? '5%' : '10%'
    const ended = await urlsieve([
      ...['crawl', `${site.origin}/`, '--rate', '0', '--keep-per-trap', '60', '--stats'],
      ...['--learn', '--learn-risk', risk, '--learn-output', file, '--dropped', dropped],
    ])
    expect(ended.code).toBe(0)
    expect(pagesIn(linesOf(ended.stdout)).add('0').size).toBe(PAGES)
    const { learned } = JSON.parse(ended.stderr) as { learned: RuleCounts }
    expect(learned.saved).toBeGreaterThan(PAGES / 3)
    expect(learned).toMatchObject({ wrong: 0, requeued: 0 })
    expect(learned.checked).toBeGreaterThanOrEqual(Math.floor(learned.saved / 20))
    const rule = `drops utm_campaign, utm_source together on ${new URL(site.origin).host}`
    expect(learned.rules).toContainEqual(expect.stringContaining(rule))
    // The same crawl without --learn makes 6,483 for 3,000 pages.
    expect(site.requests()).toBeLessThanOrEqual(isFull ? 4000 : 850)
    const lines = linesOf(readFileSync(dropped)).filter((line) => line.startsWith('learned\t'))
    expect(lines).toHaveLength(learned.saved)
    expect(lines[0]).toMatch(/^learned\tdrops utm_\w+, .*: the page at http:\/\/\S+\thttp:\/\/\S+$/)
    expect(parseRules(readFileSync(file, 'utf8')).rules.map(describeRule)).toContainEqual(
      expect.stringContaining(rule),
    )
  } finally {
    await site.close()
  }
}, 120_000)

// The letter case of a path comes up in 74 URLs only: enough to prove a share of wrong merges under 10 %.
it.runIf(isFull)(
  'with rules learned from the first crawl, the second one finds all pages with at most 3,300 fetches',
  async () => {
    const site = await serveTraps(PAGES)
    try {
      const [first, rules] = [join(folder, 'first.jsonl'), join(folder, 'site.rules.json')]
      const args = ['crawl', `${site.origin}/`, '--rate', '0', '--keep-per-trap', '60']
      await urlsieve([...args, '--profile', 'aggressive', '--content', '-o', first])
      await urlsieve(['learn', first, '--profile', 'aggressive', '--risk', '10%', '-o', rules])
      const before = site.requests()
      const ended = await urlsieve([...args, '--profile', rules])
      expect(pagesIn(linesOf(ended.stdout)).add('0').size).toBe(PAGES)
      expect(site.requests() - before).toBeLessThanOrEqual(3300)
    } finally {
      await site.close()
    }
  },
  120_000,
)
