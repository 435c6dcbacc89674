// Rules learned during a crawl: what they merge is left out and compared now and then; a rule that turns out wrong is given up.
import { describe, expect, it } from 'vitest'
import { CrawlRules } from '../../src/crawlers/crawl-rules.ts'

const page = (i: number, query = '') => `http://site.example/p/${i}${query}`
const item = (url: string, via: readonly string[] = []) => ({ url, depth: 1, via })

/** Pages in two spellings with the same text: enough for a rule. */
function learned(pages = 180): CrawlRules {
  const rules = new CrawlRules({ profile: 'web', risk: 0.05 })
  for (let i = 0; i < pages; i++) {
    rules.add(page(i), `text ${i}`)
    rules.add(page(i, `?s=${i * i}`), `text ${i}`)
  }
  expect(rules.counts().rules).toEqual(['drops s on site.example in /p/'])
  return rules
}

describe('a URL is left out', () => {
  it('when the rules merge it with a page that was fetched; one in 20 is fetched and compared', () => {
    const rules = learned()
    const before = rules.counts().checked
    const skipped = Array.from({ length: 100 }, (_, i) => {
      const url = page(i, '?s=other')
      const merged = rules.skip(item(url))
      if (!merged) rules.add(url, `text ${i}`)
      return merged
    })
    expect(skipped[0]).toEqual({ of: page(0), reason: 'drops s on site.example in /p/' })
    expect(skipped.filter((merged) => merged !== null)).toHaveLength(95)
    expect(rules.counts()).toMatchObject({ saved: 95, checked: before + 5, wrong: 0, requeued: 0 })
  })

  it('not when no such page was fetched, when it has its key already, or when it is the target of its own redirect', () => {
    const rules = learned()
    expect(rules.skip(item(page(1000, '?s=1')))).toBeNull()
    expect(rules.skip(item(page(3)))).toBeNull()
    expect(rules.skip(item(page(3, '?s=new'), [page(3, '?s=old')]))).toBeNull()
    expect(rules.skip(item(page(3, '?s=new'), [page(4)]))).not.toBeNull()
    expect(rules.skip(item(page(3, '?t=1')))).toBeNull()
  })
})

it('a rule that turns out wrong is given up: what it left out goes back to the queue', () => {
  const rules = learned()
  const left: string[] = []
  const again: string[] = []
  for (let i = 0; i < 180 && again.length === 0; i++) {
    const url = page(i, '?s=changed')
    if (rules.skip(item(url))) left.push(url)
    else again.push(...rules.add(url, `another text ${i}`).map((skipped) => skipped.url))
    for (let j = 0; j < 2; j++) rules.add(page(10_000 + 2 * i + j), `text ${10_000 + 2 * i + j}`)
  }
  expect(again).toEqual(left)
  expect(left.length).toBeGreaterThan(10)
  expect(rules.counts()).toMatchObject({ saved: 0, requeued: left.length, rules: [] })
})

it('learns nothing where every text differs, and takes what is not a URL for nothing', () => {
  const rules = new CrawlRules({ profile: 'web', risk: 0.05 })
  for (let i = 0; i < 500; i++) rules.add(page(i % 50, `?s=${i}`), `text ${i}`)
  expect(rules.add('not a URL', 'x')).toEqual([])
  expect(rules.skip(item(page(1, '?s=7777')))).toBeNull()
  expect(rules.learn().rules).toEqual([])
})
