// `urlsieve crawl --audit` with each filter: what it loses is what its rate predicts, and every page lost is listed.
import { describe, expect, it, vi } from 'vitest'
import { filterNames } from '../../src/index.ts'
import { urlsieve } from '../e2e/command.ts'
import { pagesIn, siteForTests, unreached, webKey } from './crawled.ts'

if (process.env.URLSIEVE_FULL) vi.setConfig({ testTimeout: 1_200_000 })

const isFull = Boolean(process.env.URLSIEVE_FULL)
const site = siteForTests(isFull ? 5000 : 120, 4)

/** They make no error at this size; `fingerprint` one in 10¹³. */
const EXACT = ['fingerprint', 'hash-set', 'sorted-array', 'linear', 'trie']
/** Filters of a fixed size: so small that they err. */
const RATE = isFull ? 0.05 : 0.3
const sized = (filter: string, { paper } = site) => [
  ...['--urls', String(paper.size), '--fpr', String(RATE)],
  ...(filter === 'window' ? ['--inner', 'blocked', '--window', String(2 * paper.size)] : []),
]
/** These predict no rate: their XOR layer takes some URLs for others for certain. */
const SILENT: readonly string[] = ['multilayer', 'keyword-layers']
const filters = isFull ? filterNames : (['fingerprint', 'classic', 'prefix-layers'] as const)

describe.each(filters)('%s', (filter) => {
  it('loses what its rate predicts', async () => {
    const { served, paper } = site
    const isExact = EXACT.includes(filter)
    const sizes = isExact ? [] : sized(filter)
    const args = [`${served.origin}/`, '--rate', '0', '--audit', '--stats', '--filter', filter, ...sizes]
    const ended = await urlsieve(['crawl', ...args])
    expect(ended.code).toBe(0)
    const { pages, lost } = pagesIn(ended.stdout)
    // One that holds more than it was planned for says so in a line before.
    const stats = JSON.parse(ended.stderr.slice(ended.stderr.indexOf('{'))) as {
      asked: number
      lost: number
      expectedLosses: number | null
    }
    if (isFull) console.log(filter, JSON.stringify(stats))
    expect(lost.length).toBe(stats.lost)
    // What is lost is a page of the site, and was not fetched under its own name.
    const fetched = new Set(pages.map(({ url }) => webKey(url)))
    for (const url of lost) {
      // The target of a redirect, and a page that robots.txt closes, are asked for too.
      expect([url, paper.has(webKey(url)) || /\/(rr|closed)\//.test(url)]).toEqual([url, true])
      expect(fetched.has(webKey(url))).toBe(false)
    }
    if (isExact) {
      expect(stats.lost).toBe(0)
      expect(unreached(paper, pages)).toEqual([])
      return
    }
    if (SILENT.includes(filter)) {
      expect(stats.expectedLosses).toBeNull()
      return
    }
    const expected = stats.expectedLosses!
    // Six standard deviations of a sum of that many small chances, and a handful for small numbers.
    const spread = 6 * Math.sqrt(expected) + 6
    expect(Math.abs(stats.lost - expected)).toBeLessThan(spread)
    expect(expected).toBeLessThan(stats.asked * RATE * 1.1)
    if (expected > 14) expect(stats.lost).toBeGreaterThan(0)
  })
})
